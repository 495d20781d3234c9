// Contacts as instances: markers (a puck sticks, a dart slides, a ring is open), impulse arrows, friction cones, slip.
// What lies inside or behind a body shines through faintly.
//
// A cone stands on its contact, opens along the normal with radius mu * height, and is as high as the normal impulse is
// long; the arrow of the impulse ends inside its rim disc, on the rim when the contact slides.
import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { OPEN, SLIDES } from "../data/chunk";
import { Frame } from "../data/recording";
import { linear, Rgb } from "./colors";

export interface ContactStyle {
  points: boolean;
  impulses: boolean;
  cones: boolean;
  slip: boolean;
  hidden: boolean; // shine through bodies
  marker: number; // m, radius of a marker
  impulse_length: (impulse: number) => number; // m, of an impulse in N s
  slip_length: number; // m per m/s
  color: (contact: number) => Rgb; // index within the chunk
}

class Instances {
  readonly front: THREE.InstancedMesh;
  readonly ghost: THREE.InstancedMesh | null = null;
  count = 0;
  private capacity = 64;

  constructor(group: THREE.Group, private readonly geometry: THREE.BufferGeometry, material: THREE.MeshBasicMaterial, ghost: number) {
    this.front = new THREE.InstancedMesh(geometry, material, this.capacity);
    this.front.renderOrder = 4;
    group.add(this.front);
    if (ghost > 0) {
      const faint = material.clone();
      faint.transparent = true;
      faint.opacity = ghost;
      faint.depthFunc = THREE.GreaterDepth;
      faint.depthWrite = false;
      this.ghost = new THREE.InstancedMesh(geometry, faint, this.capacity);
      this.ghost.renderOrder = 3;
      group.add(this.ghost);
    }
    this.share();
  }

  private share() {
    const matrix = new THREE.InstancedBufferAttribute(new Float32Array(16 * this.capacity), 16).setUsage(THREE.DynamicDrawUsage);
    const color = new THREE.InstancedBufferAttribute(new Float32Array(3 * this.capacity), 3).setUsage(THREE.DynamicDrawUsage);
    for (const mesh of [this.front, this.ghost]) {
      if (!mesh) continue;
      mesh.instanceMatrix = matrix as THREE.InstancedBufferAttribute;
      mesh.instanceColor = color as THREE.InstancedBufferAttribute;
      mesh.frustumCulled = false;
    }
  }

  begin(capacity: number) {
    this.count = 0;
    if (capacity <= this.capacity) return;
    while (this.capacity < capacity) this.capacity *= 2;
    for (const mesh of [this.front, this.ghost]) mesh?.dispose();
    this.share();
  }

  // Axes a and b across (scaled sx, sy), c along (scaled sz), origin p.
  add(a: number[], b: number[], c: number[], sx: number, sy: number, sz: number, px: number, py: number, pz: number, color: Rgb) {
    const m = this.front.instanceMatrix.array as Float32Array;
    const o = 16 * this.count;
    m[o] = a[0] * sx; m[o + 1] = a[1] * sx; m[o + 2] = a[2] * sx;
    m[o + 4] = b[0] * sy; m[o + 5] = b[1] * sy; m[o + 6] = b[2] * sy;
    m[o + 8] = c[0] * sz; m[o + 9] = c[1] * sz; m[o + 10] = c[2] * sz;
    m[o + 12] = px; m[o + 13] = py; m[o + 14] = pz; m[o + 15] = 1;
    const k = this.front.instanceColor!.array as Float32Array;
    const at = 3 * this.count++;
    k[at] = color[0]; k[at + 1] = color[1]; k[at + 2] = color[2];
  }

  finish(hidden: boolean) {
    this.front.count = this.count;
    this.front.visible = this.count > 0;
    this.front.instanceMatrix.clearUpdateRanges();
    this.front.instanceMatrix.addUpdateRange(0, 16 * this.count);
    this.front.instanceMatrix.needsUpdate = true;
    this.front.instanceColor!.clearUpdateRanges();
    this.front.instanceColor!.addUpdateRange(0, 3 * this.count);
    this.front.instanceColor!.needsUpdate = true;
    if (this.ghost) {
      this.ghost.count = this.count;
      this.ghost.visible = hidden && this.count > 0;
    }
  }

  dispose() {
    this.geometry.dispose();
    for (const mesh of [this.front, this.ghost]) {
      mesh?.dispose();
      (mesh?.material as THREE.Material | undefined)?.dispose();
    }
  }
}

const along_z = (g: THREE.BufferGeometry) => g.rotateX(Math.PI / 2);

function cone_geometry(): THREE.BufferGeometry {
  const veil = along_z(new THREE.ConeGeometry(1, 1, 24, 1, true)).rotateX(Math.PI).translate(0, 0, 0.5);
  const rim = new THREE.TorusGeometry(1, 0.022, 3, 24).translate(0, 0, 1);
  const tint = (g: THREE.BufferGeometry, alpha: number) => {
    const n = g.attributes.position.count;
    const c = new Float32Array(4 * n).fill(1);
    for (let i = 0; i < n; ++i) c[4 * i + 3] = alpha;
    g.deleteAttribute("uv");
    return g.setAttribute("color", new THREE.BufferAttribute(c, 4));
  };
  return mergeGeometries([tint(veil, 0.16), tint(rim, 0.95)]);
}

function normalize(v: number[]): number {
  const n = Math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  if (n > 0) { v[0] /= n; v[1] /= n; v[2] /= n; }
  return n;
}

function perpendicular(c: number[], a: number[], b: number[]) {
  if (Math.abs(c[2]) < 0.9) { a[0] = -c[1]; a[1] = c[0]; a[2] = 0; }
  else { a[0] = 0; a[1] = -c[2]; a[2] = c[1]; }
  normalize(a);
  cross(c, a, b);
}

