// Planes of the world as wide sheets with a grid that fades out; without a plane, a reference grid below everything.
import * as THREE from "three";
import { World } from "../data/world";
import { Poses } from "./poses";

interface Uniforms {
  tribo_cell: { value: number };
  tribo_line: { value: THREE.Color };
  tribo_fade: { value: THREE.Vector3 }; // centre x, y in the plane; radius
}

function grid_material(uniforms: Uniforms): THREE.MeshLambertMaterial {
  const material = new THREE.MeshLambertMaterial({ transparent: true, depthWrite: false, side: THREE.FrontSide });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec2 tribo_at;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\ntribo_at = position.xy;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>
        varying vec2 tribo_at;
        uniform float tribo_cell; uniform vec3 tribo_line; uniform vec3 tribo_fade;
        float tribo_grid(vec2 p, float cell) {
          vec2 w = fwidth(p / cell);
          vec2 d = abs(fract(p / cell - 0.5) - 0.5) / max(w, vec2(1e-6));
          return (1.0 - min(min(d.x, d.y), 1.0)) * clamp(1.0 - 2.0 * max(w.x, w.y), 0.0, 1.0);
        }`)
      .replace("#include <color_fragment>", `#include <color_fragment>
        float lines = max(0.45 * tribo_grid(tribo_at, tribo_cell), tribo_grid(tribo_at, 5.0 * tribo_cell));
        diffuseColor.rgb = mix(diffuseColor.rgb, tribo_line, lines);
        diffuseColor.a *= 1.0 - smoothstep(0.25, 1.0, distance(tribo_at, tribo_fade.xy) / tribo_fade.z);`);
  };
  return material;
}

// 1, 2 or 5 times a power of ten.
export function round_length(x: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(x, 1e-12)));
  return power * (x / power >= 5 ? 5 : x / power >= 2 ? 2 : 1);
}

export class Ground {
  readonly group = new THREE.Group();
  cell = 1; // m, of the grid
  private sheets: { mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshLambertMaterial>; geom: number; uniforms: Uniforms }[] = [];

  constructor(private readonly world: World) {
    world.geoms.forEach((geom, index) => {
      if (geom.kind === "plane" && (geom.collides || geom.visual)) this.add(index);
    });
    if (this.sheets.length === 0) this.add(-1);
  }

  get reference() { return this.sheets[0].geom === -1; }

  private add(geom: number) {
    const uniforms: Uniforms = {
      tribo_cell: { value: 1 },
      tribo_line: { value: new THREE.Color() },
      tribo_fade: { value: new THREE.Vector3(0, 0, 10) },
    };
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), grid_material(uniforms));
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    mesh.matrixAutoUpdate = false;
    this.group.add(mesh);
    this.sheets.push({ mesh, geom, uniforms });
  }

  theme(dark: boolean) {
    for (const { mesh, uniforms } of this.sheets) {
      mesh.material.color.set(dark ? "#2a313b" : "#e9ecf0");
      uniforms.tribo_line.value.set(dark ? "#46515f" : "#c3cad3");
    }
  }

  // center and radius: what is to be seen; low: height of a reference grid.
  place(poses: Poses, center: number[], radius: number, low: number) {
    this.cell = round_length(radius / 6);
    for (const { mesh, geom, uniforms } of this.sheets) {
      const m = mesh.matrix;
      let position: number[];
      if (geom < 0) {
        m.identity();
        position = [0, 0, low];
      } else {
        const g = this.world.geoms[geom];
        const [x, y, z, w, qx, qy, qz] = g.pose;
        const P = poses.data;
        const o = 12 * g.body;
        const body = new THREE.Matrix4().set(P[o], P[o + 1], P[o + 2], P[o + 9], P[o + 3], P[o + 4], P[o + 5], P[o + 10], P[o + 6], P[o + 7], P[o + 8], P[o + 11], 0, 0, 0, 1);
        m.compose(new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, w), new THREE.Vector3(1, 1, 1)).premultiply(body);
        position = m.elements.slice(12, 15);
      }
      // The sheet is centred where the scene projects to, in whole cells so that the lines stay where they are.
      const e = m.elements;
      const step = 5 * this.cell;
      const local = [0, 1].map((j) => {
        const d = [0, 1, 2].reduce((s, i) => s + e[4 * j + i] * (center[i] - position[i]), 0);
        return Math.round(d / step) * step;
      });
      // Walls are seen through, and not far.
      const wall = e[10] < 0.5;
      const reach = (wall ? 2 : 9) * radius;
      mesh.material.opacity = wall ? 0.4 : 1;
      mesh.geometry.dispose();
      mesh.geometry = new THREE.PlaneGeometry(2 * reach, 2 * reach).translate(local[0], local[1], 0);
      uniforms.tribo_fade.value.set(local[0], local[1], reach);
      uniforms.tribo_cell.value = this.cell;
      m.setPosition(position[0], position[1], position[2]);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  dispose() {
    for (const { mesh } of this.sheets) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
  }
}
