"""`auto` against the best single solver of every problem, chosen with hindsight. Rows of bench/results/best_single.csv.

    bench/studies/best_single.py --problems DIR... [--bin BIN] [--time-cap 10]

Cold solves to a scaled error of 1e-6 and to a siconos error of 1e-8, CPU time, least of several runs (tribo_bench). `auto` has the
whole time cap. The others have it where `auto` fails; where it succeeds they have a quarter of a second or twice its time, whichever is
more, which is all that the comparison needs. What `auto` proves infeasible is not given to the others.
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from report.machine import ROOT, say  # noqa: E402
from report.page import read_csv  # noqa: E402
from studies.sim_speed import ENVIRONMENT  # noqa: E402

SINGLE = ["alnewton", "canal", "ipm", "admm", "nsgs"]
TARGETS = {"scaled 1e-6": ["--tolerance", "1e-6", "--scaled"], "siconos 1e-8": ["--tolerance", "1e-8"]}
COLUMNS = ["folder", "file", "contacts", "target", "solver", "cap_s", "status", "solved", "ms", "error", "siconos_error"]
LEAST_CAP = 0.25  # s


def solve(arguments, file, target, solver, cap):
    command = [arguments.bin / "tribo_bench", "problems", "--solver", solver, *TARGETS[target], "--budget", "20", "--repeat", "3"]
    command += ["--time-cap", f"{cap:g}", file]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT)
    row = {"folder": file.parent.name, "file": file.name, "target": target, "solver": solver, "cap_s": f"{cap:.3g}"}
    found = list(csv.DictReader(done.stdout.splitlines()))
    if not found:
        return row | {"status": (done.stderr.strip().splitlines() or ["no result"])[-1], "solved": "0"}
    r = found[0]
    return row | {"contacts": r["contacts"], "status": r["status"], "solved": r["solved"], "ms": r["solve_min_ms"],
                  "error": r["error"], "siconos_error": r["siconos_error"]}  # fmt: skip


def write(path, rows):
    with open(path, "w", newline="") as output:
        writer = csv.DictWriter(output, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def summary(rows):
    for folder in dict.fromkeys(r["folder"] for r in rows):
        for target in TARGETS:
            cases = {}
            for r in rows:
                if (r["folder"], r["target"]) == (folder, target):
                    cases.setdefault(r["file"], {})[r["solver"]] = r
            auto = [case["auto"] for case in cases.values()]
            ratios, only_others = [], []
            for name, case in cases.items():
                times = [float(r["ms"]) for solver, r in case.items() if solver != "auto" and r["solved"] == "1"]
                if times and case["auto"]["solved"] == "1":
                    ratios.append((float(case["auto"]["ms"]) / min(times), name))
                elif times:
                    only_others.append(f"{name} ({', '.join(s for s, r in case.items() if r['solved'] == '1')})")
            ratios.sort()
            claims = sum(r["status"] == "false success" for case in cases.values() for r in case.values())
            solved, proved = (sum(test(r) for r in auto) for test in (lambda r: r["solved"] == "1", lambda r: r["status"] == "infeasible"))
            missed = [r["file"] for r in auto if r["solved"] != "1" and r["status"] != "infeasible"]
            slowest = max((float(r["ms"]) for r in auto if r["solved"] == "1"), default=0.0)
            if ratios:
                quantiles = [r for r, _ in ratios]
                p90 = quantiles[min(len(quantiles) - 1, round(0.9 * (len(quantiles) - 1)))]
                spread = f"median {statistics.median(quantiles):.2f}, p90 {p90:.2f}, worst {', '.join(f'{n} {r:.1f}' for r, n in ratios[-3:])}"
            say(f"{folder} {target}: {len(auto)} files, auto solves {solved}, proves {proved} infeasible, false {claims}, slowest {slowest:.0f} ms; "
                f"auto / best single on {len(ratios)}: {spread if ratios else '-'}")  # fmt: skip
            say(f"  missed: {', '.join(missed) or 'none'}")
            say(f"  solved by others only: {', '.join(only_others) or 'none'}")
            for solver in SINGLE:
                say(f"  {solver}: {sum(case.get(solver, {}).get('solved') == '1' for case in cases.values())} within its cap")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=pathlib.Path, nargs="+", required=True, help="folders of .hdf5 and .dat files")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "native" / "bin")
    parser.add_argument("--time-cap", type=float, default=10.0, help="CPU seconds per solve")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench" / "results" / "best_single.csv")
    parser.add_argument("--summary", action="store_true", help="only print what the file says")
    arguments = parser.parse_args()
    if arguments.summary:
        return summary(read_csv(arguments.out))
    rows = []
    for folder in arguments.problems:
        for file in sorted((f for f in folder.iterdir() if f.suffix in (".hdf5", ".dat")), key=lambda f: f.stat().st_size):
            for target in TARGETS:
                auto = solve(arguments, file, target, "auto", arguments.time_cap)
                rows.append(auto)
                if auto["status"] == "infeasible":
                    continue
                short = min(arguments.time_cap, max(LEAST_CAP, 2e-3 * float(auto["ms"]))) if auto["solved"] == "1" else 0.0
                rows += [solve(arguments, file, target, solver, short or arguments.time_cap) for solver in SINGLE]
            say(f"{file.name}: auto {', '.join(r['status'] + ' ' + r.get('ms', '') for r in rows if r['file'] == file.name and r['solver'] == 'auto')}")
            write(arguments.out, rows)
    summary(rows)


if __name__ == "__main__":
    main()
