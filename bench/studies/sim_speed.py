"""Speed of the simulator beside MuJoCo and Drake: rows of bench/results/sim_speed.csv and sim_drake.csv.

Same file, same time step, same number of steps, one thread, CPU time; every run follows one that is not counted in the same
process and memory, but those of many seconds. The engines take turns, so that what slows the machine down for a while slows
all of them; the best is the number and the slowest stands beside it. tribo solves every step under the exact law to its
certificate of 1e-6. Standard library only; MuJoCo and Drake run in environments of their own (machine.py).
"""

import csv
import json
import math
import os
import pathlib
import subprocess

from report import page
from report.machine import BENCH, say

# Model file below --models, simulated seconds.
MODELS = {
    "humanoid": ("humanoid/humanoid.xml", 10.0),
    "22_humanoids": ("humanoid/22_humanoids.xml", 2.0),
    "humanoid100": ("humanoid/humanoid100.xml", 2.0),
    "100_humanoids": ("humanoid/100_humanoids.xml", 1.0),
    "dominos": ("sleep/dominos.xml", 2.0),
    "stonehenge": ("replicate/stonehenge.xml", 1.0),
}
# Built-in scene with its parameters, simulated seconds.
SCENES = {
    "pile216": (["--scene", "pile216"], 1.0),
    "stack20": (["--scene", "stack", "--set", "boxes=20"], 2.0),
    "pyramid": (["--scene", "pyramid"], 2.0),
}
# Scenes that go another way after the least change, in every engine: other random numbers as well, one run each.
SEEDS = {"pile216": [2, 3, 4, 5]}
LONG = {"pile216"}  # runs of many seconds, which need no other one before them
CONES = ["pyramidal", "elliptic"]
PARTS = ["kinematics", "collision", "assembly", "solve", "integrate"]
SPEED_COLUMNS = ["scene", "engine", "dofs", "dt", "steps", "cpu_seconds", "cpu_seconds_slowest", "runs", "steps_per_second",
                 "contacts", "iterations", "residual_mean", "residual_worst", "missed_steps", *PARTS]  # fmt: skip
