// Messages over the scene: what is wrong with the data, what the server said. They stay until closed, except plain news.
import { by_id, h, icon } from "./dom";

export type NoticeKind = "info" | "warning" | "error";

const shown = new Map<string, HTMLElement>();

export function notice(kind: NoticeKind, text: string, details: string[] = [], seconds = 0): void {
  const key = `${kind}|${text}`;
  shown.get(key)?.remove();
  const most = 6;
  const list = details.length
    ? h("ul", {}, ...details.slice(0, most).map((d) => h("li", { text: d })), details.length > most ? h("li", { text: `and ${details.length - most} more` }) : null)
    : null;
  const element = h("div", { class: "notice", "data-kind": kind }, h("div", {}, h("span", { text }), list),
    h("button", { class: "tool", "aria-label": "Close message", onclick: () => dismiss(key) }, icon("close")));
  shown.set(key, element);
  by_id("notices").append(element);
  if (seconds) setTimeout(() => shown.get(key) === element && dismiss(key), 1000 * seconds);
}

function dismiss(key: string) {
  shown.get(key)?.remove();
  shown.delete(key);
}

export function dismiss_text(text: string) {
  for (const key of [...shown.keys()]) if (key.endsWith(`|${text}`)) dismiss(key);
}

export function announce(text: string) {
  by_id("announce").textContent = text;
}
