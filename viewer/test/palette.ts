// Small pictures for the documents: a screenshot as a PNG of at most 256 colours (median cut, then means of the nearest ones,
// without which smooth shading turns into stripes). Chromium reads the pixels.
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";

type Box = { colors: number[]; counts: Map<number, number> };

const channel = (c: number, i: number) => (c >> (16 - 8 * i)) & 255;

function cut(counts: Map<number, number>, most: number): number[][] {
  let boxes: Box[] = [{ colors: [...counts.keys()], counts }];
  const spread = (b: Box, i: number) => {
    let low = 255, high = 0;
    for (const c of b.colors) {
      low = Math.min(low, channel(c, i));
      high = Math.max(high, channel(c, i));
    }
    return high - low;
  };
  const worth = (b: Box) => Math.max(...[0, 1, 2].map((i) => spread(b, i))) * Math.sqrt(b.colors.reduce((s, c) => s + Math.sqrt(counts.get(c)!), 0));
  const rated = boxes.map((b) => ({ b, w: worth(b) }));
  while (rated.length < most) {
    rated.sort((p, q) => q.w - p.w);
    const { b, w } = rated[0];
    if (w === 0) break;
    const axis = [0, 1, 2].reduce((a, i) => (spread(b, i) > spread(b, a) ? i : a), 0);
    b.colors.sort((p, q) => channel(p, axis) - channel(q, axis));
    const half = b.colors.length >> 1;
    rated.shift();
    for (const colors of [b.colors.slice(0, half), b.colors.slice(half)]) {
      const part = { colors, counts };
      rated.push({ b: part, w: worth(part) });
    }
  }
  return rated.map(({ b }) => b.colors);
}

// Moves each colour of the palette to the mean of those that are nearest to it; returns which are nearest.
function settle(counts: Map<number, number>, palette: number[][], rounds: number): Map<number, number> {
  const nearest = new Map<number, number>();
  for (let round = 0; round <= rounds; ++round) {
    const sums = palette.map(() => [0, 0, 0, 0]);
    for (const [c, count] of counts) {
      let best = 0, least = Infinity;
      for (let k = 0; k < palette.length; ++k) {
        const p = palette[k];
        const r = p[0] - channel(c, 0), g = p[1] - channel(c, 1), b = p[2] - channel(c, 2);
        const d = 2 * r * r + 4 * g * g + b * b; // as eyes weigh them
        if (d < least) { least = d; best = k; }
      }
      nearest.set(c, best);
      for (let i = 0; i < 3; ++i) sums[best][i] += count * channel(c, i);
      sums[best][3] += count;
    }
    if (round === rounds) break;
    sums.forEach((s, k) => { if (s[3] > 0) palette[k] = [s[0] / s[3], s[1] / s[3], s[2] / s[3]]; });
  }
  return nearest;
}

function piece(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

export async function small_png(page: Page, png: Buffer): Promise<Buffer> {
  const { width, height, pixels } = await page.evaluate(async (base) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${base}`)).blob());
    const g = new OffscreenCanvas(picture.width, picture.height).getContext("2d")!;
    g.drawImage(picture, 0, 0);
    const { data } = g.getImageData(0, 0, picture.width, picture.height);
    let text = "";
    for (let i = 0; i < data.length; i += 30000) text += String.fromCharCode(...data.subarray(i, i + 30000));
    return { width: picture.width, height: picture.height, pixels: btoa(text) };
  }, png.toString("base64"));
  const data = Buffer.from(pixels, "base64");
  const color = (i: number) => (data[4 * i] << 16) | (data[4 * i + 1] << 8) | data[4 * i + 2];
  const counts = new Map<number, number>();
  for (let i = 0; i < width * height; ++i) counts.set(color(i), (counts.get(color(i)) ?? 0) + 1);
  const palette = cut(counts, 256).map((colors) => {
    const total = colors.reduce((s, c) => s + counts.get(c)!, 0);
    return [0, 1, 2].map((i) => colors.reduce((s, c) => s + counts.get(c)! * channel(c, i), 0) / total);
  });
  const index = settle(counts, palette, 6);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) rows[y * (width + 1) + x + 1] = index.get(color(y * width + x))!;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), piece("IHDR", header), piece("PLTE", Buffer.from(palette.flat().map(Math.round))),
    piece("IDAT", deflateSync(rows, { level: 9 })), piece("IEND", Buffer.alloc(0))]);
}
