"""The studies of the second-order family on the page; each section from one CSV of tribo_bench_second_order."""

from report import charts
from report.page import cell, figure, plain_table, read_csv, table


def section(title, note, body):
    return f'<h3>{title}</h3><p class="note">{note}</p>{body}' if body else ""


def finite(text, unit=""):
    return "—" if text in ("inf", "nan") else f"{text}{unit}"


def series_of(rows, x, y, label, factor=1.0):
    """{label(row): [(x, y)]} in the order of the file."""
    result = {}
    for r in rows:
        result.setdefault(label(r), []).append((float(r[x]), factor * float(r[y])))
    return result


def rings_section(out):
    curves, summary = read_csv(out / "rings_curves.csv"), read_csv(out / "rings_summary.csv")
    if not summary:
        return ""
    pictures = []
    for scene in dict.fromkeys(r["scene"] for r in summary):
        for axis, label, scale in (("seconds", "CPU time, ms", 1e3), ("iteration", "iterations", 1.0)):
            series = {}
            for r in curves:
                if (r["scene"], r["axis"]) == (scene, axis):
                    point = (scale * float(r["x"]), *(float(r[k]) for k in ("low", "median", "high")))
                    series.setdefault(r["solver"], []).append(point)
            title = f"{scene}: Lee's residual, m/s"
            picture = charts.curves(series, title, label, True, (1e-16, 1.0), 1e-8)
            pictures.append(figure(out, f"rings_{scene}_{axis}", picture))
    rows = []
    for r in summary:
        share = float(r["share"])
        rows.append([cell(r["scene"]), cell(r["solver"]), cell(r["cases"]),
                     cell(f"{100.0 * share:.0f} %", "best" if share == 1.0 else ""),
                     *(cell(finite(r[k])) for k in ("median_ms", "worst_ms", "median_iterations", "worst_iterations")),
                     cell(r["median_residual"]), cell(r["worst_residual"])])  # fmt: skip
    head = ["scene", "solver", "cases", "≤ 1e-8", "median ms to it", "worst ms", "median iterations", "worst",
            "median residual at the end", "worst"]  # fmt: skip
    note = (
        "bolt-nut and dish-pile: real threads and dishes (120 and 480 contacts), ten configurations with ten wrenches each; bolt and "
        "dishes: random rings of 120 contacts in their manner, every second one sliding; Lee's residual ‖Jv − z‖ / contacts as in "
        "Figs 7 and 9 of Lee et al. (2024): median and 10 – 90 % band. Each point is a solve of its own, from zero, that was "
        "stopped there: set-up and certificate are inside, the measuring is not."
    )
    return section("Bolt and dishes", note, f'<div class="charts">{"".join(pictures)}</div>' + table(head, rows))


def table2_section(out):
    rows = read_csv(out / "table2.csv")
    columns = {"scene": "scene", "solver": "method", "cases": "cases", "loops_mean": "outer loops", "inner_mean": "inner steps",
               "inner_std": "std", "failures_percent": "failed loops, %", "residual_mean": "−log₁₀ residual",
               "ms_median": "median ms"}  # fmt: skip
    note = (
        "Ten augmented-Lagrangian loops with CANAL's cascade and with the two direct semismooth Newton methods, as Table II of "
        "Lee et al.; the last row is tribo's default canal to a scaled error of 1e-8."
    )
    return section("Inner solvers (Table II)", note, plain_table(rows, columns) if rows else "")


def table3_section(out):
    rows = read_csv(out / "table3.csv")
    columns = {"trees": "trees", "contacts": "contacts", "variant": "variant", "method": "method", "threads": "threads",
               "cpu_ms": "CPU ms", "wall_ms": "wall ms", "factorizations": "factorisations",
               "residual_minus_log10": "−log₁₀ residual"}  # fmt: skip
    note = (
        "A hundred iterations on trees of 18 degrees of freedom that fall onto uneven ground, as Table III of Lee et al.; medians "
        "over the seeds, set-up included. «printed» is the paper's iteration, «default» tribo's."
    )
    return section("Splitting (Table III)", note, plain_table(rows, columns) if rows else "")


def sap_section(out):
    rows = read_csv(out / "sap_ipm.csv")
    if not rows:
        return ""
    columns = {"generator": "generator", "compliance": "R, m/(N s)", "slide": "slides", "cases": "cases", "unsolved": "unsolved",
               "velocity_difference": "velocities differ", "impulse_difference": "impulses differ",
               "sap_iterations": "sap iterations", "sap_warm_iterations": "warm", "ipm_iterations": "ipm iterations",
               "sap_error": "sap error", "ipm_error": "ipm error"}  # fmt: skip
    worst = max(float(r["velocity_difference"]) for r in rows)
    unsolved = sum(int(r["unsolved"]) for r in rows)
    note = (
        "Both to a scaled error of 5e-12 under the convex law; differences of the minimisers, largest over the cases: velocities "
        "in the energy norm relative to the free motion, impulses relative to the largest. «warm»: sap from its impulses of a "
        "5 % shorter step. "
        f"<b>Largest difference of velocities {worst:.2g}; unsolved {unsolved}.</b>"
    )
    return section("sap and the convex ipm", note, plain_table(rows, columns))


