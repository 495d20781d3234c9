"""Flexible bodies beside peers: bench/results/flexible_solvers.csv and flexible_peers.csv.

    bench/run.py --suite flexible_peers [--quick] [--scene problems|bodies] [--time-cap S]

problems: steps of the scene `cubes-fem` at several sizes, written as FCLIB files, from zero to a siconos error of 1e-6. tribo's
solvers, and Siconos on W of the same file with all settings of its methods, of which the fastest that solves it is kept. Judged by
tribo's certificate from the impulses alone. bodies: a cantilever and a soft cube, in tribo (tribo_bench_flexible) and in
MuJoCo's flex (peers/flexible_mujoco.py), the same mesh and material. One thread. Needs the programs of the preset in --bin.
"""

import csv
import io
import os
import subprocess

from report.machine import BENCH, find_mujoco_core, say

TOLERANCE = "1e-6"  # siconos error
# Name, parameters of the scene, step: on the way down or at rest, all cubes in contact.
CASES = [("5 cubes of 3 cells", {"cubes": 5, "cells": 3}, 30), ("5 cubes of 5 cells", {"cubes": 5, "cells": 5}, 30),
         ("5 cubes of 8 cells", {"cubes": 5, "cells": 8}, 30), ("1 cube of 20 cells", {"cubes": 1, "cells": 20}, 20)]  # fmt: skip
QUICK = 2  # of the cases
SOLVERS = ["auto", "ipm", "alnewton", "nsn-ac", "admm", "nsgs"]
PEER_METHODS = "nsgs,admm,nsn-ac,prox"
PEER_ROWS = 1500  # of W, above which Siconos' dense blocks and factors take more memory and time than they get
COLUMNS = ["case", "engine", "method", "setting", "contacts", "rows", "dofs", "solved", "iterations", "factorizations", "seconds",
           "error", "status"]  # fmt: skip
BODIES = {"cantilever": ["2", "4", "6"], "cube": ["4", "8"]}


def rows_of(command):
    """The CSV that a program prints, as dictionaries; one thread, its complaints unheard."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        say(f"{command[0]} failed (exit {done.returncode}): {done.stderr.strip().splitlines()[-1:]}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def write(path, columns, rows):
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    say(f"wrote {path}")


def problem_file(arguments, values, step):
    """A step of cubes-fem as a file; made once."""
    name = "-".join(f"{key}{value}" for key, value in values.items())
    file = arguments.work / f"cubes-fem-{name}-{step}.hdf5"
    if not file.exists():
        words = [word for key, value in {**values, "mu": 0.3}.items() for word in ("--set", f"{key}={value}")]
        command = [arguments.bin / "tribo", "sim", "--scene", "cubes-fem", *words, "--time", repr((step + 1) * 0.005), "--quiet"]
        subprocess.run([str(c) for c in [*command, "--dump-problem", f"{step}:{file}"]], check=True)
    return file


def result(case, engine, row):
    return {"case": case, "engine": engine, "method": row["method"], "setting": row["variant"], "contacts": row["contacts"],
            "rows": row["rows"], "dofs": row["dofs"], "solved": row["solved"], "iterations": row["iterations"],
            "factorizations": row["factorizations"], "seconds": f"{1e-3 * float(row['solve_min_ms']):.4g}",
            "error": row["siconos_error"], "status": row["status"]}  # fmt: skip


def fastest(rows):
    """Of every method the fastest setting that solves the problem, else the one with the least error."""
    best = {}
    for row in rows:
        solved = row["solved"] == "1"
        rank = (not solved, float(row["seconds"] if solved else row["error"] or "inf"))
        if row["method"] not in best or rank < best[row["method"]][0]:
            best[row["method"]] = (rank, row)
    return [row for _, row in best.values()]


def problems(arguments):
    lines = []
    cap = ["--time-cap", arguments.time_cap, "--repeat", "2", "--budget", "20"]
    for case, values, step in CASES[:QUICK] if arguments.quick else CASES:
        file = problem_file(arguments, values, step)
        say(f"flexible problems: {case}")
        for solver in arguments.solver or SOLVERS:
            command = [arguments.bin / "tribo_bench", "problems", "--solver", solver, "--tolerance", TOLERANCE, *cap, file]
            lines += [result(case, "tribo", row) for row in rows_of(command)]
        peer = arguments.bin / "tribo_bench_siconos"
        if not peer.exists():
            say("no Siconos (libsiconos-numerics-dev was not there when the benchmarks were built); going on without it")
        elif lines and int(lines[-1]["rows"]) <= PEER_ROWS:
            found = rows_of([peer, "--methods", PEER_METHODS, "--tolerances", TOLERANCE, *cap, file])
            lines += fastest([result(case, "Siconos", row) for row in found])
        write(arguments.out / "flexible_solvers.csv", COLUMNS, lines)


def bodies(arguments):
    lines = []
    python = find_mujoco_core(arguments.work)
    for scene, sizes in BODIES.items():
        sizes = sizes[:1] if arguments.quick else sizes
        for cells in sizes:
            say(f"flexible bodies: {scene}, {cells} cells")
            columns = peer_columns()
            command = [arguments.bin / "tribo_bench_flexible", scene, cells, "0.005", "1", "auto"]
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
            lines += list(csv.DictReader(io.StringIO(done.stdout), columns))
        if python:
            command = [python, BENCH / "peers" / "flexible_mujoco.py", "--head", "--scene", scene, "--cells", ",".join(sizes)]
            lines += rows_of(command)
        write(arguments.out / "flexible_peers.csv", peer_columns(), lines)


def peer_columns():
    """Those of peers/flexible_mujoco.py, which this interpreter cannot import: it needs MuJoCo."""
    return ["engine", "setting", "scene", "cells", "dofs", "step_s", "seconds", "deflection_m", "deepest_m", "penetration_m",
            "floor_force", "ms_per_step", "cpu_per_second", "status"]  # fmt: skip


def flexible_peers(arguments):
    parts = {"problems": problems, "bodies": bodies}
    for name, measure in parts.items():
        if not arguments.scene or name in arguments.scene:
            measure(arguments)
