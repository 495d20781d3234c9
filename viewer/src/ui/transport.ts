// Play, step, speed, the time line with marks of missed steps, and the jumps.
import { is_missed, Player } from "../player";
import { SPEEDS } from "../settings";
import { format, h, icon, set_text } from "./dom";

export interface TransportActions {
  play(): void;
  step(frames: number): void;
  seek(t: number): void;
  speed(value: number): void;
  loop(): void;
  missed(direction: number): void;
  hardest(): void;
  live_edge(): void;
}

const button = (name: string, label: string, act: () => void, extra = "") =>
  h("button", { class: `tool ${extra}`, "aria-label": label, title: label, onclick: act }, icon(name));

export class Transport {
  private readonly play: HTMLButtonElement;
  private readonly loop: HTMLButtonElement;
  private readonly time = h("output", { class: "time", "aria-label": "Time" });
  private readonly speed = h("select", { "aria-label": "Speed", title: "Speed (, and .)" });
  readonly slider = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time", id: "slider" });
  private readonly track = h("canvas", {});
  private readonly tag = h("div", { class: "tag" });
  private readonly missed: HTMLButtonElement;
  private readonly hard: HTMLButtonElement;
  private readonly edge: HTMLButtonElement;
  private shown_play = false;

  constructor(bar: HTMLElement, above: HTMLElement, private readonly player: Player, actions: TransportActions) {
    this.play = button("play", "Play (Space)", actions.play, "main");
    this.loop = button("loop", "Loop (L)", actions.loop, "optional");
    for (const s of SPEEDS) this.speed.append(h("option", { value: s, text: `${s}×` }));
    this.speed.addEventListener("change", () => actions.speed(Number(this.speed.value)));
    this.missed = h("button", { class: "button", title: "Next step above the tolerance (N)", onclick: () => actions.missed(1) }, "Next missed step");
    this.hard = h("button", { class: "button", title: "Step with most iterations (H)", onclick: actions.hardest }, "Hardest step");
    this.edge = h("button", { class: "button", hidden: true, title: "Back to the present (End)", onclick: actions.live_edge }, "Back to live");
    bar.append(
      button("start", "First frame (Home)", () => actions.seek(player.begin), "optional"),
      button("back", "One frame back (←)", () => actions.step(-1)), this.play,
      button("forward", "One frame on (→)", () => actions.step(1)), this.loop, this.time, this.speed,
      h("span", { class: "gap optional" }), this.missed, this.hard, this.edge);
    above.before(h("div", { id: "scrub" }, this.tag, this.track, this.slider));
    this.slider.addEventListener("input", () => actions.seek(Number(this.slider.value)));
    // Arrow keys are frame steps everywhere on the page.
    this.slider.addEventListener("keydown", (event) => /^(Arrow|Home|End|Page)/.test(event.key) && event.preventDefault());
  }

  set(live_behind: boolean, playing: boolean, speed: number, loop: boolean) {
    if (playing !== this.shown_play) {
      this.shown_play = playing;
      this.play.replaceChildren(icon(playing ? "pause" : "play"));
      this.play.setAttribute("aria-label", playing ? "Pause (Space)" : "Play (Space)");
      this.play.title = playing ? "Pause (Space)" : "Play (Space)";
    }
    this.loop.setAttribute("aria-pressed", String(loop));
    this.edge.hidden = !live_behind;
    let option = [...this.speed.options].find((o) => Math.abs(Number(o.value) - speed) < 1e-9);
    if (!option) this.speed.append((option = h("option", { value: speed, text: `${+speed.toPrecision(3)}×` })));
    if (this.speed.value !== option.value) this.speed.value = option.value;
  }

  set_time(frame: number, frames: number) {
    const { begin, end, time } = this.player;
    const places = end - begin > 100 ? 2 : 3;
    set_text(this.time, `${time.toFixed(places)} s`);
    this.time.append(h("small", { text: ` / ${end.toFixed(places)}` }));
    this.slider.min = String(begin);
    this.slider.max = String(end > begin ? end : begin + 1e-9);
    this.slider.value = String(time);
    this.slider.setAttribute("aria-valuetext", `${format(time)} seconds, frame ${frame + 1} of ${frames}`);
    set_text(this.tag, frames ? `frame ${frame + 1} / ${frames}` : "no frames");
  }

  // The track: what is there, and where steps were missed.
  draw_track(expected: number) {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: w, clientHeight: h } = this.track;
    if (w === 0) return;
    this.track.width = w * ratio;
    this.track.height = h * ratio;
    const g = this.track.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    g.scale(ratio, ratio);
    g.fillStyle = style.getPropertyValue("--line");
    g.fillRect(0, h / 2 - 1.5, w, 3);
    const { begin, end, runs } = this.player;
    const loading = runs.some((r) => !r.complete) && expected > 0;
    if (loading) {
      const count = runs.reduce((s, r) => s + r.count, 0);
      g.fillStyle = style.getPropertyValue("--muted");
      g.fillRect(0, h - 2, (w * count) / expected, 2);
    }
    let missed = 0;
    g.fillStyle = style.getPropertyValue("--missed");
    for (const run of runs) {
      let last = -10;
      for (let f = run.begin; f < run.end; ++f) {
        if (!is_missed(run, f)) continue;
        ++missed;
        const x = Math.round(((run.series.at("time", f) - begin) / (end - begin || 1)) * w);
        if (x !== last) g.fillRect(x - 1, h / 2 - 6, 2, 12);
        last = x;
      }
    }
    this.missed.disabled = missed === 0;
    this.hard.disabled = !this.player.has_frames;
  }
}