def sigma_section(out):
    rows = read_csv(out / "sigma.csv")
    if not rows:
        return ""
    label = lambda r: r["scene"]  # noqa: E731
    steps = {f"{k}, cold": v for k, v in series_of(rows, "sigma", "cold_steps", label).items()}
    steps |= {f"{k}, warm": v for k, v in series_of(rows, "sigma", "warm_steps", label).items()}
    condition = charts.curves(series_of(rows, "sigma", "condition", label), "Condition number of the Newton matrix", "σ")
    pictures = figure(out, "sigma_condition", condition)
    pictures += figure(out, "sigma_steps", charts.curves(steps, "Newton steps", "σ", False))
    columns = {"scene": "scene", "sigma": "σ", "condition": "condition number", "cold_steps": "Newton steps",
               "warm_steps": "warm-started", "creep": "creep, m/s", "creep_bound": "bound (31), m/s"}  # fmt: skip
    note = (
        "The near-rigid rule R_t = σ w on rigid scenes of 40 bodies, as Fig. 15 of Castro et al.: conditioning and steps against "
        "the creep of contacts that stick. Warm: from the impulses of a 5 % shorter step."
    )
    return section("sap: effect of σ", note, f'<div class="charts">{pictures}</div>' + plain_table(rows, columns))


def mangoni_section(out):
    rows = read_csv(out / "mangoni.csv")
    if not rows:
        return ""
    balls = [r for r in rows if r["study"] == "balls"]
    size = charts.curves({"ipm": [(float(r["dofs"]), float(r["iterations"])) for r in balls]}, "Balls in a box: iterations",
                         "degrees of freedom", False)  # fmt: skip
    stacks = {}
    for r in rows:
        if r["study"] == "stack":
            kind = r["case"].split(" x ")[0] if " x " in r["case"] else "10ⁿ kg, sphere n"
            stacks.setdefault(kind, []).append((float(r["dofs"]) / 3.0, float(r["iterations"])))
    stack = charts.curves(stacks, "Stacked spheres: iterations", "spheres", False) if stacks else ""
    columns = {"study": "study", "case": "case", "dofs": "dofs", "rows": "rows", "solves": "solves", "unsolved": "unsolved",
               "iterations": "iterations", "ms": "ms", "worst_error": "worst scaled error"}  # fmt: skip
    note = "ipm without its polish on frictionless problems, to a scaled error of 1e-8: chapter 5 of Mangoni's thesis."
    body = f'<div class="charts">{figure(out, "mangoni_size", size)}{figure(out, "mangoni_stack", stack)}</div>'
    return section("Interior point without friction", note, body + plain_table(rows, columns))


def scale_section(out):
    rows = read_csv(out / "scale.csv")
    if not rows:
        return ""
    label = lambda r: f"{r['solver']} ×{r['threads']}"  # noqa: E731
    for r in rows:
        r["wall_ns_per_contact"] = f"{1e3 * float(r['iteration_wall_us']) / float(r['contacts']):.1f}"
    time = charts.curves(series_of(rows, "contacts", "wall_ns_per_contact", label),
                         "Wall-clock time of an iteration per contact, ns", "contacts", False)  # fmt: skip
    memory = charts.curves(series_of([r for r in rows if r["threads"] == "1"], "contacts", "bytes_per_contact", label, 1 / 1024),
                           "Memory of the solver per contact, kB", "contacts", False)  # fmt: skip
    columns = {"bodies": "bodies", "contacts": "contacts", "solver": "solver", "threads": "threads",
               "setup_cpu_ms": "set-up CPU ms", "iteration_wall_us": "iteration wall µs", "iteration_cpu_us": "CPU µs",
               "wall_ns_per_contact": "wall ns per contact", "iteration_cpu_ns_per_contact": "CPU ns per contact",
               "bytes_per_contact": "bytes per contact", "error": "scaled error after 50"}  # fmt: skip
    note = "Growing sphere piles; ×1, ×2: threads. Flat curves are cost and memory proportional to the contacts."
    body = f'<div class="charts">{figure(out, "scale_time", time)}{figure(out, "scale_memory", memory)}</div>'
    return section("Scale", note, body + plain_table(rows, columns))


def splitting_section(out):
    rows = read_csv(out / "splitting.csv")
    columns = {"solver": "solver", "scenes": "scenes", "solved": "solved", "iterations": "iterations", "cpu_ms": "CPU ms"}
    note = "What the settings of subadmm and its ablations are worth, on a mixed set of scenes."
    return section("Settings of subadmm", note, plain_table(rows, columns) if rows else "")


SECTIONS = (rings_section, table2_section, table3_section, sap_section, sigma_section, mangoni_section, scale_section,
            splitting_section)  # fmt: skip


def studies_section(out):
    parts = []
    for part in SECTIONS:
        try:
            parts.append(part(out))
        except KeyError as column:  # results of an older version of the study
            name = part.__name__.removesuffix("_section")
            parts.append(f'<p class="note">{name}: its CSV has no column {column}; run that suite again.</p>')
    body = "".join(parts)
    return "<h2>The second-order family</h2>" + body if body else ""
