"""Everybody's robots: every scene below --models, from its default pose and every keyframe, with controls at zero and with
drives that hold the pose, beside MuJoCo. Rows of bench/results/robots.csv and robots_uncovered.csv.

A scene is a scene*.xml; where a folder has none, every file of it that is a model with joints. Each run is measured twice: once
with its energy followed after every step, for everything but speed; then for speed, tribo's builds and MuJoCo in turns, best
of so many, the same number of steps. A run that is not through after --run-cap seconds of wall clock ends there, and the row
says how many steps were done. Standard library only; MuJoCo runs in an environment of its own (machine.py).
"""

import csv
import json
import os
import re
import subprocess
import xml.etree.ElementTree as xml

from report import robots as report_robots
from report.machine import BENCH, ROOT, cache_value, find_mujoco_core, say

COLUMNS = ["model", "scene", "pose", "control", "dofs", "actuators", "dt", "planned_steps", "steps", "missed", "infeasible",
           "worst_error", "energy_begin", "energy_max", "energy_end", "drive_work", "correction_work", "created", "largest_rise",
           "energy_scale", "penetration_max", "penetration_end", "max_speed_end", "exploded", "failure", "contacts",
           "iterations", "speed_steps", "missed_portable", "native_steps_per_second", "portable_steps_per_second",
           "mujoco_steps_per_second", "mujoco_penetration_end"]  # fmt: skip
UNCOVERED = ["feature", "models", "scenes", "example"]
ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# What makes an explosion: energy that nobody paid, beyond so many times the energy at the start, which is counted as kinetic and
# spring energy plus what lifts the moving mass by a centimetre (home poses overlap by as much). Ten metres up, for a body at rest.
EXPLOSION, LIFT, GRAVITY = 1e3, 0.01, 9.81
LONG = 5.0  # CPU seconds of a run that is neither warmed up nor repeated


def program_json(command, seconds, folder=None):
    """(the JSON that a program prints, what went wrong). Exit code 3 of tribo (missed steps) is a result."""
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"no end after {seconds:.0f} s"
    last = (done.stderr.strip().splitlines() or [f"exit {done.returncode} without a message"])[-1].removeprefix("tribo: ")
    try:
        return json.loads(done.stdout), "" if done.returncode in (0, 3) else last
    except ValueError:
        return None, last


# ---------------------------------------------------------------------------------------------------- what there is


def is_model(file):
    try:
        return xml.parse(file).getroot().tag == "mujoco"
    except (xml.ParseError, OSError):
        return False


def find_scenes(folder):
    """(files by the name scene*.xml, other model files of folders without such)"""
    named, others = [], []
    for path in sorted({f.parent for f in folder.rglob("*.xml")}):
        scenes = sorted(path.glob("scene*.xml"))
        named += scenes
        others += [] if scenes else [f for f in sorted(path.glob("*.xml")) if is_model(f)]
    return named, others


class Engines:
    """The programs, and how they are asked."""

    def __init__(self, arguments):
        self.cap, self.seconds, self.work = arguments.run_cap, arguments.seconds, arguments.work
        self.python = find_mujoco_core(arguments.work)
        self.builds = builds(arguments)

    def mujoco(self, *words):
        if not self.python:
            return None, "no MuJoCo"
        command = [self.python.absolute(), BENCH / "peers" / "robots_mujoco.py", *words]
        return program_json(command, 3.0 * self.cap + 60.0, self.work)  # MuJoCo leaves a log file where it runs

    def tribo(self, build, file, words):
        command = [self.builds[build] / "tribo", "sim", file, "--json", "--quiet", "--threads", "1", *words]
        return program_json([*command, "--stop-after", self.cap], 3.0 * self.cap + 60.0)


def builds(arguments):
    """{native or portable: folder}: the one of --bin, or both of this tree that are there."""
    if arguments.bin_given:
        native = cache_value(arguments.bin.resolve(), "TRIBO_NATIVE") == "ON"
        return {"native" if native else "portable": arguments.bin}
    found = {"native": ROOT / "build" / "native" / "bin", "portable": ROOT / "build" / "release" / "bin"}
    return {name: path for name, path in found.items() if (path / "tribo").exists()}


