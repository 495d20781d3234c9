"""The real problems on the page: tribo beside Siconos."""

import math
import statistics

from report import charts
from report.page import best_of, cell, is_solved, read_csv, table, time_cell, total_ms


def group(rows):
    """{label: {problem: best row}} for one tolerance; the variants of a peer's method compete per problem."""
    result = {}
    for row in rows:
        variant = "" if row["family"] == "siconos" or row["variant"] == "default" else f":{row['variant']}"
        label = f"{row['family']} {row['method']}{variant}"
        result.setdefault(label, {}).setdefault(row["problem"], []).append(row)
    return {label: {p: best_of(rs, total_ms) for p, rs in problems.items()} for label, problems in result.items()}


def ratios(mine, peer):
    """Peer time / tribo time where both solve."""
    both = [p for p in mine if p in peer and is_solved(mine[p]) and is_solved(peer[p])]
    return {p: total_ms(peer[p]) / total_ms(mine[p]) for p in both}


def single_settings(rows):
    """{method: {problem: row}} of Siconos with one setting per method, the first in the file: its best single one."""
    result, chosen = {}, {}
    for row in rows:
        if row["family"] == "siconos" and row["variant"] == chosen.setdefault(row["method"], row["variant"]):
            result.setdefault(row["method"], {})[row["problem"]] = row
    return result, chosen


def namesake_line(label, against, mine, peer):
    values = ratios(mine, peer)
    if not values:
        return []
    shared = [p for p in mine if p in peer]
    only_peer = [p for p in shared if is_solved(peer[p]) and not is_solved(mine[p])]
    only_mine = [p for p in shared if is_solved(mine[p]) and not is_solved(peer[p])]
    worst = min(values, key=values.get)
    line = [label, against, len(values), f"{statistics.median(values.values()):.2f}×",
            f"{values[worst]:.2f}× <small>{worst}</small>", sum(v < 1 for v in values.values()), len(only_mine),
            ", ".join(only_peer) or "none"]  # fmt: skip
    return [[cell(c) for c in line]]


def namesakes(groups, rows):
    single, chosen = single_settings(rows)
    lines = []
    for method in ("nsgs", "admm"):
        for label, mine in groups.items():
            if label.split(":")[0] == f"tribo {method}" and method in single:
                lines += namesake_line(label, f"one setting: {chosen[method]}", mine, single[method])
                lines += namesake_line(label, "its best setting per problem", mine, groups[f"siconos {method}"])
    head = ["solver", "Siconos' namesake with", "both solve", "median speed-up", "worst speed-up", "slower on",
            "only tribo solves", "only Siconos solves"]  # fmt: skip
    return table(head, lines) if lines else ""


def tolerance_section(rows, tolerance):
    rows = [r for r in rows if float(r["tolerance"]) == tolerance and r["measure"] == "siconos"]
    groups = group(rows)
    labels = list(groups)
    names = sorted({p for problems in groups.values() for p in problems})
    body = []
    for name in names:
        found = [groups[label].get(name) for label in labels]
        winner = min((r for r in found if r and is_solved(r)), key=total_ms, default=None)
        contacts = next(r["contacts"] for r in found if r)
        body.append([cell(f"{name} <small>{contacts}</small>")] + [time_cell(r, total_ms, r is winner) for r in found])
    counts = [sum(is_solved(r) for r in groups[label].values()) for label in labels]
    totals = [len(groups[label]) for label in labels]
    body.append([cell("<b>solved</b>")] + [cell(f"<b>{c}</b> of {t}") for c, t in zip(counts, totals)])
    common = [p for p in names if all(p in groups[label] for label in labels)]
    times = {
        label: [total_ms(groups[label][p]) if is_solved(groups[label][p]) else math.inf for p in common] for label in labels
    }
    chart = charts.profile(times, f"Performance profile, siconos error ≤ {tolerance:g}, {len(common)} problems")
    return (
        f"<h3>Tolerance {tolerance:g}</h3>{chart}" + namesakes(groups, rows)
        + f"<details open><summary>Every problem (CPU ms; hover for settings, noise and errors)</summary>"
        + table(["problem <small>contacts</small>", *labels], body) + "</details>"
    )  # fmt: skip


def false_successes(rows):
    """Rows of tribo that claim convergence which the recomputed error denies."""
    denied = [r for r in rows if r["status"] == "false success"]
    return denied + [r for r in rows if r["status"] == "converged" and r["measure"] != "both" and not is_solved(r)]


def best_of_five(rows, tolerance):
    """{problem: fastest solved row of Siconos' five, each with its one best setting}, None where none solves it."""
    single, _ = single_settings([r for r in rows if float(r["tolerance"]) == tolerance])
    result = {}
    for found in single.values():
        for name, row in found.items():
            result.setdefault(name, None)
            if is_solved(row) and (result[name] is None or total_ms(row) < total_ms(result[name])):
                result[name] = row
    return result


