// From numbers to colours and lengths: what bodies and contacts of a frame look like under the present settings.
import { Frame, Recording } from "./data/recording";
import { Settings } from "./settings";
import { ContactStyle } from "./scene/contacts";
import { category, cividis, heat, Rgb, STATE_COLORS, UNKNOWN } from "./scene/colors";

// Lengths of arrows: an impulse as large as nine tenths of all is as long as two typical bodies, in all runs alike.
export interface Scaling { impulse: number; length: number; marker: number; slip: number }

export function scaling_of(recordings: Recording[], size: number): Scaling {
  const all = recordings.map((r) => {
    const sorted = [...r.impulse_sample].sort((a, b) => a - b);
    return sorted.length ? sorted[Math.floor(0.9 * (sorted.length - 1))] : 0;
  });
  return { impulse: Math.max(...all, 1e-300), length: 2.2 * size, marker: 0.13 * size, slip: size };
}

export function contact_style(settings: Settings, scaling: Scaling, run: Recording, frame: Frame | null, dark: boolean): ContactStyle {
  const unit = scaling.length * settings.arrow;
  const limit = 5 * unit; // longer ones are cut
  const states = STATE_COLORS[dark ? "dark" : "light"];
  let color: (i: number) => Rgb = () => states[0];
  if (frame) {
    const { contact_state, contact_error, contact_island, contact_pressure } = frame.chunk;
    if (settings.contact === "error") color = (i) => heat(contact_error[i], run.world.tolerance);
    else if (settings.contact === "island") color = (i) => category(contact_island[i]);
    else if (settings.contact === "pressure") color = (i) => (contact_pressure[i] > 0 ? cividis(contact_pressure[i] / run.pressure_max) : UNKNOWN);
    else color = (i) => states[contact_state[i]];
  }
  return {
    points: settings.points, impulses: settings.impulses, cones: settings.cones, slip: settings.slip, hidden: settings.hidden,
    marker: scaling.marker, slip_length: scaling.slip,
    impulse_length: settings.root
      ? (x) => Math.min(limit, unit * Math.sqrt(x / scaling.impulse))
      : (x) => Math.min(limit, (unit * x) / scaling.impulse),
    color,
  };
}

export function body_mode(settings: Settings, uniform: boolean): Settings["body"] {
  return settings.body !== "auto" ? settings.body : uniform ? "body" : "material";
}

// Colour of a geom; null keeps its material. Geoms of the world keep theirs too.
export function body_paint(mode: Settings["body"], run: Recording, frame: Frame | null): (geom: number, body: number) => Rgb | null {
  if (mode === "material" || mode === "auto") return () => null;
  if (mode === "body") return (_geom, body) => (body === 0 ? null : category(body - 1));
  const { geoms, tolerance } = run.world;
  const colors: (Rgb | undefined)[] = [];
  if (frame) {
    const worst = new Map<number, number>();
    const { chunk, k } = frame;
    for (let i = 2 * chunk.first[k]; i < 2 * chunk.first[k + 1]; ++i) {
      const body = geoms[chunk.contact_geoms[i]].body;
      if (body === 0) continue;
      const c = i >> 1;
      if (mode === "island") colors[body] = category(chunk.contact_island[c]);
      else if (!(chunk.contact_error[c] <= (worst.get(body) ?? -1))) worst.set(body, chunk.contact_error[c]);
    }
    for (const [body, error] of worst) colors[body] = heat(error, tolerance);
  }
  const idle: Rgb = [0.5, 0.52, 0.55];
  return (_geom, body) => (body === 0 ? null : colors[body] ?? idle);
}
