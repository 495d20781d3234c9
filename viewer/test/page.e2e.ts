// The page in Chromium, from files.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { blank, CHROMIUM, count, launch, open, page_file, PATIENCE, press, ready, replay_file, says, shows, template, until, value } from "./browser";
import { in_html, tags } from "./encoder";
import { field, marathon, mixed, world } from "./scenes";

const skip = CHROMIUM ? false : "no Chromium on this machine (Debian: apt-get install chromium)";
let browser: Browser;
before(async () => { if (!skip) browser = await launch(); });
after(async () => browser?.close());

const seek = async (page: Page, t: number) => {
  await page.evaluate((x) => (window as any).tribo.seek(x), t);
  await ready(page);
};
const picture = async (page: Page) => (await page.locator("#stage").screenshot()).toString("base64");

test("a replay opens from a file without a request or an error, and plays", { skip }, async () => {
  const run = mixed();
  const { page, errors, requests } = await open(browser, replay_file("replay", run));
  await ready(page);
  assert.deepEqual(await value(page, "t.frames"), [240]);
  assert.equal(await page.title(), "mixed · tribo");
  await says(page, "#verdict", /2 steps missed/);
  await page.keyboard.press("Space");
  await shows(page, "t.time > 0.3");
  await press(page, "Space");
  assert.equal(await value(page, "t.playing"), false);
  // It plays by the clock, and may be anywhere by now: the keys begin between two frames far from both ends.
  await seek(page, 1.005);
  const frame = await value<number>(page, "t.frame[0]");
  await press(page, "ArrowRight", "Shift+ArrowRight", "ArrowLeft");
  assert.equal(await value<number>(page, "t.frame[0]"), frame + 10);
  await press(page, "n");
  assert.ok((run.frames[await value<number>(page, "t.frame[0]")].missed));
  await press(page, "h");
  const most = Math.max(...run.frames.map((f) => f.iterations));
  assert.equal(run.frames[await value<number>(page, "t.frame[0]")].iterations, most);
  assert.deepEqual(errors, []);
  assert.equal(requests.length, 1);
  await page.context().close();
});

