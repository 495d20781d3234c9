"""The page bench/results/index.html from the CSV files beside it. Standard library only."""

import html
import pathlib

from report import charts
from studies.ablation import ablation_section
from studies.extremes import extremes_section
from report.page import STYLE, cell, milliseconds, read_csv, read_machines, table
from report.problems import problems_section
from report.robots import robots_section
from report.sim import sim_section
from report.studies import studies_section
from report.towers import heights_section, towers_section


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


def machine_section(machines):
    """A column for every suite that was measured by itself."""
    if not machines:
        return ""
    keys = dict.fromkeys(k for machine in machines.values() for k in machine)
    rows = [[cell(f"<b>{html.escape(k)}</b>"), *(cell(html.escape(str(m.get(k) or ""))) for m in machines.values())] for k in keys]
    head = "<tr><th></th>" + "".join(f"<th>{html.escape(suite)}</th>" for suite in machines) + "</tr>"
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<h2>Machines and versions, by suite</h2><table>{head}{body}</table>"


def write_page(out):
    out = pathlib.Path(out)
    machines = read_machines(out)
    newest = max((m.get("date", "") for m in machines.values()), default="")
    sections = [towers_section(out), heights_section(out), problems_section(out), extremes_section(out), ablation_section(out), studies_section(out), pile_section(out),
                sim_section(out), robots_section(out), kernels_section(out)]  # fmt: skip
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>tribo benchmarks</title><style>{STYLE}</style>'
        f'<h1>tribo beside its peers</h1><p class="note">Last measured {html.escape(newest)}; '
        f'the machine of each suite stands at the end. Every number is CPU time of one thread; every result is judged by '
        f"tribo's certificate, recomputed from the impulses alone.</p>"
        + "".join(s or "" for s in sections) + machine_section(machines) + "</html>\n"
    )  # fmt: skip
    path = out / "index.html"
    path.write_text(page)
    return path
