// The curves below the scene: one lane per quantity, all over the same time, with the cursor of the player. Long
// recordings are drawn as the smallest and largest value per pixel.
import uPlot from "uplot";
import { Recording } from "../data/recording";
import { Column, Series } from "../data/series";
import { format, format_error, h, set_text } from "./dom";

interface Trace { label: string; columns: [Column, ...Column[]]; scale: number; faint?: boolean }
interface LaneKind { letter: string; title: string; unit: string; log?: boolean; traces: Trace[]; hint: string }

export const LANES: LaneKind[] = [
  { letter: "c", title: "Certificate", unit: "", log: true, hint: "scaled error of the step; dashed: tolerance",
    traces: [{ label: "error", columns: ["error"], scale: 1 }] },
  { letter: "n", title: "Contacts", unit: "", hint: "contacts of the step", traces: [{ label: "contacts", columns: ["contacts"], scale: 1 }] },
  { letter: "i", title: "Iterations", unit: "", hint: "iterations of the solver", traces: [{ label: "iterations", columns: ["iterations"], scale: 1 }] },
  { letter: "s", title: "Solve time", unit: "ms", hint: "wall clock of the solver; faint: of the whole step",
    traces: [{ label: "step", columns: ["step_time"], scale: 1e3, faint: true }, { label: "solve", columns: ["solve_time"], scale: 1e3 }] },
  { letter: "e", title: "Energy", unit: "J", hint: "total; faint: kinetic",
    traces: [{ label: "kinetic", columns: ["kinetic"], scale: 1, faint: true }, { label: "total", columns: ["kinetic", "potential"], scale: 1 }] },
];

// px: titles and values left of the plots (style.css knows the same two widths), and the labels of the axes.
export const gutter = () => (window.innerWidth <= 820 ? 104 : 132);
const AXIS = 40;
const TAIL = 14;

interface Lane { kind: LaneKind; element: HTMLElement; value: HTMLElement; holder: HTMLElement; plot: uPlot | null }

const value_of = (series: Series, trace: Trace, frame: number) =>
  trace.columns.reduce((sum, c) => sum + series.at(c, frame), 0) * trace.scale;

// One series over [t0, t1] as at most 4 * buckets points: first time with the smallest, last time with the largest value.
function sampled(series: Series, trace: Trace, t0: number, t1: number, buckets: number, log: boolean): [number[], (number | null)[]] {
  const from = Math.max(series.begin, series.frame_at(t0) - 1);
  const to = Math.min(series.end, series.frame_at(t1) + 2);
  const xs: number[] = [];
  const ys: (number | null)[] = [];
  const good = (y: number) => Number.isFinite(y) && (!log || y > 0);
  const stride = (to - from) / buckets;
  if (stride <= 2) {
    for (let f = from; f < to; ++f) {
      const y = value_of(series, trace, f);
      xs.push(series.at("time", f));
      ys.push(good(y) ? y : null);
    }
    return [xs, ys];
  }
  for (let b = 0; b < buckets; ++b) {
    const begin = from + Math.floor(b * stride);
    const end = Math.min(to, from + Math.floor((b + 1) * stride));
    let low = Infinity, high = -Infinity;
    for (let f = begin; f < end; ++f) {
      const y = value_of(series, trace, f);
      if (!good(y)) continue;
      if (y < low) low = y;
      if (y > high) high = y;
    }
    xs.push(series.at("time", begin), series.at("time", end - 1));
    ys.push(low <= high ? low : null, low <= high ? high : null);
  }
  return [xs, ys];
}

export class Curves {
  window: [number, number] | null = null; // s; null: everything
  private lanes: Lane[] = [];
  private runs: Recording[] = [];
  private shown = "cnise";
  private stale = 0;
  private readonly cursor = h("div", { class: "cursor", "aria-hidden": "true" });
  private colors: Record<string, string> = {};

  constructor(private readonly root: HTMLElement, private readonly range: () => [number, number], private readonly seek: (t: number, dragging: boolean) => void, private readonly zoomed: () => void) {
    root.append(this.cursor);
    for (const kind of LANES) {
      const value = h("output", { class: "value" });
      const holder = h("div", { class: "plot", "aria-hidden": "true" });
      const element = h("div", { class: "lane", title: kind.hint, "data-lane": kind.letter },
        h("div", { class: "label" }, h("span", { text: kind.title }), kind.unit ? h("small", { text: kind.unit }) : null, value), holder);
      root.append(element);
      this.lanes.push({ kind, element, value, holder, plot: null });
    }
    this.pointer();
  }

