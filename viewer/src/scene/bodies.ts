// All geoms of a world as instances: one draw call per geometry, layer and transparency.
import * as THREE from "three";
import { Geom, World } from "../data/world";
import { ACCENT, linear, Rgb } from "./colors";
import { Poses } from "./poses";
import { parts_of, segments_for, unit_geometry } from "./shapes";

export type ShapeMode = "visual" | "collision" | "both";
export type BodyLook = "solid" | "glass" | "wire";

interface Instance {
  geom: number;
  body: number;
  matrix: Float64Array; // rotation times scale (rows), translation: in the frame of the body
}

interface Batch {
  mesh: THREE.InstancedMesh<THREE.BufferGeometry, THREE.MeshLambertMaterial>;
  instances: Instance[];
  visual: boolean;
  collides: boolean;
  alpha: number;
}

function local_matrix(geom: Geom, scale: number[], offset: number): Float64Array {
  const [x, y, z, w, qx, qy, qz] = geom.pose;
  const r = new THREE.Matrix4().makeRotationFromQuaternion(new THREE.Quaternion(qx, qy, qz, w)).elements;
  const m = new Float64Array(12);
  for (let i = 0; i < 3; ++i) {
    for (let j = 0; j < 3; ++j) m[3 * i + j] = r[4 * j + i] * scale[j];
    m[9 + i] = [x, y, z][i] + r[8 + i] * offset;
  }
  return m;
}

// Thin dark lines along the edges of boxes: faces stay readable without strong light.
function draw_edges(material: THREE.MeshLambertMaterial) {
  material.defines = { ...material.defines, USE_UV: "" };
  material.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace("#include <color_fragment>", `#include <color_fragment>
      vec2 tribo_edge = min(vUv, 1.0 - vUv) / max(fwidth(vUv), 1e-6);
      diffuseColor.rgb *= mix(0.62, 1.0, smoothstep(0.4, 1.4, min(tribo_edge.x, tribo_edge.y)));`);
  };
}

export class BodiesLayer {
  readonly group = new THREE.Group();
  private batches: Batch[] = [];
  private base: Rgb[]; // colour of each geom before selection

  constructor(private readonly world: World) {
    this.base = world.geoms.map((g) => g.color.slice(0, 3) as Rgb);
    const found = new Map<string, { instances: Instance[]; geom: Geom; key: string; alpha: number }>();
    world.geoms.forEach((geom, index) => {
      if (!geom.collides && !geom.visual) return;
      const alpha = geom.color[3] >= 0.995 ? 1 : Math.max(0.05, Math.round(geom.color[3] * 10) / 10);
      for (const part of parts_of(geom)) {
        const key = `${part.key}|${geom.visual}|${geom.collides}|${alpha}`;
        let entry = found.get(key);
        if (!entry) found.set(key, (entry = { instances: [], geom, key: part.key, alpha }));
        entry.instances.push({ geom: index, body: geom.body, matrix: local_matrix(geom, part.scale, part.offset) });
      }
    });
    for (const { instances, geom, key, alpha } of found.values()) {
      const material = new THREE.MeshLambertMaterial({ color: 0xffffff });
      if (key === "box") draw_edges(material);
      const mesh = new THREE.InstancedMesh(unit_geometry(key, world, segments_for(instances.length)), material, instances.length);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * instances.length).fill(0.6), 3);
      mesh.instanceColor.setUsage(THREE.DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      this.group.add(mesh);
      this.batches.push({ mesh, instances, visual: geom.visual, collides: geom.collides, alpha });
    }
  }

  look(shapes: ShapeMode, look: BodyLook) {
    for (const { mesh, visual, collides, alpha } of this.batches) {
      mesh.visible = shapes === "both" || (shapes === "visual" ? visual : collides);
      // With both shown, a shape that only collides is a veil over what is seen.
      const veil = shapes === "both" && !visual;
      const opacity = Math.min(alpha, look === "glass" ? 0.32 : 1, veil ? 0.3 : 1);
      const material = mesh.material;
      const wire = look === "wire";
      if (material.wireframe !== wire || material.transparent !== opacity < 1) material.needsUpdate = true;
      material.wireframe = wire;
      material.opacity = opacity;
      material.transparent = opacity < 1;
      material.depthWrite = opacity >= 1;
      mesh.castShadow = !wire && opacity > 0.5;
      mesh.renderOrder = opacity < 1 ? 2 : 0;
    }
  }

  place(poses: Poses) {
    const P = poses.data;
    for (const { mesh, instances } of this.batches) {
      if (!mesh.visible) continue;
      const out = mesh.instanceMatrix.array as Float32Array;
      for (let n = 0; n < instances.length; ++n) {
        const { body, matrix: L } = instances[n];
        const o = 12 * body;
        const w = 16 * n;
        if (!(P[o + 9] - P[o + 9] === 0)) {
          out.fill(0, w, w + 16); // a position that is not finite: a body without extent
          continue;
        }
        for (let i = 0; i < 3; ++i) {
          const a = P[o + 3 * i], b = P[o + 3 * i + 1], c = P[o + 3 * i + 2];
          out[w + i] = a * L[0] + b * L[3] + c * L[6];
          out[w + 4 + i] = a * L[1] + b * L[4] + c * L[7];
          out[w + 8 + i] = a * L[2] + b * L[5] + c * L[8];
          out[w + 12 + i] = a * L[9] + b * L[10] + c * L[11] + P[o + 9 + i];
        }
        out[w + 15] = 1;
      }
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  // color(geom, body): null keeps the colour of the material. selected: a body, -1 for none.
  paint(color: (geom: number, body: number) => Rgb | null, selected: number) {
    for (const { mesh, instances } of this.batches) {
      const out = mesh.instanceColor!.array as Float32Array;
      for (let n = 0; n < instances.length; ++n) {
        const { geom, body } = instances[n];
        const c = color(geom, body) ?? this.base[geom];
        const s = body === selected && body !== 0 ? 0.55 : 0;
        for (let j = 0; j < 3; ++j) out[3 * n + j] = linear(c[j] + s * (ACCENT[j] - c[j]));
      }
      mesh.instanceColor!.needsUpdate = true;
    }
  }

  pick(ray: THREE.Raycaster): { body: number; geom: number; point: THREE.Vector3; distance: number } | null {
    const meshes = this.batches.filter((b) => b.mesh.visible);
    for (const { mesh } of meshes) mesh.boundingSphere = null; // the instances have moved
    const hit = ray.intersectObjects(meshes.map((b) => b.mesh), false)[0];
    if (!hit) return null;
    const instance = meshes.find((b) => b.mesh === hit.object)!.instances[hit.instanceId!];
    return { body: instance.body, geom: instance.geom, point: hit.point, distance: hit.distance };
  }

  get uniform_colors(): boolean {
    const moving = this.world.geoms.filter((g) => g.body !== 0 && g.visual);
    return moving.length > 1 && moving.every((g) => g.color.every((x, i) => Math.abs(x - moving[0].color[i]) < 1e-3));
  }

  dispose() {
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
  }
}
