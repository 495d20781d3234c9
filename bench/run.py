#!/usr/bin/env python3
"""Measures tribo beside its peers and writes bench/results: CSV files, machine.json and index.html.

    bench/run.py --problems DIR [--suite all|towers|problems|pile|kernels] [--quick] [--out bench/results]

Needs the programs of the native preset (`make bench` builds them). What is missing (the folder of problems, Siconos,
Pinocchio) is said, and the rest is measured. Standard library only; Pinocchio lives in a virtual environment that this
program makes in build/bench/venv. See bench/README.md for what is measured and how.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
TOWERS = [
    "tower10", "tower20", "tower40", "tower5-r1e4", "tower10-r1e4", "tower15-r1e4",
    "tower10-slide", "tower20-slide", "tower10-r1e4-slide",
]  # fmt: skip
PILE_CONTACTS = [1000, 3000, 10000, 30000, 100000]
PIN_DEFINITIONS = [
    "NDEBUG", "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "BOOST_MPL_LIMIT_LIST_SIZE=30",
    "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "BOOST_FUSION_INVOKE_MAX_ARITY=12",
]  # fmt: skip


def say(text):
    print(f"bench: {text}", flush=True)


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


def quiet_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


# ---------------------------------------------------------------------------------------------------- the machine


def first_match(path, key):
    try:
        with open(path) as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), None)
    except OSError:
        return None


def read_text(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def cache_value(binaries, name):
    cache = read_text(binaries.parent / "CMakeCache.txt") or ""
    return next((line.split("=", 1)[1] for line in cache.splitlines() if line.startswith(name + ":")), None)


def describe_machine(binaries, python):
    package = ["dpkg-query", "-W", "-f", "${Version}", "libsiconos-numerics-dev"]
    pinocchio = [str(python), "-c", "import pinocchio; print(pinocchio.__version__)"] if python else ["false"]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": first_match("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "governor": read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_before": os.getloadavg(),
        "memory": first_match("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
        "compiler": quiet_line([cache_value(binaries, "CMAKE_CXX_COMPILER") or "c++", "--version"]),
        "build_type": cache_value(binaries, "CMAKE_BUILD_TYPE"),
        "native": cache_value(binaries, "TRIBO_NATIVE"),
        "tribo": quiet_line(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]),
        "siconos": quiet_line(package),
        "pinocchio": quiet_line(pinocchio),
    }


# ---------------------------------------------------------------------------------------------------- Pinocchio


def find_pinocchio(work):
    """The Python of the virtual environment, made on first use; None when that is not possible."""
    venv = work / "venv"
    python = venv / "bin" / "python"
    probe = [str(python), "-c", "import pinocchio, numpy, scipy"]
    if python.exists() and subprocess.run(probe, capture_output=True).returncode == 0:
        return python
    say(f"making a virtual environment in {venv} and installing pin, numpy and scipy from PyPI")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "pin>=4", "numpy", "scipy"], check=True)
        subprocess.run(probe, check=True)
        return python
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"no Pinocchio ({error}); going on without it")
        return None


def compile_rigid(work, python):
    """The program for the operator that Python does not offer; None when it does not compile."""
    program, source = work / "pinocchio_rigid", BENCH / "pinocchio" / "pinocchio_rigid.cpp"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    where = "import pinocchio, pathlib; print(pathlib.Path(pinocchio.__file__).resolve().parents[4])"
    prefix = quiet_line([str(python), "-c", where])
    say("compiling bench/pinocchio/pinocchio_rigid.cpp against the environment (two minutes, once)")
    command = ["c++", "-std=c++17", "-O1", *(f"-D{d}" for d in PIN_DEFINITIONS)]
    command += ["-isystem", f"{prefix}/include", "-isystem", "/usr/include/eigen3", str(source), "-o", str(program)]
    command += [f"-L{prefix}/lib", "-lpinocchio_default", f"-Wl,-rpath,{prefix}/lib"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        say("it does not compile; Pinocchio is measured through Python alone. " + done.stderr[-400:])
        return None
    return program


# ---------------------------------------------------------------------------------------------------- the suites


def towers(arguments, python):
    names = TOWERS[:2] + TOWERS[3:4] if arguments.quick else TOWERS
    solvers = [word for solver in arguments.solver for word in ("--solver", solver)]
    limits = ["--budget", "20"] if arguments.quick else ["--budget", "200", "--repeat", "7"]
    say(f"towers: tribo on {len(names)} towers")
    tribo = [arguments.bin / "tribo_bench", "towers", *solvers, *limits, "--time-cap", str(arguments.time_cap), *names]
    save(arguments.out, "towers_tribo.csv", tribo)
    if not python:
        return
    say("towers: Pinocchio")
    command = [python, BENCH / "pinocchio_towers.py", "--bench", arguments.bin / "tribo_bench", *limits]
    rigid = compile_rigid(arguments.work, python)
    command += ["--rigid", rigid] if rigid else []
    command += ["--study"] if arguments.study else []
    save(arguments.out, "towers_pinocchio.csv", [*command, *names])


def problems(arguments):
    folder = arguments.problems
    files = sorted(f for f in folder.iterdir() if f.suffix in (".hdf5", ".dat")) if folder and folder.is_dir() else []
    if not files:
        say("no folder of problems with .hdf5 or .dat files (--problems DIR): the suite of real problems is left out")
        return
    cap = ["--time-cap", str(arguments.time_cap)]
    limits = ["--budget", "20", "--repeat", "3"] if arguments.quick else ["--budget", "100"]
    solvers = [word for solver in arguments.solver for word in ("--solver", solver)]
    say(f"problems: tribo on {len(files)} files")
    tolerances = ["--tolerance", "1e-6", "--tolerance", "1e-8"]
    tribo = [arguments.bin / "tribo_bench", "problems", *solvers, *tolerances, *cap, *limits, *files]
    save(arguments.out, "problems_tribo.csv", tribo)
    siconos = arguments.bin / "tribo_bench_siconos"
    if not siconos.exists():
        say("no Siconos (libsiconos-numerics-dev was not there when the benchmarks were built); going on without it")
        return
    say("problems: Siconos on the same files")
    study = ["--study"] if arguments.study else []
    save(arguments.out, "problems_siconos.csv", [siconos, *cap, *limits, *study, *files])


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=pathlib.Path, help="folder of FCLIB .hdf5 and Siconos .dat files")
    parser.add_argument("--suite", choices=["all", "towers", "problems", "pile", "kernels", "page"], default="all",
                        help="page: only write index.html again")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repetitions, to see that it works")
    parser.add_argument("--study", action="store_true", help="also the settings of peers that were not the best")
    parser.add_argument("--solver", action="append", default=[], help="tribo solver, e.g. admm or nsgs:local=newton")
    parser.add_argument("--time-cap", type=float, default=5.0, help="seconds per solve")
    parser.add_argument("--out", type=pathlib.Path, default=BENCH / "results")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "native" / "bin")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", help="environment, temporary files")
    parser.add_argument("--no-pinocchio", action="store_true", help="do not make the virtual environment")
    arguments = parser.parse_args()
    if not (arguments.bin / "tribo_bench").exists():
        parser.error(f"no {arguments.bin / 'tribo_bench'}: run `make bench PROBLEMS=dir`, or name the folder with --bin")
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.work.mkdir(parents=True, exist_ok=True)

    suite = arguments.suite
    wants_pinocchio = suite in ("all", "towers") and not arguments.no_pinocchio
    python = find_pinocchio(arguments.work) if wants_pinocchio else None
    if suite != "page":
        machine = describe_machine(arguments.bin.resolve(), python)
        previous = report.read_machine(arguments.out)
        if not machine["pinocchio"]:
            machine["pinocchio"] = previous.get("pinocchio")
        (arguments.out / "machine.json").write_text(json.dumps(machine, indent=2) + "\n")
    if suite in ("all", "towers"):
        towers(arguments, python)
    if suite in ("all", "problems"):
        problems(arguments)
    if suite in ("all", "pile"):
        pile(arguments)
    if suite in ("all", "kernels"):
        kernels(arguments)
    say(f"the page is {report.write_page(arguments.out)}")


if __name__ == "__main__":
    main()
