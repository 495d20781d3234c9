// Canvas, camera and drawing. One camera for all runs, so that they are seen from the same place; each run has its part
// of the canvas. Nothing is drawn unless something changed.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Recording } from "../data/recording";
import { RunView } from "./run_view";

THREE.Object3D.DEFAULT_UP.set(0, 0, 1);

export const PRESETS: Record<string, [number, number, number]> = {
  iso: [0.72, -1, 0.55],
  front: [0, -1, 0.02],
  back: [0, 1, 0.02],
  right: [1, 0, 0.02],
  left: [-1, 0, 0.02],
  top: [0, -0.001, 1],
};

export interface Rect { x: number; y: number; width: number; height: number } // CSS pixels, from the top left

export class Stage {
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  views: RunView[] = [];
  moved = false; // the user has moved the camera
  private readonly renderer: THREE.WebGLRenderer;
  private width = 1;
  private height = 1;

  constructor(readonly canvas: HTMLCanvasElement, private readonly changed: () => void) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.setClearColor(0, 0);
    this.renderer.info.autoReset = false;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.screenSpacePanning = true;
    this.controls.addEventListener("change", () => changed());
    this.controls.addEventListener("start", () => (this.moved = true));
    canvas.addEventListener("webglcontextrestored", () => changed());
  }

  set_runs(recordings: Recording[]) {
    for (const view of this.views) view.dispose();
    this.views = recordings.map((r) => new RunView(r));
  }

  theme(dark: boolean) {
    for (const view of this.views) view.theme(dark);
  }

  resize() {
    const box = this.canvas.parentElement!.getBoundingClientRect();
    this.width = Math.max(1, Math.round(box.width));
    this.height = Math.max(1, Math.round(box.height));
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    this.renderer.setSize(this.width, this.height, false);
    this.changed();
  }

  // Side by side, or one above the other where the page is narrow.
  rect(run: number): Rect {
    const n = Math.max(1, this.views.length);
    if (n === 1) return { x: 0, y: 0, width: this.width, height: this.height };
    if (this.width >= this.height * 0.9) {
      const w = Math.floor(this.width / n);
      return { x: run * w, y: 0, width: w, height: this.height };
    }
    const h = Math.floor(this.height / n);
    return { x: 0, y: run * h, width: this.width, height: h };
  }

  run_at(x: number, y: number): number {
    for (let run = 0; run < this.views.length; ++run) {
      const r = this.rect(run);
      if (x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height) return run;
    }
    return 0;
  }

  // What all runs show together.
  bounds() {
    let center: [number, number, number] = [0, 0, 0];
    let radius = 1;
    let low = 0;
    this.views.forEach((view, i) => {
      const b = view.bounds();
      if (i === 0) ({ center, radius, low } = b);
      else {
        radius = Math.max(radius, b.radius + 0.5 * Math.hypot(...center.map((c, j) => c - b.center[j])));
        center = center.map((c, j) => (c + b.center[j]) / 2) as typeof center;
        low = Math.min(low, b.low);
      }
    });
    return { center, radius, low };
  }

  // Looks at everything, as near as all balls around the geoms allow; or at one sphere.
  fit(direction?: [number, number, number], sphere?: { center: [number, number, number]; radius: number }) {
    const balls = sphere ? [[...sphere.center, sphere.radius]] : this.views.flatMap((v) => v.balls());
    const { center } = sphere ?? this.bounds();
    if (!balls.length) balls.push([...center, 1]);
    const way = direction ? new THREE.Vector3(...direction) : this.camera.position.clone().sub(this.controls.target);
    if (way.lengthSq() < 1e-12) way.set(...PRESETS.iso);
    way.normalize();
    const x = new THREE.Vector3().crossVectors(this.camera.up, way).normalize();
    const y = new THREE.Vector3().crossVectors(way, x);
    const r = this.rect(0);
    const tan_y = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2));
    const tan_x = (tan_y * r.width) / r.height;
    // Middle of what is seen, then the distance at which every ball is inside the picture, with a margin.
    const span = (axis: THREE.Vector3) => {
      let low = Infinity, high = -Infinity;
      for (const [px, py, pz, radius] of balls) {
        const at = axis.x * px + axis.y * py + axis.z * pz;
        low = Math.min(low, at - radius);
        high = Math.max(high, at + radius);
      }
      return 0.5 * (low + high);
    };
    const target = new THREE.Vector3().addScaledVector(x, span(x)).addScaledVector(y, span(y)).addScaledVector(way, new THREE.Vector3(...center).dot(way));
    let distance = 0;
    for (const b of balls) {
      const d = new THREE.Vector3(b[0], b[1], b[2]).sub(target);
      const near = d.dot(way);
      distance = Math.max(distance, near + (Math.abs(d.dot(x)) + b[3]) / tan_x, near + (Math.abs(d.dot(y)) + b[3]) / tan_y, near + 2 * b[3]);
    }
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(way, 1.18 * distance);
    this.controls.update();
    this.changed();
  }

  orbit(azimuth: number, elevation: number) {
    const way = this.camera.position.clone().sub(this.controls.target);
    const s = new THREE.Spherical().setFromCartesianCoords(way.x, way.z, -way.y);
    s.theta += azimuth;
    s.phi = Math.min(Math.PI - 0.02, Math.max(0.02, s.phi - elevation));
    const v = new THREE.Vector3().setFromSpherical(s);
    this.camera.position.copy(this.controls.target).add(new THREE.Vector3(v.x, -v.z, v.y));
    this.moved = true;
    this.controls.update();
    this.changed();
  }

  pan(right: number, up: number) {
    const way = this.camera.position.clone().sub(this.controls.target);
    const d = way.length();
    const x = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 0).multiplyScalar(right * d);
    const y = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 1).multiplyScalar(up * d);
    this.shift(x.add(y));
    this.moved = true;
  }

  zoom(factor: number) {
    const way = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(way);
    this.moved = true;
    this.controls.update();
    this.changed();
  }

  shift(by: THREE.Vector3) {
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.controls.update();
    this.changed();
  }

  // offsets: how far the camera of each run is moved beside the common one (follow).
  draw(offsets: THREE.Vector3[]) {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const position = this.camera.position.clone();
    this.renderer.info.reset();
    this.renderer.setScissorTest(true);
    this.views.forEach((view, run) => {
      const r = this.rect(run);
      this.camera.aspect = r.width / r.height;
      this.camera.near = Math.max(distance / 500, 1e-4);
      this.camera.far = distance * 60;
      this.camera.position.copy(position).add(offsets[run] ?? new THREE.Vector3());
      this.camera.updateProjectionMatrix();
      this.camera.updateMatrixWorld();
      const y = this.height - r.y - r.height;
      this.renderer.setViewport(r.x, y, r.width, r.height);
      this.renderer.setScissor(r.x, y, r.width, r.height);
      this.renderer.render(view.scene, this.camera);
      this.camera.position.copy(position);
    });
    this.camera.updateMatrixWorld();
  }

  get draw_calls() { return this.renderer.info.render.calls; }

  private aim(run: number, offset?: THREE.Vector3) {
    const r = this.rect(run);
    this.camera.aspect = r.width / r.height;
    this.camera.updateProjectionMatrix();
    const position = this.camera.position.clone();
    if (offset) this.camera.position.add(offset);
    this.camera.updateMatrixWorld();
    this.camera.position.copy(position);
    return r;
  }

  // Where points of the world are on the canvas (CSS pixels); null behind the camera.
  projector(run: number, offset?: THREE.Vector3) {
    const r = this.aim(run, offset);
    const m = new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse).elements.slice();
    return (x: number, y: number, z: number): [number, number, number] | null => {
      const w = m[3] * x + m[7] * y + m[11] * z + m[15];
      if (w <= 0) return null;
      return [
        r.x + (0.5 + (0.5 * (m[0] * x + m[4] * y + m[8] * z + m[12])) / w) * r.width,
        r.y + (0.5 - (0.5 * (m[1] * x + m[5] * y + m[9] * z + m[13])) / w) * r.height,
        w,
      ];
    };
  }

  ray(x: number, y: number, offset?: THREE.Vector3): { run: number; ray: THREE.Raycaster } {
    const run = this.run_at(x, y);
    const r = this.aim(run, offset);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(((x - r.x) / r.width) * 2 - 1, 1 - ((y - r.y) / r.height) * 2), this.camera);
    return { run, ray };
  }
}
