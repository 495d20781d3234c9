// Entry: reads the data of the page, or connects to the live server, and starts the page.
import { App } from "./app";
import { Recording } from "./data/recording";
import { read_tags, RunTags } from "./data/tags";
import { read_world } from "./data/world";
import { LiveSession } from "./live_session";
import { listen_pointer } from "./pointer";
import { contact_numbers } from "./data/contact";
import { by_id } from "./ui/dom";
import { listen } from "./ui/keys";
import { notice } from "./ui/notices";

function open_run(tags: RunTags): { recording: Recording; tags: RunTags } | null {
  try {
    const recording = new Recording(read_world(tags.world), tags.run);
    if (tags.end !== null) {
      try {
        const end = JSON.parse(tags.end);
        if (typeof end.frames === "number") recording.expected = end.frames;
        if (typeof end.missed_steps === "number") recording.missed_steps = end.missed_steps;
      } catch {
        recording.notes.push("the end of the recording is damaged");
        tags.end = null;
      }
    }
    if (!Number.isFinite(recording.expected)) recording.expected = tags.frames.reduce((s, f) => s + (f.claimed || 0), 0);
    return { recording, tags };
  } catch (error) {
    notice("error", `The world of this page cannot be read: ${(error as Error).message}.`);
    return null;
  }
}

async function show_replay(app: App, all: RunTags[]) {
  const runs = all.map(open_run).filter((r) => r !== null);
  if (runs.length === 0) {
    if (all.length === 0) notice("info", "This page holds no recording. Make one with: tribo sim SCENE --record run.html");
    (window as any).triboReady = true;
    return;
  }
  app.set_runs(runs.map((r) => r.recording));
  await Promise.all(runs.map(({ recording, tags }) => recording.scan(tags.frames, () => app.data_changed(), tags.end === null)));
  for (const { recording, tags } of runs) {
    const name = runs.length > 1 ? `${recording.world.name} (run ${"AB"[recording.run] ?? recording.run})` : recording.world.name;
    const notes = recording.notes;
    if (tags.end === null) notes.push(`the end of the recording is missing: the program was stopped or the file was cut; ${recording.count} frames are shown`);
    else if (recording.count !== recording.expected) notes.push(`the recording should have ${recording.expected} frames; ${recording.count} are readable`);
    if (notes.length) notice("warning", `${name} is not complete`, notes);
    if (recording.count === 0) notice("warning", `${name} has no frames: the world is shown as it was described`);
  }
  app.data_changed();
}

function start() {
  const tags = read_tags(document);
  const app = new App(tags.live !== null);
  if (tags.notes.length) notice("warning", "Parts of this page are left out", tags.notes);
  const session = tags.live ? new LiveSession(app, tags.live.token) : null;
  listen(app.actions);
  listen_pointer(app, session);
  if (!session) void show_replay(app, tags.runs);
  (window as any).tribo = debugging(app, session);
}

// For tests and for curious people in the console.
function debugging(app: App, session: LiveSession | null) {
  return {
    app,
    get ready() { return app.ready; },
    get time() { return app.player.time; },
    get playing() { return app.remote ? app.remote.playing : app.player.playing; },
    get runs() { return app.recordings.length; },
    get frames() { return app.recordings.map((r) => r.count); },
    get frame() { return app.recordings.map((r, i) => app.frame_numbers[i] - r.begin); },
    get times() { return app.recordings.map((r, i) => r.series.at("time", app.frame_numbers[i])); },
    get contacts() { return app.frames.map((f) => (f ? f.chunk.first[f.k + 1] - f.chunk.first[f.k] : 0)); },
    get selection() { return app.selection; },
    get contact() {
      const s = app.selection;
      const f = s && app.frames[s.run];
      return s?.kind === "contact" && f && s.index >= 0 ? contact_numbers(app.recordings[s.run].world, f.chunk, s.index) : null;
    },
    get scriptMs() { return app.script_ms(); },
    scriptShare: (share: number) => app.script_ms(share),
    get drawCalls() { return app.stage?.draw_calls ?? 0; },
    get status() { return session?.status ?? null; },
    get connection() { return session?.connection ?? ""; },
    position: (body: number, run = 0) => app.stage?.views[run]?.poses.position(body) ?? null,
    screen(x: number, y: number, z: number, run = 0) {
      const at = app.stage?.projector(run, app.offsets[run])(x, y, z);
      const box = by_id("canvas").getBoundingClientRect();
      return at ? [at[0] + box.left, at[1] + box.top] : null;
    },
    seek: (t: number) => app.actions.seek(t),
  };
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
