// Selecting: what is under the pointer, and finding a contact again in the next frame.
import * as THREE from "three";
import { contact_numbers } from "./data/contact";
import { Frame, Recording } from "./data/recording";
import { Stage } from "./scene/stage";
import { Selection } from "./ui/numbers";
import { Mark } from "./ui/overlay";

export function contact_selection(recording: Recording, run: number, frame: Frame, index: number): Selection {
  const c = contact_numbers(recording.world, frame.chunk, index);
  return { kind: "contact", run, geoms: c.geoms, near: c.position, index };
}

// The contact of the same two geoms that is nearest to where it was; index -1 if they do not touch.
export function track(selection: Selection | null, frame: Frame | null) {
  if (selection?.kind !== "contact" || !frame) return;
  const { chunk, k } = frame;
  const [g0, g1] = selection.geoms;
  let best = Infinity;
  selection.index = -1;
  for (let i = chunk.first[k]; i < chunk.first[k + 1]; ++i) {
    if (chunk.contact_geoms[2 * i] !== g0 || chunk.contact_geoms[2 * i + 1] !== g1) continue;
    const p = chunk.contact_position;
    const d = Math.hypot(p[3 * i] - selection.near[0], p[3 * i + 1] - selection.near[1], p[3 * i + 2] - selection.near[2]);
    if (d < best || selection.index < 0) {
      best = d;
      selection.index = i;
    }
  }
  const i = selection.index;
  if (i >= 0) selection.near = [chunk.contact_position[3 * i], chunk.contact_position[3 * i + 1], chunk.contact_position[3 * i + 2]];
}

// Contacts first (they are small and drawn over bodies), then bodies.
export function pick(stage: Stage, recordings: Recording[], frames: (Frame | null)[], offsets: THREE.Vector3[], contacts: boolean, x: number, y: number, reach: number): Selection | null {
  const run = stage.run_at(x, y);
  const frame = frames[run];
  if (contacts && frame) {
    const project = stage.projector(run, offsets[run]);
    const p = frame.chunk.contact_position;
    let best = reach;
    let found = -1;
    for (let i = frame.chunk.first[frame.k]; i < frame.chunk.first[frame.k + 1]; ++i) {
      const at = project(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
      if (!at) continue;
      const d = Math.hypot(at[0] - x, at[1] - y);
      if (d < best) {
        best = d;
        found = i;
      }
    }
    if (found >= 0) return contact_selection(recordings[run], run, frame, found);
  }
  const { ray } = stage.ray(x, y, offsets[run]);
  const hit = stage.views[run]?.bodies.pick(ray);
  return hit && hit.body > 0 ? { kind: "body", run, body: hit.body } : null;
}

export function write_selection(selection: Selection | null): string {
  if (!selection) return "";
  const run = selection.run ? `@${selection.run}` : "";
  return selection.kind === "body" ? `body:${selection.body}${run}` : `contact:${selection.geoms.join(",")}${run}:${selection.near.map((v) => +v.toPrecision(5)).join(",")}`;
}

export function read_selection(text: string, recordings: Recording[]): Selection | null {
  const match = /^(body|contact):([\d,]+)(?:@(\d+))?(?::([-\d.,e]+))?$/.exec(text);
  if (!match) return null;
  const run = Number(match[3] ?? 0);
  const world = recordings[run]?.world;
  const numbers = match[2].split(",").map(Number);
  if (!world) return null;
  if (match[1] === "body") return numbers[0] > 0 && numbers[0] < world.bodies.length ? { kind: "body", run, body: numbers[0] } : null;
  if (numbers.length < 2 || numbers.some((g) => !(g < world.geoms.length))) return null;
  const near = (match[4] ?? "0,0,0").split(",").map(Number);
  return { kind: "contact", run, geoms: [numbers[0], numbers[1]], near: [near[0] || 0, near[1] || 0, near[2] || 0], index: -1 };
}

// Where the selection is in the picture.
export function selection_marks(stage: Stage, recordings: Recording[], selection: Selection | null, offsets: THREE.Vector3[]): Mark[] {
  const view = selection && stage.views[selection.run];
  if (!view || !selection) return [];
  const { world } = recordings[selection.run];
  const project = stage.projector(selection.run, offsets[selection.run]);
  if (selection.kind === "contact") {
    const at = selection.index >= 0 ? project(...selection.near) : null;
    return at ? [{ x: at[0], y: at[1], ring: true, text: `${world.geoms[selection.geoms[0]].name} · ${world.geoms[selection.geoms[1]].name}` }] : [];
  }
  const at = project(...view.poses.position(selection.body));
  return at && Number.isFinite(at[0]) ? [{ x: at[0], y: at[1] - 8, ring: false, text: world.bodies[selection.body].name }] : [];
}
