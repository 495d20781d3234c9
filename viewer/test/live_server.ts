// The server of docs/replay-format.md's live view, with a toy behind it: crates that slide on the floor. Its clock is the
// test's: one step per tick of a timer.
import { createServer, IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chunk_text, in_html, TestFrame } from "./encoder";
import { template, until } from "./browser";
import { world } from "./scenes";

export class ToyServer {
  readonly token = "s3cret";
  readonly commands: any[] = [];
  port = 0;
  playing = true;
  time = 0;
  step = 0;
  ticks = 0; // of the timer, playing or not
  speed = 1;
  gravity = [0, 0, -9.81];
  control = 0;
  x = [0, 1];
  v = [0, 0];
  refuse_events = false;
  private force: { body: number; f: number[]; left: number } | null = null;
  private streams = new Set<ServerResponse>();
  private server: Server | null = null;
  private timer: NodeJS.Timeout | null = null;

  private readonly world = world("toy", ["crate_a", "crate_b"], [
    { name: "floor", body: 0, kind: "plane", size: [0, 0, 0] },
    { name: "a", body: 1, kind: "box", size: [0.2, 0.2, 0.2] }, { name: "b", body: 2, kind: "box", size: [0.2, 0.2, 0.2] }]);

  async start(port = 0) {
    this.server = createServer((request, reply) => void this.handle(request, reply));
    // A port that was given up a moment ago may have been lent to a connection meanwhile.
    await until(`port ${port}`, () => new Promise<string>((resolve) => {
      const failed = (error: Error) => resolve(String(error));
      this.server!.once("error", failed).listen(port, "127.0.0.1", () => {
        this.server!.off("error", failed);
        resolve("");
      });
    }), (error) => error === "");
    this.port = (this.server.address() as AddressInfo).port;
    this.timer = setInterval(() => {
      ++this.ticks;
      if (this.playing) this.advance();
    }, 20);
  }

  async stop() {
    clearInterval(this.timer!);
    for (const s of this.streams) s.destroy();
    this.streams.clear();
    this.server!.closeAllConnections();
    await new Promise((resolve) => this.server!.close(resolve));
  }

  get url() { return `http://127.0.0.1:${this.port}/?token=${this.token}`; }

  private advance() {
    const h = 0.02;
    this.time += h;
    ++this.step;
    for (let b = 0; b < 2; ++b) {
      if (this.force?.body === b + 1 && this.force.left > 0) this.v[b] += (h * this.force.f[0]) / 5;
      this.v[b] *= 0.96;
      this.x[b] += h * this.v[b];
    }
    if (this.force) this.force.left -= h;
    this.send("chunk", this.chunk());
    this.status();
  }

  private chunk() {
    const f: TestFrame = {
      time: this.time, step: this.step, islands: 2, iterations: 3, missed: 0, error: 1e-8, solve_time: 1e-4, step_time: 2e-4, kinetic: 1, potential: 2, penetration: 0,
      poses: this.x.map((x, b) => [x, 0.8 * b, 0.2, 1, 0, 0, 0]),
      contacts: this.x.map((x, b) => ({ position: [x, 0.8 * b, 0], normal: [0, 0, 1], impulse: [0, 0, 0.1], velocity: [this.v[b], 0, 0], gap: 0, friction: 0.5, error: 1e-9, geoms: [0, b + 1] as [number, number], island: b, state: Math.abs(this.v[b]) > 1e-3 ? 2 : 1 })),
    };
    return chunk_text([f], 2);
  }

  private send(event: string, data: string, to: Iterable<ServerResponse> = this.streams) {
    for (const s of to) s.write(`event: ${event}\ndata: ${data}\n\n`);
  }

  private status(to?: Iterable<ServerResponse>) {
    this.send("status", JSON.stringify({ state: this.playing ? "playing" : "paused", time: this.time, speed: this.speed, viewers: this.streams.size,
      gravity: this.gravity, actuators: [{ name: "motor <b>", value: this.control, low: -1, high: 1 }] }), to);
  }

  private async handle(request: IncomingMessage, reply: ServerResponse) {
    const url = new URL(request.url!, "http://localhost");
    if (url.searchParams.get("token") !== this.token) {
      reply.writeHead(403, { "Content-Type": "application/json" }).end(JSON.stringify({ ok: false, error: "wrong token" }));
    } else if (url.pathname === "/") {
      reply.writeHead(200, { "Content-Type": "text/html" }).end(`${template()}\n<script type="application/json" class="tribo-live">${in_html({ token: this.token })}</script>\n`);
    } else if (url.pathname === "/world") {
      reply.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(this.world));
    } else if (url.pathname === "/events") {
      reply.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
      this.streams.add(reply);
      request.on("close", () => this.streams.delete(reply));
      this.send("chunk", this.chunk(), [reply]);
      this.status();
    } else if (url.pathname === "/command" && request.method === "POST") {
      let body = "";
      for await (const part of request) body += part;
      this.command(JSON.parse(body), reply);
    } else reply.writeHead(404).end();
  }

  private command(c: any, reply: ServerResponse) {
    this.commands.push(c);
    let extra = {};
    if (c.do === "play") this.playing = true;
    else if (c.do === "pause") this.playing = false;
    else if (c.do === "step") for (let n = 0; n < c.steps; ++n) this.advance();
    else if (c.do === "reset") {
      this.time = this.step = 0;
      this.x = [0, 1];
      this.v = [0, 0];
      this.send("world", JSON.stringify(this.world));
      this.send("chunk", this.chunk());
    } else if (c.do === "speed") this.speed = c.value;
    else if (c.do === "push") this.force = { body: c.body, f: c.force, left: c.seconds };
    else if (c.do === "gravity") this.gravity = c.value;
    else if (c.do === "control") this.control = c.value;
    else if (c.do === "dump") extra = { file: "step.hdf5" };
    else if (c.do === "save") {
      reply.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify({ ok: false, error: "the disk is full <b>" }));
      return;
    }
    reply.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ ok: true, ...extra }));
    this.status();
  }
}
