#!/usr/bin/env python3
"""Measures tribo beside its peers and writes bench/results: CSV files, machine.json and index.html.

    bench/run.py --problems DIR [--suite all|towers|heights|problems|rings|studies|...] [--quick] [--out bench/results]

Needs the programs of the native preset (`make bench` builds them). What is missing (the folder of problems, Siconos,
Pinocchio) is said, and the rest is measured. Standard library only; Pinocchio lives in a virtual environment that this
program makes in build/bench/venv. See bench/README.md for what is measured and how.
"""

import argparse
import json
import os
import pathlib
import subprocess

from report import index, problems as report_problems
from report.machine import BENCH, ROOT, compile_rigid, describe_machine, find_drake, find_mujoco_core, find_pinocchio, say
from report.page import read_machines
from studies import ablation, extremes, flexible_peers, replay, rings, robots, sim_scale, sim_speed

KINDS = ["", "-slide", "-r1e4", "-r1e4-slide"]
TOWERS = [f"tower{height}{kind}" for height in (5, 10, 15, 20, 40) for kind in KINDS]
HEIGHTS = [f"tower{height}{kind}" for kind in KINDS for height in (10, 20, 40, 80, 160, 320)]
TOWER_SOLVERS = ["auto", "admm", "alnewton", "ipm"]
HEIGHT_SOLVERS = ["auto", "admm", "alnewton", "ipm"]
PROBLEM_SOLVERS = ["auto", "alnewton", "ipm", "canal", "admm", "nsgs", "pgs"]
# Studies of tribo_bench_second_order: arguments of a quick and of a full run.
STUDIES = {
    "table2": (["10"], ["100"]),
    "table3": (["3"], ["20"]),
    "sap_ipm": (["2"], ["10"]),
    "sigma": ([], []),
    "mangoni": ([], []),
    "scale": (["1000", "3000", "10000"], []),
    "splitting": (["200"], []),
}
SUITES = ["all", "towers", "heights", "problems", "rings", "studies", *STUDIES, "pile", "kernels", "truth", "sim",
          "sim_scale", "robots", "extremes", "ablation", "replay", "flexible_peers", "page"]  # fmt: skip
LIGHT = ["robots", "extremes", "ablation", "replay", "page"]  # suites that need tribo alone, or nothing, of the programs; not part of `all`, but the page
PILE_CONTACTS = [1000, 3000, 10000, 30000, 100000]


