// Mouse and touch on the scene: click selects, double click looks at, Shift and drag pushes (live).
import { App } from "./app";
import { pick } from "./selecting";
import { by_id } from "./ui/dom";

export interface Pushing {
  enabled(event: PointerEvent): boolean;
  begin(x: number, y: number): boolean; // false: no body there
  move(x: number, y: number): void;
  end(): void;
}

export function listen_pointer(app: App, pushing: Pushing | null) {
  const canvas = by_id<HTMLCanvasElement>("canvas");
  const at = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top] as const;
  };
  let down: { x: number; y: number; push: boolean } | null = null;
  // Before the orbit controls see it.
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = at(event);
    const push = event.button === 0 && event.isPrimary && !!pushing?.enabled(event) && pushing.begin(x, y);
    down = event.isPrimary ? { x, y, push } : null;
    if (push) {
      app.stage!.controls.enabled = false;
      canvas.setPointerCapture(event.pointerId);
    }
  }, { capture: true });
  canvas.addEventListener("pointermove", (event) => down?.push && pushing!.move(...at(event)));
  const up = (event: PointerEvent) => {
    const was = down;
    down = null;
    if (was?.push) {
      pushing!.end();
      app.stage!.controls.enabled = true;
      return;
    }
    const [x, y] = at(event);
    if (!was || event.type !== "pointerup" || event.button !== 0 || Math.hypot(x - was.x, y - was.y) > 5 || !app.stage) return;
    const s = app.settings;
    app.actions.select(pick(app.stage, app.recordings, app.frames, app.offsets, s.points || s.impulses || s.cones, x, y, event.pointerType === "touch" ? 22 : 12));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("dblclick", () => app.selection && app.actions.fit());
}
