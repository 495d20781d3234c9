#!/usr/bin/env bash
# The output that scripts read: field names, types and order of `solve --json`, one line per file.
. "$(dirname "$0")/common.bash"

expect 0 make tower --bodies 3 -o a.hdf5
expect 0 make pile --bodies 6 --seed 5 -o b.hdf5

expect 0 solve a.hdf5 b.hdf5 --json
[ -s err ] && fail "solve --json of good files wrote to stderr"
cp out reports.jsonl
check_python "fields of solve --json" '
import json, sys
top = ["file", "contacts", "rows", "dofs", "solver", "status", "iterations", "factorizations", "time_ms", "certificate"]
inner = ["error", "fclib_error", "siconos_error", "momentum", "cone_primal", "cone_dual", "complementarity",
         "penetration_velocity", "stick_slip_velocity", "worst"]
lines = open("reports.jsonl").read().splitlines()
assert len(lines) == 2, lines
def refuse(name): raise ValueError(name + " is not JSON")
for line, name in zip(lines, ["a.hdf5", "b.hdf5"]):
    r = json.loads(line, parse_constant=refuse)
    assert list(r)[:len(top)] == top, list(r)
    c = r["certificate"]
    assert list(c)[:len(inner)] == inner, list(c)
    assert r["file"] == name and r["solver"] == "auto" and r["status"] == "converged", r
    for key in ["contacts", "rows", "dofs", "iterations", "factorizations"]:
        assert type(r[key]) is int and r[key] >= 0, (key, r[key])
    assert isinstance(r["time_ms"], float) and r["time_ms"] > 0
    for key in inner[:-1]:
        assert isinstance(c[key], (int, float)) and c[key] >= 0, (key, c[key])
    assert type(c["worst"]) is int and -1 <= c["worst"] < r["rows"]
    assert c["error"] <= 1e-6, c["error"]
a = json.loads(lines[0])
assert (a["contacts"], a["rows"], a["dofs"]) == (12, 36, 18), a
'

# A limit of one iteration: not converged, and said so in both places.
expect 3 solve a.hdf5 --json --max-iter 1 --tol 1e-12
check_python "status without convergence" '
import json
r = json.load(open("out"))
assert r["status"] == "iteration_limit" and r["iterations"] <= 1, r
'

# Each measure is the one that decides.
for measure in scaled fclib siconos; do
  expect 0 solve a.hdf5 --json --measure $measure --tol 1e-9
  check_python "measure $measure" '
import json, sys
key = {"scaled": "error", "fclib": "fclib_error", "siconos": "siconos_error"}[sys.argv[1]]
assert json.load(open("out"))["certificate"][key] <= 1e-9
' $measure
done

# Every solver, by its name.
for solver in pgs nsgs admm auto alnewton ipm canal subadmm; do
  expect 0 solve a.hdf5 --json --solver $solver --tol 1e-4
  check_python "solver $solver" 'import json, sys; assert json.load(open("out"))["solver"] == sys.argv[1]' $solver
done
expect 0 solve a.hdf5 --law convex --json

expect 0 info a.hdf5 b.hdf5 --json
check_python "info --json" '
import json
a, b = [json.loads(line) for line in open("out")]
assert a["contacts"] == 12 and a["trees"] == 3 and a["islands"] == 1, a
assert a["constraints"] == {"contact": 12, "unilateral": 0, "bilateral": 0, "box": 0}, a
assert a["friction"] == [0.4, 0.4] and abs(a["mass_ratio"] - 1) < 1e-12, a
assert a["solution_error"] <= 1e-8 and a["guess_error"] is None, a
'

# For people: the same facts, readable; quiet means quiet.
expect 0 solve a.hdf5
for text in "a.hdf5: 12 contacts, 36 rows, 18 dofs" "auto: converged" "penetration velocity" "m/s" "N s" "momentum"; do
  expect_in out "$text"
done
expect 0 solve a.hdf5 --quiet
[ -s out ] && fail "--quiet printed something"
expect 0 info a.hdf5
expect_in out "12 contacts (36 rows)"
expect_in out "FCLIB global"

# The stages of the default solver, for people and for scripts.
expect 0 solve a.hdf5 --explain --threads 2
for text in "1 island" "stage" "error after"; do expect_in out "$text"; done
expect 0 solve a.hdf5 --explain --json
check_python "stages" '
import json
r = json.load(open("out"))
assert r["islands"] == 1 and r["regularized"] == 0, r
assert r["stages"] and {"stage", "islands", "constraints", "iterations", "factorizations", "time_ms", "error"} <= set(r["stages"][0]), r
'
expect 0 solve a.hdf5 --no-islands --json
expect 3 solve a.hdf5 --solver sap --law convex
expect_in out "near-rigid"

finish
