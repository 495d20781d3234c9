// The keyboard. Letters work unless a text is being typed; a focused button keeps Space and Enter.
import { Settings } from "../settings";
import { PRESETS } from "../scene/stage";

export interface KeyActions {
  play(): void;
  step(frames: number): void;
  first(): void;
  last(): void;
  faster(direction: number): void;
  missed(direction: number): void;
  hardest(): void;
  camera(preset: string): void;
  fit(): void;
  follow(): void;
  orbit(azimuth: number, elevation: number): void;
  pan(x: number, y: number): void;
  zoom(factor: number): void;
  next_contact(direction: number): void;
  worst_contact(): void;
  search(): void;
  copy(): void;
  escape(): void;
  help_toggle(): void;
  panels(): void;
  theme(): void;
  toggle(name: "points" | "impulses" | "cones" | "slip" | "loop"): void;
  cycle(name: "shapes" | "look" | "body" | "contact"): void;
}

export const CYCLES = {
  shapes: ["visual", "collision", "both"],
  look: ["solid", "glass", "wire"],
  body: ["material", "body", "island", "error"],
  contact: ["state", "error", "island", "pressure"],
} satisfies Partial<Record<keyof Settings, string[]>>;

export function listen(actions: KeyActions) {
  const turn = 0.09;
  const table: Record<string, () => void> = {
    " ": () => actions.play(), "[": () => actions.next_contact(-1), "]": () => actions.next_contact(1),
    Home: () => actions.first(), End: () => actions.last(), ",": () => actions.faster(-1), ".": () => actions.faster(1),
    l: () => actions.toggle("loop"), n: () => actions.missed(1), N: () => actions.missed(-1), h: () => actions.hardest(),
    f: () => actions.fit(), g: () => actions.follow(),
    w: () => actions.orbit(0, turn), s: () => actions.orbit(0, -turn), a: () => actions.orbit(-turn, 0), d: () => actions.orbit(turn, 0),
    W: () => actions.pan(0, 0.06), S: () => actions.pan(0, -0.06), A: () => actions.pan(-0.06, 0), D: () => actions.pan(0.06, 0),
    "+": () => actions.zoom(0.85), "=": () => actions.zoom(0.85), "-": () => actions.zoom(1 / 0.85),
    c: () => actions.toggle("points"), i: () => actions.toggle("impulses"), k: () => actions.toggle("cones"), j: () => actions.toggle("slip"),
    v: () => actions.cycle("shapes"), x: () => actions.cycle("look"), b: () => actions.cycle("body"), o: () => actions.cycle("contact"),
    t: () => actions.theme(), u: () => actions.panels(), m: () => actions.worst_contact(), "/": () => actions.search(), y: () => actions.copy(),
    Escape: () => actions.escape(), "?": () => actions.help_toggle(),
  };
  Object.keys(PRESETS).forEach((name, i) => (table[String(i + 1)] = () => actions.camera(name)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const typing = target.matches?.('input[type="search"], input[type="text"], input[type="number"], select, textarea');
    if (document.querySelector("dialog[open]") || (typing && event.key !== "Escape")) return;
    if (event.key === " " && target.matches?.("button, input, summary")) return;
    const adjusts = target.matches?.('input[type="range"]:not(#slider), input[type="radio"]');
    let act: (() => void) | undefined;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      if (adjusts) return;
      act = () => actions.step((event.key === "ArrowLeft" ? -1 : 1) * (event.shiftKey ? 10 : 1));
    } else if (!(adjusts && /^(Home|End)$/.test(event.key))) act = table[event.key] ?? table[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
