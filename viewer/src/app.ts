// The page: settings, clock, scene and panels held together. One function, `tick`, runs once per animation frame.
import * as THREE from "three";
import { Actions } from "./actions";
import { Frame, Recording } from "./data/recording";
import { body_mode, body_paint, contact_style, Scaling, scaling_of } from "./paint";
import { Player } from "./player";
import { Stage } from "./scene/stage";
import { read_selection, selection_marks, track, write_selection } from "./selecting";
import { Address, DEFAULTS, read_address, Settings, write_address } from "./settings";
import { Curves } from "./ui/curves";
import { Display } from "./ui/display";
import { by_id, format, h, icon } from "./ui/dom";
import { help_dialog } from "./ui/help";
import { notice } from "./ui/notices";
import { Numbers, Selection } from "./ui/numbers";
import { Overlay } from "./ui/overlay";
import { show_facts } from "./ui/top";
import { Transport } from "./ui/transport";
import { Viewpoint } from "./viewpoint";

export class App {
  readonly actions = new Actions(this);
  settings: Settings;
  readonly player = new Player();
  readonly stage: Stage | null;
  readonly overlay = new Overlay();
  readonly numbers: Numbers;
  recordings: Recording[] = [];
  frames: (Frame | null)[] = []; // what is shown
  frame_numbers: number[] = []; // what should be shown
  offsets: THREE.Vector3[] = [];
  selection: Selection | null = null;
  follow_body = -1;
  push_line: [number, number, number, number] | null = null;
  remote: { play(): void; step(frames: number): void; behind: boolean; playing: boolean; to_edge(): void; speed(x: number): void } | null = null;
  drawn = 0; // frames
  readonly script_times = new Float64Array(120); // ms, of the last frames
  ready = false;
  private readonly transport: Transport;
  private readonly curves: Curves;
  private readonly display: Display;
  readonly help: HTMLDialogElement;
  address: Address;
  private scaling: Scaling = { impulse: 1, length: 1, marker: 0.1, slip: 1 };
  private dirty = true; // pictures
  private panels_dirty = true;
  private panels_at = 0;
  private time_dirty = false; // the time line has another end
  private address_timer = 0;
  private last_tick = 0;
  private wanted_time = NaN; // from the address, until the recording reaches it
  readonly viewpoint = new Viewpoint();
  private paint_key = "";
  private track_timer = 0;

