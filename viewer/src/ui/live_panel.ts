// Controls of a running simulation, on top of the panel on the right.
import { Command, LiveStatus } from "../data/live";
import { format, h, set_text } from "./dom";

export interface LiveActions {
  send(command: Command, done?: (reply: { file?: string }) => void): void;
  push_mode(on: boolean): void;
  push_selected(force: [number, number, number], seconds: number): boolean; // false: nothing is selected
  strength(newtons: number): void;
}

export class LivePanel {
  private readonly state = h("div", { class: "caption", id: "live-state" });
  private readonly play = h("button", { class: "button", onclick: () => this.actions.send({ do: this.playing ? "pause" : "play" }) }, "Play");
  private readonly speed = h("select", { "aria-label": "Speed of the simulation" });
  private readonly gravity: HTMLInputElement[];
  private readonly actuators = h("div", {});
  private readonly push = h("button", { class: "button", "aria-pressed": "false", title: "Drag a body with the mouse (or Shift and drag)", onclick: () => this.toggle_push() }, "Push");
  private readonly strength = h("input", { type: "range", min: -1, max: 5, step: 0.05, value: 1.7, "aria-label": "Force of a push" });
  private readonly newtons = h("output", { class: "caption" });
  private readonly force = [0, 1, 2].map((i) => h("input", { type: "number", step: "any", value: i === 2 ? 50 : 0, "aria-label": `Force ${"xyz"[i]} in N`, style: "width:100%" }));
  private sliders: { input: HTMLInputElement; output: HTMLElement; busy: number }[] = [];
  private playing = false;
  private known_actuators = "";
  private touched = 0; // when the user changed gravity last
  strength_set = false;

  constructor(root: HTMLElement, private readonly actions: LiveActions) {
    const button = (text: string, title: string, act: () => void) => h("button", { class: "button", title, onclick: act }, text);
    this.gravity = [0, 1, 2].map((i) => h("input", { type: "number", step: "any", "aria-label": `Gravity ${"xyz"[i]} in m/s²`, style: "width:100%" }));
    for (const input of this.gravity) {
      input.addEventListener("input", () => (this.touched = performance.now()));
      input.addEventListener("change", () => this.send_gravity());
    }
    for (const s of [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4]) this.speed.append(h("option", { value: s, text: `${s}×` }));
    this.speed.addEventListener("change", () => actions.send({ do: "speed", value: Number(this.speed.value) }));
    this.strength.addEventListener("input", () => this.show_strength(10 ** Number(this.strength.value), true));
    const three = (inputs: HTMLElement[]) => h("div", { class: "grid3" }, ...inputs);
    root.prepend(h("section", { class: "group", id: "live", "aria-label": "Live simulation" }, h("h2", { text: "Live" }), this.state,
      h("div", { class: "row" }, this.play, button("Step", "One time step", () => actions.send({ do: "step", steps: 1 })), button("Reset", "Back to the beginning", () => actions.send({ do: "reset" })), this.speed),
      h("div", { class: "row" }, button("Save replay", "The replay so far, as a page", () => actions.send({ do: "save" })), button("Dump step", "The problem of the present step, as a file for tribo solve", () => actions.send({ do: "dump" }))),
      h("div", { class: "caption", text: "Gravity (m/s²)" }), three(this.gravity),
      h("div", { class: "row" }, h("span", { class: "caption", text: "Push a body" }), this.newtons, this.push), this.strength,
      h("div", { class: "caption", text: "Force on the selected body (N), 0.1 s" }), three(this.force),
      h("div", { class: "row" }, button("Apply force", "Pushes the selected body at its origin for 0.1 s", () => this.apply())), this.actuators));
    this.show_strength(50, false);
  }

  show_strength(newtons: number, told: boolean) {
    this.strength.value = String(Math.log10(newtons));
    set_text(this.newtons, `${format(newtons, 2)} N`);
    this.strength_set ||= told;
    this.actions.strength(newtons);
  }

  private toggle_push() {
    const on = this.push.getAttribute("aria-pressed") !== "true";
    this.push.setAttribute("aria-pressed", String(on));
    this.actions.push_mode(on);
  }

  private apply() {
    const force = this.force.map((input) => Number(input.value) || 0) as [number, number, number];
    if (!this.actions.push_selected(force, 0.1)) set_text(this.state, "Select a body first");
  }

  private send_gravity() {
    const value = this.gravity.map((input) => Number(input.value));
    if (value.every(Number.isFinite)) this.actions.send({ do: "gravity", value });
  }

  status(status: LiveStatus) {
    this.playing = status.state === "playing";
    set_text(this.play, this.playing ? "Pause" : "Play");
    const viewers = status.viewers > 1 ? `, ${status.viewers} viewers` : "";
    set_text(this.state, `${status.state} at ${format(status.time, 5)} s${viewers}`);
    if (document.activeElement !== this.speed && Number.isFinite(status.speed)) {
      let option = [...this.speed.options].find((o) => Math.abs(Number(o.value) - status.speed) < 1e-9);
      if (!option) this.speed.append((option = h("option", { value: status.speed, text: `${+status.speed.toPrecision(3)}×` })));
      this.speed.value = option.value;
    }
    if (performance.now() - this.touched > 1500)
      this.gravity.forEach((input, i) => document.activeElement !== input && (input.value = String(+(status.gravity?.[i] ?? 0).toPrecision(6))));
    this.show_actuators(status.actuators ?? []);
  }

  private show_actuators(list: LiveStatus["actuators"]) {
    const key = list.map((a) => a.name).join("\n");
    if (key !== this.known_actuators) {
      this.known_actuators = key;
      this.sliders = list.map((a, index) => {
        const finite = (x: number | null, otherwise: number) => (typeof x === "number" && Number.isFinite(x) && Math.abs(x) < 1e9 ? x : otherwise);
        const input = h("input", { type: "range", min: finite(a.low, -1), max: finite(a.high, 1), step: "any", "aria-label": `Control ${a.name}` });
        const slider = { input, output: h("output", { class: "caption" }), busy: 0 };
        input.addEventListener("input", () => {
          slider.busy = performance.now();
          set_text(slider.output, format(Number(input.value), 3));
          this.actions.send({ do: "control", index, value: Number(input.value) });
        });
        return slider;
      });
      this.actuators.replaceChildren(list.length ? h("div", { class: "caption", text: "Controls" }) : "",
        ...list.map((a, i) => h("label", {}, h("div", { class: "row" }, h("span", { text: a.name || `control ${i}` }), this.sliders[i].output), this.sliders[i].input)));
    }
    list.forEach((a, i) => {
      if (performance.now() - this.sliders[i].busy < 800) return;
      this.sliders[i].input.value = String(a.value);
      set_text(this.sliders[i].output, format(a.value, 3));
    });
  }
}
