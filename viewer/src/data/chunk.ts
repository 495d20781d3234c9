// A chunk of frames (docs/replay-format.md): inflate, check, undo planes and differences.
// Everything is checked before anything is believed: magic, bodies, counts, the exact length, indices in range.
import { base64_to_bytes } from "./base64";

export const OPEN = 0;
export const STICKS = 1;
export const SLIDES = 2;
export const NO_ISLAND = 2 ** 32 - 1; // of a contact that nothing moves

export interface Chunk {
  frames: number;
  bodies: number; // without the world
  contacts: number; // of all frames together
  quantum: number; // m
  time: Float64Array;
  step: Uint32Array;
  first: Uint32Array; // frames + 1: where the contacts of a frame begin
  islands: Uint32Array;
  iterations: Uint32Array;
  missed: Uint32Array; // missed islands
  error: Float32Array;
  solve_time: Float32Array; // s
  step_time: Float32Array; // s
  kinetic: Float64Array; // J
  potential: Float64Array; // J
  penetration: Float32Array; // m
  position: Int32Array; // quanta, 3 per body and frame
  rotation: Int16Array; // 4 per body and frame, x 32767
  contact_position: Float32Array;
  contact_normal: Int16Array; // x 32767
  contact_impulse: Float32Array; // N s
  contact_velocity: Float32Array; // m/s
  contact_gap: Float32Array;
  contact_friction: Float32Array;
  contact_error: Float32Array;
  contact_pressure: Float32Array; // Pa; 0: not a face of a pressure field
  contact_geoms: Uint32Array;
  contact_island: Uint32Array;
  contact_state: Uint8Array;
  bytes: number; // memory that the chunk takes
}

// Bytes of a chunk: fixed part, per frame, per body and frame, per contact.
const HEADER = 4 + 12 + 8;
const PER_FRAME = 8 + 4 + 4 + 12 + 4 + 8 + 16 + 4;
const PER_BODY = 12 + 8;
const PER_CONTACT = 12 + 6 + 12 + 12 + 16 + 8 + 4 + 1;

export function chunk_length(frames: number, bodies: number, contacts: number): number {
  return HEADER + frames * (PER_FRAME + bodies * PER_BODY) + contacts * PER_CONTACT;
}

// Writer and reader by hand: streams of blobs and responses take a detour through other threads, which a live view of
// many small chunks feels.
export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  written.catch(() => undefined); // the reader fails too
  const reader = stream.readable.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      parts.push(value);
      length += value.length;
    }
    await written;
  } catch {
    throw new Error("the compressed data are damaged or cut off");
  }
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export async function decode_text(text: string, bodies: number, geoms: number): Promise<Chunk> {
  return decode_chunk(await inflate(base64_to_bytes(text)), bodies, geoms);
}

class Reader {
  private at = 0;
  private readonly view: DataView;
  constructor(private readonly bytes: Uint8Array<ArrayBuffer>) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  private take(count: number): ArrayBuffer {
    const begin = this.bytes.byteOffset + this.at;
    this.at += count;
    return this.bytes.buffer.slice(begin, begin + count); // aligned
  }
  uint32() {
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }
  float64() {
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }
  u8(n: number) { return new Uint8Array(this.take(n)); }
  u32(n: number) { return new Uint32Array(this.take(4 * n)); }
  f32(n: number) { return new Float32Array(this.take(4 * n)); }
  f64(n: number) { return new Float64Array(this.take(8 * n)); }
  planes2(n: number): Int16Array<ArrayBuffer> {
    const p = this.u8(2 * n);
    const out = new Int16Array(n);
    for (let i = 0; i < n; ++i) out[i] = p[i] | (p[n + i] << 8);
    return out;
  }
  planes4(n: number): Int32Array<ArrayBuffer> {
    const p = this.u8(4 * n);
    const out = new Int32Array(n);
    for (let i = 0; i < n; ++i) out[i] = p[i] | (p[n + i] << 8) | (p[2 * n + i] << 16) | (p[3 * n + i] << 24);
    return out;
  }
}

// Sums the differences along frames, in place; integers wrap.
function undo_differences(values: Int32Array | Int16Array, width: number) {
  for (let i = width; i < values.length; ++i) values[i] = values[i] + values[i - width];
}

export function decode_chunk(bytes: Uint8Array<ArrayBuffer>, bodies: number, geoms: number): Chunk {
  if (bytes.length < HEADER) throw new Error(`it has ${bytes.length} bytes, fewer than its header`);
  const magic = String.fromCharCode(bytes[0], bytes[1], bytes[2], bytes[3]);
  if (magic !== "TRC2") throw new Error(`it begins with ${JSON.stringify(magic)}, not "TRC2"`);
  const reader = new Reader(bytes);
  reader.uint32();
  const F = reader.uint32();
  const B = reader.uint32();
  const C = reader.uint32();
  if (B !== bodies) throw new Error(`it has ${B} bodies, the world has ${bodies}`);
  const length = chunk_length(F, B, C);
  if (length !== bytes.length)
    throw new Error(`it has ${bytes.length} bytes; ${F} frames of ${B} bodies with ${C} contacts need ${length}`);
  const quantum = reader.float64();
  if (!(quantum > 0) || !Number.isFinite(quantum)) throw new Error(`its position quantum is ${quantum}`);
  const time = reader.f64(F);
  const step = reader.u32(F);
  const counts = reader.u32(F);
  const first = new Uint32Array(F + 1);
  let sum = 0;
  for (let k = 0; k < F; ++k) first[k + 1] = sum += counts[k];
  if (sum !== C) throw new Error(`its contact counts sum to ${sum}, its header says ${C}`);
  const float_planes = (n: number) => new Float32Array(reader.planes4(n).buffer);
  const chunk: Chunk = {
    frames: F, bodies: B, contacts: C, quantum, time, step, first,
    islands: reader.u32(F),
    iterations: reader.u32(F),
    missed: reader.u32(F),
    error: reader.f32(F),
    solve_time: reader.f32(F),
    step_time: reader.f32(F),
    kinetic: reader.f64(F),
    potential: reader.f64(F),
    penetration: reader.f32(F),
    position: reader.planes4(3 * B * F),
    rotation: reader.planes2(4 * B * F),
    contact_position: float_planes(3 * C),
    contact_normal: reader.planes2(3 * C),
    contact_impulse: float_planes(3 * C),
    contact_velocity: float_planes(3 * C),
    contact_gap: float_planes(C),
    contact_friction: float_planes(C),
    contact_error: float_planes(C),
    contact_pressure: float_planes(C),
    contact_geoms: new Uint32Array(reader.planes4(2 * C).buffer),
    contact_island: new Uint32Array(reader.planes4(C).buffer),
    contact_state: reader.u8(C),
    bytes: length,
  };
  undo_differences(chunk.position, 3 * B);
  undo_differences(chunk.rotation, 4 * B);
  for (const g of chunk.contact_geoms) if (g >= geoms) throw new Error(`a contact names geom ${g}; the world has ${geoms}`);
  for (const s of chunk.contact_state) if (s > 2) throw new Error(`a contact has the state ${s}; states are 0, 1, 2`);
  return chunk;
}
