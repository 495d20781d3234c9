"""What each row of `auto`'s schedule and each of its numbers is worth: one left out, or halved, or doubled, at a time.

Ground: every problem file below --problems (cold solves, tolerance 1e-6, those that `auto` ends within a tenth of --time-cap), generated towers, and
simulated scenes (warm solves; with --models the robots below it as well). Every line of the result is the ratio to `auto` as it
is: CPU seconds (geometric mean over scenes, sum over problems), factorisations (which do not depend on the machine) and what is
solved or missed. `auto` itself is measured again after every REFRESH lines; the spread of these runs is the machine's noise.
Rows of bench/results/ablation.csv.
"""

import csv
import json
import math
import os
import re
import resource
import statistics
import subprocess

from report.machine import say
from report.page import read_csv, table

COLUMNS = ["variant", "solved", "infeasible", "problem_seconds", "factorizations", "scene_ratio", "worst_scene", "worst_ratio",
           "missed_steps", "solved_base", "seconds_base", "factorizations_base", "missed_base"]  # fmt: skip
REFRESH = 8
ROWS = 32  # of the schedule (tribo/solve/auto/schedule.cpp)
TOWERS = [("10", []), ("40", []), ("10", ["--slide"]), ("40", ["--slide"]), ("10", ["--mass-ratio", "1e4"]),
          ("40", ["--mass-ratio", "1e4"]), ("40", ["--mass-ratio", "1e4", "--slide"])]  # fmt: skip
SCENES = [
    ("dominos", ["--scene", "dominos", "--time", "0.5"]),
    ("stack20", ["--scene", "stack", "--set", "boxes=20", "--set", "mass-ratio=1e4", "--time", "0.5"]),
    ("pyramid", ["--scene", "pyramid", "--set", "levels=8", "--time", "0.5"]),
    ("wall", ["--scene", "wall", "--time", "0.3"]),
    ("clutter", ["--scene", "clutter", "--set", "bodies=60", "--time", "0.6"]),
    ("balls", ["--scene", "balls-in-box", "--set", "balls=300", "--time", "0.4"]),
    ("balls-rough", ["--scene", "balls-in-box", "--set", "balls=100", "--set", "mu=0.5", "--time", "0.2"]),
    ("balls-deep", ["--scene", "balls-in-box", "--set", "balls=150", "--set", "mu=0.5", "--time", "0.7"]),
    ("pile216", ["--scene", "pile216", "--time", "0.55"]),
]


def child_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def output_of(command, seconds):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment, timeout=seconds).stdout
    except subprocess.TimeoutExpired:
        return ""


def numbers_of(tribo):
    """{name: (default, lowest, highest)} of auto's numeric options, from the tool's own table."""
    found = {}
    for line in output_of([tribo, "solvers", "auto"], 60).splitlines():
        match = re.match(r"\s+(\w+)\s+([\d.e+-]+)\s+([\d.e+-]+) \.\. ([\d.e+-]+)\s", line)
        if match and match[1] != "skip":
            found[match[1]] = tuple(float(match[k]) for k in (2, 3, 4))
    return found


def variants(tribo, rows):
    named = [(f"without row {k}", f"auto:skip={k}") for k in range(1, rows + 1)]
    for name, (value, low, high) in numbers_of(tribo).items():
        whole = value == int(value)
        for factor, word in ((0.5, "half"), (2.0, "twice")):
            changed = min(max(value * factor, low), high)
            changed = round(changed) if whole and value >= 1 else changed
            if changed != value:
                named.append((f"{name} {word}", f"auto:{name}={changed:g}"))
    return named


def make_towers(arguments):
    made = []
    for k, (bodies, words) in enumerate(TOWERS):
        file = arguments.work / f"ablation_tower{k}.hdf5"
        output_of([arguments.bin / "tribo", "make", "tower", "--bodies", bodies, *words, "-o", file], 60)
        made += [file] if file.exists() else []
    return made


def solve_problems(arguments, files, solver, time_limit=None):
    """One process for all files: (solved, infeasible, CPU seconds, factorisations)."""
    begin = child_seconds()
    command = [arguments.bin / "tribo", "solve", *files, "--solver", solver, "--time-limit", time_limit or arguments.time_cap, "--json"]
    text = output_of(command, 60.0 + len(files) * 2.0 * arguments.time_cap)
    results = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    status = [r["status"] for r in results]
    return {"ended": {r["file"] for r in results if r["status"] != "time_limit"}, "solved": status.count("converged"), "infeasible": status.count("infeasible"), "seconds": child_seconds() - begin,
            "factorizations": sum(r.get("factorizations", 0) for r in results)}  # fmt: skip


