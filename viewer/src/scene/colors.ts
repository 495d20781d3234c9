// Colours. States and islands use the palette of Okabe and Ito, errors use cividis: both readable with any colour vision.
// Colours are sRGB 0 … 1, written to instance colours as they are (the renderer converts nothing).
import { NO_ISLAND, OPEN, SLIDES, STICKS } from "../data/chunk";

export type Rgb = [number, number, number];

const hex = (text: string): Rgb => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255) as Rgb;

export const STATE_COLORS: Record<"dark" | "light", Rgb[]> = {
  dark: [],
  light: [],
};
STATE_COLORS.dark[STICKS] = hex("#56b4e9");
STATE_COLORS.dark[SLIDES] = hex("#f0a020");
STATE_COLORS.dark[OPEN] = hex("#9aa4b1");
STATE_COLORS.light[STICKS] = hex("#0072b2");
STATE_COLORS.light[SLIDES] = hex("#d97706");
STATE_COLORS.light[OPEN] = hex("#6b7280");

const PALETTE = ["#4e8fbf", "#d9973b", "#4aa58a", "#c9795c", "#b68fb8", "#7fb2d6", "#cdbb4f", "#8a94a3"].map(hex);
export const MISSED: Rgb = hex("#e8562a");
export const UNKNOWN: Rgb = hex("#808080");
export const ACCENT: Rgb = hex("#ff5ca8");

// Colour k of a list without end: eight hues, then darker and lighter ones.
// The island of what nothing moves is none.
export function category(k: number): Rgb {
  if (k === NO_ISLAND) return UNKNOWN;
  const base = PALETTE[k % PALETTE.length];
  const round = Math.floor(k / PALETTE.length) % 3;
  const toward = round === 1 ? 0 : 1;
  const amount = round === 0 ? 0 : 0.38;
  return base.map((x) => x + (toward - x) * amount) as Rgb;
}

const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8779", "#a59c74", "#c3b369", "#e1cc55", "#fee838"].map(hex);

export function cividis(x: number): Rgb {
  const s = Math.min(1, Math.max(0, x)) * (CIVIDIS.length - 1);
  const i = Math.min(CIVIDIS.length - 2, Math.floor(s));
  return CIVIDIS[i].map((a, c) => a + (CIVIDIS[i + 1][c] - a) * (s - i)) as Rgb;
}

// Error against tolerance on a log scale: four decades below the tolerance are cividis, above it is a colour of its own.
export function heat(error: number, tolerance: number): Rgb {
  if (!Number.isFinite(error) || !(tolerance > 0)) return UNKNOWN;
  if (error > tolerance) return MISSED;
  return cividis(1 + Math.log10(Math.max(error, 1e-300) / tolerance) / 4);
}

// sRGB to the linear numbers that instance colours hold.
const LINEAR = Float32Array.from({ length: 1025 }, (_, i) => (i / 1024 <= 0.04045 ? i / 1024 / 12.92 : ((i / 1024 + 0.055) / 1.055) ** 2.4));
export const linear = (x: number) => LINEAR[Math.round(1024 * Math.min(1, Math.max(0, x)))];

export const css = (c: Rgb) => `rgb(${c.map((x) => Math.round(255 * x)).join(" ")})`;