  private pointer() {
    let dragging = false;
    const to_time = (event: PointerEvent | WheelEvent) => {
      const { left, width } = this.area();
      const [t0, t1] = this.span();
      return t0 + Math.min(1, Math.max(0, (event.clientX - left) / width)) * (t1 - t0);
    };
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.clientX < this.area().left - 4) return;
      dragging = true;
      this.root.setPointerCapture(event.pointerId);
      this.seek(to_time(event), true);
    });
    this.root.addEventListener("pointermove", (event) => dragging && this.seek(to_time(event), true));
    for (const name of ["pointerup", "pointercancel"]) this.root.addEventListener(name, () => (dragging = false));
    this.root.addEventListener("dblclick", () => this.zoom(null));
    this.root.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      this.zoom_at(to_time(event), Math.exp(0.003 * (event.deltaY || event.deltaX)));
    }, { passive: false });
  }

  zoom_at(t: number, factor: number) {
    const [t0, t1] = this.span();
    const [a, b] = this.range();
    const low = Math.max(a, t - (t - t0) * factor);
    const high = Math.min(b, t + (t1 - t) * factor);
    if (high - low > 1e-6) this.zoom(low <= a && high >= b ? null : [low, high]);
  }

  zoom(window: [number, number] | null) {
    this.window = window;
    this.refresh();
    this.zoomed();
  }

  span(): [number, number] {
    const [a, b] = this.window ?? this.range();
    return b > a ? [a, b] : [a, a + 1e-3];
  }

  // Where the plots are, in pixels of the window.
  area() {
    const box = this.root.getBoundingClientRect();
    return { left: box.left + gutter() + AXIS, width: Math.max(10, box.width - gutter() - AXIS - TAIL), box };
  }

  set_runs(runs: Recording[]) {
    this.runs = runs;
    this.rebuild();
  }

  show(lanes: string) {
    if (lanes === this.shown) return;
    this.shown = lanes;
    this.rebuild();
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["run0", "run1", "muted", "line", "missed", "text"]) this.colors[name] = style.getPropertyValue(`--${name}`).trim();
    this.rebuild();
  }

  private rebuild() {
    for (const lane of this.lanes) {
      lane.plot?.destroy();
      lane.plot = null;
      lane.element.hidden = !this.shown.includes(lane.kind.letter);
    }
    this.refresh();
  }

  private options(lane: Lane, width: number, height: number): uPlot.Options {
    const { kind } = lane;
    const tolerance = this.runs[0]?.world.tolerance;
    const series: uPlot.Series[] = [{}];
    for (let run = 0; run < this.runs.length; ++run)
      for (const trace of kind.traces)
        series.push({ stroke: this.colors[run ? "run1" : "run0"] + (trace.faint ? "80" : ""), width: trace.faint ? 1 : 1.4, dash: run ? [5, 3] : undefined, points: { show: false }, spanGaps: false });
    return {
      width, height, series, legend: { show: false }, padding: [5, TAIL, 3, 0],
      cursor: { show: false }, select: { show: false } as uPlot.Select,
      scales: { x: { time: false, range: () => this.span() },
        y: kind.log ? { distr: 3, range: (_u, low, high) => this.log_range(low, high, tolerance) } : { range: (_u, low, high) => this.linear_range(low, high, kind.letter) } },
      axes: [{ show: false }, {
        size: AXIS, stroke: this.colors.muted, font: "10px ui-monospace, monospace", gap: 4,
        grid: { stroke: this.colors.line, width: 1 }, ticks: { show: false },
        splits: (_u, _i, low, high) => this.splits(low, high, kind.log === true),
        filter: kind.log ? (_u, s) => s : undefined,
        values: (_u, splits) => splits.map((v) => kind.log ? `1e${Math.round(Math.log10(v))}`.replace("-", "−") : short(v)),
      }],
      hooks: { draw: [(u) => kind.log && this.draw_tolerance(u, tolerance)] },
    };
  }

  private log_range(low: number | null, high: number | null, tolerance: number): [number, number] {
    const values = [low, high, tolerance > 0 ? tolerance : null].filter((x): x is number => x !== null && Number.isFinite(x) && x > 0);
    if (values.length === 0) return [1e-9, 1e-3];
    const least = Math.max(Math.min(...values), tolerance > 0 ? 1e-6 * tolerance : 0); // better than that need not be told apart
    return [10 ** Math.max(-18, Math.floor(Math.log10(least) - 0.2)), 10 ** Math.ceil(Math.log10(Math.max(...values)) + 0.2)];
  }

  private linear_range(low: number | null, high: number | null, letter: string): [number, number] {
    if (low === null || high === null || !Number.isFinite(low + high)) return [0, 1];
    if (letter !== "e") return [0, high > 0 ? high * 1.12 : 1];
    const pad = 0.1 * (high - low) || Math.abs(high) * 0.1 || 1;
    return [low - pad, high + pad];
  }

  private splits(low: number, high: number, log: boolean): number[] {
    if (log) {
      const a = Math.ceil(Math.log10(low)), b = Math.floor(Math.log10(high));
      const every = Math.max(1, Math.ceil((b - a) / 3));
      const out = [];
      for (let e = b - ((b - a) % every || 0); e >= a; e -= every) out.unshift(10 ** e);
      return out;
    }
    const raw = (high - low) / 2.4;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5].find((m) => m * power >= raw) ?? 10);
    const out = [];
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) out.push(Math.abs(v) < 1e-9 * step ? 0 : v);
    return out;
  }

  private draw_tolerance(u: uPlot, tolerance: number) {
    const { ctx, bbox } = u;
    if (!(tolerance > 0)) return;
    const y = u.valToPos(tolerance, "y", true);
    ctx.save();
    ctx.strokeStyle = this.colors.missed;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }

  // Soon, and not more often than the eye needs while a recording is being read or a live run goes on.
  refresh_later() {
    if (!this.stale) this.stale = window.setTimeout(() => this.refresh(), 250);
  }

  refresh() {
    clearTimeout(this.stale);
    this.stale = 0;
    const { width, box } = this.area();
    if (box.width === 0) return;
    const [t0, t1] = this.span();
    const buckets = Math.max(50, Math.floor(width));
    for (const lane of this.lanes) {
      if (lane.element.hidden || !this.runs.length) continue;
      const tables: uPlot.AlignedData[] = [];
      for (const run of this.runs)
        for (const trace of lane.kind.traces) tables.push(sampled(run.series, trace, t0, t1, buckets, !!lane.kind.log) as uPlot.AlignedData);
      const same = tables.every((t) => t[0].length === tables[0][0].length && t[0][0] === tables[0][0][0] && t[0][t[0].length - 1] === tables[0][0][tables[0][0].length - 1]) && this.runs.length === 1;
      const data = same ? ([tables[0][0], ...tables.map((t) => t[1])] as uPlot.AlignedData) : uPlot.join(tables, tables.map(() => [2]));
      const size = { width: Math.round(box.width - gutter()), height: Math.max(30, lane.holder.clientHeight) };
      if (!lane.plot) lane.plot = new uPlot(this.options(lane, size.width, size.height), data, lane.holder);
      else {
        if (lane.plot.width !== size.width || lane.plot.height !== size.height) lane.plot.setSize(size);
        lane.plot.setData(data);
      }
    }
  }

  // Cursor and values at the time t; frames: of each run.
  set_time(t: number, frames: number[]) {
    const { left, width, box } = this.area();
    const [t0, t1] = this.span();
    const s = (t - t0) / (t1 - t0);
    this.cursor.style.display = s < -1e-6 || s > 1 + 1e-6 || !this.runs.length ? "none" : "";
    this.cursor.style.transform = `translateX(${left - box.left + s * width}px)`;
    for (const lane of this.lanes) {
      if (lane.element.hidden) continue;
      const main = lane.kind.traces[lane.kind.traces.length - 1];
      const texts = this.runs.map((run, i) => {
        const v = run.count ? value_of(run.series, main, frames[i]) : NaN;
        return lane.kind.log ? format_error(v) : Number.isInteger(v) ? String(v) : format(v, 3);
      });
      set_text(lane.value, texts.join(" | "));
    }
  }
}

function short(v: number): string {
  const size = Math.abs(v);
  if (size >= 1e6) return `${+(v / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(v / 1e3).toPrecision(3)}k`;
  return size !== 0 && size < 1e-3 ? v.toExponential(0) : String(+v.toPrecision(3));
}