  constructor(readonly live: boolean) {
    this.address = read_address(location.hash);
    this.settings = this.address.settings;
    this.wanted_time = this.address.t;
    this.stage = this.make_stage();
    this.display = new Display(by_id("left"), { set: (n, v) => this.set(n, v), camera: (p) => this.actions.camera(p), fit: () => this.actions.fit(), follow: () => this.actions.follow() });
    this.numbers = new Numbers(by_id("right"), { select: (s) => this.actions.select(s) });
    this.transport = new Transport(by_id("transport"), by_id("lanes"), this.player, {
      play: () => this.actions.play(), step: (n) => this.actions.step(n), seek: (t) => this.actions.seek(t), speed: (x) => this.set("speed", x), loop: () => this.actions.toggle("loop"),
      missed: (d) => this.actions.missed(d), hardest: () => this.actions.hardest(), live_edge: () => this.actions.last() });
    this.curves = new Curves(by_id("lanes"), () => [this.player.begin, this.player.end], (t) => this.actions.seek(t), () => this.redraw());
    this.help = help_dialog(live);
    document.body.append(this.help);
    const tool = (name: string, label: string, act: () => void) => h("button", { class: "tool", id: `tool-${name}`, "aria-label": label, title: label, onclick: act }, name === "help" ? "?" : icon(name));
    by_id("tools").append(tool("search", "Search by name (/)", () => this.actions.search()), tool("layers", "Display panel (U)", () => this.actions.panel("left")),
      tool("panel", "Numbers panel (U)", () => this.actions.panel("right")), tool("theme", "Light or dark (T)", () => this.actions.theme()), tool("help", "Help (?)", () => this.actions.help_toggle()));
    by_id("app").dataset.ui = this.address.ui ? "1" : "0";
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.apply_settings());
    new ResizeObserver(() => this.resized()).observe(by_id("stage"));
    window.addEventListener("hashchange", () => this.address_changed());
    this.player.playing = this.address.play;
    this.follow_body = this.address.follow;
    this.apply_settings();
    requestAnimationFrame((now) => this.tick(now));
  }

  private make_stage(): Stage | null {
    try {
      return new Stage(by_id<HTMLCanvasElement>("canvas"), () => this.redraw());
    } catch {
      notice("error", "This browser cannot draw in 3D (WebGL 2 is missing or switched off). Curves and numbers work.");
      return null;
    }
  }

  // Of the last frames that were drawn, ms: the time that this share of them stays below.
  script_ms(share = 0.5) {
    const known = this.script_times.slice(0, Math.min(this.drawn, this.script_times.length)).sort();
    return known.length ? known[Math.min(known.length - 1, Math.floor(share * known.length))] : 0;
  }

  get dark() {
    return this.settings.theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : this.settings.theme === "dark";
  }

  // -1 unless all runs have that body.
  private known_body(body: number) {
    return this.recordings.length && this.recordings.every((r) => body < r.world.bodies.length) ? body : -1;
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  set_runs(recordings: Recording[]) {
    this.recordings = this.player.runs = recordings;
    this.follow_body = this.known_body(this.follow_body);
    this.frames = recordings.map(() => null);
    this.frame_numbers = recordings.map(() => 0);
    this.offsets = recordings.map(() => new THREE.Vector3());
    this.viewpoint.forget();
    this.selection = null;
    this.stage?.set_runs(recordings);
    by_id("app").dataset.kind = this.live ? "live" : recordings.length ? "replay" : "empty";
    if (recordings.length) document.title = `${recordings.map((r) => r.world.name).join(" | ")} · tribo`;
    this.curves.set_runs(recordings);
    this.numbers.set_world();
    this.apply_settings();
    this.data_changed();
  }

  // More frames are there.
  data_changed() {
    if (this.stage?.views.length) this.scaling = scaling_of(this.recordings, Math.max(...this.stage.views.map((v) => v.size)));
    show_facts(this.recordings, this.live);
    this.curves.refresh_later();
    if (!this.track_timer) this.track_timer = window.setTimeout(() => {
      this.track_timer = 0;
      this.transport.draw_track(this.recordings.reduce((s, r) => s + (r.expected || 0), 0));
    }, 200);
    if (!Number.isFinite(this.player.time)) this.player.time = this.player.begin;
    if (this.player.time < this.player.begin) this.player.time = this.player.begin;
    const complete = this.recordings.every((r) => r.complete);
    if (Number.isFinite(this.wanted_time) && this.player.has_frames && (complete || this.player.end >= this.wanted_time)) {
      this.player.seek(this.wanted_time);
      this.wanted_time = NaN;
      this.frames.fill(null);
      this.viewpoint.forget(); // look at what is there at that time
    }
    if (!this.selection && this.address.select) this.selection = read_selection(this.address.select, this.recordings);
    // While a long recording is being read, the picture stays unless another frame is to be seen.
    const same = !this.dirty && this.recordings.every((r, i) => this.frames[i] && this.player.frame(i) === this.frame_numbers[i] && r.count > 1);
    if (!same || complete) this.redraw();
    else this.panels_dirty = this.time_dirty = true;
  }

  redraw() {
    this.dirty = this.panels_dirty = true;
    this.ready = false;
  }

  // --- one animation frame --------------------------------------------------------------------------------------------

  private tick(now: number) {
    requestAnimationFrame((next) => this.tick(next));
    const seconds = Math.min(0.25, Math.max(0, (now - this.last_tick) / 1000));
    this.last_tick = now;
    const begin = performance.now();
    this.player.speed = this.settings.speed;
    this.player.loop = this.settings.loop;
    const was_playing = this.player.playing;
    if (!this.remote && this.player.advance(seconds)) this.dirty = this.panels_dirty = true;
    if (was_playing !== this.player.playing) this.panels_dirty = true;
    const draws = this.dirty && this.recordings.length > 0;
    if (draws) {
      this.dirty = false;
      this.draw();
    }
    if (this.time_dirty && this.recordings.length) this.draw_time();
    // While playing the panels change ten times a second; more nobody reads.
    if (this.panels_dirty && (!this.player.playing || now - this.panels_at > 100)) this.draw_panels(now);
    if (draws) this.script_times[this.drawn++ % this.script_times.length] = performance.now() - begin;
  }

  private draw() {
    let complete = true;
    const { player } = this;
    this.recordings.forEach((recording, run) => {
      if (recording.count === 0) return;
      const number = (this.frame_numbers[run] = player.frame(run));
      const frame = recording.frame(number, () => this.redraw());
      if (frame) this.frames[run] = frame;
      else complete = false;
      if (player.playing) recording.prefetch(Math.min(recording.end - 1, number + 40));
    });
    track(this.selection, this.selection ? this.frames[this.selection.run] : null);
    if (this.stage) this.draw_stage(this.stage);
    this.draw_time();
    const settled = complete && !Number.isFinite(this.wanted_time) && (player.has_frames || this.recordings.every((r) => r.complete));
    if (settled && !this.ready) {
      this.ready = true;
      (window as any).triboReady = true;
    }
  }

  private draw_time() {
    this.time_dirty = false;
    const first = this.recordings[0];
    this.curves.set_time(this.player.time, this.frame_numbers);
    this.transport.set_time(first.count ? this.frame_numbers[0] - first.begin : 0, first.count);
  }

  private draw_stage(stage: Stage) {
    const { settings } = this;
    stage.views.forEach((view, run) => {
      const recording = this.recordings[run];
      const frame = this.frames[run];
      let next: Frame | null = null;
      let s = 0;
      if (settings.smooth && frame) {
        const t0 = recording.series.at("time", this.frame_numbers[run]);
        const t1 = recording.series.at("time", this.frame_numbers[run] + 1);
        if (t1 > t0) {
          next = recording.frame(this.frame_numbers[run] + 1);
          s = Math.min(1, Math.max(0, (this.player.time - t0) / (t1 - t0)));
        }
      }
      view.set_frame(frame, next, s);
      const mode = body_mode(settings, view.bodies.uniform_colors);
      const selected = this.selection?.kind === "body" ? this.selection.body : -1;
      if (mode === "island" || mode === "error" || this.paint_key !== `${mode}|${selected}|${this.dark}`)
        view.bodies.paint(body_paint(mode, recording, frame), selected);
      if (run === stage.views.length - 1) this.paint_key = `${mode}|${selected}|${this.dark}`;
      view.contacts.update(frame, contact_style(settings, this.scaling, recording, frame, this.dark));
    });
    const known = this.frames.every((f, i) => f || (!this.live && this.recordings[i].complete && this.recordings[i].count === 0));
    this.viewpoint.place(stage, this.offsets, this.follow_body, known, () => this.actions.camera(this.address.camera || "iso", false));
    stage.draw(this.offsets);
    this.overlay.marks(selection_marks(stage, this.recordings, this.selection, this.offsets), this.push_line);
  }

  private draw_panels(now: number) {
    this.panels_dirty = false;
    this.panels_at = now;
    const playing = this.remote ? this.remote.playing : this.player.playing;
    this.transport.set(this.remote?.behind ?? false, playing, this.settings.speed, this.settings.loop);
    this.display.refresh(this.settings, this.follow_body >= 0, this.selection?.kind === "body");
    if (this.recordings.length)
      this.numbers.update({ recordings: this.recordings, frames: this.frames, numbers: this.frame_numbers, poses: this.stage?.views.map((v) => v.poses) ?? [] }, this.selection);
    const views = this.stage?.views ?? [];
    const cell = views.length ? `grid ${format(views[0].ground.cell, 1)} m` : "";
    const mode = body_mode(this.settings, views[0]?.bodies.uniform_colors ?? false);
    this.overlay.legend(this.settings, mode, this.recordings[0]?.world.tolerance ?? NaN, cell);
    if (!this.player.playing) this.write_address_later();
  }

  // --- settings, address ------------------------------------------------------------------------------------------------

  set<K extends keyof Settings>(name: K, value: Settings[K]) {
    this.settings[name] = value;
    if (name === "speed") this.remote?.speed(value as number);
    this.apply_settings();
  }

  apply_settings() {
    const { settings, stage } = this;
    document.documentElement.dataset.theme = this.dark ? "dark" : "light";
    const app = by_id("app");
    const narrow = window.innerWidth <= 820;
    for (const side of ["left", "right"] as const) {
      const on = settings[side] === "auto" ? !narrow : settings[side] === "on";
      app.dataset[side] = on ? "on" : "off";
      by_id(side === "left" ? "tool-layers" : "tool-panel").setAttribute("aria-pressed", String(on));
    }
    this.curves.show(narrow && settings.lanes === DEFAULTS.lanes ? "cn" : settings.lanes);
    this.curves.theme();
    if (stage) {
      stage.theme(this.dark);
      for (const view of stage.views) {
        view.bodies.look(settings.shapes, settings.look);
        view.shadows(settings.shadows);
        view.ground.group.visible = settings.ground;
        view.axes.visible = settings.axes;
      }
    }
    this.paint_key = "";
    this.transport.draw_track(this.recordings.reduce((s, r) => s + (r.expected || 0), 0));
    this.redraw();
  }

  private resized() {
    this.stage?.resize();
    this.curves.refresh_later();
    this.apply_settings();
    if (this.stage) this.overlay.titles(this.recordings.map((r) => ({ name: r.world.name, detail: `${r.world.solver}, ${r.world.law} law` })), (run) => this.stage!.rect(run));
    if (this.stage && !this.stage.moved && this.viewpoint.placed) this.actions.camera(this.address.camera || "iso", false);
  }

  private camera_text(): string {
    if (!this.stage?.moved) return this.address.camera;
    const { camera, controls } = this.stage;
    return [...camera.position.toArray(), ...controls.target.toArray()].map((x) => +x.toPrecision(5)).join(",");
  }

  private write_address_later() {
    if (this.address_timer) return;
    this.address_timer = window.setTimeout(() => {
      this.address_timer = 0;
      if (this.player.playing || Number.isFinite(this.wanted_time)) return;
      const t = this.live || !this.player.has_frames ? NaN : this.player.time;
      const text = write_address({ settings: this.settings, t, camera: this.camera_text(), select: write_selection(this.selection), follow: this.follow_body, play: false, ui: this.address.ui });
      if (text !== location.hash && text.length < 1800) history.replaceState(null, "", text);
    }, 400);
  }

  private address_changed() {
    this.address = read_address(location.hash);
    this.settings = this.address.settings;
    by_id("app").dataset.ui = this.address.ui ? "1" : "0";
    if (Number.isFinite(this.address.t)) this.player.seek(this.address.t);
    this.player.playing = this.address.play;
    this.selection = read_selection(this.address.select, this.recordings);
    if (this.address.camera) this.actions.camera(this.address.camera);
    this.actions.set_follow(this.known_body(this.address.follow));
    this.apply_settings();
  }
}
