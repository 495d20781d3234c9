// The numbers of one contact, from the arrays of its chunk.
import { Chunk } from "./chunk";
import { World } from "./world";

export type Vec3 = [number, number, number];

export interface ContactNumbers {
  geoms: [number, number];
  bodies: [number, number];
  names: [string, string];
  state: "open" | "sticks" | "slides";
  position: Vec3; // m
  normal: Vec3; // towards the second geom
  impulse: Vec3; // N s, on the second geom
  velocity: Vec3; // m/s, second against first
  gap: number; // m
  friction: number;
  error: number; // scaled certificate error
  pressure: number; // Pa; 0: not a face of a pressure field
  island: number;
  impulse_normal: number; // N s
  impulse_tangential: number; // N s
  force: number; // N: |impulse| / time step
  velocity_normal: number; // m/s
  slip: number; // m/s
  cone_margin: number; // N s: mu * normal - tangential; negative outside the cone
  cone_use: number; // tangential / (mu * normal): 1 on the boundary
}

const triple = (a: ArrayLike<number>, i: number, scale = 1): Vec3 => [a[3 * i] * scale, a[3 * i + 1] * scale, a[3 * i + 2] * scale];
const dot = (a: Vec3, b: Vec3) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export function split(vector: Vec3, normal: Vec3): [number, number] {
  const n = dot(vector, normal);
  const t: Vec3 = [vector[0] - n * normal[0], vector[1] - n * normal[1], vector[2] - n * normal[2]];
  return [n, Math.hypot(...t)];
}

// i counts within the chunk.
export function contact_numbers(world: World, chunk: Chunk, i: number): ContactNumbers {
  const geoms: [number, number] = [chunk.contact_geoms[2 * i], chunk.contact_geoms[2 * i + 1]];
  const raw = triple(chunk.contact_normal, i);
  const length = Math.hypot(...raw) || 1;
  const normal: Vec3 = [raw[0] / length, raw[1] / length, raw[2] / length];
  const impulse = triple(chunk.contact_impulse, i);
  const velocity = triple(chunk.contact_velocity, i);
  const friction = chunk.contact_friction[i];
  const [impulse_normal, impulse_tangential] = split(impulse, normal);
  const [velocity_normal, slip] = split(velocity, normal);
  return {
    geoms,
    bodies: [world.geoms[geoms[0]].body, world.geoms[geoms[1]].body],
    names: [world.geoms[geoms[0]].name, world.geoms[geoms[1]].name],
    state: (["open", "sticks", "slides"] as const)[chunk.contact_state[i]],
    position: triple(chunk.contact_position, i),
    normal,
    impulse,
    velocity,
    gap: chunk.contact_gap[i],
    friction,
    error: chunk.contact_error[i],
    pressure: chunk.contact_pressure[i],
    island: chunk.contact_island[i],
    impulse_normal,
    impulse_tangential,
    force: Math.hypot(...impulse) / world.time_step,
    velocity_normal,
    slip,
    cone_margin: friction * impulse_normal - impulse_tangential,
    cone_use: impulse_tangential / (friction * impulse_normal),
  };
}
