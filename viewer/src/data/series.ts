// One number per frame and quantity, for all frames: what the curves and the time line are made of. Grows at the end; a
// live view forgets its oldest frames. Frames have absolute numbers begin … end - 1.
import { Chunk } from "./chunk";

const COLUMNS = {
  time: Float64Array, // s
  step: Uint32Array,
  contacts: Uint32Array,
  islands: Uint32Array,
  iterations: Uint32Array,
  missed: Uint32Array, // islands
  error: Float32Array,
  solve_time: Float32Array, // s
  step_time: Float32Array, // s
  kinetic: Float64Array, // J
  potential: Float64Array, // J
  penetration: Float32Array, // m
} as const;
export type Column = keyof typeof COLUMNS;
type Store = Float64Array | Float32Array | Uint32Array;

export class Series {
  begin = 0;
  end = 0;
  time_notes = 0; // frames whose time was not finite or ran backwards
  private start = 0; // where frame `begin` is stored
  private capacity = 256;
  private store = {} as Record<Column, Store>;

  constructor() {
    for (const name of Object.keys(COLUMNS) as Column[]) this.store[name] = new COLUMNS[name](this.capacity);
  }

  get count() { return this.end - this.begin; }

  at(column: Column, frame: number): number {
    return frame >= this.begin && frame < this.end ? this.store[column][this.start + frame - this.begin] : NaN;
  }

  // A view of all frames, valid until the next change.
  column(name: Column): Store {
    return this.store[name].subarray(this.start, this.start + this.count) as Store;
  }

  append(chunk: Chunk, frame_time: number) {
    this.reserve(chunk.frames);
    const at = this.start + this.count;
    const time = this.store.time;
    for (let k = 0; k < chunk.frames; ++k) {
      let t = chunk.time[k];
      const before = at + k > this.start ? time[at + k - 1] : -Infinity;
      if (!Number.isFinite(t) || t < before) {
        ++this.time_notes;
        t = Number.isFinite(before) ? before + frame_time : 0;
      }
      time[at + k] = t;
      this.store.contacts[at + k] = chunk.first[k + 1] - chunk.first[k];
    }
    for (const name of ["step", "islands", "iterations", "missed", "error", "solve_time", "step_time", "kinetic",
      "potential", "penetration"] as const)
      (this.store[name] as Float64Array).set(chunk[name] as Float64Array, at);
    this.end += chunk.frames;
  }

  drop(frames: number) {
    this.begin += frames;
    this.start += frames;
    if (this.start > 4096 && this.start > this.count) {
      for (const name of Object.keys(COLUMNS) as Column[]) this.store[name].copyWithin(0, this.start, this.start + this.count);
      this.start = 0;
    }
  }

  // The last frame that is not after t (the first one if all are).
  frame_at(t: number): number {
    const time = this.store.time;
    const limit = t + 1e-9 * Math.max(1, Math.abs(t));
    let low = this.start;
    let high = this.start + this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (time[middle] <= limit) low = middle + 1;
      else high = middle;
    }
    return this.begin + Math.max(0, low - 1 - this.start);
  }

  private reserve(more: number) {
    const needed = this.start + this.count + more;
    if (needed <= this.capacity) return;
    while (this.capacity < needed) this.capacity *= 2;
    for (const name of Object.keys(COLUMNS) as Column[]) {
      const bigger = new COLUMNS[name](this.capacity);
      bigger.set(this.store[name] as never);
      this.store[name] = bigger;
    }
  }
}
