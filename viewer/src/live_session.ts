// A live view: chunks from the server become a recording of the last minute, commands go back.
import * as THREE from "three";
import { App } from "./app";
import { Chunk } from "./data/chunk";
import { Command, LiveLink, LiveStatus } from "./data/live";
import { Recording } from "./data/recording";
import { read_world } from "./data/world";
import { Pushing } from "./pointer";
import { by_id, format } from "./ui/dom";
import { LivePanel } from "./ui/live_panel";
import { dismiss_text, notice } from "./ui/notices";

const KEPT = 60; // s of simulated time that can be scrubbed back
const PUSH_SECONDS = 0.1;

export class LiveSession implements Pushing {
  status: LiveStatus | null = null;
  connection = "connecting";
  private readonly link: LiveLink;
  private readonly panel: LivePanel;
  private recording: Recording | null = null;
  private world_text = "";
  private queue: Promise<void> = Promise.resolve();
  private connection_text = "";
  private push_mode = false;
  private newtons = 50;
  private grabbed: { run: number; body: number; local: [number, number, number]; plane: THREE.Plane; x: number; y: number } | null = null;
  private push_timer = 0;

  constructor(private readonly app: App, token: string) {
    app.remote = {
      behind: false, playing: false,
      play: () => this.send({ do: this.status?.state === "playing" ? "pause" : "play" }),
      step: (steps) => this.send({ do: "step", steps }),
      to_edge: () => (app.remote!.behind = false),
      speed: (value) => this.status && Math.abs(value - this.status.speed) > 1e-9 && this.send({ do: "speed", value }),
    };
    this.panel = new LivePanel(by_id("right"), {
      send: (command, done) => this.send(command, done),
      push_mode: (on) => {
        this.push_mode = on;
        by_id("app").dataset.push = on ? "1" : "0";
      },
      push_selected: (force, seconds) => {
        const s = app.selection;
        const view = s?.kind === "body" ? app.stage?.views[s.run] : null;
        if (!view || s?.kind !== "body") return false;
        this.send({ do: "push", body: s.body, point: view.poses.position(s.body), force, seconds });
        return true;
      },
      strength: (newtons) => (this.newtons = newtons),
    });
    this.link = new LiveLink(token, {
      world: (text) => this.new_world(text),
      chunk: (text) => this.new_chunk(text),
      status: (status) => this.new_status(status),
      connection: (state, message) => this.new_connection(state, message),
    });
    void this.link.connect();
  }

  send(command: Command, done?: (reply: { file?: string }) => void) {
    void this.link.command(command).then((reply) => {
      if (!reply.ok) notice("error", `tribo refused “${command.do}”: ${reply.error ?? "no reason given"}`, [], 8);
      else if (reply.file) notice("info", `${command.do === "dump" ? "The problem of this step" : "The replay so far"} was written to ${reply.file}`, [], 30);
      if (reply.ok) done?.(reply);
    });
  }

  private new_connection(state: string, message: string) {
    this.connection = state;
    if (this.connection_text) dismiss_text(this.connection_text);
    this.connection_text = message;
    if (state === "refused") notice("error", message);
    else if (state === "connecting" && /lost/.test(message)) notice("warning", message);
  }

  private new_world(text: string) {
    this.world_text = text;
    try {
      this.begin_anew();
    } catch (error) {
      notice("error", `The server sent a world that cannot be shown: ${(error as Error).message}`);
    }
  }

  private begin_anew() {
    this.recording = new Recording(read_world(this.world_text));
    this.recording.complete = true;
    if (this.recording.notes.length) notice("warning", "Parts of the world are left out", this.recording.notes);
    const { selection } = this.app;
    this.app.set_runs([this.recording]);
    if (selection?.kind === "body" && selection.body < this.recording.world.bodies.length) this.app.actions.select(selection);
  }

