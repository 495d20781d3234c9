// Screenshots: node test/run.mjs figures LIST.json, a list of {"page", "out", "width", "height", "theme", "state", "phone"}.
// page: a replay page, or the address of a live view; state: what follows # in the address. Pictures have at most 256 colours.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open, ready } from "./browser";
import { small_png } from "./palette";

interface Shot { page: string; out: string; width?: number; height?: number; theme?: "dark" | "light"; state?: string; phone?: boolean; drag?: number[] }

const [list] = process.argv.slice(2);
const browser = await launch();
for (const shot of JSON.parse(readFileSync(list, "utf8")) as Shot[]) {
  const address = /^https?:/.test(shot.page) ? shot.page : pathToFileURL(resolve(shot.page)).href;
  const { page, errors } = await open(browser, address + (shot.state ?? ""), {
    viewport: { width: shot.width ?? 1440, height: shot.height ?? 900 }, colorScheme: shot.theme ?? "dark",
    ...(shot.phone ? { hasTouch: true, isMobile: true, deviceScaleFactor: 1.5 } : {}) });
  await page.waitForFunction(() => (window as any).tribo.frames.every((n: number) => n > 0));
  await ready(page);
  await page.waitForTimeout(700);
  if (shot.drag) { // body, and by how many pixels: pushed while the picture is taken
    const [body, x, y] = shot.drag;
    const at = await page.evaluate((b) => { const t = (window as any).tribo; return t.screen(...t.position(b)); }, body);
    await page.keyboard.down("Shift");
    await page.mouse.move(at[0], at[1]);
    await page.mouse.down();
    await page.mouse.move(at[0] + x, at[1] + y, { steps: 3 });
    await page.waitForTimeout(1200);
  }
  writeFileSync(shot.out, await small_png(page, await page.screenshot()));
  console.log(shot.out, errors, await page.evaluate(() => { const t = (window as any).tribo; return [t.frames, t.frame, t.contacts, t.drawCalls]; }));
  await page.context().close();
}
await browser.close();
