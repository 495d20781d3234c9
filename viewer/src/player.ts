// The clock. One time for all runs; every run shows its last frame that is not after it.
import { Recording } from "./data/recording";

export class Player {
  time = 0; // s
  playing = false;
  speed = 1;
  loop = true;
  runs: Recording[] = [];

  get begin() { return this.runs.length ? Math.min(...this.runs.map((r) => r.first_time)) : 0; }
  get end() { return this.runs.length ? Math.max(...this.runs.map((r) => r.last_time)) : 0; }
  get has_frames() { return this.runs.some((r) => r.count > 0); }

  frame(run: number) { return this.runs[run].series.frame_at(this.time); }

  seek(time: number) {
    this.time = Math.min(this.end, Math.max(this.begin, time));
  }

  // Frame by frame over the frames of all runs.
  step(frames: number) {
    for (let n = Math.abs(frames); n > 0; --n) {
      const times = this.runs.filter((r) => r.count > 0).map((r) => {
        const here = r.series.frame_at(this.time);
        const t = r.series.at("time", here);
        if (frames > 0) return t > this.time + 1e-9 ? t : r.series.at("time", here + 1);
        return t < this.time - 1e-9 ? t : r.series.at("time", here - 1);
      }).filter(Number.isFinite);
      if (times.length === 0) return;
      this.seek(frames > 0 ? Math.min(...times) : Math.max(...times));
    }
  }

  toggle() {
    this.playing = !this.playing && this.has_frames;
    if (this.playing && this.time >= this.end - 1e-9) this.time = this.begin;
  }

  // seconds of wall clock have gone by; true if the time changed
  advance(seconds: number): boolean {
    if (!this.playing) return false;
    const before = this.time;
    this.time += seconds * this.speed;
    if (this.time > this.end) {
      const still_loading = this.runs.some((r) => !r.complete);
      if (still_loading) this.time = this.end;
      else if (this.loop && this.end > this.begin) this.time = this.begin + ((this.time - this.begin) % (this.end - this.begin));
      else {
        this.time = this.end;
        this.playing = false;
      }
    }
    return this.time !== before;
  }
}

// A step is missed where an island was, or where the error is above the tolerance.
export function is_missed(run: Recording, frame: number): boolean {
  return run.series.at("missed", frame) > 0 || run.series.at("error", frame) > run.world.tolerance;
}

// Time of the next missed step after t, from the beginning again if there is none; NaN without any.
export function next_missed(runs: Recording[], t: number, direction = 1): number {
  let best = NaN;
  let wrapped = NaN;
  const better = (a: number, b: number) => !(direction * (a - b) >= 0); // a comes before b, or b is NaN
  for (const run of runs)
    for (let f = run.begin; f < run.end; ++f) {
      if (!is_missed(run, f)) continue;
      const time = run.series.at("time", f);
      if (direction * (time - t) > 1e-9) best = better(time, best) ? time : best;
      else wrapped = better(time, wrapped) ? time : wrapped;
    }
  return Number.isFinite(best) ? best : wrapped;
}

// The step that took most iterations (of those the one that took longest); NaN without frames.
export function hardest(runs: Recording[]): number {
  let best = NaN;
  let most: [number, number] = [-1, -1];
  for (const run of runs)
    for (let f = run.begin; f < run.end; ++f) {
      const iterations = run.series.at("iterations", f);
      const seconds = run.series.at("solve_time", f) || 0;
      if (iterations > most[0] || (iterations === most[0] && seconds > most[1])) {
        most = [iterations, seconds];
        best = run.series.at("time", f);
      }
    }
  return best;
}