def run(command, output):
    """Runs a command in one thread; its complaints go to the terminal, a failure is said and survived."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([str(c) for c in command], stdout=output, text=True, env=environment)
    if done.returncode != 0:
        say(f"{pathlib.Path(str(command[0])).name} failed (exit {done.returncode}); what it wrote so far is kept")
    return done


def save(out, name, command):
    """Standard output of the command into a file, row by row, so that an interrupted run leaves what it has."""
    path = out / name
    with open(path, "w") as output:
        run(command, output)
    say(f"wrote {path}")


# ---------------------------------------------------------------------------------------------------- the suites


def repeated(option, values):
    return [word for value in values for word in (option, value)]


def towers(arguments, python):
    solvers = repeated("--solver", arguments.solver or TOWER_SOLVERS)
    limits = ["--budget", "20", "--repeat", "3"] if arguments.quick else ["--budget", "200", "--repeat", "7"]
    cap = ["--time-cap", str(arguments.time_cap)]
    say(f"towers: tribo on {len(TOWERS)} towers")
    tribo = [arguments.bin / "tribo_bench", "towers", *solvers, "--tolerance", "1e-6", "--both", *limits, *cap, *TOWERS]
    save(arguments.out, "towers_tribo.csv", tribo)
    if not python:
        return
    names = [t for t in TOWERS if "20" not in t and "40" not in t] + ["tower40"] if arguments.quick else TOWERS
    say(f"towers: Pinocchio on {len(names)} towers")
    command = [python, BENCH / "peers" / "pinocchio_towers.py", "--bench", arguments.bin / "tribo_bench", *limits]
    rigid = compile_rigid(arguments.work, python)
    command += ["--rigid", rigid] if rigid else []
    command += ["--study"] if arguments.study else []
    command += ["--max-iterations", "2000"] if arguments.quick else []
    save(arguments.out, "towers_pinocchio.csv", [*command, *names])


def heights(arguments):
    solvers = repeated("--solver", arguments.solver or HEIGHT_SOLVERS)
    limits = ["--budget", "10", "--repeat", "2"] if arguments.quick else ["--budget", "200"]
    say(f"heights: tribo on {len(HEIGHTS)} towers")
    cap = ["--time-cap", str(arguments.time_cap)]
    command = [arguments.bin / "tribo_bench", "towers", *solvers, "--both", *limits, *cap, *HEIGHTS]
    save(arguments.out, "heights_tribo.csv", command)


def problems(arguments):
    folder = arguments.problems
    files = sorted(f for f in folder.iterdir() if f.suffix in (".hdf5", ".dat")) if folder and folder.is_dir() else []
    if not files:
        say("no folder of problems with .hdf5 or .dat files (--problems DIR): the suite of real problems is left out")
        return
    cap = ["--time-cap", str(arguments.time_cap)]
    limits = ["--budget", "20", "--repeat", "3"] if arguments.quick else ["--budget", "100"]
    solvers = repeated("--solver", arguments.solver or PROBLEM_SOLVERS)
    say(f"problems: tribo on {len(files)} files")
    tolerances = ["--tolerance", "1e-6", "--tolerance", "1e-8", "--both"]
    tribo = [arguments.bin / "tribo_bench", "problems", *solvers, *tolerances, *cap, *limits, *files]
    save(arguments.out, "problems_tribo.csv", tribo)
    siconos = arguments.bin / "tribo_bench_siconos"
    if siconos.exists():
        say("problems: Siconos on the same files")
        study = ["--study"] if arguments.study else ["--single"] if arguments.quick else []
        save(arguments.out, "problems_siconos.csv", [siconos, *cap, *limits, *study, *files])
    else:
        say("no Siconos (libsiconos-numerics-dev was not there when the benchmarks were built); going on without it")
    for line in report_problems.summary_lines(arguments.out):
        say(line)


def ring_cases(arguments):
    cases = "10" if arguments.quick else "100"
    say(f"rings: {cases} cases each of bolt-nut, dish-pile, bolt and dishes")
    save(arguments.work, "rings.csv", [arguments.bin / "tribo_bench_second_order", "rings", cases])
    rings.aggregate(arguments.work / "rings.csv", arguments.out)


def study(arguments, name):
    quick, full = STUDIES[name]
    say(f"study {name}")
    command = [arguments.bin / "tribo_bench_second_order", name, *(quick if arguments.quick else full)]
    save(arguments.out, f"{name}.csv", command)


def pile(arguments):
    targets = PILE_CONTACTS[:3] if arguments.quick else PILE_CONTACTS
    program = arguments.bin / "tribo_bench"
    lines = ["spheres,contacts,rows,file_mb,load_ms,setup_ms,sweep_ms,certify_ms,problem_mb,solver_mb,peak_mb,error"]
    per_sphere = 2.9
    for target in targets:
        spheres = max(10, round(target / per_sphere))
        file = arguments.work / f"pile{spheres}.hdf5"
        file.unlink(missing_ok=True)
        made = run([program, "pile", spheres, arguments.work], subprocess.PIPE).stdout.strip()
        if not made:
            continue
        per_sphere = int(made) / spheres
        say(f"pile: {made} contacts")
        lines += run([program, "pile", spheres, arguments.work], subprocess.PIPE).stdout.splitlines()
        file.unlink(missing_ok=True)
    (arguments.out / "pile.csv").write_text("\n".join(lines) + "\n")


def kernels(arguments):
    program = arguments.bin / "tribo_bench_kernels"
    if not program.exists():
        say("no Google Benchmark when the benchmarks were built: kernels are left out")
        return
    least = "0.02" if arguments.quick else "0.2"
    say("kernels")
    # Google Benchmark's own CSV wants the same counters in every row, so its JSON is turned into rows here.
    command = [program, "--benchmark_format=json", f"--benchmark_min_time={least}", "--benchmark_repetitions=3"]
    measured = json.loads(run(command, subprocess.PIPE).stdout or "{}").get("benchmarks", [])
    lines = ["kernel,contacts,repetition,cpu_time,unit"]
    for row in measured:
        if row["run_type"] == "iteration":
            cells = [row["name"], f"{row.get('contacts', 0):g}", row["repetition_index"]]
            lines.append(",".join(str(c) for c in [*cells, f"{row['cpu_time']:.6g}", row["time_unit"]]))
    (arguments.out / "kernels.csv").write_text("\n".join(lines) + "\n")


def truth(arguments):
    """Torsional and rolling friction; models as tribo and as MuJoCo load them: poses, mass matrix, bias forces, Jacobians."""
    python = find_mujoco_core(arguments.work)
    if not python:
        return
    say("truth: torsional and rolling friction beside MuJoCo and theory")
    friction = [python, BENCH / "studies" / "truth" / "friction.py", "--tribo", arguments.bin / "tribo"]
    run([*friction, "--out", arguments.out / "friction_truth.csv"], None)
    folder = arguments.models
    if not (folder and folder.is_dir()):
        say("no folder of MJCF or URDF models (--models DIR): their comparison with MuJoCo is left out")
        return
    say(f"truth: the models of {folder} beside MuJoCo")
    out = arguments.out / "model_truth.csv"
    command = [python, BENCH / "studies" / "truth" / "compare.py", "--models", folder, "--dump", arguments.bin / "tribo_model_dump"]
    run([*command, "--out", out, "--samples", "1" if arguments.quick else "3"], None)
    say(f"wrote {out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=pathlib.Path, default=os.environ.get("PROBLEMS"),
                        help="folder of FCLIB .hdf5 and Siconos .dat files; $PROBLEMS where not given")  # fmt: skip
    parser.add_argument("--models", type=pathlib.Path, default=os.environ.get("MODELS"),
                        help="folder of MJCF and URDF models, searched with its folders; $MODELS where not given")  # fmt: skip
    parser.add_argument("--suite", choices=SUITES, default="all",
                        help="studies: those of the second-order family; page: only write index.html again")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repetitions, to see that it works")
    parser.add_argument("--study", action="store_true", help="also the settings of peers that were not the best")
    parser.add_argument("--solver", action="append", default=[], help="tribo solver, e.g. admm or nsgs:local=newton")
    parser.add_argument("--time-cap", type=float, default=None, help="seconds per solve (5; extremes: 10)")
    parser.add_argument("--before", type=pathlib.Path, help="extremes: an earlier extremes.csv, shown beside the new one")
    parser.add_argument("--seconds", type=float, default=2.0, help="robots: simulated time of each run")
    parser.add_argument("--run-cap", type=float, default=20.0, help="robots: seconds of wall clock per run")
    parser.add_argument("--repeat", type=int, default=0, help="robots: runs of which the fastest counts (3; --quick: 1)")
    parser.add_argument("--scene", action="append", default=[], help="sim, sim_scale: only this one; the other rows are kept. replay: overhead, memory or script; flexible_peers: problems or bodies")
    parser.add_argument("--scale-cap", type=float, default=300.0,
                        help="sim_scale: CPU seconds per run, from where a scene grows no more")  # fmt: skip
    parser.add_argument("--out", type=pathlib.Path, default=BENCH / "results")
    parser.add_argument("--bin", type=pathlib.Path, default=None,
                        help="folder of tribo's programs (build/native/bin; robots: that and build/release/bin; replay: build/release/bin)")  # fmt: skip
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", help="environment, temporary files")
    parser.add_argument("--no-pinocchio", action="store_true", help="do not make the virtual environment")
    arguments = parser.parse_args()
    if arguments.time_cap is None:
        arguments.time_cap = 10.0 if arguments.suite == "extremes" else 5.0
    if arguments.before and not arguments.before.is_file():
        parser.error(f"--before {arguments.before}: there is no such file")
    arguments.bin_given = arguments.bin is not None
    arguments.bin = arguments.bin or ROOT / "build" / ("release" if arguments.suite == "replay" else "native") / "bin"
    if arguments.suite not in LIGHT and not (arguments.bin / "tribo_bench").exists():
        parser.error(f"no {arguments.bin / 'tribo_bench'}: run `make bench PROBLEMS=dir`, or name the folder with --bin")
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.work.mkdir(parents=True, exist_ok=True)

    suite = arguments.suite
    wants_pinocchio = suite in ("all", "towers") and not arguments.no_pinocchio
    python = find_pinocchio(arguments.work) if wants_pinocchio else None
    if suite != "page":
        machines = {} if suite == "all" else read_machines(arguments.out)
        measured = suite if suite == "replay" else " ".join([suite, *arguments.scene])
        machines[measured] = describe_machine(arguments.bin.resolve(), python)
        (arguments.out / "machine.json").write_text(json.dumps(machines, indent=2) + "\n")
    if suite in ("all", "towers"):
        towers(arguments, python)
    if suite in ("all", "heights"):
        heights(arguments)
    if suite in ("all", "problems"):
        problems(arguments)
    if suite in ("all", "studies", "rings"):
        ring_cases(arguments)
    for name in STUDIES:
        if suite in ("all", "studies", name):
            study(arguments, name)
    if suite in ("all", "pile"):
        pile(arguments)
    if suite in ("all", "kernels"):
        kernels(arguments)
    if suite in ("all", "truth"):
        truth(arguments)
    if suite in ("all", "sim"):
        sim_speed.speed(arguments, find_mujoco_core(arguments.work))
        if not arguments.scene:
            sim_speed.drake(arguments, find_drake(arguments.work))
    if suite in ("all", "sim_scale"):
        sim_scale.scale(arguments)
    if suite == "replay":
        replay.replay(arguments)
    if suite == "robots":
        robots.robots(arguments)
    if suite == "extremes":
        extremes.extremes(arguments)
    if suite == "flexible_peers":
        flexible_peers.flexible_peers(arguments)
    if suite == "ablation":
        ablation.ablation(arguments)
    say(f"the page is {index.write_page(arguments.out)}")


if __name__ == "__main__":
    main()
