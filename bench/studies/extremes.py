"""Problem files by family, judged twice: by tribo and, from the files alone, in 128-bit arithmetic (check/check_solution.cpp).

Every file below --problems, every solver, tolerance 1e-6, at most --time-cap seconds. A family is a folder and the name of the
file up to its first `_` or digit. Rows of bench/results/extremes.csv; `--before FILE` puts an earlier one beside it.

    solved       tribo says converged, and the check does not contradict
    infeasible   tribo says that there is no solution, and its ray proves it in 128-bit arithmetic
    missed       anything that claims nothing
    false        a claim that the check contradicts: converged, but its scaled error is above 1.1 times the tolerance; or
                 infeasible without a ray that proves it
"""

import csv
import json
import os
import re
import statistics
import subprocess

from report.machine import ROOT, say
from report.page import cell, read_csv, table

COLUMNS = ["folder", "family", "file", "solver", "contacts", "dofs", "status", "iterations", "ms", "error", "siconos_error",
           "penetration_velocity", "check_scaled", "check_scaled_before", "check_siconos", "ray_ratio", "ray_proved", "verdict",
           "false_before", "off"]  # fmt: skip
VERDICTS = ["solved", "infeasible", "missed", "false"]
TOLERANCE, SLACK = 1e-6, 1.1
# The certificate's own evaluation is off where it is below the check's by more than this share, above this error (both measures).
# More than the check's it may say: bounds of rounding are added to it.
OFF_SHARE, OFF_FROM = 0.1, 1e-9
QUICK_MS, REPEAT = 100.0, 3  # solves below so many ms are repeated so often in all; the fastest counts
NOTE = (
    "Tolerance 1e-6 of the scaled error. Solved and false: confirmed and contradicted by a check of its own in 128-bit arithmetic; "
    "infeasible: proved by a ray, checked in the same way. Off: the certificate's number is more than a tenth below the check's."
)


def find_check(folder):
    places = [folder, ROOT / "build" / "native" / "bin", ROOT / "build" / "release" / "bin"]
    return next((p / "tribo_check_solution" for p in places if (p / "tribo_check_solution").exists()), None)


def run_json(command, seconds):
    """The JSON that a program prints, None where it prints none; and its last complaint."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment, timeout=seconds)
        return json.loads(done.stdout), ""
    except subprocess.TimeoutExpired:
        return None, f"no end after {seconds:.0f} s"
    except ValueError:
        return None, (done.stderr.strip().splitlines() or ["no message"])[-1]


def family_of(file):
    return re.match(r"[^_\d]*", file.stem)[0] or file.stem


def understates(ours, theirs):
    return theirs - ours > OFF_SHARE * theirs and theirs > OFF_FROM


def judge(row, checked):
    """The verdict, from tribo's claim and the check (None: not checked)."""
    row["verdict"] = {"converged": "solved", "infeasible": "infeasible"}.get(row["status"], "missed")
    if not checked:
        return
    number = lambda name: float("inf") if checked[name] is None else checked[name]  # noqa: E731
    row |= {f"check_{name}": f"{number(name):.6g}" for name in ("scaled", "scaled_before", "siconos")}
    proved = checked.get("proved", False)
    if "rays" in checked:
        ratios = [float("inf") if ray["ratio"] == "infinite" else ray["ratio"] for ray in checked["rays"]]
        row |= {"ray_ratio": f"{min(ratios):.4g}", "ray_proved": int(proved)}
    limit = SLACK * TOLERANCE
    row["false_before"] = int(row["status"] == "converged" and not number("scaled_before") <= limit)
    # A build judges by the definition it has: the nearer one counts.
    off = all(understates(row["number"], number(n)) for n in ("scaled", "scaled_before"))
    row["off"] = int(off or understates(row["siconos_number"], number("siconos")))
    if row["verdict"] == "solved" and not number("scaled") <= limit:
        row["verdict"] = "false"
    if row["verdict"] == "infeasible" and not proved:
        row["verdict"] = "false"


def solve(arguments, check, file, root, solver):
    folder = file.parent.relative_to(root).as_posix()
    row = {"folder": folder if folder != "." else root.name, "family": family_of(file), "file": file.name, "solver": solver}
    solution = arguments.work / "extreme.json"
    command = [arguments.bin / "tribo", "solve", file, "--solver", solver, "--tol", TOLERANCE, "--time-limit", arguments.time_cap]
    times, result = [], None
    while len(times) < REPEAT and (not times or times[-1] < QUICK_MS):
        solution.unlink(missing_ok=True)
        result, failure = run_json([*command, "--json", "--solution", solution], 3.0 * arguments.time_cap + 60.0)
        if result is None:
            return row | {"status": failure, "verdict": "missed"}
        times.append(result["time_ms"])
    certificate = result["certificate"]
    value = lambda name: float("nan") if certificate[name] is None else certificate[name]  # noqa: E731
    row |= {"contacts": result["contacts"], "dofs": result["dofs"], "status": result["status"], "iterations": result["iterations"],
            "ms": f"{min(times):.4g}", "error": f"{value('error'):.6g}", "siconos_error": f"{value('siconos_error'):.6g}",
            "penetration_velocity": f"{value('penetration_velocity'):.6g}", "number": value("error"),
            "siconos_number": value("siconos_error")}  # fmt: skip
    checked = None
    if check and file.suffix == ".hdf5" and solution.exists():
        checked, failure = run_json([check, file, solution], 600.0)
        if checked is None:
            say(f"{file.name}: not checked ({failure})")
    judge(row, checked)
    return row