# ---------------------------------------------------------------------------------------------------- one run


def number(value):
    return "nan" if value is None else f"{value:.6g}"


def pose_words(pose, control):
    return (["--keyframe", str(pose)] if pose >= 0 else []) + ["--hold" if control == "hold" else "--zero-control"]


def quality(row, result, failure):
    """What the run with the energy followed says, in the columns of the row."""
    row["failure"] = failure
    if result is None:
        return row
    energy, begin = result["energy"], result["energy"]["begin"]
    scale = begin["kinetic"] + begin["springs"] + LIFT * GRAVITY * result["model"]["mass"]
    created = energy["created"]
    finite = not failure and energy["end"]["total"] is not None
    row |= {"dofs": result["model"]["dofs"], "actuators": result["model"]["actuators"], "dt": result["dt"],
            "planned_steps": result["planned_steps"], "steps": result["steps"], "missed": result["missed_steps"],
            "infeasible": result.get("infeasible_steps", 0), "worst_error": number(result["certificate"]["worst"]),
            "energy_begin": number(begin["total"]), "energy_max": number(energy["maximum"]),
            "energy_end": number(energy["end"]["total"]), "drive_work": number(energy["drive_work"]),
            "correction_work": number(energy.get("correction_work")), "created": number(created),
            "largest_rise": number(energy["largest_rise"]), "energy_scale": number(scale),
            "penetration_max": number(result["penetration"]), "penetration_end": number(result["penetration_end"]),
            "max_speed_end": number(result["max_speed_end"]), "contacts": number(result["contacts_mean"]),
            "iterations": number(result["iterations_mean"]),
            "exploded": int(not finite or created is None or created > EXPLOSION * scale)}  # fmt: skip
    return row


def speeds(row, engines, file, pose, control, first, rounds):
    """Best rates of all engines over the same number of steps, in turns."""
    steps, best = first["steps"], {}
    time = ["--time", repr((steps - 0.5) * first["dt"])]
    long_run = first["cpu_seconds"] > LONG
    warm = [] if long_run else ["--warm-up"]
    for turn in range(1 if long_run else rounds):
        for build in engines.builds:
            is_first = long_run and build == next(iter(engines.builds))
            result, failure = (first, "") if is_first else engines.tribo(build, file, [*time, *pose_words(pose, control), *warm])
            if result and not failure and result["cpu_seconds"] > 0.0:
                best[build] = max(best.get(build, 0.0), result["steps"] / result["cpu_seconds"])
                if build == "portable":
                    row["missed_portable"] = result["missed_steps"]
        words = ["run", file.resolve(), "--key", pose, "--control", control, "--steps", steps, "--cap", engines.cap, *warm]
        theirs, failure = engines.mujoco(*words)
        if theirs and abs(theirs["dt"] - first["dt"]) > 1e-12:
            say(f"{file}: tribo steps {first['dt']} s and MuJoCo {theirs['dt']} s; not comparable")
        elif theirs and theirs["cpu_seconds"] > 0.0:
            best["mujoco"] = max(best.get("mujoco", 0.0), theirs["steps"] / theirs["cpu_seconds"])
            row["mujoco_penetration_end"] = number(theirs["penetration_end"])
    row["speed_steps"] = steps
    row |= {f"{engine}_steps_per_second": f"{rate:.6g}" for engine, rate in best.items()}


def shown(row):
    name = f"{row['model']}/{row['scene']} {row['pose']} {row['control']}"
    if "steps" not in row:
        return f"{name}: {row['failure']}"
    text = f"{name}: {row['steps']} of {row['planned_steps']} steps, missed {row['missed']}"
    text += f" ({row['infeasible']} infeasible)" if row["infeasible"] else ""
    text += f", created {row['created']} J" + (" EXPLODED" if row["exploded"] else "")
    for build in ("native", "portable"):
        ratio = report_robots.ratio(row, build)
        text += f", {build} {ratio:.2f} x MuJoCo" if ratio else ""
    return text + (f"; {row['failure']}" if row["failure"] else "")


# ---------------------------------------------------------------------------------------------------- the suite


