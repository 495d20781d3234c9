// The page with what the tool itself writes and serves. TRIBO names the tool; without it these tests are skipped.
import assert from "node:assert/strict";
import { ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, DRAWN, launch, open, PATIENCE, press, ready, says, shows, until, value } from "./browser";

const TRIBO = process.env.TRIBO ?? "";
const skip = !CHROMIUM ? "no Chromium on this machine (Debian: apt-get install chromium)" : !existsSync(TRIBO) ? "TRIBO does not name the tool" : false;
const folder = mkdtempSync(join(tmpdir(), "tribo-tool-"));
const file = (name: string) => join(folder, name);
const url = (name: string) => pathToFileURL(file(name)).href;
const tribo = (...args: string[]) => execFileSync(TRIBO, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
let browser: Browser;
before(async () => { if (!skip) browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Numbers of a dataset, by h5dump.
function dataset(name: string, path: string): number[] {
  execFileSync("h5dump", ["-d", path, "-y", "-w", "1", "-m", "%.17g", "-o", file("dump.txt"), file(name)], { stdio: "ignore" });
  return readFileSync(file("dump.txt"), "utf8").split(/[\s,]+/).filter((s) => s !== "").map(Number);
}
const has_h5dump = () => {
  try {
    execFileSync("h5dump", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

test("a run opens without error or request, and its pictures change", { skip }, async () => {
  tribo("sim", "--scene", "clutter", "--set", "bodies=12", "--time", "1", "--quiet", "--record", "run.html");
  const { page, errors, requests } = await open(browser, url("run.html"));
  await ready(page);
  assert.ok((await value<number[]>(page, "t.frames"))[0] >= 61);
  const shot = async (t: number) => {
    await page.evaluate((x) => (window as any).tribo.seek(x), t);
    await ready(page);
    return (await page.locator("#stage").screenshot()).toString("base64");
  };
  assert.notEqual(await shot(0), await shot(1));
  await press(page, "Space", "Space");
  assert.deepEqual(errors, []);
  assert.equal(requests.length, 1);
  await page.context().close();
});

test("contacts of the page are those of the recording", { skip: skip || (has_h5dump() ? false : "no h5dump") }, async () => {
  tribo("sim", "--scene", "sliding-block", "--time", "0.1", "--quiet", "--record", "block.h5");
  tribo("view", "block.h5", "--fps", "0");
  const start = dataset("block.h5", "/contact_start");
  const columns = Object.fromEntries(["position", "impulse", "velocity", "gap", "friction", "error"].map((n) => [n, dataset("block.h5", `/contact_${n}`)]));
  const last = start.length - 2;
  const { page, errors } = await open(browser, url("block.html") + "#t=0.1");
  await ready(page);
  assert.equal(await value<number>(page, "t.frame[0]"), last);
  assert.equal(await value<number>(page, "t.contacts[0]"), start[last + 1] - start[last]);
  const c = start[last];
  const vector = (name: string) => columns[name].slice(3 * c, 3 * c + 3);
  const at = await value<[number, number]>(page, `t.screen(${vector("position")})`);
  await page.mouse.click(at[0], at[1]);
  await shows(page, "document.querySelector('[data-number=gap]') !== null");
  const shown = (await value<any>(page, "t.contact"))!;
  // The contact that was clicked is the one at that place; its numbers are rounded as chunk.h says.
  const length = (v: number[]) => Math.hypot(...v);
  assert.ok(length(shown.position.map((x: number, k: number) => x - vector("position")[k])) < 1e-3, `${shown.position}`);
  const near = (a: number, b: number, share: number, name: string) => assert.ok(Math.abs(a - b) <= share * Math.abs(b) + 1e-12, `${name}: ${a} is not ${b}`);
  for (let k = 0; k < 3; ++k) {
    assert.ok(Math.abs(shown.impulse[k] - vector("impulse")[k]) <= 2e-4 * length(vector("impulse")), `impulse ${shown.impulse} is not ${vector("impulse")}`);
    assert.ok(Math.abs(shown.velocity[k] - vector("velocity")[k]) <= 8e-3 * length(vector("velocity")), `velocity ${shown.velocity} is not ${vector("velocity")}`);
  }
  near(shown.gap, columns.gap[c], Math.abs(columns.gap[c]) < 1e-6 ? 0.26 : 4e-3, "gap");
  near(shown.friction, columns.friction[c], 1e-6, "friction");
  near(shown.error, columns.error[c], 0.13, "error");
  // The panel says the same, to the digits it shows.
  const text = async (name: string) => Number((await page.locator(`[data-number=${name}]`).innerText()).replaceAll("−", "-"));
  near(await text("gap"), shown.gap, 1e-3, "gap of the panel");
  near(await text("impulse_normal"), shown.impulse_normal, 1e-3, "normal impulse of the panel");
  near(await text("impulse_tangential"), shown.impulse_tangential, 1e-3, "tangential impulse of the panel");
  near(await text("error"), shown.error, 0.06, "error of the panel");
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("exact and convex law side by side", { skip }, async () => {
  for (const law of ["exact", "convex"]) tribo("sim", "--scene", "clutter", "--set", "bodies=8", "--time", "0.8", "--law", law, "--quiet", "--record", `${law}.h5`);
  tribo("view", "exact.h5", "convex.h5", "-o", "both.html");
  const { page, errors } = await open(browser, url("both.html") + "#t=0.5");
  await ready(page);
  const times = await value<number[]>(page, "t.times");
  assert.equal(times.length, 2);
  assert.ok(Math.abs(times[0] - times[1]) < 1e-9 && Math.abs(times[0] - 0.5) < 1 / 60 + 1e-9, `${times}`);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("a page that was cut opens with a message", { skip }, async () => {
  tribo("sim", "--scene", "dominos", "--time", "1.5", "--quiet", "--record", "dominos.html");
  const whole = readFileSync(file("dominos.html"));
  writeFileSync(file("cut.html"), whole.subarray(0, whole.length - 3000));
  const { page, errors } = await open(browser, url("cut.html"));
  await shows(page, "window.triboReady === true");
  await says(page, "#notices", /cut|missing/);
  assert.ok((await value<number[]>(page, "t.frames"))[0] >= 60);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("a picture without a window", { skip }, async () => {
  tribo("sim", "--scene", "roman-arch", "--time", "0.1", "--quiet", "--snapshot", "t=0.05:arch.png");
  const png = readFileSync(file("arch.png"));
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.equal(png.readUInt32BE(16), 1280);
  assert.ok(statSync(file("arch.png")).size > 20000);
});

test("live: pause, push, second viewer, reload, wrong token, reset", { skip }, async () => {
  const child: ChildProcess = spawn(TRIBO, ["sim", "--scene", "stack", "--set", "boxes=1", "--view", "0"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  try {
    let text = "";
    child.stderr!.on("data", (data) => { text += data; });
    const address = (await until("the address", () => {
      assert.equal(child.exitCode, null, text);
      return /http:\S+token=\w+(?=\s)/.exec(text)?.[0];
    }))!;
    const refused = await fetch(address.replace(/token=./, "token=x"));
    assert.equal(refused.status, 403);
    const { page, errors } = await open(browser, address);
    await shows(page, `t.connection === 'connected' && t.status?.state === 'playing' && ${DRAWN} > 0`);
    const x = await value<number>(page, "t.position(1)[0]");
    const command = (body: object) => page.evaluate(async ([text, query]) => {
      const reply = await fetch("/command" + query, { method: "POST", body: text });
      return reply.json();
    }, [JSON.stringify(body), new URL(address).search] as const);
    assert.equal((await command({ do: "push", body: 1, point: [x, 0, 0.05], force: [60, 0, 0], seconds: 0.1 })).ok, true);
    await shows(page, `t.position(1)[0] > ${x + 0.01}`);
    await page.locator("#live button", { hasText: "Pause" }).click();
    await shows(page, "t.status?.state === 'paused'");
    const still = await value<number>(page, "t.status.time");
    const stands = (p: Page) => shows<number>(p, DRAWN, (time) => Math.abs(time - still) < 1e-9);
    await stands(page); // frames that were under way are there
    const times = `[t.time, ${DRAWN}, t.status.time]`;
    const before = await value<number[]>(page, times);
    await page.waitForTimeout(300); // in which nothing may happen
    assert.deepEqual(await value<number[]>(page, times), before);
    const second = await open(browser, address);
    await stands(second.page);
    assert.deepEqual(await value(second.page, "[...t.position(1)]"), await value(page, "[...t.position(1)]"));
    await page.reload();
    await stands(page);
    await shows(page, "t.connection === 'connected'");
    const dumped = await command({ do: "save" });
    assert.equal(dumped.ok, true);
    assert.ok(statSync(dumped.file).size > 100000);
    await page.locator("#live button", { hasText: "Reset" }).click();
    await shows(page, `${DRAWN} === 0`);
    assert.deepEqual([...errors, ...second.errors], []);
    await second.page.context().close();
    await page.context().close();
  } finally {
    // It works in the folder that is removed in the end.
    child.kill("SIGINT");
    const last_resort = setTimeout(() => child.kill("SIGKILL"), PATIENCE / 2);
    await until("tribo's end", () => child.exitCode ?? child.signalCode, (end) => end !== null);
    clearTimeout(last_resort);
  }
});
