// What is written over the scene: a ring around the selected contact, the name of the selected body, titles of the runs,
// the legend, the size of a grid cell.
import { Settings } from "../settings";
import { cividis, css } from "../scene/colors";
import { Rect } from "../scene/stage";
import { by_id, format_error, h } from "./dom";
import { state_mark } from "./marks";

const SVG = "http://www.w3.org/2000/svg";

export interface Mark { x: number; y: number; text: string; ring: boolean }

export class Overlay {
  private readonly svg = document.getElementById("marks")!;
  private legend_key = "";

  marks(marks: Mark[], line: [number, number, number, number] | null) {
    if (marks.length === 0 && !line && this.svg.childElementCount === 0) return;
    const add = (tag: string, attributes: Record<string, string | number>, text = "") => {
      const e = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, String(value));
      e.textContent = text;
      this.svg.append(e);
    };
    this.svg.replaceChildren();
    for (const m of marks) {
      if (m.ring) add("circle", { cx: m.x, cy: m.y, r: 11 });
      add("text", { x: m.x + (m.ring ? 16 : 0), y: m.y + (m.ring ? 4 : 0), "text-anchor": m.ring ? "start" : "middle" }, m.text);
    }
    if (line) add("line", { x1: line[0], y1: line[1], x2: line[2], y2: line[3] });
  }

  titles(names: { name: string; detail: string }[], rect: (run: number) => Rect) {
    const root = by_id("titles");
    if (names.length < 2) {
      root.replaceChildren();
      return;
    }
    root.replaceChildren(...names.flatMap(({ name, detail }, run) => {
      const r = rect(run);
      const title = h("div", { class: "run-title", "data-run": run, style: `left:${r.x}px;top:${r.y}px;max-width:${r.width}px` }, h("b", { text: `${"AB"[run] ?? run}  ${name}` }), h("i", { text: detail }));
      const divider = r.x > 0 ? `left:${r.x}px;top:0;bottom:0;width:1px` : `top:${r.y}px;left:0;right:0;height:1px`;
      return run > 0 ? [title, h("div", { class: "divider", style: divider })] : [title];
    }));
  }

  legend(settings: Settings, body: string, tolerance: number, cell: string) {
    const key = `${settings.contact}|${body}|${tolerance}|${settings.points || settings.impulses || settings.cones}|${settings.ground}|${cell}`;
    if (key === this.legend_key) return;
    this.legend_key = key;
    const parts: HTMLElement[] = [];
    const contacts = settings.points || settings.impulses || settings.cones;
    if (contacts) for (const [state, text] of [["sticks", "stick"], ["slides", "slide"], ["open", "open"]] as const) {
      const mark = state_mark(state);
      if (settings.contact !== "state") mark.style.filter = "grayscale(1)";
      parts.push(h("span", {}, mark, text));
    }
    if ((contacts && settings.contact === "error") || body === "error") {
      const stops = [0, 0.25, 0.5, 0.75, 1].map((x) => css(cividis(x))).join(",");
      parts.push(h("span", {}, `error ${format_error(tolerance * 1e-4)}`, h("span", { class: "ramp", style: `background:linear-gradient(90deg,${stops})` }), format_error(tolerance)),
        h("span", {}, h("span", { class: "ramp", style: "width:8px;background:var(--missed)" }), "above tolerance"));
    }
    if ((contacts && settings.contact === "island") || body === "island") parts.push(h("span", {}, "one colour per island"));
    if (contacts && settings.contact === "pressure") {
      const stops = [0, 0.25, 0.5, 0.75, 1].map((x) => css(cividis(x))).join(",");
      parts.push(h("span", {}, "pressure 0", h("span", { class: "ramp", style: `background:linear-gradient(90deg,${stops})` }), "largest"));
    }
    by_id("legend").replaceChildren(...parts);
    by_id("scale").textContent = settings.ground ? cell : "";
  }
}
