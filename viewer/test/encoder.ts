// A second writer of docs/replay-format.md, for tests: chunks and pages from plain numbers.
import { deflateSync } from "node:zlib";

export interface TestContact {
  position: number[]; normal: number[]; impulse: number[]; velocity: number[];
  gap: number; friction: number; error: number; geoms: [number, number]; island: number; state: number;
  pressure?: number; // Pa
}

export interface TestFrame {
  time: number; step: number; islands: number; iterations: number; missed: number; error: number;
  solve_time: number; step_time: number; kinetic: number; potential: number; penetration: number;
  poses: number[][]; // x y z w qx qy qz per body without the world
  contacts: TestContact[];
}

const planes = (bytes: Buffer, width: number) => {
  const n = bytes.length / width;
  const out = Buffer.alloc(bytes.length);
  for (let i = 0; i < n; ++i) for (let p = 0; p < width; ++p) out[p * n + i] = bytes[i * width + p];
  return out;
};
const f64 = (v: number[]) => Buffer.from(new Float64Array(v).buffer);
const f32 = (v: number[]) => Buffer.from(new Float32Array(v).buffer);
const f32_planes = (v: number[]) => planes(f32(v), 4);
const u32 = (v: number[]) => Buffer.from(new Uint32Array(v).buffer);
const i16 = (v: number[]) => Buffer.from(new Int16Array(v.map((x) => Math.round(x * 32767))).buffer);

export function chunk_bytes(frames: TestFrame[], bodies: number, quantum = 1e-5): Buffer {
  const contacts = frames.flatMap((f) => f.contacts);
  const position = new Int32Array(3 * bodies * frames.length);
  const rotation = new Int16Array(4 * bodies * frames.length);
  let before_p = new Array(3 * bodies).fill(0);
  let before_r = new Array(4 * bodies).fill(0);
  frames.forEach((frame, k) => {
    const p = frame.poses.flatMap((pose) => pose.slice(0, 3).map((x) => Math.round(x / quantum)));
    const r = frame.poses.flatMap((pose) => {
      const sign = pose[3] < 0 ? -1 : 1;
      return pose.slice(3, 7).map((x) => Math.round(sign * x * 32767));
    });
    p.forEach((x, i) => (position[k * p.length + i] = x - before_p[i]));
    r.forEach((x, i) => (rotation[k * r.length + i] = x - before_r[i]));
    before_p = p;
    before_r = r;
  });
  const column = (name: keyof TestFrame) => frames.map((f) => f[name] as number);
  return Buffer.concat([
    Buffer.from("TRC2"), u32([frames.length, bodies, contacts.length]), f64([quantum]),
    f64(column("time")), u32(column("step")), u32(frames.map((f) => f.contacts.length)),
    u32(column("islands")), u32(column("iterations")), u32(column("missed")),
    f32(column("error")), f32(column("solve_time")), f32(column("step_time")),
    f64(column("kinetic")), f64(column("potential")), f32(column("penetration")),
    planes(Buffer.from(position.buffer), 4), planes(Buffer.from(rotation.buffer), 2),
    f32_planes(contacts.flatMap((c) => c.position)), planes(i16(contacts.flatMap((c) => c.normal)), 2),
    f32_planes(contacts.flatMap((c) => c.impulse)), f32_planes(contacts.flatMap((c) => c.velocity)),
    f32_planes(contacts.map((c) => c.gap)), f32_planes(contacts.map((c) => c.friction)), f32_planes(contacts.map((c) => c.error)),
    f32_planes(contacts.map((c) => c.pressure ?? 0)),
    planes(u32(contacts.flatMap((c) => c.geoms)), 4), planes(u32(contacts.map((c) => c.island)), 4),
    Buffer.from(contacts.map((c) => c.state)),
  ]);
}

export const chunk_text = (frames: TestFrame[], bodies: number) => deflateSync(chunk_bytes(frames, bodies)).toString("base64");

export interface TestRun { world: any; frames: TestFrame[]; per_chunk?: number; end?: boolean }

export const in_html = (value: unknown) => JSON.stringify(value).replaceAll("<", "\\u003c");

export function tags(run: TestRun, index = 0): string[] {
  const out = [`<script type="application/json" class="tribo-world" data-run="${index}">${in_html(run.world)}</script>\n`];
  const size = run.per_chunk ?? 60;
  for (let i = 0; i < run.frames.length; i += size) {
    const part = run.frames.slice(i, i + size);
    out.push(`<script type="text/plain" class="tribo-frames" data-run="${index}" data-frames="${part.length}">${chunk_text(part, run.world.bodies.length - 1)}</script>\n`);
  }
  if (run.end !== false)
    out.push(`<script type="application/json" class="tribo-end" data-run="${index}">${JSON.stringify({
      frames: run.frames.length, missed_steps: run.frames.filter((f) => f.missed).length })}</script>\n`);
  return out;
}
