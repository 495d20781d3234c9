// Debian's Chromium for the tests, pages made of the template and data, and waiting for what a page shows.
//
// The page works in frames of animation, timers and messages, so nothing of it may be asserted that has not been waited for:
// what keys and clicks change in the page's state is there at once, what it draws and writes comes with a later frame.
import assert from "node:assert/strict";
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

// How long anything may take, ms. Only what is wrong takes longer, also on a machine with ten times the work it can do.
export const PATIENCE = 60000;

export async function blank(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", ...options });
  context.setDefaultTimeout(PATIENCE);
  return context.newPage();
}

export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const page = await blank(browser, options);
  const errors: string[] = [];
  const requests: string[] = [];
  // Chromium itself complains about reading pixels back from its software renderer; that is not the page's doing.
  page.on("console", (m) => (m.type() === "error" || m.type() === "warning") && !/GPU stall|ReadPixels/.test(m.text()) && errors.push(m.text()));
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("request", (r) => !r.url().startsWith("data:") && !r.url().startsWith("blob:") && requests.push(r.url()));
  await page.goto(url);
  await shows(page, "true"); // the script has been unpacked
  return { page, errors, requests };
}

// Reads again and again until what is read is as wanted, and returns it.
export async function until<T>(what: string, read: () => T | Promise<T>, wanted: (value: T) => unknown = Boolean, patience = PATIENCE): Promise<T> {
  let last = "unread";
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new assert.AssertionError({ message: `${what}: still ${last} after ${patience / 1000} s` })), patience);
  });
  try {
    for (;;) {
      const value = await Promise.race([late, read()]);
      if (wanted(value)) return value;
      last = JSON.stringify(value);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    clearTimeout(timer!);
  }
}

// An expression of the page, where t is window.tribo (undefined before the page has started).
export const value = <T>(page: Page, expression: string) =>
  page.evaluate(`(() => { const t = window.tribo; return t && (${expression}); })()`) as Promise<T>;

// Its value once it is as wanted.
export const shows = <T>(page: Page, expression: string, wanted: (value: T) => unknown = Boolean, patience = PATIENCE): Promise<T> =>
  until(expression, () => value<T>(page, expression), wanted, patience);

// The text of an element, once it is as wanted.
export const says = (page: Page, selector: string, wanted: RegExp): Promise<string> =>
  until(`${selector} says ${wanted}`, () => page.evaluate((s) => document.querySelector<HTMLElement>(s)?.innerText ?? "", selector), (text) => wanted.test(text));

export const count = (page: Page, selector: string, wanted: number): Promise<number> =>
  until(`${wanted} of ${selector}`, () => page.locator(selector).count(), (n) => n === wanted);

// All of the recording has been read, and what was asked for is drawn; unless it plays, the panels say the same. A live view
// that plays is never ready for long: DRAWN says which frame it shows.
export const ready = (page: Page, patience = PATIENCE) =>
  shows<boolean>(page, "t.ready && t.app.recordings.every((r) => r.complete)", Boolean, patience);

// Time of the first run's frame that is drawn, s; NaN before the first. t.time is what is to be drawn next.
export const DRAWN = "(t.app.frames[0] ? t.app.frames[0].chunk.time[t.app.frames[0].k] : NaN)";

// Presses keys, and waits until what they ask for is drawn.
export async function press(page: Page, ...keys: string[]) {
  for (const key of keys) await page.keyboard.press(key);
  await ready(page);
}
