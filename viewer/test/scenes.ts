// Recordings made by formula, for tests: not simulated, but with every kind of shape, state and number in them.
import { TestContact, TestFrame, TestRun } from "./encoder";

const SHAPES = {
  floor: { kind: "plane", size: [0, 0, 0] },
  box: (x: number, y: number, z: number) => ({ kind: "box", size: [x, y, z] }),
};

export function world(name: string, bodies: string[], geoms: any[], extra: object = {}) {
  return {
    format: "tribo-replay", version: 1, name, tribo: "test", solver: "auto", law: "exact", scheme: "symplectic-euler",
    tolerance: 1e-6, time_step: 0.002, frame_time: 1 / 60, gravity: [0, 0, -9.81], dofs: 6 * bodies.length,
    bodies: [{ name: "world" }, ...bodies.map((b) => ({ name: b }))],
    geoms: geoms.map((g) => ({ pose: [0, 0, 0, 1, 0, 0, 0], color: [0.62, 0.65, 0.7, 1], mesh: -1, collides: true, visual: true, ...g })),
    meshes: [], ...extra,
  };
}

export const bytes64 = (array: ArrayBufferView) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");

export const tetrahedron = () => ({
  positions: bytes64(new Float32Array([0, 0, 0.3, 0.3, 0, -0.15, -0.15, 0.26, -0.15, -0.15, -0.26, -0.15])),
  triangles: bytes64(new Uint32Array([0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2])),
});

const frame = (k: number, poses: number[][], contacts: TestContact[]): TestFrame => ({
  time: k / 60, step: Math.round((k / 60) * 500), islands: k ? 3 : 0, iterations: k ? 3 + Math.round(6 * Math.abs(Math.sin(k / 9))) : 0,
  missed: k % 97 === 61 ? 1 : 0, error: k ? (k % 97 === 61 ? 3e-5 : 1e-8 * (1 + 40 * Math.abs(Math.sin(k / 13)))) : NaN,
  solve_time: 1e-4 * (1 + Math.abs(Math.sin(k / 7))), step_time: 3e-4, kinetic: 20 * Math.exp(-k / 80), potential: 60 + 5 * Math.exp(-k / 50),
  penetration: 1e-7, poses, contacts,
});

// A wall of boxes, a sliding crate, a falling capsule, a ball, a tetrahedron, an ellipsoid, a cylinder.
export function mixed(frames = 240, name = "mixed", shift = 0): TestRun {
  const bodies: string[] = [];
  const geoms: any[] = [{ name: "floor", body: 0, ...SHAPES.floor, color: [0.5, 0.5, 0.5, 1] }];
  const add = (body: string, geom: object) => {
    bodies.push(body);
    geoms.push({ name: `${body}_geom`, body: bodies.length, ...geom });
    return bodies.length;
  };
  const wall: [number, number, number, number][] = [];
  for (let row = 0; row < 4; ++row)
    for (let i = 0; i < 5 - row; ++i) wall.push([add(`brick_${row}_${i}`, SHAPES.box(0.24, 0.15, 0.12)), -1 + 0.5 * i + 0.25 * row, 0.4, 0.12 + 0.24 * row]);
  const crate = add("crate", SHAPES.box(0.2, 0.2, 0.15));
  const capsule = add("capsule", { kind: "capsule", size: [0.09, 0.25, 0] });
  const ball = add("ball", { kind: "sphere", size: [0.16, 0, 0] });
  const tetra = add("tetra", { kind: "hull", size: [0, 0, 0], mesh: 0 });
  const egg = add("egg", { kind: "ellipsoid", size: [0.22, 0.14, 0.1] });
  const can = add("can", { kind: "cylinder", size: [0.12, 0.16, 0] });
  const out: TestFrame[] = [];
  for (let k = 0; k < frames; ++k) {
    const t = k / 60;
    const slide = shift + 0.8 * (1 - Math.exp(-t));
    const fall = Math.max(0.09, 1.6 - 4.9 * t * t);
    const turn = 1.2 * t;
    const q = [Math.cos(turn / 2), Math.sin(turn / 2), 0, 0];
    const poses: number[][] = [];
    for (const [, x, y, z] of wall) poses.push([x, y, z, 1, 0, 0, 0]);
    poses.push([-1 + slide, -0.5, 0.15, 1, 0, 0, 0], [0.4, -0.6, fall, Math.SQRT1_2, 0, Math.SQRT1_2, 0], [1.3 - 0.3 * t, -0.3, 0.16, ...q],
      [-0.2, -1.1, 0.15, 1, 0, 0, 0], [0.9, -1, 0.1, 1, 0, 0, 0], [1.5, 0.5, 0.16, 1, 0, 0, 0]);
    const contacts: TestContact[] = [];
    const touch = (position: number[], normal: number[], impulse: number[], velocity: number[], state: number, a: number, b: number, island: number) =>
      contacts.push({ position, normal, impulse, velocity, gap: state ? 1e-9 : 0.002, friction: 0.6, error: 10 ** (-10 + ((contacts.length * 7 + k) % 50) / 10), geoms: [a, b], island, state });
    if (k > 0) {
      for (const [b, x, y, z] of wall) {
        const load = 0.06 * (4 - Math.round((z - 0.12) / 0.24));
        for (const [dx, dy] of [[-0.2, -0.15], [0.2, -0.15], [-0.2, 0.15], [0.2, 0.15]]) {
          const edge = [x + dx, y + dy, z - 0.12];
          touch(edge, [0, 0, 1], [0.3 * load * Math.sign(dx), 0, load], [0, 0, 0], 1, z < 0.2 ? 0 : b - 1, b, 0);
        }
      }
      for (const [dx, dy] of [[-0.2, -0.2], [0.2, -0.2], [-0.2, 0.2], [0.2, 0.2]])
        touch([-1 + slide + dx, -0.5 + dy, 0], [0, 0, 1], [-0.6 * 0.12, 0, 0.12], [0.8 * Math.exp(-t), 0, 0], 2, 0, crate, 1);
      if (fall < 0.4) for (const dx of [-0.25, 0.25]) touch([0.4 + dx, -0.6, 0], [0, 0, 1], fall > 0.09 ? [0, 0, 0] : [0.02, 0, 0.1], [0, 0, fall > 0.09 ? -1 : 0], fall > 0.09 ? 0 : 1, 0, capsule, 2);
      touch([1.3 - 0.3 * t, -0.3, 0], [0, 0, 1], [0, 0.02, 0.2], [0, 0, 0], 1, 0, ball, 3);
      touch([-0.35, -1.36, 0], [0, 0, 1], [0.01, 0.02, 0.05], [0, 0, 0], 1, 0, tetra, 4);
      touch([0.9, -1, 0], [0, 0, 1], [0, 0, 0.08], [0, 0, 0], 1, 0, egg, 5);
      touch([1.5, 0.5, 0], [0, 0, 1], [0, 0, 0.08], [0, 0, 0], 1, 0, can, 6);
    }
    out.push(frame(k, poses, contacts));
  }
  return { world: world(name, bodies, geoms, { meshes: [tetrahedron()] }), frames: out };
}

