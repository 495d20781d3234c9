// The panel on the left: what is drawn and how.
import { Settings } from "../settings";
import { PRESETS } from "../scene/stage";
import { h } from "./dom";

export interface DisplayActions {
  set<K extends keyof Settings>(name: K, value: Settings[K]): void;
  camera(preset: string): void;
  fit(): void;
  follow(): void;
}

type Choice<K extends keyof Settings> = [Settings[K], string][];

export class Display {
  private readonly refreshers: ((s: Settings) => void)[] = [];
  readonly follow: HTMLButtonElement;

  constructor(root: HTMLElement, private readonly actions: DisplayActions) {
    const size = h("input", { type: "range", min: -1.3, max: 1.3, step: 0.05, "aria-label": "Arrow length" });
    size.addEventListener("input", () => actions.set("arrow", 10 ** Number(size.value)));
    this.refreshers.push((s) => (size.value = String(Math.log10(s.arrow))));
    this.follow = h("button", { class: "button", title: "The camera moves with the selected body (G)", "aria-pressed": "false", onclick: actions.follow }, "Follow");
    root.append(
      this.group("Contacts", this.toggle("points", "Points", "C"), this.toggle("impulses", "Impulses", "I"), this.toggle("cones", "Friction cones", "K"),
        this.toggle("slip", "Slip velocities", "J"), this.toggle("hidden", "Shine through bodies"), h("div", { class: "caption", text: "Colour contacts by" }),
        this.choice("contact", "Colour contacts by", [["state", "State"], ["error", "Error"], ["island", "Island"], ["pressure", "Pressure"]]),
        h("label", { class: "row" }, h("span", { text: "Arrow length" }), size), this.toggle("root", "Length by √ impulse")),
      this.group("Bodies", this.choice("shapes", "Shapes", [["visual", "Visual"], ["collision", "Collision"], ["both", "Both"]]),
        this.choice("look", "Look", [["solid", "Solid"], ["glass", "Glass"], ["wire", "Wire"]]),
        h("div", { class: "caption", text: "Colour bodies by" }), this.select("body", "Colour bodies by",
          [["auto", "automatic"], ["material", "material"], ["body", "body"], ["island", "island"], ["error", "error of contacts"]])),
      this.group("Camera", h("div", { class: "grid3" }, ...Object.keys(PRESETS).map((name, i) =>
        h("button", { class: "button", title: `${name} (${i + 1})`, onclick: () => actions.camera(name) }, name[0].toUpperCase() + name.slice(1)))),
        h("div", { class: "grid3", style: "grid-template-columns:1fr 1fr;margin-top:4px" }, h("button", { class: "button", title: "Everything, or the selection (F)", onclick: actions.fit }, "Fit"), this.follow)),
      this.group("Scene", this.toggle("shadows", "Shadows"), this.toggle("ground", "Ground"), this.toggle("axes", "World axes"), this.toggle("smooth", "Smooth between frames")));
    const lanes = this.group("Curves");
    for (const [letter, title] of [["c", "Certificate"], ["n", "Contacts"], ["i", "Iterations"], ["s", "Solve time"], ["e", "Energy"]]) lanes.append(this.lane(letter, title));
    root.append(lanes);
  }

  refresh(settings: Settings, following: boolean, can_follow: boolean) {
    for (const refresh of this.refreshers) refresh(settings);
    this.follow.setAttribute("aria-pressed", String(following));
    this.follow.textContent = following ? "Stop following" : "Follow";
    this.follow.disabled = !following && !can_follow;
  }

  private group(title: string, ...children: Node[]) {
    return h("section", { class: "group" }, h("h2", { text: title }), ...children);
  }

  private toggle(name: keyof Settings, text: string, key?: string) {
    const input = h("input", { type: "checkbox", role: "switch", "aria-label": text });
    input.addEventListener("change", () => this.actions.set(name, input.checked as never));
    this.refreshers.push((s) => (input.checked = s[name] as boolean));
    return h("label", { class: "switch" }, h("span", { text }), key ? h("kbd", { text: key }) : null, input);
  }

  private choice<K extends keyof Settings>(name: K, label: string, choices: Choice<K>) {
    const inputs = choices.map(([value]) => {
      const input = h("input", { type: "radio", name: `choice-${name}`, value });
      input.addEventListener("change", () => this.actions.set(name, value));
      return input;
    });
    this.refreshers.push((s) => inputs.forEach((input, i) => (input.checked = s[name] === choices[i][0])));
    return h("div", { class: "segments", role: "radiogroup", "aria-label": label },
      ...inputs.map((input, i) => h("label", {}, input, h("span", { text: choices[i][1] }))));
  }

  private select<K extends keyof Settings>(name: K, label: string, choices: Choice<K>) {
    const select = h("select", { "aria-label": label, style: "width:100%;margin-top:4px" }, ...choices.map(([value, text]) => h("option", { value, text })));
    select.addEventListener("change", () => this.actions.set(name, select.value as Settings[K]));
    this.refreshers.push((s) => (select.value = String(s[name])));
    return select;
  }

  private lane(letter: string, text: string) {
    const input = h("input", { type: "checkbox", role: "switch", "aria-label": `Curve: ${text}` });
    let lanes = "";
    input.addEventListener("change", () => this.actions.set("lanes", [..."cnise"].filter((l) => (l === letter ? input.checked : lanes.includes(l))).join("")));
    this.refreshers.push((s) => {
      lanes = s.lanes;
      input.checked = lanes.includes(letter);
    });
    return h("label", { class: "switch" }, h("span", { text }), input);
  }
}