def feature_of(message):
    """A warning or an error without the names, folders and numbers that differ from file to file."""
    text = re.sub(r"^\S+:\d+: ", "", message)
    text = re.sub(r"\(\S*/([^/\s)]+)\)", r"(\1)", text)
    text = re.sub(r"'[^']*'", "'…'", text)
    text = re.sub(r"^<[^>]*>: ", "", text)
    text = re.sub(r" ?\(first of \d+ elements?\)", "", text)
    text = re.sub(r"\b\d+\b", "N", text)
    return re.sub(r"\s+", " ", text).strip()


def keep(path, columns, rows):
    with open(path, "w", newline="") as output:
        writer = csv.DictWriter(output, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def scene_rows(arguments, engines, file, root, loaded, uncovered):
    """Measures all runs of one scene; yields their rows. `loaded`: what MuJoCo says of the file, None: nothing."""
    main = next(iter(engines.builds))
    model = file.parent.relative_to(root).as_posix()
    time, poses = ["--time", repr(arguments.seconds)], [(-1, "default")]
    known = (loaded or {}).get("keyframes", [])
    position = 0
    while position < len(poses):
        pose, name = poses[position]
        for control in ("zero", "hold"):
            row = {"model": model if model != "." else file.parent.name, "scene": file.stem, "pose": name, "control": control}
            result, failure = engines.tribo(main, file, [*time, *pose_words(pose, control), "--energy"])
            quality(row, result, failure)
            messages = [w["message"] for w in result["warnings"] if w["line"] > 0] if result else [failure]  # line 0: overlaps
            for message in messages:
                uncovered.setdefault(feature_of(message), []).append((row["model"], f"{row['model']}/{file.stem}", message))
            if result and position == 0 and control == "zero":
                names = max(known, result["model"]["keyframes"], key=len)
                poses += [(k, key or str(k)) for k, key in enumerate(names)]
            if result and not failure and result["steps"] > 0:
                speeds(row, engines, file, pose, control, result, arguments.repeat or (1 if arguments.quick else 3))
            yield row
        if position == 0 and len(poses) == 1 and "steps" not in row:
            poses += [(k, key or str(k)) for k, key in enumerate(known)]  # what does not load from one pose may from another
        position += 1


def robots(arguments):
    folder = arguments.models
    if not (folder and folder.is_dir()):
        say(f"no folder of MJCF models (--models DIR or $MODELS: {folder or 'none given'}): the robots are left out")
        return
    engines = Engines(arguments)
    if not engines.builds:
        say("no build of tribo (build/native/bin, build/release/bin or --bin DIR): the robots are left out")
        return
    named, others = find_scenes(folder)
    if not named + others:
        say(f"no MJCF models below {folder}: the robots are left out")
        return
    if not engines.python:
        say("no MuJoCo: tribo alone is measured")
    say(f"robots: {len(named)} scenes and {len(others)} other files below {folder}, builds {', '.join(engines.builds)}")
    path, rows, uncovered = arguments.out / "robots.csv", [], {}
    for file in named + others:
        loaded, _ = engines.mujoco("info", file.resolve())
        if file in others and loaded and (not loaded["loads"] or loaded["dofs"] == 0):
            say(f"{file.relative_to(folder)}: {loaded.get('error', 'no joints')}; left out")
            continue
        if loaded and not loaded["loads"]:
            say(f"{file.relative_to(folder)}: MuJoCo does not load it ({loaded['error']})")
        for row in scene_rows(arguments, engines, file, folder, loaded, uncovered):
            rows.append(row)
            say(shown(row))
            keep(path, COLUMNS, rows)
    missing = [{"feature": feature, "models": len({m for m, _, _ in found}), "scenes": len({s for _, s, _ in found}),
                "example": f"{found[0][1]}: {found[0][2]}"} for feature, found in uncovered.items()]  # fmt: skip
    missing.sort(key=lambda r: (-r["models"], -r["scenes"], r["feature"]))
    keep(arguments.out / "robots_uncovered.csv", UNCOVERED, missing)
    for line in report_robots.summary_lines(arguments.out):
        say(line)
    say(f"wrote {path}")
