"""Two builds of tribo in turns: what an earlier one and today's solve, miss and need. Rows of bench/results/versions.csv.

    bench/studies/versions.py --before BIN --after BIN --problems DIR --models DIR [--suite NAME]... [--rounds 3]

In every round each case is run by one build and then by the other, so that what slows the machine down for a while slows both. CPU
time, the least of all rounds; the largest of the rounds' least stands beside it. Suites: `towers` and `heights` (cold solves to a
scaled error of 1e-6, and to both measures), `problems` (cold, siconos 1e-6 and 1e-8, both measures), `rings` (median time to Lee's
residual of 1e-8), `sim` (the nine scenes of `sim_speed.py`), `scale` (1000 bodies). Ratio above 1: today's build is faster.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from report.machine import ROOT, find_mujoco_core, say  # noqa: E402
from report.page import read_csv  # noqa: E402
from run import HEIGHTS, TOWERS, repeated  # noqa: E402
from studies import rings, sim_scale, sim_speed  # noqa: E402

BUILDS = ["before", "after"]
COLUMNS = ["suite", "case", "method", "measure", "tolerance", "rounds",
           *(f"{value}_{build}" for value in ("good", "of", "ms", "ms_slowest", "note") for build in BUILDS), "ratio"]  # fmt: skip
SOLVERS = {"towers": ["auto", "admm", "alnewton", "ipm"], "heights": ["auto", "alnewton", "ipm"],
           "problems": ["auto", "alnewton", "ipm", "canal", "admm", "nsgs"]}  # fmt: skip
RINGS = {"before": [], "after": ["bolt", "dishes"]}  # the earlier program knows these two only


class Table:
    """What was measured, by case: the least time of every round, and what was solved or missed."""

    def __init__(self, path, suites):
        self.path, self.cases = path, {}
        self.kept = [r for r in read_csv(path) if r["suite"] not in suites]

    def add(self, key, build, milliseconds, good, of=1, note=""):
        found = self.cases.setdefault(key, {name: {"ms": [], "good": [], "of": of, "note": ""} for name in BUILDS})[build]
        found["ms"].append(milliseconds)
        found["good"].append(int(good))
        found |= {"of": of, "note": note}

    def rows(self):
        for key, found in self.cases.items():
            measured = [build for build in BUILDS if found[build]["ms"]]  # MuJoCo has one build
            row = dict(zip(("suite", "case", "method", "measure", "tolerance"), key)) | {"rounds": len(found["after"]["ms"])}
            least = {build: min(found[build]["ms"]) for build in measured}
            for build in measured:
                row |= {f"good_{build}": min(found[build]["good"]), f"of_{build}": found[build]["of"],
                        f"ms_{build}": f"{least[build]:.5g}", f"ms_slowest_{build}": f"{max(found[build]['ms']):.5g}",
                        f"note_{build}": found[build]["note"]}  # fmt: skip
            both = measured == BUILDS and all(math.isfinite(t) and t > 0.0 for t in least.values())
            yield row | {"ratio": f"{least['before'] / least['after']:.4g}" if both else ""}

    def write(self):
        with open(self.path, "w", newline="") as output:
            writer = csv.DictWriter(output, COLUMNS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.kept)
            writer.writerows(self.rows())


def csv_of(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=sim_speed.ENVIRONMENT)
    if done.returncode != 0:
        say(f"{command[0]} failed (exit {done.returncode}): {done.stderr.strip()}")
    return list(csv.DictReader(done.stdout.splitlines()))


def cold_solves(arguments, table, suite, mode, inputs, tolerances):
    """Towers or files, one at a time; a case that a build does not solve within the cap is not repeated in the next rounds."""
    tired = set()
    for turn in range(arguments.rounds):
        for name in inputs:
            for solver in SOLVERS[suite]:
                for build in BUILDS:
                    if (name, solver, build) in tired:
                        continue
                    words = [*repeated("--tolerance", tolerances), "--both", "--budget", "20", "--repeat", "3"]
                    command = [arguments.builds[build] / "tribo_bench", mode, "--solver", solver, *words]
                    found = csv_of([*command, "--time-cap", arguments.time_cap, name])
                    for r in found:
                        total = float(r["build_min_ms"]) + float(r["solve_min_ms"])
                        key = (suite, r["problem"], solver, r["measure"], r["tolerance"])
                        table.add(key, build, total if r["solved"] == "1" else math.inf, r["solved"] == "1", 1, r["status"])
                    if not found or any(r["solved"] != "1" for r in found):
                        tired.add((name, solver, build))
        table.write()
        say(f"{suite}: round {turn + 1} of {arguments.rounds}")


def ring_solves(arguments, table):
    work = arguments.work / "rings.csv"
    for _ in range(min(arguments.rounds, 2)):
        for build in BUILDS:
            with open(work, "w") as output:
                command = [arguments.builds[build] / "tribo_bench_second_order", "rings", arguments.cases, *RINGS[build]]
                subprocess.run([str(c) for c in command], stdout=output, env=sim_speed.ENVIRONMENT)
            for (scene, solver), cases in rings.read_cases(work).items():
                count, share, median_ms = rings.summarize(cases)[:3]
                table.add(("rings", scene, solver, "lee", "1e-08"), build, median_ms, round(share * count), count)
        table.write()


def simulate(build, words, seconds, warm_up):
    command = [build / "tribo", "sim", *words, "--time", repr(seconds), "--json", "--quiet", "--threads", "1"]
    return sim_speed.last_json([*command, *(["--warm-up"] if warm_up else [])])


def scenes(arguments, table):
    """The nine scenes: both builds and MuJoCo, in turns; good counts the steps that met the tolerance."""
    python = find_mujoco_core(arguments.work)
    for name, file, seconds in sim_speed.files(arguments, arguments.builds["before"] / "tribo"):
        is_long = name.partition(" seed")[0] in sim_speed.LONG
        for turn in range(2 if is_long else 3 * arguments.rounds):
            for build in BUILDS:
                result = simulate(arguments.builds[build], [file, "--law", "exact"], seconds, not is_long)
                if result:
                    good = result["steps"] - result["missed_steps"]
                    note = f"worst {sim_speed.number(result['certificate']['worst'])}"
                    table.add(("sim", name, "auto", "scaled", "1e-06"), build, 1e3 * result["cpu_seconds"], good, result["steps"], note)
            for cone in sim_speed.CONES if python and turn % 3 == 0 else ():
                theirs = sim_speed.run_mujoco(python, file, cone, result["steps"], False, arguments.work)
                if theirs:
                    table.add(("sim", name, f"mujoco {cone}", "", ""), "after", 1e3 * min(theirs["cpu_seconds"]), 0, result["steps"])
        table.write()
        say(f"sim: {name}")


def thousand_bodies(arguments, table):
    for name, (parameter, words, seconds) in sim_scale.SCENES.items():
        for _ in range(arguments.rounds):
            for build in BUILDS:
                scene = ["--scene", name.split(" ")[0], *words, "--set", f"{parameter}=1000"]
                result = simulate(arguments.builds[build], scene, seconds, False)
                if result:
                    good = result["steps"] - result["missed_steps"]
                    note = f"worst {sim_speed.number(result['certificate']['worst'])}"
                    table.add(("scale", name, "auto", "scaled", "1e-06"), build, 1e3 * result["cpu_seconds"], good, result["steps"], note)
        table.write()
        say(f"scale: {name}")


def summary(table):
    """One line per suite and method: what is good, the geometric mean of the ratios and the worst one."""
    groups = {}
    for row in table.rows():
        if row["method"].startswith("mujoco"):
            continue
        groups.setdefault((row["suite"], row["method"], row["measure"], row["tolerance"]), []).append(row)
    for key, rows in groups.items():
        ratios = [(float(r["ratio"]), r["case"]) for r in rows if r["ratio"]]
        mean = math.exp(sum(math.log(r) for r, _ in ratios) / max(len(ratios), 1))
        sums = [sum(r.get(f"{what}_{build}", 0) for r in rows) for build in BUILDS for what in ("good", "of")]
        worst = ", ".join(f"{case} {ratio:.2f}" for ratio, case in sorted(ratios)[:3])
        say(f"{' '.join(key)}: before {sums[0]} of {sums[1]}, after {sums[2]} of {sums[3]}; mean ratio {mean:.3f}; worst {worst}")


def main():
    suites = ["towers", "heights", "problems", "rings", "sim", "scale"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=pathlib.Path, required=True, help="folder of the earlier build's programs")
    parser.add_argument("--after", type=pathlib.Path, default=ROOT / "build" / "native" / "bin", help="today's")
    parser.add_argument("--problems", type=pathlib.Path, help="folder of FCLIB .hdf5 and Siconos .dat files")
    parser.add_argument("--models", type=pathlib.Path, help="folder of MuJoCo's models")
    parser.add_argument("--suite", action="append", choices=suites, default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=10, help="of rings")
    parser.add_argument("--time-cap", type=float, default=2.0, help="CPU seconds per cold solve")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench" / "results" / "versions.csv")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench")
    arguments = parser.parse_args()
    arguments.builds = {"before": arguments.before, "after": arguments.after}
    arguments.work.mkdir(parents=True, exist_ok=True)
    wanted = arguments.suite or suites
    table = Table(arguments.out, wanted)
    if "towers" in wanted:
        cold_solves(arguments, table, "towers", "towers", TOWERS, ["1e-6"])
    if "heights" in wanted:
        cold_solves(arguments, table, "heights", "towers", [t for t in HEIGHTS if t not in TOWERS], ["1e-6"])
    if "problems" in wanted and arguments.problems:
        files = sorted(f for f in arguments.problems.iterdir() if f.suffix in (".hdf5", ".dat"))
        cold_solves(arguments, table, "problems", "problems", files, ["1e-6", "1e-8"])
    if "rings" in wanted:
        ring_solves(arguments, table)
    if "sim" in wanted:
        scenes(arguments, table)
    if "scale" in wanted:
        thousand_bodies(arguments, table)
    summary(table)


if __name__ == "__main__":
    main()
