// Where ground, light and camera are: around what is to be seen when it is first seen, then along with it. The camera
// moves by itself only to follow a body.
import * as THREE from "three";
import { Stage } from "./scene/stage";

const OFTEN = 15; // frames between looks at where everything is

export class Viewpoint {
  private ball: { center: number[]; radius: number } | null = null;
  private followed: THREE.Vector3 | null = null;
  private drawn = 0;

  get placed() { return this.ball !== null; }

  // Begin anew with the next frame.
  forget() { this.ball = null; }
  follow_anew() { this.followed = null; }

  // offsets: of the camera of each run beside the common one, so that each follows its own body. body -1: none.
  place(stage: Stage, offsets: THREE.Vector3[], body: number, known: boolean, first_look: () => void) {
    if (!this.ball && known) {
      this.surround(stage);
      if (!stage.moved) first_look();
    }
    stage.views.forEach((view, run) => {
      offsets[run].set(0, 0, 0);
      if (body < 0 || body >= view.poses.bodies) return;
      const at = new THREE.Vector3(...view.poses.position(body));
      if (!Number.isFinite(at.x)) return;
      if (run === 0) {
        if (this.followed && at.distanceToSquared(this.followed) > 0) stage.shift(at.clone().sub(this.followed));
        this.followed = at;
      } else if (this.followed) offsets[run].copy(at).sub(this.followed);
    });
    if (this.ball && ++this.drawn % OFTEN === 0) {
      const { center } = stage.bounds();
      if (Math.hypot(...center.map((c, i) => c - this.ball!.center[i])) > 0.5 * this.ball.radius) this.surround(stage);
    }
  }

  private surround(stage: Stage) {
    const { center, radius, low } = stage.bounds();
    this.ball = { center, radius };
    for (const view of stage.views) {
      view.ground.place(view.poses, center, radius, low);
      view.light(center, radius * 1.05);
    }
  }
}