def standing(rows, method, tolerance):
    """How a solver of tribo stands against the best of the five: (faster on, of, slower ones with the factor)."""
    mine = {
        r["problem"]: r for r in rows if r["family"] == "tribo" and r["method"] == method
        and r["measure"] == "siconos" and float(r["tolerance"]) == tolerance
    }  # fmt: skip
    five = best_of_five(rows, tolerance)
    shared = [p for p in mine if p in five]
    slower = {}
    for name in shared:
        if not is_solved(mine[name]):
            slower[name] = math.inf
        elif five[name] is not None and total_ms(five[name]) <= total_ms(mine[name]):
            slower[name] = total_ms(mine[name]) / total_ms(five[name])
    return len(shared) - len(slower), len(shared), dict(sorted(slower.items(), key=lambda item: -item[1]))


def summary(out):
    """[(solver, solved at 1e-6, at 1e-8, both, problems, false successes, {tolerance: standing})] of tribo's solvers."""
    tribo = read_csv(out / "problems_tribo.csv")
    rows = tribo + read_csv(out / "problems_siconos.csv")
    lines = []
    for method in dict.fromkeys(r["method"] for r in tribo):
        mine = [r for r in tribo if r["method"] == method]
        targets = (("siconos", 1e-6), ("siconos", 1e-8), ("both", 1e-8))
        counts = [
            sum(is_solved(r) for r in mine if (r["measure"], float(r["tolerance"])) == target) for target in targets
        ]
        against = {t: standing(rows, method, t) for t in (1e-6, 1e-8)}
        lines.append((method, *counts, len({r["problem"] for r in mine}), len(false_successes(mine)), against))
    return lines


def unsolved(out, method):
    """Names of the problems a solver of tribo leaves unsolved, per target."""
    tribo = [r for r in read_csv(out / "problems_tribo.csv") if r["method"] == method and not is_solved(r)]
    return [f"{r['problem']} ({r['measure']} {r['tolerance']}: {r['status']})" for r in tribo]


def summary_lines(out):
    """The same as text, for the terminal."""
    text = []
    for method, first, second, both, count, denied, against in summary(out):
        text.append(
            f"{method}: solved {first} at siconos 1e-6, {second} at 1e-8, {both} at siconos 1e-8 and scaled 1e-6 at once, "
            f"of {count}; false successes {denied}"
        )
        for tolerance, (faster, shared, slower) in against.items():
            if shared:
                named = ", ".join(f"{p} {f:.2f}x" for p, f in list(slower.items())[:6])
                share = f"{faster} of {shared} ({100.0 * faster / shared:.0f} %)"
                text.append(f"  {tolerance:g}: faster than the best of Siconos' five on {share}; slower: {named or 'none'}")
        if method == "auto":
            text += [f"  unsolved: {name}" for name in unsolved(out, method)]
    return text


def summary_table(out):
    lines = []
    for method, first, second, both, count, denied, against in summary(out):
        line = [cell(method), *(cell(f"{c} of {count}", "best" if c == count else "") for c in (first, second, both))]
        line.append(cell(denied, "fail" if denied else ""))
        for faster, shared, slower in against.values():
            named = ", ".join(f"{p} {f:.2f}×" for p, f in slower.items())
            share = f"{faster} of {shared} <small>{100.0 * faster / shared:.0f} %</small>" if shared else "·"
            line.append(cell(share, "", named))
        lines.append(line)
    head = ["solver", "siconos ≤ 1e-6", "siconos ≤ 1e-8", "and scaled ≤ 1e-6", "false successes",
            "faster than the best of Siconos' five, 1e-6", "1e-8"]  # fmt: skip
    note = (
        "A false success is a status <code>converged</code> that the recomputed error denies. The best of the five is the "
        "fastest per problem of Siconos' NSGS, ADMM, NSN-AC, NSN-FB and proximal point, each with its best single setting; "
        "hover for the problems on which it is faster, and by how much."
    )
    return table(head, lines) + f'<p class="note">{note}</p>'


def problems_section(out):
    rows = read_csv(out / "problems_tribo.csv") + read_csv(out / "problems_siconos.csv")
    if not rows:
        return ""
    note = (
        "Real problems from a zero start: CPU time to a recomputed error ‖r − P(r − û)‖ / max(‖q‖, ‖r‖, "
        "‖u‖) below the tolerance. A method of Siconos with several good settings counts with the best of them per problem. "
        "The time of Siconos includes forming W where the file does not hold it."
    )
    tolerances = sorted({float(r["tolerance"]) for r in rows}, reverse=True)
    sections = "".join(tolerance_section(rows, t) for t in tolerances)
    return f'<h2>Problems from files</h2><p class="note">{note}</p>{summary_table(out)}{sections}'
