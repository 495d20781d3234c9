import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { base64_to_bytes } from "../src/data/base64";
import { chunk_length, decode_chunk, decode_text, OPEN, SLIDES, STICKS } from "../src/data/chunk";
import { contact_numbers } from "../src/data/contact";
import { Recording } from "../src/data/recording";
import { Series } from "../src/data/series";
import { read_world } from "../src/data/world";
import { NOT_FINITE, Poses } from "../src/scene/poses";
import { cividis, MISSED, STATE_COLORS } from "../src/scene/colors";
import { hardest, next_missed, Player } from "../src/player";
import { DEFAULTS, read_address, write_address } from "../src/settings";
import { chunk_bytes, chunk_text } from "./encoder";
import { mixed, world } from "./scenes";

const run = mixed(130);
const bodies = run.world.bodies.length - 1;
const geoms = run.world.geoms.length;
const decoded = () => decode_text(chunk_text(run.frames, bodies), bodies, geoms);
const fail = (bytes: Buffer, pattern: RegExp) => assert.throws(() => decode_chunk(new Uint8Array(bytes), bodies, geoms), pattern);

test("base64 agrees with node's, with line breaks and without padding", () => {
  for (let n = 0; n < 40; ++n) {
    const bytes = Buffer.from(Array.from({ length: n }, (_, i) => (i * 37 + n) & 255));
    const text = bytes.toString("base64");
    assert.deepEqual(Buffer.from(base64_to_bytes(text)), bytes);
    assert.deepEqual(Buffer.from(base64_to_bytes(text.replace(/=/g, "").replace(/(.{5})/g, "$1\n") + "\n")), bytes);
  }
  assert.throws(() => base64_to_bytes("ab<c"), /character 2/);
  assert.throws(() => base64_to_bytes("abcde"), /within a byte/);
});

test("a chunk gives back every number that went in", async () => {
  const c = await decoded();
  assert.equal(c.frames, 130);
  run.frames.forEach((f, k) => {
    assert.equal(c.time[k], f.time);
    assert.equal(c.step[k], f.step);
    assert.equal(c.iterations[k], f.iterations);
    assert.equal(c.error[k], Math.fround(f.error));
    assert.equal(c.kinetic[k], f.kinetic);
    assert.equal(c.potential[k], f.potential);
    f.poses.forEach((pose, b) => {
      for (let j = 0; j < 3; ++j) assert.ok(Math.abs(c.position[3 * (k * bodies + b) + j] * c.quantum - pose[j]) <= 0.51 * c.quantum);
      const sign = pose[3] < 0 ? -1 : 1;
      for (let j = 0; j < 4; ++j) assert.ok(Math.abs(c.rotation[4 * (k * bodies + b) + j] / 32767 - sign * pose[3 + j]) < 2e-5);
    });
    assert.equal(c.first[k + 1] - c.first[k], f.contacts.length);
    f.contacts.forEach((contact, i) => {
      const n = c.first[k] + i;
      assert.equal(c.contact_impulse[3 * n], Math.fround(contact.impulse[0]));
      assert.equal(c.contact_velocity[3 * n + 2], Math.fround(contact.velocity[2]));
      assert.deepEqual([...c.contact_geoms.subarray(2 * n, 2 * n + 2)], contact.geoms);
      assert.equal(c.contact_island[n], contact.island);
      assert.equal(c.contact_state[n], contact.state);
      assert.equal(c.contact_gap[n], Math.fround(contact.gap));
    });
  });
});

test("integer positions and rotations wrap as the differences do", () => {
  const frames = mixed(2).frames.map((f, k) => ({ ...f, contacts: [], poses: [[k ? 21474.0 : -21474.0, 0, 0, 1, 0, 0, 0]] }));
  const bytes = chunk_bytes(frames, 1);
  const c = decode_chunk(new Uint8Array(bytes), 1, 1);
  assert.deepEqual([c.position[0], c.position[3]], [-2147400000, 2147400000]);
});