// n bodies on a grid with three contacts each, all moving: for the time per frame.
export function field(n = 1000, frames = 120): TestRun {
  const side = Math.ceil(Math.sqrt(n));
  const bodies: string[] = [];
  const geoms: any[] = [{ name: "floor", body: 0, ...SHAPES.floor }];
  for (let b = 1; b <= n; ++b) {
    bodies.push(`b${b}`);
    const shape = [SHAPES.box(0.1, 0.1, 0.1), { kind: "sphere", size: [0.1, 0, 0] }, { kind: "capsule", size: [0.05 + 0.0001 * b * (50 / n), 0.05, 0] }][b % 3];
    geoms.push({ name: `g${b}`, body: b, ...shape });
  }
  const out: TestFrame[] = [];
  for (let k = 0; k < frames; ++k) {
    const poses: number[][] = [];
    const contacts: TestContact[] = [];
    for (let b = 0; b < n; ++b) {
      const a = 0.05 * k + b;
      const x = 0.3 * (b % side) + 0.02 * Math.sin(a), y = 0.3 * Math.floor(b / side), z = 0.1;
      poses.push([x, y, z, Math.cos(a / 2), 0, 0, Math.sin(a / 2)]);
      for (let j = 0; k > 0 && j < 3; ++j)
        contacts.push({ position: [x + 0.08 * Math.cos(2.1 * j), y + 0.08 * Math.sin(2.1 * j), 0], normal: [0, 0, 1], impulse: [0.01 * Math.sin(a), 0.01, 0.05],
          velocity: [0.1 * Math.cos(a), 0, 0], gap: 0, friction: 0.5, error: 1e-8, geoms: [0, b + 1], island: b, state: (b + j) % 3 });
    }
    out.push(frame(k, poses, contacts));
  }
  return { world: world("field", bodies, geoms), frames: out, per_chunk: 20 };
}

// One body, very many frames.
export function marathon(frames = 1_000_000, per_chunk = 600): TestRun {
  const out: TestFrame[] = [];
  const poses = [[0, 0, 0.1, 1, 0, 0, 0]];
  for (let k = 0; k < frames; ++k) {
    const f = frame(k, poses, []);
    f.poses = [[0.5 * Math.sin(k / 500), 0, 0.1, 1, 0, 0, 0]];
    out.push(f);
  }
  return { world: world("marathon", ["bead"], [{ name: "floor", body: 0, ...SHAPES.floor }, { name: "bead_geom", body: 1, kind: "sphere", size: [0.1, 0, 0] }]), frames: out, per_chunk };
}