# ---------------------------------------------------------------------------------------------------- tables


def group(rows):
    """{(folder, family, solver): rows} with the sums over a folder at its end."""
    groups = {}
    for r in rows:
        groups.setdefault((r["folder"], r["family"], r["solver"]), []).append(r)
    for r in rows:
        groups.setdefault((r["folder"], "all", r["solver"]), []).append(r)
    return groups


def counts(rows):
    if not rows:
        return ["·"] * (len(VERDICTS) + 2)
    times = [float(r["ms"]) for r in rows if r.get("ms")]
    spread = [f"{statistics.median(times):.3g}", f"{max(times):.4g}"] if times else ["·", "·"]
    return [str(sum(r["verdict"] == v for r in rows)) for v in VERDICTS] + spread


def sum_of(rows, key):
    return str(sum(str(r.get(key)) == "1" for r in rows)) if rows else "·"


def table_rows(rows, before):
    """(heading, rows of texts): now, and the same of the earlier file beside it."""
    head = ["folder", "family", "solver", "files", *VERDICTS, "median ms", "worst ms", "off"]
    earlier = group(before)
    if before:
        head += [f"{h} before" for h in (*VERDICTS, "median ms", "worst ms", "off", "false by the earlier measure")]
    else:
        head += ["false by the earlier measure"]
    lines = []
    for key, found in group(rows).items():
        line = [*key, str(len(found)), *counts(found), sum_of(found, "off")]
        old = earlier.get(key, [])
        line += [*counts(old), sum_of(old, "off"), sum_of(old, "false_before")] if before else [sum_of(found, "false_before")]
        lines.append(line)
    return head, lines


def print_table(rows, before):
    head, lines = table_rows(rows, before)
    short = {"false by the earlier measure": "(false, earlier)"}
    shown = [[short.get(h, h).replace(" before", "<") for h in head], *lines]
    widths = [max(len(line[k]) for line in shown) for k in range(len(head))]
    for line in shown:
        cells = [text.ljust(w) if k < 3 else text.rjust(w) for k, (text, w) in enumerate(zip(line, widths))]
        say("  ".join(cells))
    for row in rows:
        if row["verdict"] == "false":
            say(f"false: {row['file']} {row['solver']} says {row['status']}, {row['error']}; the check says {row.get('check_scaled')}")


def keep(path, rows):
    with open(path, "w", newline="") as output:
        writer = csv.DictWriter(output, COLUMNS, restval="", lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def extremes(arguments):
    root = arguments.problems
    files = sorted(f for f in root.rglob("*") if f.suffix in (".hdf5", ".dat")) if root and root.is_dir() else []
    if not files:
        say(f"no folder with .hdf5 or .dat files (--problems DIR or $PROBLEMS: {root or 'none given'}): nothing to solve")
        return
    if not (arguments.bin / "tribo").exists():
        say(f"no {arguments.bin / 'tribo'}: name the folder of tribo's programs with --bin")
        return
    check = find_check(arguments.bin)
    if not check:
        say("no tribo_check_solution (cmake -DTRIBO_BUILD_BENCH=ON, target tribo_check_solution): claims are believed, not checked")
    solvers, rows, path = arguments.solver or ["auto"], [], arguments.out / "extremes.csv"
    say(f"extremes: {len(files)} files, {', '.join(solvers)}, tolerance {TOLERANCE:g}, {arguments.time_cap:g} s")
    for k, file in enumerate(files):
        for solver in solvers:
            rows.append(solve(arguments, check, file, root, solver))
            r = rows[-1]
            say(f"{k + 1}/{len(files)} {r['folder']}/{file.name} {solver}: {r['status']}, {r.get('ms', '·')} ms, {r['verdict']}")
        keep(path, rows)
    before = read_csv(arguments.before) if arguments.before else []
    if before:
        (arguments.out / "extremes_before.csv").write_text(arguments.before.read_text())
    print_table(rows, before)
    say(f"wrote {path}")


def extremes_section(out):
    rows, before = read_csv(out / "extremes.csv"), read_csv(out / "extremes_before.csv")
    if not rows:
        return ""
    head, lines = table_rows(rows, before)
    wrong = head.index("false")
    body = [[cell(t, "fail" if k == wrong and t not in ("0", "·") else "") for k, t in enumerate(line)] for line in lines]
    return f'<h2>Extreme problems</h2><p class="note">{NOTE}</p>' + table(head, body)
