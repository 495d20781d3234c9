// What a user can do, by button, key or pointer: each changes the state of the page and asks for a new picture.
import { App } from "./app";
import { body_mode } from "./paint";
import { hardest, next_missed } from "./player";
import { PRESETS } from "./scene/stage";
import { contact_selection } from "./selecting";
import { SPEEDS } from "./settings";
import { by_id, format } from "./ui/dom";
import { CYCLES, KeyActions } from "./ui/keys";
import { announce } from "./ui/notices";
import { Selection } from "./ui/numbers";

export class Actions implements KeyActions {
  constructor(private readonly app: App) {}

  play() {
    if (this.app.remote) this.app.remote.play();
    else this.app.player.toggle();
    this.app.redraw();
  }
  step(frames: number) {
    if (this.app.remote && !this.app.remote.behind && frames > 0) return this.app.remote.step(frames);
    this.app.player.playing = false;
    const before = this.app.player.time;
    this.app.player.step(frames);
    if (this.app.remote && frames < 0 && this.app.player.time !== before) this.app.remote.behind = true;
    if (this.app.remote?.behind && this.app.player.time >= this.app.player.end) this.app.remote.to_edge();
    this.app.redraw();
  }
  seek(t: number) {
    this.app.player.seek(t);
    if (this.app.remote) this.app.remote.behind = t < this.app.player.end;
    this.app.redraw();
  }
  first() { this.seek(this.app.player.begin); }
  last() {
    this.app.remote?.to_edge();
    this.seek(this.app.player.end);
  }
  faster(direction: number) {
    const i = SPEEDS.findIndex((s) => s >= this.app.settings.speed - 1e-9);
    this.app.set("speed", SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, (i < 0 ? SPEEDS.length - 1 : i) + direction))]);
    announce(`Speed ${this.app.settings.speed}`);
  }
  missed(direction: number) {
    const t = next_missed(this.app.recordings, this.app.player.time, direction);
    if (Number.isFinite(t)) this.jump(t);
    else announce("No step was missed");
  }
  hardest() {
    const t = hardest(this.app.recordings);
    if (Number.isFinite(t)) this.jump(t);
  }
  private jump(t: number) {
    this.app.player.playing = false;
    this.seek(t);
    announce(`At ${format(t)} seconds`);
  }
  camera(preset: string, user = true) {
    if (!this.app.stage) return;
    const numbers = preset.split(",").map(Number);
    if (numbers.length >= 6 && numbers.every(Number.isFinite)) {
      this.app.stage.camera.position.set(numbers[0], numbers[1], numbers[2]);
      this.app.stage.controls.target.set(numbers[3], numbers[4], numbers[5]);
      this.app.stage.controls.update();
      this.app.stage.moved = user;
    } else {
      this.app.stage.fit(PRESETS[preset] ?? PRESETS.iso);
      this.app.stage.moved = false;
      if (user) this.app.address.camera = PRESETS[preset] ? preset : "";
    }
    this.app.redraw();
  }
  fit() {
    const s = this.app.selection;
    const view = s && this.app.stage?.views[s.run];
    if (!view || !s) return this.app.stage?.fit();
    const center = s.kind === "body" ? view.poses.position(s.body) : s.near;
    this.app.stage!.fit(undefined, { center, radius: 4 * view.size });
    this.app.stage!.moved = true;
  }
  follow() { this.set_follow(this.app.follow_body < 0 && this.app.selection?.kind === "body" ? this.app.selection.body : -1); }
  set_follow(body: number) {
    this.app.follow_body = body;
    this.app.viewpoint.follow_anew();
    this.app.redraw();
  }
  orbit(azimuth: number, elevation: number) { this.app.stage?.orbit(azimuth, elevation); }
  pan(x: number, y: number) { this.app.stage?.pan(x, y); }
  zoom(factor: number) { this.app.stage?.zoom(factor); }
  select(selection: Selection | null) {
    this.app.selection = selection;
    if (!selection) this.app.address.select = "";
    if (selection?.kind === "body") announce(`Selected ${this.app.recordings[selection.run].world.bodies[selection.body].name}`);
    if (selection && window.innerWidth <= 820) this.app.settings.right = "on";
    this.app.apply_settings();
  }
  next_contact(direction: number) {
    const run = this.app.selection?.run ?? 0;
    const frame = this.app.frames[run];
    if (!frame) return;
    const { first } = frame.chunk;
    const begin = first[frame.k], count = first[frame.k + 1] - begin;
    if (count === 0) return announce("No contacts in this frame");
    const here = this.app.selection?.kind === "contact" && this.app.selection.index >= begin ? this.app.selection.index - begin : direction > 0 ? -1 : 0;
    this.select(contact_selection(this.app.recordings[run], run, frame, begin + ((here + direction + count) % count)));
  }
  worst_contact() {
    const run = this.app.selection?.run ?? 0;
    const frame = this.app.frames[run];
    if (!frame) return;
    let worst = -1;
    for (let i = frame.chunk.first[frame.k]; i < frame.chunk.first[frame.k + 1]; ++i)
      if (worst < 0 || !(frame.chunk.contact_error[i] <= frame.chunk.contact_error[worst])) worst = i;
    if (worst >= 0) this.select(contact_selection(this.app.recordings[run], run, frame, worst));
  }
  search() {
    this.app.set("right", "on");
    this.app.numbers.focus_search();
  }
  copy() { void this.app.numbers.copy_numbers(); }
  escape() {
    (document.activeElement as HTMLElement | null)?.blur?.();
    if (window.innerWidth <= 820) this.app.settings.left = this.app.settings.right = "auto";
    this.select(null);
  }
  help_toggle() { this.app.help.open ? this.app.help.close() : this.app.help.showModal(); }
  panel(side: "left" | "right") {
    const on = by_id("app").dataset[side] === "on";
    if (!on && window.innerWidth <= 820) this.app.settings[side === "left" ? "right" : "left"] = "off";
    this.app.set(side, on ? "off" : "on");
  }
  panels() {
    const on = by_id("app").dataset.left === "on" || by_id("app").dataset.right === "on";
    this.app.settings.left = on ? "off" : "on";
    this.app.set("right", on || window.innerWidth <= 820 ? "off" : "on");
  }
  theme() { this.app.set("theme", this.app.dark ? "light" : "dark"); }
  toggle(name: "points" | "impulses" | "cones" | "slip" | "loop") { this.app.set(name, !this.app.settings[name]); }
  cycle(name: "shapes" | "look" | "body" | "contact") {
    const values = CYCLES[name] as string[];
    const now = name === "body" ? body_mode(this.app.settings, this.app.stage?.views[0]?.bodies.uniform_colors ?? false) : this.app.settings[name];
    const next = values[(values.indexOf(now) + 1) % values.length];
    this.app.set(name, next as never);
    announce(`${name}: ${next}`);
  }
}