test("a damaged chunk is refused with its reason", async () => {
  const good = chunk_bytes(run.frames, bodies);
  assert.equal(good.length, chunk_length(130, bodies, run.frames.reduce((s, f) => s + f.contacts.length, 0)));
  const changed = (at: number, value: number) => {
    const b = Buffer.from(good);
    b.writeUInt32LE(value, at);
    return b;
  };
  fail(changed(0, 0x20202020), /TRC2/);
  fail(changed(4, 131), /bytes/);
  fail(changed(4, 0xffffffff), /bytes/);
  fail(changed(8, bodies + 1), /bodies/);
  fail(good.subarray(0, good.length - 1), /bytes/);
  fail(Buffer.concat([good, Buffer.from([0])]), /bytes/);
  fail(good.subarray(0, 10), /header/);
  fail(changed(24 + 130 * 12, 5), /sum to/);
  const state = Buffer.from(good);
  state[good.length - 1] = 3;
  fail(state, /state 3/);
  const nan = Buffer.from(good);
  nan.writeDoubleLE(NaN, 16);
  fail(nan, /quantum/);
  await assert.rejects(decode_text(chunk_text(run.frames, bodies), bodies, 3), /names geom/);
  const text = chunk_text(run.frames, bodies);
  await assert.rejects(decode_text(text.slice(0, text.length / 2), bodies, geoms), /damaged or cut off/);
  const wrong = deflateSync(good);
  wrong[wrong.length - 2] ^= 0x55; // checksum
  await assert.rejects(decode_text(wrong.toString("base64"), bodies, geoms), /damaged or cut off/);
});

test("random damage never does anything but throw or give a chunk of the right size", async () => {
  const small = mixed(6);
  const good = chunk_bytes(small.frames, bodies);
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  let refused = 0;
  for (let n = 0; n < 400; ++n) {
    const b = Buffer.from(good);
    for (let j = 0; j < 3; ++j) b[Math.floor(random() * (n % 2 ? 400 : b.length))] = Math.floor(random() * 256);
    try {
      const c = decode_chunk(new Uint8Array(b), bodies, geoms);
      assert.equal(c.position.length, 3 * bodies * c.frames);
    } catch (error) {
      ++refused;
      assert.ok(error instanceof Error && error.message.length > 10);
    }
  }
  assert.ok(refused > 20);
});

test("numbers of a contact: split along the normal, cone, force", async () => {
  const c = await decoded();
  const w = read_world(run.world);
  const k = 60;
  const i = run.frames[k].contacts.findIndex((x) => x.state === 2);
  const n = contact_numbers(w, c, c.first[k] + i);
  assert.equal(n.state, "slides");
  assert.ok(Math.abs(n.impulse_normal - 0.12) < 1e-6);
  assert.ok(Math.abs(n.impulse_tangential - 0.6 * 0.12) < 1e-6);
  assert.ok(Math.abs(n.cone_margin) < 1e-6);
  assert.ok(Math.abs(n.cone_use - 1) < 1e-5);
  assert.ok(Math.abs(n.force - Math.hypot(0.12, 0.072) / 0.002) < 1e-3);
  assert.deepEqual(n.names, ["floor", "crate_geom"]);
});

test("a world is read, and what is wrong in it is named and left out", () => {
  const w = read_world(JSON.stringify(run.world));
  assert.equal(w.notes.length, 0);
  assert.equal(w.meshes[0]!.triangles.length, 12);
  const bad = world("bad", ["a"], [
    { name: "far", body: 7, kind: "box", size: [1, 1, 1] }, { name: "odd", body: 1, kind: "torus", size: [1, 1, 1] },
    { name: "nan", body: 1, kind: "sphere", size: [null, 0, 0] }, { name: "meshless", body: 1, kind: "mesh", mesh: 0 },
    { name: "good", body: 1, kind: "sphere", size: [1, 0, 0] }], { meshes: [{ positions: "AAAA", triangles: "" }], tolerance: null });
  const r = read_world(bad);
  assert.equal(r.notes.length, 5);
  assert.deepEqual(r.geoms.map((g) => g.visual), [false, false, false, false, true]);
  assert.ok(Number.isNaN(r.tolerance));
  assert.throws(() => read_world("{"), /not valid JSON/);
  assert.throws(() => read_world("null"), /not a JSON object/);
  assert.throws(() => read_world({ ...run.world, version: 2 }), /version 1/);
  assert.throws(() => read_world({ ...run.world, format: "x" }), /tribo-replay/);
  assert.throws(() => read_world({ ...run.world, bodies: [] }), /no bodies/);
});