function cross(c: number[], a: number[], b: number[]) {
  b[0] = c[1] * a[2] - c[2] * a[1];
  b[1] = c[2] * a[0] - c[0] * a[2];
  b[2] = c[0] * a[1] - c[1] * a[0];
}

export class ContactsLayer {
  readonly group = new THREE.Group();
  private readonly plain = () => new THREE.MeshBasicMaterial({ toneMapped: false });
  private readonly pucks = new Instances(this.group, along_z(new THREE.CylinderGeometry(1, 1, 0.7, 12)), this.plain(), 0.4);
  private readonly darts = new Instances(this.group, along_z(new THREE.ConeGeometry(0.9, 3.2, 4)).translate(0, 0, 0.6), this.plain(), 0.4);
  private readonly rings = new Instances(this.group, new THREE.TorusGeometry(1.1, 0.22, 4, 14), this.plain(), 0.3);
  private readonly shafts = new Instances(this.group, along_z(new THREE.CylinderGeometry(1, 1, 1, 6, 1, true)).translate(0, 0, 0.5), this.plain(), 0.45);
  private readonly heads = new Instances(this.group, along_z(new THREE.ConeGeometry(1, 1, 10)).translate(0, 0, 0.5), this.plain(), 0.45);
  private readonly cones: Instances;
  unusable = 0; // contacts of the last frame whose numbers are not finite

  constructor() {
    const veil = new THREE.MeshBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false, side: THREE.DoubleSide, toneMapped: false });
    this.cones = new Instances(this.group, cone_geometry(), veil, 0.55);
  }

  private all() { return [this.pucks, this.darts, this.rings, this.shafts, this.heads, this.cones]; }

  update(frame: Frame | null, style: ContactStyle) {
    const begin = frame ? frame.chunk.first[frame.k] : 0;
    const end = frame ? frame.chunk.first[frame.k + 1] : 0;
    const count = end - begin;
    for (const part of this.all()) part.begin(2 * count);
    this.unusable = 0;
    if (frame && (style.points || style.impulses || style.cones || style.slip))
      for (let i = begin; i < end; ++i) this.add(frame, i, style);
    for (const part of this.all()) part.finish(style.hidden);
  }

  private readonly n = [0, 0, 1];
  private readonly a = [1, 0, 0];
  private readonly b = [0, 1, 0];
  private readonly d = [0, 0, 0];
  private readonly tint: Rgb = [0, 0, 0];

  private add(frame: Frame, i: number, style: ContactStyle) {
    const c = frame.chunk;
    const x = c.contact_position[3 * i], y = c.contact_position[3 * i + 1], z = c.contact_position[3 * i + 2];
    const n = this.n, a = this.a, b = this.b, d = this.d;
    for (let j = 0; j < 3; ++j) n[j] = c.contact_normal[3 * i + j];
    if (!(normalize(n) > 0) || !Number.isFinite(x + y + z)) {
      ++this.unusable;
      return;
    }
    const raw = style.color(i);
    const color = this.tint;
    for (let j = 0; j < 3; ++j) color[j] = linear(raw[j]);
    const state = c.contact_state[i];
    const r = style.marker;
    perpendicular(n, a, b);
    for (let j = 0; j < 3; ++j) d[j] = c.contact_velocity[3 * i + j];
    const vn = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
    for (let j = 0; j < 3; ++j) d[j] -= vn * n[j];
    const slip = normalize(d);
    const moving = slip > 0 && Number.isFinite(slip);
    if (style.points) {
      if (state === OPEN) this.rings.add(a, b, n, r, r, r, x, y, z, color);
      else if (state === SLIDES && moving) {
        cross(n, d, b); // the dart points where the second geom slips to
        this.darts.add(b, n, d, r, r, r, x, y, z, color);
      } else if (state === SLIDES) this.darts.add(n, b, a, r, r, r, x, y, z, color);
      else this.pucks.add(a, b, n, r, r, r, x, y, z, color);
    }
    if (style.slip && moving && slip * style.slip_length > 0.2 * r) this.arrow(d, slip * style.slip_length, 0.16 * r, x, y, z, color);
    for (let j = 0; j < 3; ++j) d[j] = c.contact_impulse[3 * i + j];
    const ln = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
    const size = normalize(d);
    if (!Number.isFinite(size)) {
      ++this.unusable;
      return;
    }
    const length = size > 0 ? style.impulse_length(size) : 0;
    if (style.cones && ln > 0) {
      const height = (length * ln) / size;
      const mu = c.contact_friction[i];
      if (mu > 0 && Number.isFinite(mu) && height > 0.05 * r) {
        perpendicular(n, a, b);
        this.cones.add(a, b, n, mu * height, mu * height, height, x, y, z, color);
      }
    }
    if (style.impulses && length > 0.05 * r) this.arrow(d, length, 0.2 * r, x, y, z, color);
  }

  private arrow(d: number[], length: number, radius: number, x: number, y: number, z: number, color: Rgb) {
    const head = Math.min(5 * radius, 0.45 * length);
    const wide = Math.min(1, length / (8 * radius)) * radius;
    const shaft = length - head;
    perpendicular(d, this.a, this.b);
    this.shafts.add(this.a, this.b, d, wide, wide, shaft, x, y, z, color);
    this.heads.add(this.a, this.b, d, 2.6 * wide, 2.6 * wide, head, x + d[0] * shaft, y + d[1] * shaft, z + d[2] * shaft, color);
  }

  dispose() {
    for (const part of this.all()) part.dispose();
  }
}
