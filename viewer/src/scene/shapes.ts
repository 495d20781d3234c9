// Unit geometries that are scaled per instance, and the extents of a geom.
import * as THREE from "three";
import { Geom, Mesh, World } from "../data/world";

export interface Part {
  key: string; // which geometry
  scale: [number, number, number];
  offset: number; // m along z of the geom
}

// A geom as scaled unit geometries. Planes are drawn by the ground.
export function parts_of(geom: Geom): Part[] {
  const [x, y, z] = geom.size;
  switch (geom.kind) {
    case "plane": return [];
    case "sphere": return [{ key: "sphere", scale: [x, x, x], offset: 0 }];
    case "ellipsoid": return [{ key: "sphere", scale: [x, y, z], offset: 0 }];
    case "box": return [{ key: "box", scale: [x, y, z], offset: 0 }];
    case "cylinder": return [{ key: "cylinder", scale: [x, x, y], offset: 0 }];
    case "capsule": return [
      { key: "tube", scale: [x, x, y], offset: 0 },
      { key: "dome", scale: [x, x, x], offset: y },
      { key: "bowl", scale: [x, x, x], offset: -y },
    ];
    default: return [{ key: `mesh${geom.mesh}`, scale: [1, 1, 1], offset: 0 }];
  }
}

const upright = (g: THREE.BufferGeometry) => g.rotateX(Math.PI / 2); // three's axis is y, ours is z

function mesh_geometry(mesh: Mesh): THREE.BufferGeometry {
  const indexed = new THREE.BufferGeometry();
  indexed.setAttribute("position", new THREE.BufferAttribute(mesh.positions, 3));
  indexed.setIndex(new THREE.BufferAttribute(mesh.triangles, 1));
  // Flat facets show the shape that collides; fine meshes look smooth anyway.
  const flat = mesh.triangles.length < 3 * 4000;
  const geometry = flat ? indexed.toNonIndexed() : indexed;
  geometry.computeVertexNormals();
  return geometry;
}

// Segments around an axis: fine for a few bodies, where light and shadow meet without steps, coarse where hundreds are drawn.
export function segments_for(instances: number): number {
  return instances > 200 ? 12 : instances > 40 ? 24 : 48;
}

export function unit_geometry(key: string, world: World, around: number): THREE.BufferGeometry {
  const along = Math.round(around / 3); // from pole to equator
  switch (key) {
    case "sphere": return upright(new THREE.SphereGeometry(1, around + 4, 2 * along));
    case "box": return new THREE.BoxGeometry(2, 2, 2);
    case "cylinder": return upright(new THREE.CylinderGeometry(1, 1, 2, around + 4));
    case "tube": return upright(new THREE.CylinderGeometry(1, 1, 2, around, 1, true));
    case "dome": return upright(new THREE.SphereGeometry(1, around, along, 0, 2 * Math.PI, 0, Math.PI / 2));
    case "bowl": return upright(new THREE.SphereGeometry(1, around, along, 0, 2 * Math.PI, Math.PI / 2, Math.PI / 2));
    default: return mesh_geometry(world.meshes[Number(key.slice(4))]!);
  }
}

// Half extents of the box around a geom and its centre, in the geom's frame; null for planes.
export function extents(geom: Geom, world: World): { center: number[]; half: number[] } | null {
  const [x, y, z] = geom.size;
  const centred = (half: number[]) => ({ center: [0, 0, 0], half });
  switch (geom.kind) {
    case "plane": return null;
    case "sphere": return centred([x, x, x]);
    case "ellipsoid": case "box": return centred([x, y, z]);
    case "cylinder": return centred([x, x, y]);
    case "capsule": return centred([x, x, x + y]);
    default: {
      const p = world.meshes[geom.mesh]?.positions;
      if (!p || p.length === 0) return null;
      const low = [Infinity, Infinity, Infinity];
      const high = [-Infinity, -Infinity, -Infinity];
      p.forEach((v, i) => {
        low[i % 3] = Math.min(low[i % 3], v);
        high[i % 3] = Math.max(high[i % 3], v);
      });
      return { center: low.map((l, i) => (l + high[i]) / 2), half: low.map((l, i) => (high[i] - l) / 2) };
    }
  }
}

// The size of what moves, m: median over the geoms of moving bodies. Markers and arrows are measured by it.
export function typical_size(world: World): number {
  const sizes: number[] = [];
  for (const geom of world.geoms) {
    if (geom.body === 0 || !(geom.collides || geom.visual)) continue;
    const e = extents(geom, world);
    if (e) sizes.push(Math.cbrt(e.half.map((h) => Math.max(h, 1e-3 * Math.max(...e.half))).reduce((a, b) => a * b)));
  }
  sizes.sort((a, b) => a - b);
  const size = sizes[Math.floor(sizes.length / 2)];
  return size > 0 && Number.isFinite(size) ? size : 0.1;
}