  // Chunks are decoded at the same time and taken in order.
  private new_chunk(text: string) {
    const decoded = this.recording?.decode(text);
    decoded?.catch(() => undefined);
    this.queue = this.queue.then(async () => {
      try {
        if (decoded) this.take_chunk(text, await decoded);
      } catch (error) {
        notice("warning", `A chunk from the server is damaged and left out: ${(error as Error).message}`, [], 10);
      }
    });
  }

  private take_chunk(text: string, chunk: Chunk) {
    // A run that began again: its time runs backwards.
    if (this.recording!.count > 0 && chunk.time[0] < this.recording!.last_time - 1e-12) this.begin_anew();
    const recording = this.recording!;
    recording.append_decoded(text, chunk);
    recording.drop_before(recording.last_time - KEPT);
    if (!this.app.remote!.behind) this.app.player.time = recording.last_time;
    this.guess_strength(recording);
    this.app.data_changed();
  }

  // As strong as what typically rests on a body (four contacts): felt, and breaks nothing.
  private guess_strength(recording: Recording) {
    if (this.panel.strength_set || recording.impulse_sample.length < 20) return;
    const sorted = [...recording.impulse_sample].sort((a, b) => a - b);
    const force = (4 * sorted[sorted.length >> 1]) / recording.world.time_step;
    if (force > 0 && Number.isFinite(force)) this.panel.show_strength(Math.min(1e5, Math.max(0.1, force)), true);
  }

  private new_status(status: LiveStatus) {
    const before = this.status;
    this.status = status;
    this.app.remote!.playing = status.state === "playing";
    if (Number.isFinite(status.speed)) this.app.settings.speed = status.speed;
    this.panel.status(status);
    if (status.message && status.message !== before?.message) notice("info", status.message, [], 12);
    this.app.redraw();
  }

  // --- pushing with the pointer: a force from the point that was grabbed towards the pointer --------------------------

  enabled(event: PointerEvent) { return this.push_mode || event.shiftKey; }

  begin(x: number, y: number): boolean {
    const { stage, offsets } = this.app;
    if (!stage) return false;
    const run = stage.run_at(x, y);
    const { ray } = stage.ray(x, y, offsets[run]);
    const hit = stage.views[run]?.bodies.pick(ray);
    if (!hit || hit.body === 0) return false;
    const view = stage.views[run];
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new THREE.Vector3()), hit.point);
    this.grabbed = { run, body: hit.body, local: view.poses.local(hit.body, hit.point.toArray()), plane, x, y };
    this.app.actions.select({ kind: "body", run, body: hit.body });
    this.push_timer = window.setInterval(() => this.push(), 1000 * PUSH_SECONDS * 0.8);
    return true;
  }

  move(x: number, y: number) {
    if (!this.grabbed) return;
    this.grabbed.x = x;
    this.grabbed.y = y;
    this.push(false);
  }

  end() {
    this.push();
    clearInterval(this.push_timer);
    this.grabbed = null;
    this.app.push_line = null;
    this.app.redraw();
  }

  // The full strength is reached when the pointer is a third of the canvas away.
  private push(send = true) {
    const { stage, offsets } = this.app;
    const g = this.grabbed;
    if (!g || !stage) return;
    const view = stage.views[g.run];
    const point = view.poses.point(g.body, g.local);
    const { ray } = stage.ray(g.x, g.y, offsets[g.run]);
    const goal = ray.ray.intersectPlane(g.plane, new THREE.Vector3());
    const from = stage.projector(g.run, offsets[g.run])(...point);
    if (!goal || !from) return;
    this.app.push_line = [from[0], from[1], g.x, g.y];
    this.app.redraw();
    const way = goal.sub(new THREE.Vector3(...point));
    const pixels = Math.hypot(g.x - from[0], g.y - from[1]);
    if (!send || pixels < 3 || way.length() === 0) return;
    const amount = this.newtons * Math.min(1, pixels / (stage.canvas.clientHeight / 3));
    const force = way.setLength(amount).toArray();
    this.send({ do: "push", body: g.body, point, force, seconds: PUSH_SECONDS });
    by_id("announce").textContent = `Pushing with ${format(amount, 2)} N`;
  }
}
