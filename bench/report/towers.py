"""The towers on the page: tribo beside Pinocchio, and cost against height."""

from report import charts
from report.page import best_of, cell, figure, is_solved, milliseconds, read_csv, spread_text, table, time_cell, total_ms

ANDERSON = "anderson=5 tol"  # Pinocchio's variant of the same settings as published, apart from the tolerance
NEWTON = ("alnewton", "ipm")  # nearly all of their time goes with factorisations
# The aims for the best solver, ms of build + solve.
AIMS = {"tower15-r1e4": 1.5, "tower10-r1e4-slide": 2.0, "tower40-r1e4-slide": 15.0, "tower40": 3.0}


def factor(peer, mine):
    if not peer or not is_solved(mine):
        return "·"
    return f"{total_ms(peer) / total_ms(mine):.1f}×" if is_solved(peer) else "only tribo"


def methods_of(rows):
    return list(dict.fromkeys(r["method"] for r in rows))


def beside_pinocchio(tribo, pinocchio):
    """Both to a scaled error of 1e-6."""
    rows, noise, methods = [], [], methods_of(tribo)
    for name in dict.fromkeys(r["problem"] for r in tribo):
        mine = [r for r in tribo if r["problem"] == name]
        peer = [r for r in pinocchio if r["problem"] == name]
        default = best_of([r for r in peer if r["variant"].startswith("default")], total_ms)
        anderson = best_of([r for r in peer if r["variant"].startswith(ANDERSON)], total_ms)
        pgs = best_of([r for r in peer if r["method"] == "pgs"], total_ms)
        peer_best, my_best = best_of(peer, total_ms), best_of(mine, total_ms)
        by_method = [best_of([r for r in mine if r["method"] == m], total_ms) for m in methods]
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
    head = ["tower", "Pinocchio ADMM", "+ Anderson 5", "PGS", "Pinocchio's best", *(f"tribo {m}" for m in methods),
            "Anderson 5 / tribo's best", "best / best"]  # fmt: skip
    text = (
        "Total <small>build + solve</small>, ms of CPU time, least of at least five cold runs, to a certified scaled error "
        "≤ 1e-6; ✗ with the error reached. Pinocchio's best is over update rules, Lanczos sizes and Delassus operators, the "
        "C++ rigid-body operator included; its model and data exist before the clock starts."
    )
    detail = ["tower", "family", "settings", "solve min – median – max ms", "runs", "iterations", "scaled error"]
    return (
        f'<p class="note">{text}</p>' + table(head, rows)
        + "<details><summary>Noise and settings of the best rows</summary>" + table(detail, noise) + "</details>"
    )  # fmt: skip


def both_cells(row, is_best):
    """Time, and the two errors."""
    if row is None:
        return [cell("·")] * 3
    kind = "" if is_solved(row) else "fail"
    return [time_cell(row, total_ms, is_best, split=True)] + [cell(row[k], kind) for k in ("error", "siconos_error")]


def strict(tribo):
    """Scaled 1e-6 and siconos 1e-8 at once."""
    methods, rows = methods_of(tribo), []
    for name in dict.fromkeys(r["problem"] for r in tribo):
        found = [next((r for r in tribo if r["problem"] == name and r["method"] == m), None) for m in methods]
        best = min((r for r in found if r and is_solved(r)), key=total_ms, default=None)
        aim = AIMS.get(name)
        reached = "·" if aim is None else f"{'✓' if best and total_ms(best) <= aim else '✗'} {aim:g}"
        rows.append([cell(name)] + [c for r in found for c in both_cells(r, r is best)] + [cell(reached)])
    solved = [sum(is_solved(r) for r in tribo if r["method"] == m) for m in methods]
    count = [sum(r["method"] == m for r in tribo) for m in methods]
    totals = [c for s, n in zip(solved, count) for c in (cell(f"<b>{s}</b> of {n}"), cell(""), cell(""))]
    rows.append([cell("<b>solved</b>"), *totals, cell("")])
    head = ["tower", *(h for m in methods for h in (f"{m} ms", "scaled", "siconos")), "aim, ms"]
    text = (
        "To a scaled error ≤ 1e-6 <b>and</b> a siconos error ≤ 1e-8 at once, both recomputed: ms of CPU time <small>build + "
        "cold solve</small>, and the two errors."
    )
    return f'<h3>Both measures</h3><p class="note">{text}</p>' + table(head, rows)


def towers_section(out):
    tribo, pinocchio = read_csv(out / "towers_tribo.csv"), read_csv(out / "towers_pinocchio.csv")
    if not tribo:
        return ""
    scaled = [r for r in tribo if r["measure"] == "scaled"]
    both = [r for r in tribo if r["measure"] == "both"]
    parts = [beside_pinocchio(scaled, pinocchio) if scaled else "", strict(both) if both else ""]
    return "<h2>Towers</h2>" + "".join(parts)


def cubes(name):
    return int(name.split("-")[0].removeprefix("tower"))


HEIGHT_KINDS = {
    "": "at rest, equal masses",
    "-r1e4": "at rest, mass ratio 1e4",
    "-slide": "sliding, equal masses",
    "-r1e4-slide": "sliding, mass ratio 1e4",
}


def heights_section(out):
    tribo = read_csv(out / "heights_tribo.csv")
    if not tribo:
        return ""
    pictures, tables = [], []
    for kind, title in HEIGHT_KINDS.items():
        mine = [r for r in tribo if r["problem"] == f"tower{cubes(r['problem'])}{kind}"]
        if not mine:
            continue
        methods, sizes = methods_of(mine), sorted({cubes(r["problem"]) for r in mine})
        series, rows = {m: [] for m in methods}, []
        for size in sizes:
            found = [next((r for r in mine if cubes(r["problem"]) == size and r["method"] == m), None) for m in methods]
            line = [cell(size)]
            for method, row in zip(methods, found):
                solved = row is not None and is_solved(row)
                if solved:
                    series[method].append((size, total_ms(row)))
                line += [time_cell(row, total_ms), cell(milliseconds(1e3 * total_ms(row) / size) if solved else "·")]
                factors = int(row["factorizations"]) if row else 0
                line.append(cell(factors or "·"))
                if method in NEWTON:
                    line.append(cell(f"{1e3 * total_ms(row) / (size * factors):.2f}" if solved and factors else "·"))
            rows.append(line)
        head = ["cubes"]
        for method in methods:
            head += [f"{method} ms", "µs per cube", "factorisations", *(["µs per cube and one"] if method in NEWTON else [])]
        picture = charts.log_log({m: p for m, p in series.items() if p}, f"Tower {title}", "cubes", "ms")
        pictures.append(figure(out, f"heights{kind or '-rest'}".replace("-", "_"), picture))
        tables.append(f"<h3>Tower {title}</h3>" + table(head, rows))
    note = (
        "Build + cold solve to both measures. A line of slope 1 (dashed) is cost proportional to the height. Where a curve is "
        "steeper, the number of iterations grows; the cost of one factorisation per cube shows that each is linear."
    )
    charts_html = f'<div class="charts">{"".join(pictures)}</div>'
    return f'<h2>Cost against height</h2><p class="note">{note}</p>' + charts_html + "".join(tables)
