// The panel on the right: numbers of the frame, of what is selected, search.
import { NO_ISLAND } from "../data/chunk";
import { Frame, Recording } from "../data/recording";
import { contact_numbers, ContactNumbers } from "../data/contact";
import { is_missed } from "../player";
import { Poses } from "../scene/poses";
import { copy_text, format, format_error, h, icon, set_text } from "./dom";
import { state_mark } from "./marks";
import { announce } from "./notices";

export type Selection =
  | { kind: "body"; run: number; body: number }
  | { kind: "contact"; run: number; geoms: [number, number]; near: [number, number, number]; index: number }; // index in the chunk, -1: not in this frame

export interface NumbersActions {
  select(selection: Selection | null): void;
}

export interface Shown { recordings: Recording[]; frames: (Frame | null)[]; numbers: number[]; poses: Poses[] }

const fixed = (x: number) => (!Number.isFinite(x) || x === 0 || Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? format(x, 4) : x.toPrecision(4).replace("-", "−"));
const vector = (v: ArrayLike<number>) => Array.from(v, fixed).join("  ");

function count_states(frame: Frame | null): [number, number, number] {
  const counts: [number, number, number] = [0, 0, 0];
  if (frame) for (let i = frame.chunk.first[frame.k]; i < frame.chunk.first[frame.k + 1]; ++i) ++counts[frame.chunk.contact_state[i]];
  return counts;
}

export class Numbers {
  private readonly table = h("table", { id: "frame-numbers" });
  private readonly picked = h("div", { id: "picked" });
  private readonly list = h("ul", { class: "list", id: "found" });
  private readonly search = h("input", { type: "search", placeholder: "Search bodies by name", "aria-label": "Search bodies by name", id: "search" });
  private readonly copy: HTMLButtonElement;
  private readonly clear: HTMLButtonElement;
  private selection: Selection | null = null;
  private copied = "";
  private shown: Shown = { recordings: [], frames: [], numbers: [], poses: [] };
  private wanted = "";