test("scrubbing and layers change the picture", { skip }, async () => {
  const { page, errors } = await open(browser, replay_file("scrub", mixed()));
  await ready(page);
  await seek(page, 0.1);
  const a = await picture(page);
  await seek(page, 3);
  const b = await picture(page);
  assert.notEqual(a, b);
  await page.locator("#slider").evaluate((e: HTMLInputElement) => { e.value = "0.1"; e.dispatchEvent(new Event("input")); });
  await ready(page);
  assert.equal(await picture(page), a, "the same frame gives the same picture");
  let last = a;
  for (const key of ["k", "c", "x", "b", "o", "3", "t"]) {
    await press(page, key);
    const now = await picture(page);
    assert.notEqual(now, last, `key ${key}`);
    last = now;
  }
  // Clicking into the curves moves the time.
  const plot = (await page.locator(".lane[data-lane=c] .plot").boundingBox())!;
  await page.mouse.click(plot.x + plot.width / 2, plot.y + 20);
  await shows<number>(page, "t.time", (t) => t > 1.5 && t < 2.5);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("a click on a contact shows the numbers of the recording; copy gives them all", { skip }, async () => {
  const run = mixed();
  const { page, errors } = await open(browser, replay_file("pick", run) + "#t=2");
  await ready(page);
  const frame = run.frames[await value<number>(page, "t.frame[0]")];
  const wanted = frame.contacts.filter((c) => c.state === 2)[2];
  const at = await value<[number, number]>(page, `t.screen(${wanted.position})`);
  await page.mouse.click(at[0], at[1]);
  await says(page, "#picked", /slides/);
  const shown = async (name: string) => Number((await page.locator(`[data-number=${name}]`).innerText()).replace("−", "-").replace("−", "-"));
  const near = (a: number, b: number) => assert.ok(Math.abs(a - b) <= 1e-5 * Math.max(Math.abs(b), 1e-6), `${a} is not ${b}`);
  const normal = wanted.impulse[2];
  const tangential = Math.hypot(wanted.impulse[0], wanted.impulse[1]);
  near(await shown("gap"), wanted.gap);
  near(await shown("impulse_normal"), normal);
  near(await shown("impulse_tangential"), tangential);
  near(await shown("slip"), wanted.velocity[0]);
  near(await shown("force"), Math.hypot(normal, tangential) / 0.002);
  near(await shown("friction"), wanted.friction);
  assert.ok(Math.abs(await shown("cone_margin") - (0.6 * normal - tangential)) < 1e-7);
  assert.ok(Math.abs(await shown("error") / wanted.error - 1) < 0.06);
  const copied = JSON.parse(await page.evaluate(() => {
    let text = "";
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (s: string) => { text = s; } } });
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "y" }));
    return text;
  }));
  assert.equal(copied.contact.impulse[2], Math.fround(normal));
  assert.equal(copied.time, frame.time);
  // A body by name, from the keyboard alone.
  await page.keyboard.press("/");
  await page.keyboard.type("caps");
  await page.keyboard.press("Enter");
  await shows(page, "t.selection?.kind === 'body'");
  await says(page, "#picked", /capsule/);
  await shows<string>(page, "location.hash", (hash) => /sel=body/.test(hash));
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("two runs stay in step", { skip }, async () => {
  const a = mixed(), b = mixed(200, "other", 0.2);
  b.frames = b.frames.map((f, k) => ({ ...f, time: k / 50 }));
  const { page, errors } = await open(browser, replay_file("pair", a, b) + "#play=1");
  await ready(page);
  // Time and frames belong to the same tick of the page, however late that is.
  const in_step = (time: number, times: number[]) => {
    assert.equal(times.length, 2);
    for (const [i, period] of [1 / 60, 1 / 50].entries()) assert.ok(time - times[i] > -1e-6 && time - times[i] < period + 1e-6, `${time} ${times}`);
  };
  for (let n = 0, last = -1; n < 5; ++n) {
    const [time, times] = await shows<[number, number[]]>(page, "[t.time, t.times]", ([time]) => Math.abs(time - last) > 0.15);
    in_step(time, times);
    last = time;
  }
  await press(page, "Space");
  assert.equal(await value(page, "t.playing"), false);
  in_step(...await value<[number, number[]]>(page, "[t.time, t.times]"));
  await count(page, ".run-title", 2);
  // The same point of the world is at the same place of both halves.
  const [p, q] = await value<[number[], number[]]>(page, "[t.screen(0,0,0,0), t.screen(0,0,0,1)]");
  const half = (await page.locator("#canvas").boundingBox())!.width / 2;
  assert.ok(Math.abs(q[0] - p[0] - half) < 1.5 && Math.abs(q[1] - p[1]) < 0.5);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("the address sets time, camera, layers; triboReady says when the frame is drawn", { skip }, async () => {
  const { page, errors } = await open(browser, replay_file("address", mixed()) + "#t=1.5&camera=top&cones=1&ui=0&theme=light");
  await shows(page, "window.triboReady === true");
  assert.equal(await value<number>(page, "t.frame[0]"), 90);
  assert.equal(await page.locator("#dock").isVisible(), false);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("the address says which body the camera follows; a body that is not there is nobody", { skip }, async () => {
  const run = mixed();
  const ball = run.world.bodies.findIndex((b: any) => b.name === "ball");
  const file = replay_file("follow", run);
  const { page, errors } = await open(browser, `${file}#follow=${ball}&sel=body:${ball}`);
  await ready(page);
  const at = () => value<[number, number]>(page, `t.screen(...t.position(${ball}))`);
  await seek(page, 0.5);
  const before = await at();
  const x = (await value<number[]>(page, `t.position(${ball})`))[0];
  await seek(page, 2.5);
  assert.ok(Math.abs((await value<number[]>(page, `t.position(${ball})`))[0] - x) > 0.5, "the ball moves");
  const after = await at();
  assert.ok(Math.hypot(after[0] - before[0], after[1] - before[1]) < 1, `${before} ${after}`);
  await press(page, "g");
  assert.equal(await value<number>(page, "t.app.follow_body"), -1);
  await page.goto("about:blank");
  await page.goto(`${file}#follow=999`);
  await ready(page);
  assert.equal(await value<number>(page, "t.app.follow_body"), -1);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("damaged, truncated and empty recordings: a message, and what is left is shown", { skip }, async () => {
  const run = { ...mixed(200), per_chunk: 50 };
  const good = tags(run);
  const middle = good[2].replace(/(data-frames="50">.{40}).{30}/, "$1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  const bare = world("bare", [], []);
  const cases: [string, string[], RegExp, number][] = [
    ["damaged", [good[0], good[1], middle, ...good.slice(3)], /chunk 2 of 4.*damaged/, 150],
    ["cut", [good[0], good[1], good[2], good[3].slice(0, 900)], /cut off[^]*100 frames are shown/, 100],
    ["endless", good.slice(0, 5), /end of the recording is missing/, 200],
    ["lengths", [good[0], good[1].replace(">", ">").replace('data-frames="50"', 'data-frames="49"'), ...good.slice(2)], /says 49 frames and has 50/, 200],
    ["none", [good[0], good[5].replace("200", "0")], /no frames/, 0],
    ["version", [good[0].replace('"version":1', '"version":7'), ...good.slice(1)], /version 7/, -1],
    ["json", [good[0].slice(0, 300) + "</script>", ...good.slice(1)], /not valid JSON/, -1],
    ["nothing", [], /holds no recording/, -1],
    ["empty world", [`<script type="application/json" class="tribo-world">${in_html(bare)}</script>`], /no frames/, 0],
    ["orphans", [...good.slice(1)], /without a world/, -1],
  ];
  for (const [name, pieces, message, frames] of cases) {
    const { page, errors } = await open(browser, page_file(name, pieces));
    await shows(page, "window.triboReady === true");
    await says(page, "#notices", message);
    if (frames >= 0) assert.deepEqual(await value(page, "t.frames"), [frames], name);
    for (const key of ["Space", "n", "h", "m", "]", "f", "End", "ArrowLeft"]) await page.keyboard.press(key);
    if (frames >= 0) await ready(page);
    assert.deepEqual(errors, [], name);
    await page.context().close();
  }
});

test("a page that ends within its own script says that it is not whole", { skip }, async () => {
  const page = await blank(browser);
  const whole = template();
  const path = page_file("stump", []).replace("file://", "");
  writeFileSync(path, whole.slice(0, whole.indexOf('id="code">') + 5000) + "</script>" + whole.slice(whole.indexOf("<script>\n(async")));
  await page.goto(`file://${path}`);
  await says(page, "#notices", /all of its beginning/);
  await page.context().close();
});

test("numbers that are not known, and names with markup", { skip }, async () => {
  const evil = `<script>window.hacked=1</script><img src=x onerror="window.hacked=1">`;
  const run = mixed(60, evil);
  run.world.bodies[1].name = run.world.geoms[1].name = evil;
  for (const [k, f] of run.frames.entries()) {
    if (k % 3) f.error = f.kinetic = f.potential = f.solve_time = f.step_time = f.penetration = NaN;
    f.contacts.forEach((c, i) => {
      if (i % 5 === 1) c.position = [NaN, NaN, NaN];
      if (i % 5 === 2) c.impulse = [NaN, 1, Infinity];
      if (i % 5 === 3) c.normal = [0, 0, 0];
      if (i % 5 === 4) c.gap = c.friction = c.error = NaN;
    });
    if (k > 30) f.poses[2] = [1, 1, 1, 0, 0, 0, 0];
  }
  const { page, errors, requests } = await open(browser, replay_file("evil", run) + "#t=0.8&cones=1&slip=1&contact=error&body=error&sel=body:1");
  await ready(page);
  await press(page, ..."]".repeat(8));
  const drawn = await value<number>(page, "t.app.drawn");
  await page.keyboard.press("Space");
  await shows(page, `t.playing && t.app.drawn > ${drawn + 10}`, Boolean, 5 * PATIENCE);
  await says(page, "#name", /<script>/);
  assert.equal(await page.evaluate(() => (window as any).hacked), undefined);
  assert.deepEqual(errors, []);
  assert.equal(requests.length, 1);
  await page.context().close();
});

test("a million frames", { skip }, async () => {
  const { page, errors } = await open(browser, replay_file("marathon", marathon()));
  await ready(page, 5 * PATIENCE);
  assert.deepEqual(await value(page, "t.frames"), [1_000_000]);
  await seek(page, 12345.5);
  const frame = await value<number>(page, "t.frame[0]");
  assert.ok(Math.abs(frame - 12345.5 * 60) <= 1);
  const x = (await value<number[]>(page, "t.position(1)"))[0];
  assert.ok(Math.abs(x - 0.5 * Math.sin(frame / 500)) < 2e-5);
  await press(page, "n");
  assert.ok((await value<number>(page, "t.app.recordings[0].bytes_decoded")) < 100e6);
  assert.deepEqual(errors, []);
  await page.context().close();
});

// The software renderer of a test machine needs a second for a million triangles and lets the script wait; so the draw
// calls themselves do nothing here, and what is measured is the page: decoding, matrices, uploads, curves.
test("1000 bodies with 3000 contacts play; the script time per frame is reported", { skip }, async (t) => {
  const page = await blank(browser);
  await page.addInitScript(() => {
    const gl = WebGL2RenderingContext.prototype as any;
    for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) gl[name] = () => undefined;
  });
  await page.goto(replay_file("field", field()) + "#cones=1");
  await ready(page);
  assert.deepEqual(await value(page, "t.frames"), [120]);
  const drawn = await value<number>(page, "t.app.drawn");
  await page.keyboard.press("Space");
  await shows(page, `t.playing && t.app.drawn > ${drawn + 120}`, Boolean, 5 * PATIENCE); // as many as the time is the median of
  // In the first frame nothing touches yet.
  const [, ms, calls, contacts] = await shows<[number, number, number, number[]]>(page, "[t.frame[0], t.scriptMs, t.drawCalls, t.contacts]", ([frame]) => frame > 0);
  assert.equal(contacts[0], 3000);
  t.diagnostic(`script time ${ms.toFixed(2)} ms per frame, ${calls} draw calls`);
  assert.ok(calls < 60, "bodies and contacts are drawn as instances");
  await page.context().close();
});

test("a phone: panels open over the scene, everything is within the width", { skip }, async () => {
  const { page, errors } = await open(browser, replay_file("phone", mixed()), { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await ready(page);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  const resize = async (width: number) => {
    await page.setViewportSize({ width, height: 844 });
    await shows<number>(page, "document.documentElement.clientWidth", (now) => now === width);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // it is told of its size
    await ready(page);
  };
  for (const width of [390, 320]) {
    await resize(width);
    for (const tool of await page.locator("#tools .tool").all()) {
      const box = (await tool.boundingBox())!;
      assert.ok(box.x >= 0 && box.x + box.width <= width, `${await tool.getAttribute("id")} at a width of ${width}`);
    }
  }
  await resize(390);
  // The click that a tap makes comes after it.
  const panels = (left: boolean, right: boolean) => until(`panels ${[left, right]}`, async () => [await page.locator("#left").isVisible(), await page.locator("#right").isVisible()],
    (now) => now[0] === left && now[1] === right);
  await panels(false, false);
  await page.locator("#tool-layers").tap();
  await panels(true, false);
  await page.locator("#tool-panel").tap();
  await panels(false, true);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("every control has a name for those who do not see it", { skip }, async () => {
  const { page } = await open(browser, replay_file("names", mixed()));
  await ready(page);
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter((e) =>
    !(e.getAttribute("aria-label") || e.textContent!.trim() || (e as HTMLInputElement).labels?.[0]?.textContent!.trim())).map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  await page.keyboard.press("?");
  await count(page, "dialog[open]", 1);
  await page.keyboard.press("Escape");
  await count(page, "dialog[open]", 0);
  await page.context().close();
});

test("without a mouse: Tab reaches every control that is shown, and shows where it is", { skip }, async () => {
  const { page, errors } = await open(browser, replay_file("tab", mixed()));
  await ready(page);
  await shows(page, "[...document.querySelectorAll('#transport button')].every((e) => !e.disabled)"); // the time line is drawn later
  await page.evaluate(() => document.addEventListener("focusin", (e) => (e.target as HTMLElement).setAttribute("data-reached", "")));
  const shown = "[...document.querySelectorAll('button:enabled, input:enabled, select, canvas[tabindex]')].filter((e) => e.checkVisibility())";
  const controls = await value<number>(page, `${shown}.length`);
  assert.ok(controls > 40, `${controls}`);
  let without_ring = 0;
  for (let n = 0; n < controls + 5; ++n) {
    await page.keyboard.press("Tab");
    without_ring += await page.evaluate(() => {
      const e = document.activeElement as HTMLElement;
      if (e === document.body) return 0;
      const rings = [e, e.parentElement!, e.nextElementSibling].filter((x) => x).map((x) => getComputedStyle(x!));
      return rings.some((s) => s.outlineStyle !== "none" || s.boxShadow !== "none") ? 0 : 1;
    });
  }
  // Of a group of radio buttons Tab reaches one, the arrow keys the others.
  const missed = await page.evaluate(`${shown}.filter((e) => e.type === "radio" ? !document.querySelector('[name="' + e.name + '"][data-reached]') : !e.hasAttribute("data-reached")).map((e) => e.outerHTML.slice(0, 120))`);
  assert.deepEqual(missed, []);
  assert.equal(without_ring, 0);
  assert.deepEqual(errors, []);
  await page.context().close();
});
