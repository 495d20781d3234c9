// The world of a replay (docs/replay-format.md): read from JSON, checked, with a message for everything that is wrong.
// What cannot be used at all throws; what can be left out (one broken mesh) is left out and noted.
import { base64_to_bytes } from "./base64";

export const KINDS = [
  "plane", "sphere", "capsule", "box", "cylinder", "ellipsoid", "hull", "mesh", "height_field", "distance_field",
] as const;
export type Kind = (typeof KINDS)[number];

export interface Geom {
  name: string;
  body: number;
  kind: Kind;
  size: [number, number, number]; // m, half extents
  pose: number[]; // x y z [m], w qx qy qz, in the frame of the body
  color: [number, number, number, number];
  mesh: number; // -1: none
  collides: boolean;
  visual: boolean;
}

export interface Mesh {
  positions: Float32Array; // m
  triangles: Uint32Array;
}

export interface World {
  name: string;
  tribo: string;
  solver: string;
  law: string;
  scheme: string;
  tolerance: number;
  time_step: number; // s
  frame_time: number; // s
  gravity: [number, number, number]; // m/s^2
  dofs: number;
  bodies: { name: string }[]; // body 0 is the world
  geoms: Geom[];
  meshes: (Mesh | null)[];
  notes: string[]; // what was wrong and left out
}

const text_of = (value: unknown, otherwise = "") => (typeof value === "string" ? value : otherwise);
const number_of = (value: unknown, otherwise: number) =>
  typeof value === "number" && Number.isFinite(value) ? value : otherwise;

function numbers_of(value: unknown, count: number, otherwise: number[]): { values: number[]; good: boolean } {
  const list = Array.isArray(value) ? value : [];
  const values = otherwise.map((d, i) => number_of(list[i], d));
  const good = list.length >= count && list.slice(0, count).every((x) => typeof x === "number" && Number.isFinite(x));
  return { values, good };
}

function read_mesh(value: any): Mesh {
  const p = base64_to_bytes(text_of(value?.positions));
  const t = base64_to_bytes(text_of(value?.triangles));
  if (p.length % 12 !== 0) throw new Error("its positions are not whole triples of float32");
  if (t.length % 12 !== 0) throw new Error("its triangles are not whole triples of uint32");
  const positions = new Float32Array(p.buffer, 0, p.length / 4);
  const triangles = new Uint32Array(t.buffer, 0, t.length / 4);
  for (const x of positions) if (!Number.isFinite(x)) throw new Error("a position is not finite");
  for (const i of triangles) if (3 * i >= positions.length) throw new Error(`triangle index ${i} is out of range`);
  return { positions, triangles };
}

function read_geom(value: any, index: number, bodies: number, meshes: (Mesh | null)[], notes: string[]): Geom {
  const name = text_of(value?.name) || `geom ${index}`;
  const where = `geom ${index} (${name})`;
  const kind = KINDS.find((k) => k === value?.kind);
  const size = numbers_of(value?.size, kind === "plane" ? 0 : 1, [0, 0, 0]);
  const pose = numbers_of(value?.pose, 7, [0, 0, 0, 1, 0, 0, 0]);
  const color = numbers_of(value?.color, 3, [0.62, 0.65, 0.7, 1]);
  const geom: Geom = {
    name,
    body: number_of(value?.body, 0),
    kind: kind ?? "sphere",
    size: size.values as Geom["size"],
    pose: pose.values,
    color: color.values.map((x) => Math.min(1, Math.max(0, x))) as Geom["color"],
    mesh: number_of(value?.mesh, -1),
    collides: value?.collides !== false,
    visual: value?.visual !== false,
  };
  const hide = (why: string) => {
    notes.push(`${where} ${why}; it is not drawn`);
    geom.collides = geom.visual = false;
  };
  if (!Number.isInteger(geom.body) || geom.body < 0 || geom.body >= bodies) {
    hide(`belongs to body ${geom.body}, which does not exist`);
    geom.body = 0;
  }
  const has_mesh = kind !== undefined && KINDS.indexOf(kind) >= 6;
  if (!kind) hide(`has the unknown kind ${JSON.stringify(value?.kind ?? null)}`);
  else if (!size.good || !pose.good) hide("has a size or pose that is not finite");
  else if (has_mesh && !meshes[geom.mesh]) hide(`has no usable mesh (${geom.mesh})`);
  const norm = Math.hypot(...geom.pose.slice(3));
  if (norm > 1e-9) for (let i = 3; i < 7; ++i) geom.pose[i] /= norm;
  else geom.pose.splice(3, 4, 1, 0, 0, 0);
  return geom;
}

export function read_world(source: string | object): World {
  let value: any;
  try {
    value = typeof source === "string" ? JSON.parse(source) : source;
  } catch (error) {
    throw new Error(`the world is not valid JSON: ${(error as Error).message}`);
  }
  if (value === null || typeof value !== "object") throw new Error("the world is not a JSON object");
  if (value.format !== "tribo-replay") throw new Error(`the format is ${JSON.stringify(value.format ?? null)}, not "tribo-replay"`);
  if (value.version !== 1)
    throw new Error(`the format has version ${JSON.stringify(value.version ?? null)}; this page reads version 1. Make the page again with a tribo of the same version`);
  if (!Array.isArray(value.bodies) || value.bodies.length === 0) throw new Error("the world has no bodies");
  if (!Array.isArray(value.geoms)) throw new Error("the world has no list of geoms");
  const notes: string[] = [];
  const meshes = (Array.isArray(value.meshes) ? value.meshes : []).map((mesh: unknown, i: number) => {
    try {
      return read_mesh(mesh);
    } catch (error) {
      notes.push(`mesh ${i} is damaged (${(error as Error).message}); it is not drawn`);
      return null;
    }
  });
  return {
    name: text_of(value.name, "replay"),
    tribo: text_of(value.tribo),
    solver: text_of(value.solver, "–"),
    law: text_of(value.law, "–"),
    scheme: text_of(value.scheme, "–"),
    tolerance: number_of(value.tolerance, NaN),
    time_step: number_of(value.time_step, NaN),
    frame_time: number_of(value.frame_time, 1 / 60),
    gravity: numbers_of(value.gravity, 3, [0, 0, -9.81]).values as World["gravity"],
    dofs: number_of(value.dofs, 0),
    bodies: value.bodies.map((b: any, i: number) => ({ name: text_of(b?.name) || (i === 0 ? "world" : `body ${i}`) })),
    geoms: value.geoms.map((g: unknown, i: number) => read_geom(g, i, value.bodies.length, meshes, notes)),
    meshes,
    notes,
  };
}
