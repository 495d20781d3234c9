// The live view in Chromium, against a toy server of the same contract.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, launch, open } from "./browser";
import { ToyServer } from "./live_server";

const skip = CHROMIUM ? false : "no Chromium on this machine (Debian: apt-get install chromium)";
let browser: Browser;
const server = new ToyServer();
before(async () => {
  if (skip) return;
  browser = await launch();
  await server.start();
});
after(async () => {
  await browser?.close();
  if (!skip) await server.stop();
});

const until = (page: Page, f: string) => page.waitForFunction(`(() => { const t = window.tribo; return t && (${f}); })()`, undefined, { timeout: 15000 });
const value = <T>(page: Page, f: string) => page.evaluate(`(() => { const t = window.tribo; return ${f}; })()`) as Promise<T>;

test("the live view follows, pauses, steps, pushes, resets", { skip }, async () => {
  const { page, errors } = await open(browser, server.url);
  await until(page, "t.connection === 'connected' && t.frames[0] > 5 && t.status.state === 'playing'");
  const box = (await page.locator("#canvas").boundingBox())!;
  for (const body of [1, 2]) {
    const [x, y] = await value<[number, number]>(page, `t.screen(...t.position(${body}))`);
    assert.ok(x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height, "the view fits the bodies");
  }
  await page.locator("#live button", { hasText: "Pause" }).click();
  await until(page, "t.status.state === 'paused'");
  while (server.playing) await page.waitForTimeout(20); // until the command is there
  const time = server.time;
  await page.waitForTimeout(200);
  assert.equal(server.time, time);
  await until(page, `Math.abs(t.time - ${time}) < 1e-9`);
  await page.locator("#live button", { hasText: /^Step$/ }).click();
  await until(page, `t.time > ${time}`);
  await page.locator("#stage").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("Space");
  await until(page, "t.status.state === 'playing'");

  // Shift and drag on a crate.
  const before = server.x[0];
  const at = await value<[number, number]>(page, `t.screen(${server.x[0]}, 0, 0.3)`);
  await page.keyboard.down("Shift");
  await page.mouse.move(at[0], at[1]);
  await page.mouse.down();
  await page.mouse.move(at[0] + 150, at[1] - 20, { steps: 4 });
  // It follows the pointer, and may swing around it where the page is slow: that it went there is what counts.
  await until(page, `t.position(1)[0] > ${before + 0.01}`);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const pushes = server.commands.filter((c) => c.do === "push");
  assert.ok(pushes.length >= 1 && pushes.every((c) => c.body === 1 && c.force.length === 3 && c.seconds === 0.1) && pushes[0].force[0] > 0, JSON.stringify(pushes[0]));

  // A push by numbers, gravity, control, files.
  const n = server.commands.length;
  await page.locator("#live button", { hasText: "Apply force" }).click();
  await page.locator("input[aria-label^='Gravity z']").fill("-1.62");
  await page.keyboard.press("Enter");
  await page.locator("input[aria-label='Control motor <b>']").evaluate((e: HTMLInputElement) => { e.value = "0.5"; e.dispatchEvent(new Event("input")); });
  await page.locator("#live button", { hasText: "Dump step" }).click();
  await page.waitForFunction(() => /step\.hdf5/.test(document.getElementById("notices")!.innerText));
  await page.locator("#live button", { hasText: "Save replay" }).click();
  await page.waitForFunction(() => /the disk is full <b>/.test(document.getElementById("notices")!.innerText));
  assert.deepEqual(server.commands.slice(n).map((c) => c.do), ["push", "gravity", "control", "dump", "save"]);
  assert.deepEqual(server.gravity, [0, 0, -1.62]);
  assert.equal(server.control, 0.5);

  // Scrubbing back leaves the present, the simulation goes on, and the way back exists.
  await page.locator("#slider").evaluate((e: HTMLInputElement) => { e.value = e.min; e.dispatchEvent(new Event("input")); });
  const behind = await value<number>(page, "t.time");
  await page.waitForTimeout(300);
  assert.equal(await value<number>(page, "t.time"), behind);
  await page.locator("button", { hasText: "Back to live" }).click();
  await until(page, `t.time > ${behind} + 0.2`);

  // Slow machines: the toy's clock stands while the page catches up.
  server.playing = false;
  await page.locator("#live button", { hasText: "Reset" }).click();
  await until(page, "t.time === 0 && t.frames[0] === 1");
  server.playing = true;
  assert.deepEqual(errors.filter((e) => !/400/.test(e)), []);
  await page.context().close();
});

test("a second viewer sees the same; a lost server is found again; a reload too", { skip }, async () => {
  const a = (await open(browser, server.url)).page;
  const b = (await open(browser, server.url)).page;
  for (const page of [a, b]) await until(page, "t.connection === 'connected' && t.frames[0] > 2");
  server.playing = false;
  for (const page of [a, b]) await until(page, `t.ready && Math.abs(t.time - ${server.time}) < 1e-9`);
  assert.deepEqual(await value(a, "t.position(1)"), await value(b, "t.position(1)"));
  const { port } = server;
  await server.stop();
  await a.waitForFunction(() => /Connection lost/.test(document.getElementById("notices")!.innerText));
  await server.start(port);
  server.playing = true;
  for (const page of [a, b]) await until(page, "t.connection === 'connected'");
  const t = server.time;
  await until(a, `t.time > ${t}`);
  assert.equal(await a.locator("#notices", { hasText: "Connection lost" }).count(), 0);
  await a.reload();
  await until(a, `t.connection === 'connected' && t.time > ${t}`);
  await a.context().close();
  await b.context().close();
});

test("a wrong token is refused, and the page says so", { skip }, async () => {
  const { page } = await open(browser, server.url);
  await until(page, "t.connection === 'connected'");
  const reply = await page.request.get(`http://127.0.0.1:${server.port}/world?token=wrong`);
  assert.equal(reply.status(), 403);
  await page.route("**/?token=*", async (route) => {
    const real = await route.fetch();
    await route.fulfill({ response: real, body: (await real.text()).replace(server.token, "wrong") });
  });
  await page.reload();
  await page.waitForFunction(() => /refused the token/.test(document.getElementById("notices")!.innerText));
  await page.context().close();
});
