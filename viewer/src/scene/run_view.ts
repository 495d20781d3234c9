// One run in 3D: its bodies, ground, contacts and lights. Two runs are two of these, seen by one camera.
import * as THREE from "three";
import { Frame, Recording } from "../data/recording";
import { BodiesLayer } from "./bodies";
import { ContactsLayer } from "./contacts";
import { Ground } from "./ground";
import { Poses } from "./poses";
import { extents, typical_size } from "./shapes";

type Ball = [number, number, number, number];

// What has flown far away would make everything else small.
function without_strays(balls: Ball[]): Ball[] {
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1];
  const middle = [0, 1, 2].map((i) => median(balls.map((b) => b[i])));
  const away = (b: Ball) => Math.hypot(b[0] - middle[0], b[1] - middle[1], b[2] - middle[2]);
  const reach = median(balls.map((b) => away(b) + b[3]));
  return balls.filter((b) => away(b) <= 10 * reach);
}

export class RunView {
  readonly scene = new THREE.Scene();
  readonly bodies: BodiesLayer;
  readonly contacts = new ContactsLayer();
  readonly ground: Ground;
  readonly poses: Poses;
  readonly size: number; // m, typical
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.1);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x888888, 1.5);
  readonly axes: THREE.AxesHelper;

  constructor(readonly recording: Recording) {
    const world = recording.world;
    this.bodies = new BodiesLayer(world);
    this.ground = new Ground(world);
    this.poses = new Poses(world.bodies.length);
    this.size = typical_size(world);
    this.axes = new THREE.AxesHelper(4 * this.size);
    this.scene.add(this.ground.group, this.bodies.group, this.contacts.group, this.sun, this.sun.target, this.sky, this.axes);
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.02;
  }

  theme(dark: boolean) {
    this.ground.theme(dark);
    this.sky.groundColor.set(dark ? 0x4a5360 : 0x9aa3ad);
    this.sky.intensity = dark ? 1.2 : 1.55;
    this.sun.intensity = dark ? 2.4 : 2.2;
  }

  // Balls around the geoms that move (all, if none does), with the poses that are set: x y z radius, m.
  balls(): Ball[] {
    const world = this.recording.world;
    const all = (moving: boolean) => world.geoms.flatMap((geom): Ball[] => {
      const e = (geom.body !== 0) === moving && (geom.visual || geom.collides) ? extents(geom, world) : null;
      if (!e) return [];
      const p = this.poses.point(geom.body, geom.pose);
      const ball = [...p, Math.hypot(...e.half) + Math.hypot(...e.center)] as Ball;
      return ball.every(Number.isFinite) ? [ball] : [];
    });
    const moving = all(true);
    return without_strays(moving.length ? moving : all(false));
  }

  bounds(): { center: [number, number, number]; radius: number; low: number } {
    const balls = this.balls();
    if (!balls.length) return { center: [0, 0, 0], radius: 1, low: 0 };
    const low = [0, 1, 2].map((i) => balls.reduce((m, b) => Math.min(m, b[i] - b[3]), Infinity));
    const high = [0, 1, 2].map((i) => balls.reduce((m, b) => Math.max(m, b[i] + b[3]), -Infinity));
    const center = low.map((l, i) => (l + high[i]) / 2) as [number, number, number];
    const radius = Math.max(0.5 * Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]), this.size);
    return { center, radius, low: low[2] };
  }

  set_frame(frame: Frame | null, next: Frame | null, s: number) {
    if (frame) this.poses.set(frame, next, s);
    this.bodies.place(this.poses);
  }

  // The light and its shadow cover a sphere.
  light(center: number[], radius: number) {
    const r = Math.max(radius, 1e-3);
    this.sun.position.set(center[0] - 1.5 * r, center[1] - 0.8 * r, center[2] + 2.6 * r);
    this.sun.target.position.set(center[0], center[1], center[2]);
    const c = this.sun.shadow.camera;
    c.left = c.bottom = -1.15 * r;
    c.right = c.top = 1.15 * r;
    c.near = 0.2 * r;
    c.far = 6.5 * r;
    c.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * r;
  }

  shadows(on: boolean) {
    this.sun.castShadow = on;
  }

  dispose() {
    this.bodies.dispose();
    this.contacts.dispose();
    this.ground.dispose();
    this.axes.dispose();
    this.sun.dispose();
  }
}