test("a recording: frames by time, damaged chunks left out and named, a flat cache", async () => {
  const texts = [];
  for (let i = 0; i < 120; i += 20) texts.push({ text: chunk_text(run.frames.slice(i, i + 20), bodies), claimed: 20 });
  texts[2] = { text: texts[2].text.slice(0, 200), claimed: 20 };
  texts[4].claimed = 19;
  const r = new Recording(read_world(run.world));
  await r.scan(texts, () => {}, false);
  assert.equal(r.count, 100);
  assert.equal(r.notes.length, 2);
  assert.match(r.notes[0], /chunk 3 of 6 .*20 frames.* damaged/);
  assert.match(r.notes[1], /says 19 frames and has 20/);
  for (let f = r.begin; f < r.end; ++f) {
    const frame = (await r.frame_loaded(f))!;
    assert.equal(frame.chunk.time[frame.k], r.series.at("time", f));
    assert.equal(r.series.frame_at(r.series.at("time", f)), f);
  }
  assert.equal(r.series.frame_at(-1), 0);
  assert.equal(r.series.frame_at(1e9), 99);
  r.drop_before(r.series.at("time", 45));
  assert.equal(r.begin, 40);
  assert.equal(r.frame(10), null);
  assert.ok(r.frame(41));
});

test("a series keeps its numbers while it forgets the beginning", async () => {
  const c = await decoded();
  const s = new Series();
  for (let n = 0; n < 200; ++n) {
    c.time.forEach((_t, k) => (c.time[k] = (n * c.frames + k) / 60));
    s.append(c, 1 / 60);
    if (s.count > 1000) s.drop(130);
  }
  assert.equal(s.end, 200 * 130);
  assert.equal(s.time_notes, 0);
  for (let f = s.begin; f < s.end; f += 17) assert.equal(s.at("time", f), f / 60);
  c.time[3] = NaN;
  s.append(c, 1 / 60);
  assert.ok(s.time_notes > 0);
  assert.ok(Number.isFinite(s.at("time", s.end - 127)));
});

test("the clock: steps over the frames of two runs, loops, jumps", async () => {
  const make = async (offset: number) => {
    const r = new Recording(read_world(run.world));
    await r.scan([{ text: chunk_text(run.frames.map((f) => ({ ...f, time: f.time + offset })), bodies), claimed: NaN }], () => {}, false);
    return r;
  };
  const p = new Player();
  p.runs = [await make(0), await make(0.005)];
  p.seek(0);
  p.step(1);
  assert.ok(Math.abs(p.time - 0.005) < 1e-12);
  p.step(1);
  assert.ok(Math.abs(p.time - 1 / 60) < 1e-12);
  p.step(-2);
  assert.equal(p.time, 0);
  p.toggle();
  p.speed = 2;
  p.advance(0.1);
  assert.ok(Math.abs(p.time - 0.2) < 1e-12);
  p.seek(p.end);
  p.advance(0.05);
  assert.ok(p.playing && p.time < 0.2);
  p.loop = false;
  p.seek(p.end);
  p.advance(0.1);
  assert.ok(!p.playing && p.time === p.end);
  const one = [p.runs[0]];
  assert.ok(Math.abs(next_missed(one, 0) - 61 / 60) < 1e-12);
  assert.ok(Math.abs(next_missed(one, 61 / 60) - 61 / 60) < 1e-12); // the only one, from the beginning again
  assert.ok(Math.abs(next_missed(one, 2, -1) - 61 / 60) < 1e-12);
  const most = Math.max(...run.frames.map((f) => f.iterations));
  assert.equal(p.runs[0].series.at("iterations", p.runs[0].series.frame_at(hardest(one))), most);
});

test("the address of the page keeps what differs from the defaults", () => {
  const settings = { ...DEFAULTS, cones: true, contact: "error" as const, speed: 0.25, loop: false };
  const text = write_address({ settings, t: 1.5, camera: "top", select: "body:3", follow: 3, play: false, ui: false });
  assert.equal(text, "#t=1.5&camera=top&sel=body:3&follow=3&ui=0&contact=error&cones=1&speed=0.25&loop=0");
  const back = read_address(text);
  assert.deepEqual(back.settings, settings);
  assert.deepEqual([back.t, back.camera, back.select, back.follow, back.ui], [1.5, "top", "body:3", 3, false]);
  assert.deepEqual(read_address("#t=x&speed=1e9&shapes=evil&theme=%3Cscript%3E").settings, { ...DEFAULTS, speed: 4 });
});