def simulate(arguments, scenes, solver, repeat):
    """{scene: (CPU seconds of the steps, missed steps)}, the least of `repeat` runs in turns."""
    best = {}
    for _ in range(repeat):
        for name, words in scenes:
            text = output_of([arguments.bin / "tribo", "sim", *words, "--solver", solver, "--json", "--quiet"], 120)
            if not text.strip():
                best[name] = (120.0, 0)
                continue
            run = json.loads(text)
            seconds, missed = run["cpu_seconds"], run["missed_steps"]
            best[name] = (min(seconds, best.get(name, (math.inf, 0))[0]), missed)
    return best


def robots_of(arguments):
    if not (arguments.models and arguments.models.is_dir()):
        say("ablation: no folder of models (--models DIR): scenes without robots")
        return []
    files = sorted(arguments.models.rglob("scene*.xml"))
    folders = {f.parent: f for f in reversed(files)}  # one of each robot
    return [(f.parent.name, [f, "--time", "0.2", "--hold"]) for f in sorted(folders.values())]


def compare(variant, problems, scenes, base):
    ratios = {name: max(seconds, 1e-4) / max(base["scenes"][name][0], 1e-4) for name, (seconds, _) in scenes.items()}
    worst = max(ratios, key=ratios.get)
    return {"variant": variant, "solved": problems["solved"], "infeasible": problems["infeasible"],
            "problem_seconds": f"{problems['seconds']:.2f}", "factorizations": problems["factorizations"],
            "scene_ratio": f"{statistics.geometric_mean(ratios.values()):.3f}", "worst_scene": worst,
            "worst_ratio": f"{ratios[worst]:.2f}", "missed_steps": sum(m for _, m in scenes.values()),
            "solved_base": base["problems"]["solved"], "seconds_base": f"{base['problems']['seconds']:.2f}",
            "factorizations_base": base["problems"]["factorizations"],
            "missed_base": sum(m for _, m in base["scenes"].values())}  # fmt: skip


def ablation(arguments):
    tribo = arguments.bin / "tribo"
    root = arguments.problems
    files = sorted(f for f in root.rglob("*") if f.suffix in (".hdf5", ".dat")) if root and root.is_dir() else []
    if not files:
        say("ablation: no folder of problems (--problems DIR): towers and scenes alone")
    files += make_towers(arguments)
    # How far a solve comes within a time depends on the machine and would hide what does not, so problems stay far from it.
    ended = solve_problems(arguments, files, "auto", 0.1 * arguments.time_cap)["ended"]
    left_out = [f.name for f in files if str(f) not in ended]
    files = [f for f in files if str(f) in ended]
    scenes = SCENES + robots_of(arguments)
    repeat = 1 if arguments.quick else 3
    todo = variants(tribo, ROWS)
    say(f"ablation: {len(todo)} variants, {len(files)} problems, {len(scenes)} scenes; left out: {', '.join(left_out) or 'none'}")
    rows, base = [], None
    for k, (name, solver) in enumerate(todo):
        if k % REFRESH == 0:
            base = {"problems": solve_problems(arguments, files, "auto"), "scenes": simulate(arguments, scenes, "auto", repeat)}
            if k > 0:
                rows.append(compare("auto again", base["problems"], base["scenes"], first))
            else:
                first = base
        problems = solve_problems(arguments, files, solver)
        rows.append(compare(name, problems, simulate(arguments, scenes, solver, repeat), base))
        r = rows[-1]
        say(f"{k + 1}/{len(todo)} {name}: solved {r['solved']} of {r['solved_base']}, {r['problem_seconds']} s ({r['seconds_base']}), "
            f"{r['factorizations']} factorisations ({r['factorizations_base']}), scenes x {r['scene_ratio']}, "
            f"worst {r['worst_scene']} x {r['worst_ratio']}, missed {r['missed_steps']} ({r['missed_base']})")  # fmt: skip
        with open(arguments.out / "ablation.csv", "w", newline="") as output:
            writer = csv.DictWriter(output, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    say(f"wrote {arguments.out / 'ablation.csv'}")


def ablation_section(out):
    rows = read_csv(out / "ablation.csv")
    if not rows:
        return ""
    body = [[r[c] for c in COLUMNS[:9]] for r in rows]
    return "<h2>Ablation of auto</h2>" + table(COLUMNS[:9], body)
