// The line at the top: which run, which law and solver, and whether its steps were certified.
import { Recording } from "../data/recording";
import { is_missed } from "../player";
import { by_id, format, format_error, h, set_text } from "./dom";

interface Tally { seen: number; begin: number; missed: number; worst: number }
const tallies = new WeakMap<Recording, Tally>();

function tally(run: Recording): Tally {
  let t = tallies.get(run);
  if (!t || t.begin !== run.begin) tallies.set(run, (t = { seen: run.begin, begin: run.begin, missed: 0, worst: NaN }));
  for (; t.seen < run.end; ++t.seen) {
    const error = run.series.at("error", t.seen);
    if (is_missed(run, t.seen)) ++t.missed;
    if (!(error <= t.worst) && Number.isFinite(error)) t.worst = error;
  }
  return t;
}

export function show_facts(runs: Recording[], live: boolean) {
  set_text(by_id("name"), runs.length ? runs.map((r) => r.world.name).join("  |  ") : "replay");
  const all = (get: (r: Recording) => string) => [...new Set(runs.map(get))].join(" | ");
  const facts: [string, string][] = runs.length ? [
    ["solver", all((r) => r.world.solver)], ["law", all((r) => r.world.law)], ["scheme", all((r) => r.world.scheme)],
    ["step", all((r) => `${format(1e3 * r.world.time_step, 3)} ms`)], ["tolerance", all((r) => format_error(r.world.tolerance))],
    ["bodies", all((r) => String(r.world.bodies.length - 1))], ["dofs", all((r) => String(r.world.dofs))],
  ] : [];
  by_id("facts").replaceChildren(...facts.map(([name, value]) => h("span", {}, `${name} `, h("b", { text: value }))));
  const verdict = by_id("verdict");
  const tallied = runs.map(tally);
  const total = tallied.map((t, i) => (Number.isFinite(runs[i].missed_steps) ? Math.max(runs[i].missed_steps, t.missed) : t.missed));
  const worst = tallied.map((t) => format_error(t.worst)).join(" | ");
  if (!runs.some((r) => r.count)) return verdict.replaceChildren();
  const missed = total.some((n) => n > 0);
  verdict.dataset.state = missed ? "missed" : "good";
  const what = missed ? `${total.join(" | ")} ${live ? "recent " : ""}steps missed` : "no step missed";
  if (verdict.textContent !== `${what}, worst error ${worst}`) verdict.replaceChildren(h("div", {}, what, h("span", { text: `, worst error ${worst}` })));
}
