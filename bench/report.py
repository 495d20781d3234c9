"""The page bench/results/index.html from the CSV files beside it. Standard library only."""

import csv
import html
import json
import math
import pathlib
import statistics

import charts

ANDERSON = "anderson=5 tol"  # Pinocchio's variant of the same settings as published, apart from the tolerance
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 98rem; padding: 0 1rem; color: #1c2733; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dde5; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; margin: 1rem 0; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #e8edf2; white-space: nowrap; }
th { background: #f3f6f9; font-weight: 600; } td:first-child, th:first-child { text-align: left; }
td.best { background: #dff3e3; font-weight: 600; } td.fail { color: #b0342b; }
.note { color: #5b6b7b; font-size: 13px; max-width: 62rem; } .charts { display: flex; flex-wrap: wrap; gap: 1.5rem; }
.scroll { overflow-x: auto; } small { color: #6b7b8b; }
"""


def read_csv(path):
    if not path.exists():
        return []
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))


def read_machine(out):
    path = pathlib.Path(out) / "machine.json"
    return json.loads(path.read_text()) if path.exists() else {}


def is_solved(row):
    return row["solved"] == "1"


def solve_ms(row):
    return float(row["solve_min_ms"])


def total_ms(row):
    return float(row["build_min_ms"]) + float(row["solve_min_ms"])


def milliseconds(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def best_of(rows, cost):
    """The cheapest solved row; without one, the row that came nearest (smallest error)."""
    solved = [r for r in rows if is_solved(r)]
    if solved:
        return min(solved, key=cost)
    return min(rows, key=lambda r: float(r["error"]) if r["error"] not in ("nan", "") else math.inf, default=None)


def cell(text, kind="", title=""):
    attributes = (f' class="{kind}"' if kind else "") + (f' title="{html.escape(title)}"' if title else "")
    return f"<td{attributes}>{text}</td>"


def table(head, rows):
    top = "".join(f"<th>{h}</th>" for h in head)
    body = "".join("<tr>" + "".join(r) + "</tr>" for r in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def describe(row):
    noise = f"solve min {row['solve_min_ms']} median {row['solve_median_ms']} max {row['solve_max_ms']} ms"
    return (
        f"{row['family']} {row['method']} ({row['variant']}): {row['status']}, {row['iterations']} iterations, {noise}, "
        f"{row['runs']} runs, scaled error {row['error']}, siconos error {row['siconos_error']}"
    )


def time_cell(row, cost, is_best=False, split=False):
    if row is None:
        return cell("·")
    if not is_solved(row):
        return cell(f"✗ <small>{row['error']}</small>", "fail", describe(row))
    parts = f" <small>{milliseconds(float(row['build_min_ms']))} + {milliseconds(solve_ms(row))}</small>" if split else ""
    return cell(milliseconds(cost(row)) + parts, "best" if is_best else "", describe(row))


def spread_text(row):
    low, mid, high = (float(row[f"solve_{k}_ms"]) for k in ("min", "median", "max"))
    return f"{milliseconds(low)} – {milliseconds(mid)} – {milliseconds(high)}"


# ---------------------------------------------------------------------------------------------------- towers


def factor(peer, mine):
    if not peer or not is_solved(mine):
        return "·"
    return f"{total_ms(peer) / total_ms(mine):.1f}×" if is_solved(peer) else "only tribo"


def towers_section(out):
    tribo, pinocchio = read_csv(out / "towers_tribo.csv"), read_csv(out / "towers_pinocchio.csv")
    if not tribo:
        return ""
    rows, noise = [], []
    for name in dict.fromkeys(r["problem"] for r in tribo):
        mine = [r for r in tribo if r["problem"] == name]
        peer = [r for r in pinocchio if r["problem"] == name]
        default = best_of([r for r in peer if r["variant"].startswith("default")], total_ms)
        anderson = best_of([r for r in peer if r["variant"].startswith(ANDERSON)], total_ms)
        pgs = best_of([r for r in peer if r["method"] == "pgs"], total_ms)
        peer_best, my_best = best_of(peer, total_ms), best_of(mine, total_ms)
        by_method = [best_of([r for r in mine if r["method"] == m], total_ms) for m in ("admm", "nsgs", "pgs")]
        factors = [factor(anderson, my_best), factor(peer_best, my_best)]
        winner = min((r for r in (peer_best, my_best) if r and is_solved(r)), key=total_ms, default=None)
        rows.append(
            [cell(name)]
            + [time_cell(r, total_ms, split=True) for r in (default, anderson, pgs)]
            + [time_cell(peer_best, total_ms, winner is peer_best, split=True)]
            + [time_cell(r, total_ms, winner is r, split=True) for r in by_method]
            + [cell(f) for f in factors]
        )
        for r in (peer_best, my_best):
            if r:
                noise.append([cell(name), cell(r["family"]), cell(f"{r['method']} {r['variant']}"), cell(spread_text(r)),
                              cell(r["runs"]), cell(r["iterations"]), cell(r["error"])])  # fmt: skip
    head = ["tower", "Pinocchio ADMM", "+ Anderson 5", "PGS", "Pinocchio's best", "tribo admm", "tribo nsgs",
            "tribo pgs", "Anderson 5 / tribo's best", "best / best"]  # fmt: skip
    text = (
        "Total <small>build + solve</small>, ms of CPU time, least of at least five cold runs, to a certified scaled error "
        "≤ 1e-6; ✗ with the error reached. Pinocchio's best is over update rules, Lanczos sizes and Delassus operators, the "
        "C++ rigid-body operator included; its model and data exist before the clock starts."
    )
    detail = ["tower", "family", "settings", "solve min – median – max ms", "runs", "iterations", "scaled error"]
    return (
        f'<h2>Towers</h2><p class="note">{text}</p>' + table(head, rows)
        + "<details><summary>Noise and settings of the best rows</summary>" + table(detail, noise) + "</details>"
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- problems


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
            if label.startswith(f"tribo {method}") and method in single:
                lines += namesake_line(label, f"one setting: {chosen[method]}", mine, single[method])
                lines += namesake_line(label, "its best setting per problem", mine, groups[f"siconos {method}"])
    head = ["solver", "Siconos' namesake with", "both solve", "median speed-up", "worst speed-up", "slower on",
            "only tribo solves", "only Siconos solves"]  # fmt: skip
    return table(head, lines) if lines else ""


def tolerance_section(rows, tolerance):
    rows = [r for r in rows if float(r["tolerance"]) == tolerance]
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
    return f'<h2>Problems from files</h2><p class="note">{note}</p>{sections}'


# ---------------------------------------------------------------------------------------------------- pile, kernels


def pile_section(out):
    rows = read_csv(out / "pile.csv")
    if not rows:
        return ""
    head = ["contacts", "spheres", "load ms", "set-up ms", "one sweep ms", "certify ms", "problem kB/contact",
            "solver kB/contact", "peak kB/contact"]  # fmt: skip
    body = []
    for r in rows:
        per = 1024.0 / float(r["contacts"])
        body.append([cell(r["contacts"]), cell(r["spheres"])]
                    + [cell(milliseconds(float(r[k]))) for k in ("load_ms", "setup_ms", "sweep_ms", "certify_ms")]
                    + [cell(f"{float(r[k]) * per:.2f}") for k in ("problem_mb", "solver_mb", "peak_mb")])  # fmt: skip
    x = [float(r["contacts"]) for r in rows]
    series = {
        label: list(zip(x, (float(r[key]) for r in rows)))
        for label, key in (("load ms", "load_ms"), ("sweep ms", "sweep_ms"), ("certify ms", "certify_ms"))
    }
    memory = {"problem": list(zip(x, (float(r["problem_mb"]) for r in rows))),
              "problem + solver": list(zip(x, (float(r["problem_mb"]) + float(r["solver_mb"]) for r in rows)))}  # fmt: skip
    figures = charts.log_log(series, "Time", "contacts", "ms") + charts.log_log(memory, "Memory", "contacts", "MB")
    note = "Random sphere piles, one process per size: a straight line of slope 1 (dashed) is cost proportional to contacts."
    return f'<h2>Sphere piles</h2><p class="note">{note}</p><div class="charts">{figures}</div>' + table(head, body)


def kernels_section(out):
    by_name = {}
    for row in read_csv(out / "kernels.csv"):
        by_name.setdefault(row["kernel"], []).append(row)
    body = []
    for name, rows in by_name.items():
        values = sorted(float(r["cpu_time"]) for r in rows)
        shown = " – ".join(f"{v:.4g}" for v in (values[0], values[len(values) // 2], values[-1]))
        body.append([cell(name), cell(rows[0]["contacts"]), cell(shown), cell(rows[0]["unit"])])
    head = ["kernel / bodies", "contacts", "CPU time min – median – max", "unit"]
    return "<h2>Kernels</h2>" + table(head, body) if body else ""


def machine_section(machine):
    items = "".join(
        cell(f"<b>{html.escape(k)}</b>") + cell(html.escape(str(v))) + "</tr><tr>" for k, v in machine.items() if v is not None
    )
    return f"<h2>Machine and versions</h2><table><tr>{items}</tr></table>"


def write_page(out):
    out = pathlib.Path(out)
    machine = read_machine(out)
    sections = [towers_section(out), problems_section(out), pile_section(out), kernels_section(out)]
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>tribo benchmarks</title><style>{STYLE}</style>'
        f'<h1>tribo beside its peers</h1><p class="note">{html.escape(str(machine.get("cpu", "")))}, '
        f'{html.escape(str(machine.get("date", "")))}. Every number is CPU time of one thread; every result is judged by '
        f"tribo's certificate, recomputed from the impulses alone.</p>"
        + "".join(s or "" for s in sections) + machine_section(machine) + "</html>\n"
    )  # fmt: skip
    path = out / "index.html"
    path.write_text(page)
    return path