// Machado, Oliveira, Fernandes (2009), severity 1: linear RGB as seen without one kind of cone.
const VISIONS: Record<string, number[]> = {
  usual: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
const to_linear = (x: number) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
const seen = (c: number[], vision: number[]) => [0, 1, 2].map((i) => c.map(to_linear).reduce((s, x, j) => s + vision[3 * i + j] * x, 0));
const luminance = (l: number[]) => 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
function lab(l: number[]) { // CIE 1976, D65
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * l[0] + 0.3576 * l[1] + 0.1805 * l[2]) / 0.9505, luminance(l), (0.0193 * l[0] + 0.1192 * l[1] + 0.9505 * l[2]) / 1.089].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("states are told apart with any colour vision, and stand out from the ground", () => {
  const ground = { dark: 0x2a / 255, light: 0xf0 / 255 }; // about what the scene's floor looks like
  for (const theme of ["dark", "light"] as const)
    for (const [name, vision] of Object.entries(VISIONS)) {
      const colors = [STICKS, SLIDES, OPEN].map((s) => STATE_COLORS[theme][s]);
      for (let i = 0; i < 3; ++i) {
        const [a, b] = [colors[i], colors[(i + 1) % 3]].map((c) => lab(seen(c, vision)));
        const difference = Math.hypot(...a.map((x, k) => x - b[k]));
        assert.ok(difference > 20, `${theme}, ${name}: colours ${i} and ${(i + 1) % 3} differ by ${difference}`); // 2.3: just noticeable
        const [p, q] = [luminance(seen(colors[i], vision)), to_linear(ground[theme])].sort((x, y) => y - x);
        assert.ok((p + 0.05) / (q + 0.05) >= 2.5, `${theme}, ${name}: colour ${i} against the ground ${(p + 0.05) / (q + 0.05)}`);
      }
      // Errors: lightness grows with them, whatever the eye; above the tolerance the colour is another.
      const ramp = [0, 0.25, 0.5, 0.75, 1].map((x) => lab(seen(cividis(x), vision)));
      for (let i = 1; i < ramp.length; ++i) assert.ok(ramp[i][0] > ramp[i - 1][0] + 5, `${name}: ${i}`);
      const missed = lab(seen(MISSED, vision));
      assert.ok(Math.min(...ramp.map((c) => Math.hypot(...c.map((x, k) => x - missed[k])))) > 15, name);
    }
});

test("poses of a frame as matrices; halfway to the next one; a position that was not finite", async () => {
  const c = await decoded();
  const poses = new Poses(bodies + 1);
  const k = 50;
  poses.set({ chunk: c, k });
  run.frames[k].poses.forEach(([x, y, z, w, qx, qy, qz], b) => {
    const norm = w * w + qx * qx + qy * qy + qz * qz;
    const turned = poses.point(b + 1, [1, 0, 0]); // the first column of the rotation
    const wanted = [x + 1 - (2 * (qy * qy + qz * qz)) / norm, y + (2 * (qx * qy + w * qz)) / norm, z + (2 * (qx * qz - w * qy)) / norm];
    turned.forEach((v, i) => assert.ok(Math.abs(v - wanted[i]) < 2e-4));
    poses.local(b + 1, turned).forEach((v, i) => assert.ok(Math.abs(v - [1, 0, 0][i]) < 1e-12));
  });
  const ball = run.world.bodies.findIndex((b: any) => b.name === "ball");
  poses.set({ chunk: c, k }, { chunk: c, k: k + 1 }, 0.5);
  const middle = (run.frames[k].poses[ball - 1][0] + run.frames[k + 1].poses[ball - 1][0]) / 2;
  assert.ok(Math.abs(poses.position(ball)[0] - middle) < 2e-5);
  c.position[3 * (k * bodies + 3)] = NOT_FINITE;
  poses.set({ chunk: c, k });
  assert.ok(Number.isNaN(poses.position(4)[0]));
});
