// Debian's Chromium for the tests, and pages made of the template and data.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { CHROMIUM } from "./chromium.mjs";
import { tags, TestRun } from "./encoder";

declare global { interface ImportMeta { viewer: string } }

export { CHROMIUM };

export async function launch(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return chromium.launch({
    executablePath: CHROMIUM, headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
  });
}

export const template = () => readFileSync(join(import.meta.viewer, "dist/viewer.html"), "utf8");

const folder = mkdtempSync(join(tmpdir(), "tribo-viewer-"));

// Writes template and pieces to a file; the address of it.
export function page_file(name: string, pieces: string[]): string {
  const path = join(folder, `${name}.html`);
  writeFileSync(path, [template(), "\n", ...pieces].join(""));
  return pathToFileURL(path).href;
}

export const replay_file = (name: string, ...runs: TestRun[]) => page_file(name, runs.flatMap((run, i) => tags(run, i)));

export interface Opened { page: Page; errors: string[]; requests: string[] }

export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  const requests: string[] = [];
  // Chromium itself complains about reading pixels back from its software renderer; that is not the page's doing.
  page.on("console", (m) => (m.type() === "error" || m.type() === "warning") && !/GPU stall|ReadPixels/.test(m.text()) && errors.push(m.text()));
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("request", (r) => !r.url().startsWith("data:") && !r.url().startsWith("blob:") && requests.push(r.url()));
  await page.goto(url);
  await page.waitForFunction(() => (window as any).tribo); // the script has been unpacked
  return { page, errors, requests };
}

export const ready = (page: Page) => page.waitForFunction(() => (window as any).tribo?.ready === true, undefined, { timeout: 30000 });
