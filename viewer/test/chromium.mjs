// Where Chromium is; undefined where there is none. TRIBO_CHROMIUM names another one.
import { existsSync } from "node:fs";

export const CHROMIUM = [process.env.TRIBO_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => p && existsSync(p));
