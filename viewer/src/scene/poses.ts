// Rotation matrices and positions of all bodies of a frame: 12 numbers per body (rows of R, then p), body 0 the world.
import { Frame } from "../data/recording";

// Quanta of a position that was not finite. Such a body has NaN for a position here and is not drawn.
export const NOT_FINITE = -(2 ** 31);

export class Poses {
  readonly data: Float64Array;
  constructor(readonly bodies: number) {
    this.data = new Float64Array(12 * bodies);
    for (let b = 0; b < bodies; ++b) this.data[12 * b] = this.data[12 * b + 4] = this.data[12 * b + 8] = 1;
  }

  // s in 0 … 1 moves towards the next frame (null: no next frame).
  set(frame: Frame, next: Frame | null = null, s = 0) {
    const { chunk, k } = frame;
    const { position, rotation, quantum } = chunk;
    const count = chunk.bodies;
    for (let b = 0; b < count; ++b) {
      const p = 3 * (k * count + b);
      const r = 4 * (k * count + b);
      const lost = position[p] === NOT_FINITE || position[p + 1] === NOT_FINITE || position[p + 2] === NOT_FINITE;
      let x = position[p] * quantum, y = position[p + 1] * quantum, z = position[p + 2] * quantum;
      let qw = rotation[r], qx = rotation[r + 1], qy = rotation[r + 2], qz = rotation[r + 3];
      if (next && s > 0) {
        const p2 = 3 * (next.k * count + b);
        const r2 = 4 * (next.k * count + b);
        const q = next.chunk;
        x += s * (q.position[p2] * q.quantum - x);
        y += s * (q.position[p2 + 1] * q.quantum - y);
        z += s * (q.position[p2 + 2] * q.quantum - z);
        const [w2, x2, y2, z2] = q.rotation.subarray(r2, r2 + 4);
        const sign = qw * w2 + qx * x2 + qy * y2 + qz * z2 < 0 ? -1 : 1;
        qw += s * (sign * w2 - qw);
        qx += s * (sign * x2 - qx);
        qy += s * (sign * y2 - qy);
        qz += s * (sign * z2 - qz);
      }
      const norm = Math.sqrt(qw * qw + qx * qx + qy * qy + qz * qz);
      if (norm > 0) {
        qw /= norm; qx /= norm; qy /= norm; qz /= norm;
      } else {
        qw = 1; // a rotation that was not known
      }
      const d = this.data;
      const o = 12 * (b + 1);
      d[o] = 1 - 2 * (qy * qy + qz * qz);
      d[o + 1] = 2 * (qx * qy - qw * qz);
      d[o + 2] = 2 * (qx * qz + qw * qy);
      d[o + 3] = 2 * (qx * qy + qw * qz);
      d[o + 4] = 1 - 2 * (qx * qx + qz * qz);
      d[o + 5] = 2 * (qy * qz - qw * qx);
      d[o + 6] = 2 * (qx * qz - qw * qy);
      d[o + 7] = 2 * (qy * qz + qw * qx);
      d[o + 8] = 1 - 2 * (qx * qx + qy * qy);
      d[o + 9] = lost ? NaN : x;
      d[o + 10] = y;
      d[o + 11] = z;
    }
  }

  position(body: number): [number, number, number] {
    return [this.data[12 * body + 9], this.data[12 * body + 10], this.data[12 * body + 11]];
  }

  // A point of the body's frame, in the world.
  point(body: number, local: ArrayLike<number>): [number, number, number] {
    const d = this.data;
    const o = 12 * body;
    return [0, 1, 2].map((i) => d[o + 3 * i] * local[0] + d[o + 3 * i + 1] * local[1] + d[o + 3 * i + 2] * local[2] + d[o + 9 + i]) as [number, number, number];
  }

  // The other way.
  local(body: number, world: ArrayLike<number>): [number, number, number] {
    const d = this.data;
    const o = 12 * body;
    const v = [0, 1, 2].map((i) => world[i] - d[o + 9 + i]);
    return [0, 1, 2].map((i) => d[o + i] * v[0] + d[o + 3 + i] * v[1] + d[o + 6 + i] * v[2]) as [number, number, number];
  }
}
