// The frames of one run. Chunks stay compressed; those around the cursor are decoded and kept while memory allows. Every
// chunk is decoded once at the start, in order, for its numbers per frame and for what is wrong with it.
import { Chunk, decode_text } from "./chunk";
import { Series } from "./series";
import { World } from "./world";

const MEMORY = 96e6; // bytes of decoded chunks that are kept
const SLICE = 12; // ms of scanning before the page may draw

interface Piece {
  text: string;
  frames: number; // 0: damaged
  begin: number; // absolute number of its first frame
  chunk: Chunk | null;
  used: number; // when it was used last
  pending: Promise<void> | null;
}

export interface Frame {
  chunk: Chunk;
  k: number; // within the chunk
}

export class Recording {
  readonly series = new Series();
  readonly notes: string[] = [];
  complete = false; // all chunks have been seen
  expected = NaN; // frames, where the end of the recording says so
  missed_steps = NaN; // of all steps, where the end says so
  impulse_sample: number[] = []; // normal impulses, N s, for the length of arrows
  pressure_max = 0; // Pa, of what has been seen
  private pieces: Piece[] = [];
  private clock = 0;
  private memory = 0;

  constructor(readonly world: World, readonly run = 0) {
    this.notes.push(...world.notes);
  }

  get begin() { return this.series.begin; }
  get end() { return this.series.end; }
  get count() { return this.series.count; }
  get first_time() { return this.count ? this.series.at("time", this.begin) : 0; }
  get last_time() { return this.count ? this.series.at("time", this.end - 1) : 0; }
  get chunks() { return this.pieces.length; }
  get bytes_decoded() { return this.memory; }

  // Reads all chunks of a file. The page is told after each slice of work; `claimed` is the number of frames that the tag
  // promises (NaN if it does not).
  async scan(texts: { text: string; claimed: number }[], progress: () => void, cut_off: boolean) {
    let since = performance.now();
    for (let i = 0; i < texts.length; ++i) {
      const last = i + 1 === texts.length;
      try {
        const chunk = await this.append(texts[i].text);
        if (Number.isFinite(texts[i].claimed) && texts[i].claimed !== chunk.frames)
          this.notes.push(`chunk ${i + 1} says ${texts[i].claimed} frames and has ${chunk.frames}`);
      } catch (error) {
        const claimed = texts[i].claimed > 0 ? `, ${texts[i].claimed} frames` : "";
        const where = this.count ? `after t = ${this.last_time.toPrecision(4)} s` : "at the start";
        this.notes.push(last && cut_off
          ? `the last chunk is cut off (${(error as Error).message}); the recording ends ${where}`
          : `chunk ${i + 1} of ${texts.length} (${where}${claimed}) is damaged and left out: ${(error as Error).message}`);
      }
      if (performance.now() - since > SLICE || i === 0) {
        progress();
        await new Promise((resolve) => setTimeout(resolve));
        since = performance.now();
      }
    }
    this.complete = true;
    if (this.series.time_notes)
      this.notes.push(`${this.series.time_notes} frames have a time that is not finite or runs backwards; times were filled in`);
    progress();
  }

  decode(text: string): Promise<Chunk> {
    return decode_text(text, this.world.bodies.length - 1, this.world.geoms.length);
  }

  async append(text: string): Promise<Chunk> {
    return this.append_decoded(text, await this.decode(text));
  }

  append_decoded(text: string, chunk: Chunk): Chunk {
    const piece: Piece = { text, frames: chunk.frames, begin: this.series.end, chunk: null, used: 0, pending: null };
    if (chunk.frames === 0) return chunk;
    this.sample(chunk);
    this.pieces.push(piece);
    this.series.append(chunk, this.world.frame_time);
    this.keep(piece, chunk);
    return chunk;
  }

  // Forgets chunks that ended before the time t (live view). The newest stays.
  drop_before(t: number) {
    let gone = 0;
    while (gone + 1 < this.pieces.length && this.series.at("time", this.pieces[gone + 1].begin) < t) {
      const piece = this.pieces[gone++];
      if (piece.chunk) this.memory -= piece.chunk.bytes;
      piece.chunk = null;
      this.series.drop(piece.frames);
    }
    if (gone) this.pieces.splice(0, gone);
  }

  // The frame if it is decoded; otherwise null, and `ready` is called when it is.
  frame(number: number, ready?: () => void): Frame | null {
    const piece = this.piece_of(number);
    if (!piece) return null;
    piece.used = ++this.clock;
    if (piece.chunk) return { chunk: piece.chunk, k: number - piece.begin };
    const load = this.load(piece);
    if (ready) load.then(ready);
    return null;
  }

  async frame_loaded(number: number): Promise<Frame | null> {
    const piece = this.piece_of(number);
    if (!piece) return null;
    piece.used = ++this.clock;
    if (!piece.chunk) await this.load(piece);
    return piece.chunk ? { chunk: piece.chunk, k: number - piece.begin } : null;
  }

  // Decodes what playing will need next.
  prefetch(number: number) {
    const piece = this.piece_of(number);
    if (piece && !piece.chunk) void this.load(piece);
  }

  private piece_of(number: number): Piece | null {
    let low = 0;
    let high = this.pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pieces[middle].begin <= number) low = middle + 1;
      else high = middle;
    }
    const piece = this.pieces[low - 1];
    return piece && number < piece.begin + piece.frames ? piece : null;
  }

  private load(piece: Piece): Promise<void> {
    piece.pending ??= this.decode(piece.text)
      .then((chunk) => this.keep(piece, chunk), () => undefined)
      .finally(() => (piece.pending = null));
    return piece.pending;
  }

  private keep(piece: Piece, chunk: Chunk) {
    if (!piece.chunk) this.memory += chunk.bytes;
    piece.chunk = chunk;
    piece.used = ++this.clock;
    if (this.memory <= MEMORY) return;
    const decoded = this.pieces.filter((p) => p.chunk && p !== piece).sort((a, b) => a.used - b.used);
    for (const old of decoded) {
      if (this.memory <= 0.75 * MEMORY) break;
      this.memory -= old.chunk!.bytes;
      old.chunk = null;
    }
  }

  private sample(chunk: Chunk) {
    for (const p of chunk.contact_pressure) if (p > this.pressure_max) this.pressure_max = p;
    if (this.impulse_sample.length > 20000) return;
    const stride = Math.max(1, Math.floor(chunk.contacts / 500));
    for (let i = 0; i < chunk.contacts; i += stride) {
      const x = chunk.contact_impulse;
      const size = Math.hypot(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
      if (size > 0 && Number.isFinite(size)) this.impulse_sample.push(size);
    }
  }
}
