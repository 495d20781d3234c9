// What the user chose, and its short form in the address of the page. Only what differs from the defaults is written:
//   #t=1.5&cam=iso&contact=error&cones=1&sel=body:3&ui=0

export interface Settings {
  shapes: "visual" | "collision" | "both";
  look: "solid" | "glass" | "wire";
  body: "auto" | "material" | "body" | "island" | "error";
  contact: "state" | "error" | "island" | "pressure";
  points: boolean;
  impulses: boolean;
  cones: boolean;
  slip: boolean;
  hidden: boolean;
  shadows: boolean;
  ground: boolean;
  axes: boolean;
  smooth: boolean;
  arrow: number; // length factor of impulse arrows
  root: boolean; // arrows as the square root of the impulse
  speed: number;
  loop: boolean;
  theme: "auto" | "dark" | "light";
  left: "auto" | "on" | "off";
  right: "auto" | "on" | "off";
  lanes: string; // letters of the curves that are shown
}

export const DEFAULTS: Settings = {
  shapes: "visual", look: "solid", body: "auto", contact: "state",
  points: true, impulses: true, cones: false, slip: false, hidden: true,
  shadows: true, ground: true, axes: false, smooth: false, arrow: 1, root: false,
  speed: 1, loop: true, theme: "auto", left: "auto", right: "auto", lanes: "cnise",
};

const CHOICES: Partial<Record<keyof Settings, readonly string[]>> = {
  shapes: ["visual", "collision", "both"],
  look: ["solid", "glass", "wire"],
  body: ["auto", "material", "body", "island", "error"],
  contact: ["state", "error", "island", "pressure"],
  theme: ["auto", "dark", "light"],
  left: ["auto", "on", "off"],
  right: ["auto", "on", "off"],
};

export interface Address {
  settings: Settings;
  t: number; // s, NaN: not said
  camera: string; // a preset or six numbers: position and target, m; empty: not said
  select: string; // body:3, contact:1,2; empty: nothing
  follow: number; // body, -1: none
  play: boolean;
  ui: boolean; // panels and curves are shown at all
}

export const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export function read_address(hash: string): Address {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const settings: Settings = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Settings)[]) {
    const text = given.get(name);
    if (text === null) continue;
    const into = settings as unknown as Record<string, unknown>;
    const normal = DEFAULTS[name];
    if (typeof normal === "boolean") into[name] = text === "1" || text === "true";
    else if (typeof normal === "number") {
      if (Number.isFinite(parseFloat(text))) into[name] = parseFloat(text);
    } else if (!CHOICES[name] || CHOICES[name]!.includes(text)) into[name] = text;
  }
  settings.speed = Math.min(4, Math.max(0.02, settings.speed));
  settings.arrow = Math.min(20, Math.max(0.05, settings.arrow));
  const t = parseFloat(given.get("t") ?? "");
  const follow = parseInt(given.get("follow") ?? "", 10);
  return {
    settings,
    t: Number.isFinite(t) ? t : NaN,
    camera: given.get("camera") ?? given.get("cam") ?? "",
    select: given.get("sel") ?? "",
    follow: follow > 0 ? follow : -1,
    play: given.get("play") === "1",
    ui: given.get("ui") !== "0",
  };
}

export function write_address(address: Address): string {
  const out: string[] = [];
  if (Number.isFinite(address.t)) out.push(`t=${+address.t.toFixed(6)}`);
  if (address.camera) out.push(`camera=${address.camera}`);
  if (address.select) out.push(`sel=${address.select}`);
  if (address.follow > 0) out.push(`follow=${address.follow}`);
  if (!address.ui) out.push("ui=0");
  for (const name of Object.keys(DEFAULTS) as (keyof Settings)[]) {
    const value = address.settings[name];
    if (value === DEFAULTS[name]) continue;
    out.push(`${name}=${typeof value === "boolean" ? Number(value) : value}`);
  }
  return "#" + out.join("&");
}
