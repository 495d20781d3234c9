// Base64 to bytes. Throws with what is wrong, because a damaged recording must be named, not guessed.

const CODE = (() => {
  const code = new Int16Array(128).fill(-1);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let i = 0; i < alphabet.length; ++i) code[alphabet.charCodeAt(i)] = i;
  return code;
})();

export function base64_to_bytes(text: string): Uint8Array<ArrayBuffer> {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 32) --end;
  let padding = 0;
  while (end > 0 && padding < 2 && text[end - 1] === "=") {
    --end;
    ++padding;
  }
  const out = new Uint8Array(Math.floor((end * 3) / 4));
  let length = 0;
  let bits = 0;
  let held = 0;
  let digits = 0;
  for (let i = 0; i < end; ++i) {
    const c = text.charCodeAt(i);
    if (c <= 32) continue; // line breaks
    const value = c < 128 ? CODE[c] : -1;
    if (value < 0) throw new Error(`character ${i} is not base64`);
    bits = ((bits << 6) | value) & 0xffffff;
    held += 6;
    ++digits;
    if (held >= 8) {
      held -= 8;
      out[length++] = (bits >> held) & 0xff;
    }
  }
  if (digits % 4 === 1) throw new Error("the base64 text ends within a byte");
  return length === out.length ? out : out.slice(0, length);
}