  constructor(root: HTMLElement, private readonly actions: NumbersActions) {
    this.copy = h("button", { class: "tool", "aria-label": "Copy the numbers", title: "Copy the numbers (Y)", onclick: () => void this.copy_numbers() }, icon("copy"));
    this.clear = h("button", { class: "tool", "aria-label": "Deselect", title: "Deselect (Esc)", onclick: () => actions.select(null) }, icon("close"));
    root.append(
      h("section", { class: "group" }, h("h2", { text: "Frame" }), this.table),
      h("section", { class: "group" }, h("h2", {}, "Selection", h("span", { class: "spacer" }), this.copy, this.clear), this.picked),
      h("section", { class: "group" }, h("h2", { text: "Find" }), this.search, this.list));
    this.search.addEventListener("input", () => this.find());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.list.querySelector("button")?.click();
      if (event.key === "Escape") this.search.blur();
    });
  }

  focus_search() {
    this.search.focus();
    this.search.select();
  }

  async copy_numbers() {
    if (!this.copied) return;
    announce((await copy_text(this.copied)) ? "Numbers copied" : "The browser does not allow copying");
    this.copy.style.color = "var(--good)";
    setTimeout(() => (this.copy.style.color = ""), 900);
  }

  set_world() {
    this.wanted = "";
    this.find();
  }

  update(shown: Shown, selection: Selection | null) {
    this.shown = shown;
    this.selection = selection;
    this.frame_table();
    this.copy.disabled = this.clear.disabled = !selection;
    if (!selection) this.nothing();
    else if (selection.kind === "body") this.body(selection);
    else this.contact(selection);
    this.find();
  }

  private frame_table() {
    const { recordings, frames, numbers } = this.shown;
    const at = (column: Parameters<Recording["series"]["at"]>[0]) => recordings.map((r, i) => r.series.at(column, numbers[i]));
    const states = frames.map(count_states);
    const rows: [string, string[], string, boolean?][] = [
      ["Time", at("time").map((x) => (Number.isFinite(x) ? x.toFixed(5) : "–")), "s"],
      ["Step", at("step").map((x) => format(x, 9)), ""],
      ["Contacts", at("contacts").map(String), ""],
      ["  stick", states.map((s) => String(s[1])), ""],
      ["  slide", states.map((s) => String(s[2])), ""],
      ["  open", states.map((s) => String(s[0])), ""],
      ["Islands", at("islands").map((x) => format(x, 9)), ""],
      ["Iterations", at("iterations").map((x) => format(x, 9)), ""],
      ["Error", at("error").map(format_error), "", recordings.some((r, i) => is_missed(r, numbers[i]))],
      ["Missed islands", at("missed").map((x) => format(x, 9)), "", at("missed").some((m) => m > 0)],
      ["Solve time", at("solve_time").map((x) => format(1e3 * x, 3)), "ms"],
      ["Step time", at("step_time").map((x) => format(1e3 * x, 3)), "ms"],
      ["Kinetic energy", at("kinetic").map((x) => format(x, 5)), "J"],
      ["Potential energy", at("potential").map((x) => format(x, 5)), "J"],
      ["Penetration", at("penetration").map((x) => format(x, 3)), "m"],
    ];
    const two = recordings.length > 1;
    const body = this.table;
    if (body.rows.length !== rows.length || body.rows[0]?.cells.length !== recordings.length + 2)
      body.replaceChildren(...rows.map(([label]) => h("tr", {}, h("th", { text: label.trim(), scope: "row", style: label.startsWith(" ") ? "padding-left:14px" : undefined }),
        ...recordings.map((_r, i) => h("td", { class: two ? `run${i}` : undefined })), h("td", { class: "unit" }))));
    rows.forEach(([, values, unit, missed], i) => {
      const row = body.rows[i];
      row.classList.toggle("missed", missed === true);
      values.forEach((v, j) => set_text(row.cells[j + 1], v));
      set_text(row.cells[values.length + 1], unit);
    });
  }

  private rows(rows: [string, string, string, string?][]) {
    return h("table", {}, ...rows.map(([label, value, unit, id]) =>
      h("tr", {}, h("th", { text: label, scope: "row" }), h("td", { text: value, "data-number": id }), h("td", { class: "unit", text: unit }))));
  }

  private show(key: string, ...children: Node[]) {
    this.picked.dataset.key = key;
    this.picked.replaceChildren(...children);
  }

  private nothing() {
    this.copied = "";
    if (this.picked.dataset.key !== "") this.show("", h("div", { class: "caption", text: "Click a body or a contact, or search below. [ and ] go through the contacts of this frame." }));
  }

  private contact(selection: Selection & { kind: "contact" }) {
    const { run, index, geoms } = selection;
    const world = this.shown.recordings[run]?.world;
    const frame = this.shown.frames[run];
    if (!world) return;
    const title = h("div", { class: "picked", text: `${world.geoms[geoms[0]]?.name} · ${world.geoms[geoms[1]]?.name}` });
    if (!frame || index < 0) {
      this.copied = "";
      this.show("gone", title, h("div", { class: "caption", text: "These two do not touch in this frame." }));
      return;
    }
    const c = contact_numbers(world, frame.chunk, index);
    const outside = c.cone_use > 1 + 1e-3 || c.impulse_normal < 0;
    const use = Number.isFinite(c.cone_use) ? Math.min(1, Math.max(0, c.cone_use)) : 0;
    title.append(h("small", { text: `${world.bodies[c.bodies[0]].name} and ${world.bodies[c.bodies[1]].name}${this.shown.recordings.length > 1 ? `, run ${run ? "B" : "A"}` : ""}` }));
    const bar = h("div", { class: "bar", "data-state": outside ? "outside" : c.state, title: "tangential impulse over μ times normal impulse" });
    bar.append(h("i", { style: `width:${100 * use}%` }));
    this.show("contact", title, h("div", { class: "badge" }, state_mark(c.state), c.state), bar, this.rows([
      ["Gap", format(c.gap, 6), "m", "gap"],
      ["Normal velocity", format(c.velocity_normal, 6), "m/s", "velocity_normal"],
      ["Slip speed", format(c.slip, 6), "m/s", "slip"],
      ["Normal impulse", format(c.impulse_normal, 6), "N s", "impulse_normal"],
      ["Tangential impulse", format(c.impulse_tangential, 6), "N s", "impulse_tangential"],
      ["Force", format(c.force, 6), "N", "force"],
      ["Friction μ", format(c.friction, 4), "", "friction"],
      ["Cone margin", format(c.cone_margin, 6), "N s", "cone_margin"],
      ["Cone used", Number.isFinite(c.cone_use) ? `${format(100 * c.cone_use, 4)}` : "–", "%", "cone_use"],
      ["Error", format_error(c.error), "", "error"],
      ...(c.pressure > 0 ? [["Pressure", format(c.pressure, 6), "Pa", "pressure"] as [string, string, string, string]] : []),
      ["Island", c.island === NO_ISLAND ? "none" : String(c.island), "", "island"],
      ["Position", vector(c.position), "m", "position"],
      ["Normal", vector(c.normal), "", "normal"],
      ["Impulse", vector(c.impulse), "N s", "impulse"],
      ["Velocity", vector(c.velocity), "m/s", "velocity"],
    ]));
    this.copied = this.json(run, { contact: c });
  }

  private body(selection: Selection & { kind: "body" }) {
    const { run, body } = selection;
    const recording = this.shown.recordings[run];
    const frame = this.shown.frames[run];
    const name = recording?.world.bodies[body]?.name;
    if (!recording || name === undefined) return;
    const title = h("div", { class: "picked" }, name, h("small", { text: `body ${body}${this.shown.recordings.length > 1 ? `, run ${run ? "B" : "A"}` : ""}` }));
    if (!frame) {
      this.show("body", title);
      return;
    }
    const touching = contacts_of(recording, frame, body);
    const net: [number, number, number] = [0, 0, 0];
    for (const { c } of touching) for (let j = 0; j < 3; ++j) net[j] += (c.bodies[1] === body ? 1 : 0) * c.impulse[j] - (c.bodies[0] === body ? 1 : 0) * c.impulse[j];
    const position = this.shown.poses[run]?.position(body) ?? [NaN, NaN, NaN];
    const rotation = body > 0 ? Array.from(frame.chunk.rotation.subarray(4 * (frame.k * frame.chunk.bodies + body - 1), 4 * (frame.k * frame.chunk.bodies + body)), (x) => x / 32767) : [1, 0, 0, 0];
    const velocity = mean_velocity(recording, frame, this.shown.numbers[run], body);
    this.show("body", title, this.rows([
      ["Position", vector(position), "m", "position"],
      ["Rotation", vector(rotation), "wxyz", "rotation"],
      ["Mean velocity", velocity ? vector(velocity) : "–", "m/s", "velocity"],
      ["Net impulse", vector(net), "N s", "impulse"],
      ["Contacts", String(touching.length), "", "contacts"],
    ]), h("ul", { class: "list" }, ...touching.slice(0, 60).map(({ c, i }) => this.contact_button(c, i, run))));
    this.copied = this.json(run, { body: { index: body, name, position, rotation, mean_velocity: velocity, net_impulse: net, contacts: touching.map((t) => t.c) } });
  }

  private contact_button(c: ContactNumbers, i: number, run: number) {
    const select = () => this.actions.select({ kind: "contact", run, geoms: c.geoms, near: c.position, index: i });
    return h("li", {}, h("button", { onclick: select }, state_mark(c.state), h("span", { text: `${c.names[0]} · ${c.names[1]}` }), h("i", { text: `${format(c.impulse_normal, 3)} N s` })));
  }

  private json(run: number, what: object) {
    const { recordings, numbers } = this.shown;
    const r = recordings[run];
    return JSON.stringify({ world: r.world.name, run, frame: numbers[run] - r.begin, step: r.series.at("step", numbers[run]), time: r.series.at("time", numbers[run]), ...what },
      (_key, value) => (typeof value === "number" && !Number.isFinite(value) ? null : value), 1);
  }

  private find() {
    const recording = this.shown.recordings[0];
    const text = this.search.value.trim().toLowerCase();
    const here = this.selection?.kind === "body" ? this.selection.body : -1;
    const key = `${text}|${here}|${recording ? recording.world.bodies.length : 0}`;
    if (key === this.wanted || !recording) return;
    this.wanted = key;
    const bodies = recording.world.bodies.map((b, i) => ({ name: b.name, i })).slice(1)
      .filter((b) => b.name.toLowerCase().includes(text) || recording.world.geoms.some((g) => text !== "" && g.body === b.i && g.name.toLowerCase().includes(text)));
    this.list.replaceChildren(...bodies.slice(0, 40).map((b) => h("li", {}, h("button", {
      "aria-current": String(b.i === here), onclick: () => this.actions.select({ kind: "body", run: 0, body: b.i }) }, h("span", { text: b.name }), h("i", { text: String(b.i) })))));
    if (bodies.length > 40) this.list.append(h("li", { class: "caption", text: `and ${bodies.length - 40} more; type to narrow` }));
    if (bodies.length === 0) this.list.append(h("li", { class: "caption", text: "No body of that name" }));
  }
}

export function contacts_of(recording: Recording, frame: Frame, body: number): { c: ContactNumbers; i: number }[] {
  const { chunk, k } = frame;
  const out: { c: ContactNumbers; i: number }[] = [];
  const geoms = recording.world.geoms;
  for (let i = chunk.first[k]; i < chunk.first[k + 1]; ++i)
    if (geoms[chunk.contact_geoms[2 * i]].body === body || geoms[chunk.contact_geoms[2 * i + 1]].body === body)
      out.push({ c: contact_numbers(recording.world, chunk, i), i });
  return out;
}

// From the frame before, where that is decoded too.
function mean_velocity(recording: Recording, frame: Frame, number: number, body: number): number[] | null {
  if (body === 0) return [0, 0, 0];
  const before = number > recording.begin ? recording.frame(number - 1) : null;
  if (!before) return null;
  const dt = frame.chunk.time[frame.k] - before.chunk.time[before.k];
  const at = (f: Frame, j: number) => f.chunk.position[3 * (f.k * f.chunk.bodies + body - 1) + j] * f.chunk.quantum;
  return dt > 0 ? [0, 1, 2].map((j) => (at(frame, j) - at(before, j)) / dt) : null;
}

