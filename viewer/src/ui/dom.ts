// Small helpers for the page's elements. Text is always set as text, so names with markup stay names.

type Child = Node | string | null | undefined | false;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, unknown> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "text") element.textContent = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export const by_id = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

const ICONS: Record<string, string> = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  back: "M3 2.5h2v11H3zM13 2.5v11L6 8z",
  forward: "M11 2.5h2v11h-2zM3 2.5v11L10 8z",
  start: "M2 2.5h2v11H2zM9 2.5v11L4.5 8zM14.500 2.5v11L9.5 8z",
  loop: "M4 4h7V2l3.500 3L11 8V6H4v3H2V6a2 2 0 0 1 2-2zM12 12H5v2L1.500 11 5 8v2h7V7h2v3a2 2 0 0 1-2 2z",
  panel: "M2 3h12v10H2zM3.200 4.200v7.600h6V4.200z",
  layers: "M8 2l6.500 3.500L8 9 1.500 5.500zM3 7.800L8 10.500l5-2.700 1.500.8L8 12.200 1.500 8.600z",
  theme: "M8 2a6 6 0 1 0 0 12zM8 3.200a4.800 4.800 0 0 1 0 9.600z",
  search: "M7 2a5 5 0 1 1-3.100 8.900A5 5 0 0 1 7 2zm0 1.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10.300 11.400l1.100-1.100 3.200 3.200-1.100 1.100z",
  copy: "M5 2h8v9h-2V4H5zM3 5h7v9H3z",
  close: "M4 3l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

export function set_text(element: Element, text: string) {
  if (element.textContent !== text) element.textContent = text;
}

// Two to six digits, short, with a proper minus; "–" for what is not known.
export function format(x: number, digits = 4): string {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 10 ** Math.min(digits, 9)) return String(x).replace("-", "−");
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(Math.max(0, digits - 2)) : x.toPrecision(digits);
  return text.replace("-", "−").replace("e−", "e−").replace("e-", "e−").replace("e+", "e");
}

export const format_error = (x: number) => (x === 0 ? "0" : Number.isFinite(x) ? x.toExponential(1).replace("e-", "e−").replace("e+", "e") : "–");

export async function copy_text(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // pages from file:// may not reach the clipboard that way
    const area = h("textarea", { "aria-hidden": "true", style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
