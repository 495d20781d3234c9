// The live view's end of the wire: GET /world, server-sent events, POST /command. Connects again by itself.

export interface LiveStatus {
  state: "playing" | "paused" | "ended";
  time: number;
  speed: number;
  viewers: number;
  gravity: [number, number, number];
  actuators: { name: string; value: number; low: number | null; high: number | null }[];
  message?: string;
}

export interface LiveEvents {
  world(text: string): void; // another world than before
  chunk(text: string): void;
  status(status: LiveStatus): void;
  connection(state: "connected" | "connecting" | "refused", message: string): void;
}

export type Command = Record<string, unknown> & { do: string };

export class LiveLink {
  private source: EventSource | null = null;
  private timer = 0;
  private tries = 0;
  private world_text = "";

  constructor(private readonly token: string, private readonly events: LiveEvents, private readonly base = "") {}

  private url(path: string) {
    return `${this.base}${path}?token=${encodeURIComponent(this.token)}`;
  }

  async connect(): Promise<void> {
    clearTimeout(this.timer);
    this.source?.close();
    this.events.connection("connecting", this.tries ? `Connection lost. Trying again (${this.tries}) …` : "Connecting …");
    try {
      const reply = await fetch(this.url("/world"), { cache: "no-store" });
      if (reply.status === 401 || reply.status === 403) {
        this.events.connection("refused", "The server refused the token of this page. Open the address that tribo printed when it started.");
        return;
      }
      if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
      this.take_world(await reply.text());
    } catch {
      this.retry();
      return;
    }
    this.listen();
  }

  private listen() {
    const source = (this.source = new EventSource(this.url("/events")));
    source.addEventListener("open", () => {
      this.tries = 0;
      this.events.connection("connected", "Connected");
    });
    source.addEventListener("world", (event) => this.take_world((event as MessageEvent).data));
    source.addEventListener("chunk", (event) => this.events.chunk((event as MessageEvent).data));
    source.addEventListener("status", (event) => {
      try {
        this.events.status(JSON.parse((event as MessageEvent).data));
      } catch {
        // a damaged status is followed by a good one
      }
    });
    source.addEventListener("error", () => {
      source.close();
      this.retry();
    });
  }

  // The same world again, after a reset or a lost connection, changes nothing: chunks whose time runs backwards tell.
  private take_world(text: string) {
    if (text === this.world_text) return;
    this.world_text = text;
    this.events.world(text);
  }

  private retry() {
    ++this.tries;
    this.events.connection("connecting", `Connection lost. Trying again (${this.tries}) …`);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.connect(), Math.min(5000, 250 * 2 ** Math.min(this.tries, 5)));
  }

  async command(command: Command): Promise<{ ok: boolean; error?: string; file?: string }> {
    try {
      const reply = await fetch(this.url("/command"), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(command),
      });
      const answer = await reply.json().catch(() => ({ ok: reply.ok, error: `HTTP ${reply.status}` }));
      return { ...answer, ok: reply.ok && answer.ok !== false };
    } catch {
      return { ok: false, error: "no connection to tribo" };
    }
  }
}
