// The help overlay, and the table of shortcuts that the keyboard handler works from.
import { h, icon } from "./dom";

export interface Shortcut { keys: string[]; shown: string; text: string; section: string }

export const SHORTCUTS: [string, [string, string][]][] = [
  ["Time", [
    ["Space", "play, pause"], ["← →", "one frame back, on"], ["Shift ← →", "ten frames"], ["Home End", "first, last frame"],
    [", .", "slower, faster"], ["L", "loop"], ["N  Shift N", "next, previous missed step"], ["H", "hardest step"],
  ]],
  ["Camera", [
    ["1 2 3 4 5 6", "iso, front, back, right, left, top"], ["F", "fit the selection or everything"], ["G", "follow the selected body"],
    ["W A S D", "orbit (with Shift: move)"], ["+ −", "nearer, farther"],
  ]],
  ["Show", [
    ["C", "contacts"], ["I", "impulses"], ["K", "friction cones"], ["V", "visual, collision, both shapes"],
    ["X", "solid, see-through, wire"], ["B", "next colouring of bodies"], ["O", "next colouring of contacts"], ["J", "slip velocities"],
    ["T", "light, dark"], ["U", "panels"],
  ]],
  ["Select", [
    ["[ ]", "contacts of this frame, one by one"], ["M", "contact with the largest error"], ["/", "search by name"], ["Y", "copy the numbers"],
    ["Esc", "close, deselect"], ["?", "this help"],
  ]],
];

const MEANING: [string, string][] = [
  ["Contacts", "A round puck sticks, a dart slides and points where the second body slips to, a ring is open. Colours repeat the difference."],
  ["Impulse", "The arrow is the impulse on the second body, its length proportional to the impulse (or to its root)."],
  ["Friction cone", "As high as the normal impulse, μ times as wide. The arrow ends inside the rim disc when the contact sticks, on the rim when it slides; outside is an error."],
  ["Certificate", "The error of the step, recomputed from the impulses alone. Above the dashed tolerance a step is missed."],
  ["Heat", "Error of each contact on a log scale: four decades up to the tolerance, a colour of its own above."],
];

export function help_dialog(live: boolean): HTMLDialogElement {
  const dialog = h("dialog", { "aria-label": "Help" });
  const close = h("button", { class: "tool", "aria-label": "Close help", onclick: () => dialog.close() }, icon("close"));
  const keys = (text: string) => h("dt", {}, ...text.split(" ").filter(Boolean).flatMap((k) => [h("kbd", { text: k }), " "]));
  const sections = SHORTCUTS.map(([title, list]) => h("section", {}, h("h3", { text: title }),
    h("dl", {}, ...list.flatMap(([k, text]) => [keys(k), h("dd", { text })]))));
  const meaning = h("section", {}, h("h3", { text: "What it means" }), ...MEANING.map(([word, text]) => h("p", {}, h("b", { text: word + ". " }), text)));
  const mouse = h("section", {}, h("h3", { text: "Mouse and touch" }),
    h("p", { text: "Drag turns, right drag or two fingers move, wheel or pinch zooms. Click a body or a contact for its numbers, double click to look at it. Drag over the curves to move through time; Shift and wheel zooms them, double click shows everything." }),
    live ? h("p", { text: "Live: Shift and drag pushes a body (or switch on Push)." }) : null);
  dialog.append(h("div", { class: "row" }, h("h2", { text: "Help" }), close), h("div", { class: "help" }, ...sections, meaning, mouse));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}