DRAKE_COLUMNS = ["engine", "bodies", "dt", "steps", "cpu_seconds", "cpu_seconds_slowest", "runs", "steps_per_second",
                 "contacts", "iterations", "highest", "escaped", "missed_steps"]  # fmt: skip
ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def last_json(command, folder=None):
    """The JSON that a program prints; None, said, when it fails. Exit code 3 of tribo (missed steps) is a result."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, cwd=folder)
    if done.returncode not in (0, 3) or not done.stdout.strip():
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        say(f"{' '.join(str(c) for c in command)} failed (exit {done.returncode}): {last}")
        return None
    return json.loads(done.stdout)


def run_tribo(tribo, words, seconds, repeat, budget):
    """Runs of their own processes: (the JSON of the fastest, CPU seconds of all)."""
    command = [tribo, "sim", *words, "--time", repr(seconds), "--json", "--quiet", "--threads", "1"]
    runs = []
    while len(runs) < repeat and (not runs or sum(r["cpu_seconds"] for r in runs) < budget):
        result = last_json(command)
        if result is None:
            return None, []
        runs.append(result)
    return min(runs, key=lambda r: r["cpu_seconds"]), [r["cpu_seconds"] for r in runs]


def timing(times, steps):
    return {"cpu_seconds": f"{min(times):.6g}", "cpu_seconds_slowest": f"{max(times):.6g}", "runs": len(times),
            "steps_per_second": f"{steps / min(times):.6g}"}  # fmt: skip


def number(value):
    return "nan" if value is None else f"{value:.4g}"


def tribo_row(name, result, times):
    split = result["time_split"]
    total = sum(split.values()) or 1.0
    return {"scene": name, "engine": "tribo", "dt": result["dt"], "steps": result["steps"], **timing(times, result["steps"]),
            "contacts": number(result["contacts_mean"]), "iterations": number(result["iterations_mean"]),
            "residual_mean": number(result["certificate"]["mean"]), "residual_worst": number(result["certificate"]["worst"]),
            "missed_steps": result["missed_steps"], **{k: f"{split[k] / total:.3f}" for k in PARTS}}  # fmt: skip


def mujoco_row(name, engine, result, times):
    return {"scene": name, "engine": engine, "dofs": result["dofs"], "dt": result["dt"], "steps": result["steps"],
            **timing(times, result["steps"]), "contacts": number(result["contacts_mean"]),
            "iterations": number(result["iterations_mean"]), "residual_mean": number(result["residual_mean"]),
            "residual_worst": number(result["residual_worst"])}  # fmt: skip


def find_model(folder, path):
    """The file that ends in `path` nearest to the top; None: not there."""
    found = sorted(folder.rglob(path), key=lambda f: (len(f.parts), f)) if folder and folder.is_dir() else []
    return found[0] if found else None


def write_scene(tribo, words, file):
    done = subprocess.run([str(tribo), "sim", *words, "--write-mjcf", str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        say(f"{file.name} was not written: {done.stderr.strip()}")
        return None
    return file


def files(arguments, tribo):
    """(name, file, simulated seconds) of all scenes that are there."""
    for name, (path, seconds) in MODELS.items():
        file = find_model(arguments.models, path)
        if file:
            yield name, file, seconds
        else:
            folder = arguments.models or "none given"
            say(f"{name} is left out: no {path} below the folder of models (--models DIR or $MODELS: {folder})")
    for name, (words, seconds) in SCENES.items():
        file = write_scene(tribo, words, arguments.work / f"{name}.xml")
        if file:
            yield name, file, seconds
        for seed in SEEDS.get(name, []):
            file = write_scene(tribo, [*words, "--set", f"seed={seed}"], arguments.work / f"{name}_{seed}.xml")
            if file:
                yield f"{name} seed {seed}", file, seconds


def is_wanted(arguments, name):
    scene, _, seed = name.partition(" seed")
    return (not arguments.scene or scene in arguments.scene) and not (seed and arguments.quick)


def write_rows(path, columns, rows):
    """Keeps what was measured so far; called after every scene."""
    with open(path, "w", newline="") as output:
        writer = csv.DictWriter(output, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def shown(row):
    return (f"{row['scene']:>14} {row['engine']:<17} {float(row['steps_per_second']):>9.0f} steps/s, "
            f"{row['contacts']} contacts, residual {row['residual_mean']} (worst {row['residual_worst']})")  # fmt: skip


def run_mujoco(python, file, cone, steps, observed, folder):
    samples = ["--samples", 20 if observed else 0]
    command = [python.absolute(), BENCH / "peers" / "sim_mujoco.py", file.resolve(), "--cone", cone, "--steps", steps, "--repeat", 1]
    return last_json([*command, *samples], folder)  # MuJoCo leaves a log file where it runs


def take_turns(tribo, python, file, seconds, rounds, budget, warm_up, folder):
    """{engine: (JSON of tribo's fastest or MuJoCo's first run, CPU seconds of all runs)}; fewer rounds beyond the budget."""
    results, times = {}, {}
    while len(times.get("tribo", [])) < rounds and sum(map(sum, times.values())) < budget:
        result, spent = run_tribo(tribo, [file, "--law", "exact", *warm_up], seconds, 1, budget)
        if result is None:
            return {}
        if spent[0] < min(times.setdefault("tribo", []), default=math.inf):
            results["tribo"] = result
        times["tribo"] += spent
        for cone in CONES if python else ():
            engine = f"mujoco {cone}"
            theirs = run_mujoco(python, file, cone, result["steps"], engine not in results, folder)
            if theirs:
                results.setdefault(engine, theirs)
                times.setdefault(engine, []).extend(theirs["cpu_seconds"])
    return {engine: (result, times[engine]) for engine, result in results.items()}


def speed(arguments, python):
    tribo = arguments.bin / "tribo"
    rounds, budget = (1, 10.0) if arguments.quick else (9, 60.0)
    path = arguments.out / "sim_speed.csv"
    kept = [] if not arguments.scene else [r for r in page.read_csv(path) if not is_wanted(arguments, r["scene"])]
    rows = []
    for name, file, seconds in files(arguments, tribo):
        if not is_wanted(arguments, name):
            continue
        seconds = 0.25 * seconds if arguments.quick else seconds
        turns = 1 if " seed " in name else rounds
        warm_up = [] if name.partition(" seed")[0] in LONG else ["--warm-up"]
        measured = take_turns(tribo, python, file, seconds, turns, budget, warm_up, arguments.work)
        for engine, (result, times) in measured.items():
            dt = measured["tribo"][0]["dt"]
            if not math.isclose(result["dt"], dt):
                say(f"{name}: tribo steps {dt} s and MuJoCo {result['dt']} s; not comparable")
                continue
            is_tribo = engine == "tribo"
            rows.append(tribo_row(name, result, times) if is_tribo else mujoco_row(name, engine, result, times))
            say(shown(rows[-1]))
        write_rows(path, SPEED_COLUMNS, kept + rows)
    say(f"wrote {path}")


def drake(arguments, python):
    """Clutter of 40 bodies: Drake's SAP beside tribo's sap, both with the convex law and near-rigid contacts."""
    repeat, budget = (1, 10.0) if arguments.quick else (3, 60.0)
    seconds, words = 2.0 if arguments.quick else 5.0, ["--scene", "clutter", "--solver", "sap", "--law", "convex"]
    rows = []
    words.append("--warm-up")
    result, times = run_tribo(arguments.bin / "tribo", words, seconds, repeat, budget)
    exact, exact_times = run_tribo(arguments.bin / "tribo", ["--scene", "clutter", "--warm-up"], seconds, repeat, budget)
    for engine, r, t in (("tribo sap, convex law", result, times), ("tribo auto, exact law", exact, exact_times)):
        if r:
            rows.append({"engine": engine, "bodies": 40, "dt": r["dt"], "steps": r["steps"], **timing(t, r["steps"]),
                         "contacts": number(r["contacts_mean"]), "iterations": number(r["iterations_mean"]),
                         "highest": number(r["observables"]["highest"]), "escaped": number(r["observables"]["escaped"]),
                         "missed_steps": r["missed_steps"]})  # fmt: skip
    if python and result:
        command = [python, BENCH / "peers" / "sim_drake.py", "--bodies", 40, "--dt", result["dt"], "--steps", result["steps"]]
        theirs = last_json([*command, "--repeat", repeat, "--budget", budget])
        if theirs:
            rows.append({"engine": f"drake {theirs['version']} SAP", "bodies": 40, "dt": theirs["dt"], "steps": theirs["steps"],
                         **timing(theirs["cpu_seconds"], theirs["steps"]), "contacts": number(theirs["contacts_mean"]),
                         "highest": number(theirs["highest"]), "escaped": number(theirs["escaped"])})  # fmt: skip
    for row in rows:
        say(f"clutter40 {row['engine']:<24} {float(row['steps_per_second']):>9.0f} steps/s, {row['contacts']} contacts")
    write_rows(pathlib.Path(arguments.out) / "sim_drake.csv", DRAKE_COLUMNS, rows)
