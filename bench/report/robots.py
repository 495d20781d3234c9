"""Everybody's robots: the summary that is printed, and the section of the page, from robots.csv and robots_uncovered.csv."""

import math

from report.page import cell, read_csv, table

CLASSES = [("≤ 9 dofs", 0, 9), ("10 – 20", 10, 20), ("21 – 35", 21, 35), ("≥ 36", 36, math.inf)]
BUILDS = ["native", "portable"]
NOTE = (
    "Every scene from its default pose and every keyframe, controls zero and drives holding the pose. Missed: steps whose "
    "certificate is above 1e-6; infeasible: those that are proved to have no solution. Created: energy beyond that of the "
    "beginning and the work of actuators and applied forces, at most; rise: the same above any earlier value. Ratio: steps per "
    "CPU second beside MuJoCo's (Newton, cones of the file), same file, time step and number of steps; red below 1."
)


def as_number(row, key):
    try:
        return float(row.get(key) or "nan")
    except ValueError:
        return math.nan


def ratio(row, build):
    """tribo's steps per second over MuJoCo's; None where one is not there."""
    ours, theirs = as_number(row, f"{build}_steps_per_second"), as_number(row, "mujoco_steps_per_second")
    return ours / theirs if ours > 0.0 and theirs > 0.0 else None


def is_exploded(row):
    return str(row.get("exploded")) == "1"


def name_of(row):
    return f"{row['model']}/{row['scene']} {row['pose']} {row['control']}"


def mean_and_worst(rows, build):
    ratios = sorted((ratio(r, build), name_of(r)) for r in rows if ratio(r, build))
    if not ratios:
        return None
    return math.exp(sum(math.log(value) for value, _ in ratios) / len(ratios)), ratios[0], len(ratios)


def speed_lines(rows):
    certified = [r for r in rows if r["missed"] == "0" and not is_exploded(r)]
    for build in BUILDS:
        for title, chosen in (("all runs", rows), ("runs without a missed step", certified)):
            found = mean_and_worst(chosen, build)
            if not found:
                continue
            mean, worst, count = found
            yield f"{build} build, {title}: {mean:.3g} x MuJoCo (geometric mean of {count}), worst {worst[0]:.3g} ({worst[1]})"
            for label, low, high in CLASSES:
                part = mean_and_worst([r for r in chosen if low <= as_number(r, "dofs") <= high], build)
                if part:
                    yield f"    {label:>9}: {part[0]:.3g} x ({part[2]} runs), worst {part[1][0]:.3g} ({part[1][1]})"


def median_of(values):
    values = sorted(v for v in values if math.isfinite(v))
    return values[len(values) // 2] if values else math.nan


def summary_lines(out):
    everything = read_csv(out / "robots.csv")
    rows = [r for r in everything if r["steps"]]
    if not everything:
        return
    missed = [r for r in rows if r["missed"] != "0"]
    proved = [r for r in missed if as_number(r, "infeasible") >= as_number(r, "missed")]
    cut = [r for r in rows if as_number(r, "steps") < as_number(r, "planned_steps") and not r["failure"]]
    scenes = len({(r["model"], r["scene"]) for r in everything})
    yield f"robots: {len({r['model'] for r in everything})} models, {scenes} scenes, {len(everything)} runs"
    yield f"not loaded or not started: {len(everything) - len(rows)}; cut off by the time cap: {len(cut)}"
    steps = sum(int(r["missed"]) for r in rows), sum(int(r["steps"]) for r in rows)
    yield (f"runs with missed steps: {len(missed)} of {len(rows)} ({len(proved)} with every one proved infeasible); "
           f"{steps[0]} steps of {steps[1]}")  # fmt: skip
    exploded = [r for r in rows if is_exploded(r)]
    yield f"exploded: {len(exploded)}" + (": " + ", ".join(name_of(r) for r in exploded) if exploded else "")
    share = lambda r: as_number(r, "created") / max(as_number(r, "energy_scale"), 1e-300)  # noqa: E731
    calm = [r for r in rows if not is_exploded(r)]
    for limit in (1e-6, 1e-3, 1e-1):
        yield f"energy created beyond {limit:g} of the start's scale: {sum(share(r) > limit for r in calm)} of {len(calm)} others"
    ends = [as_number(r, "penetration_end") for r in rows]
    theirs = [as_number(r, "mujoco_penetration_end") for r in rows]
    yield f"penetration at the end: median {median_of(ends):.3g} m (MuJoCo {median_of(theirs):.3g}), deepest {max(ends, default=0):.3g}"
    yield from speed_lines(rows)
    yield "not covered (models, scenes):"
    for r in read_csv(out / "robots_uncovered.csv"):
        yield f"  {r['models']:>3} {r['scenes']:>3}  {r['feature']}"


def run_cells(row):
    text = lambda key, kind="": cell(row[key] or "·", kind)  # noqa: E731
    ratios = []
    for build in BUILDS:
        value = ratio(row, build)
        ratios.append(cell(f"{value:.2f}" if value else "·", "" if value is None else "best" if value >= 1.0 else "fail"))
    done = cell(f"{row['steps']} / {row['planned_steps']}", "fail" if row["steps"] != row["planned_steps"] else "")
    return [cell(f"{row['model']}/{row['scene']}"), text("pose"), text("control"), text("dofs"), done,
            text("missed", "fail" if row["missed"] not in ("0", row["infeasible"]) else ""), text("infeasible"),
            text("worst_error"), text("energy_begin"), text("energy_max"), text("energy_end"), text("drive_work"),
            text("created", "fail" if is_exploded(row) else ""), text("largest_rise"), text("penetration_end"),
            text("mujoco_penetration_end"), text("max_speed_end"), text("contacts"), text("native_steps_per_second"),
            text("portable_steps_per_second"), text("mujoco_steps_per_second"), *ratios, text("failure")]  # fmt: skip


def robots_section(out):
    rows, missing = read_csv(out / "robots.csv"), read_csv(out / "robots_uncovered.csv")
    if not rows:
        return ""
    head = ["scene", "pose", "control", "dofs", "steps", "missed", "infeasible", "worst error", "energy, J: begin", "maximum", "end",
            "work of drives, J", "created, J", "rise, J", "penetration at the end, m", "MuJoCo's", "fastest dof at the end",
            "contacts", "native steps/s", "portable", "MuJoCo", "native / MuJoCo", "portable / MuJoCo", "failure"]  # fmt: skip
    lines = "".join(f"<li>{line.strip()}</li>" for line in summary_lines(out) if not line.startswith(("  ", "not covered")))
    uncovered = table(["not covered", "models", "scenes"], [[cell(r[k]) for k in ("feature", "models", "scenes")] for r in missing])
    return (f'<h2>Robots</h2><p class="note">{NOTE}</p><ul>{lines}</ul>' + table(head, [run_cells(r) for r in rows])
            + uncovered)  # fmt: skip
