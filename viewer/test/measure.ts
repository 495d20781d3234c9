// Script time per frame: node test/run.mjs measure [PAGE.html]. Prints JSON. Without a page: 1000 bodies with 3000 contacts.
// The software renderer of a machine without a graphics card takes a second for a million triangles and lets the script
// wait; so the draw calls themselves do nothing, and what is measured is the page: decoding, matrices, uploads, curves, panels.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, replay_file } from "./browser";
import { field } from "./scenes";

const SECONDS = 6;
const [file] = process.argv.slice(2);
const address = file ? pathToFileURL(resolve(file)).href : replay_file("field", field());
const browser = await launch();
const out: object[] = [];
for (const [name, state] of [["points and impulses", ""], ["and cones", "&cones=1"], ["and slip, errors", "&cones=1&slip=1&contact=error&body=error"]]) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.addInitScript(() => {
    const gl = WebGL2RenderingContext.prototype as any;
    for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) gl[name] = () => undefined;
  });
  await page.goto(`${address}#play=1${state}`);
  await page.waitForFunction(() => (window as any).tribo?.app.recordings.every((r: any) => r.complete));
  await page.waitForTimeout(1000 * SECONDS);
  out.push(await page.evaluate((shown) => {
    const t = (window as any).tribo;
    return { shown, frames: t.app.drawn, contacts: t.contacts, median_ms: t.scriptMs, p95_ms: t.scriptShare(0.95), draw_calls: t.drawCalls };
  }, name));
  await page.context().close();
}
await browser.close();
console.log(JSON.stringify(out));
