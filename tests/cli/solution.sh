#!/usr/bin/env bash
# --solution, --warm-start, --history: order of the file, round trip, nothing half written.
. "$(dirname "$0")/common.bash"

expect 0 make tower --bodies 3 --slide -o tower.hdf5
expect 0 solve tower.hdf5 --tol 1e-10 --solution solution.json --history history.csv
check_python "order of the solution" '
import json, math
s = json.load(open("solution.json"))
assert list(s) == ["impulse", "velocity"], list(s)
r, u = s["impulse"], s["velocity"]
assert len(r) == len(u) == 36
# Normal first: each contact is in its cone (mu 0.4) and does not penetrate, and something carries the weight.
for k in range(0, 36, 3):
    n, t = r[k], math.hypot(r[k + 1], r[k + 2])
    assert t <= 0.4 * n + 1e-6 * max(r), (k, n, t)
    assert u[k] >= -1e-6, (k, u[k])
weight = 9.81e-3
ground = sorted(r[k] for k in range(0, 36, 3))
assert ground[-1] > 0.25 * weight, ground
'
check_python "history" '
import csv
rows = list(csv.DictReader(open("history.csv")))
assert rows and list(rows[0]) == ["iteration", "seconds", "error", "penalty"], rows[:1]
iterations = [int(r["iteration"]) for r in rows]
assert iterations == sorted(iterations)
assert float(rows[-1]["error"]) <= 1e-10 and all(float(r["seconds"]) >= 0 for r in rows)
'

# A planar problem in Siconos text form: one contact, W = I, q = (-1, 0.25), mu 0.5; solution r = (1, -0.25), u = 0.
printf '2\n1\n0\n2\n2\n2 2\n1 0\n0 1\n-1 0.25\n0.5\n' >planar.dat
expect 0 solve planar.dat --tol 1e-12 --solution planar.json
check_python "order of a planar solution" '
import json
s = json.load(open("planar.json"))
assert len(s["impulse"]) == len(s["velocity"]) == 2, s
for got, wanted in zip(s["impulse"] + s["velocity"], [1, -0.25, 0, 0]):
    assert abs(got - wanted) < 1e-9, s
'
# The same in space: (n, t1, t2).
printf '3\n1\n0\n3\n3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 0.25 -0.125\n0.5\n' >spatial.dat
expect 0 solve spatial.dat --tol 1e-12 --solution spatial.json
check_python "order of a spatial solution" '
import json
s = json.load(open("spatial.json"))
for got, wanted in zip(s["impulse"] + s["velocity"], [1, -0.25, 0.125, 0, 0, 0]):
    assert abs(got - wanted) < 1e-9, s
'

# Warm starts: from the solution, from the file itself, from the guess in each file.
cold=$("$tribo" solve tower.hdf5 --tol 1e-8 --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["iterations"])')
[ "$cold" -gt 0 ] || fail "a cold start needed no iteration"
for start in solution.json tower.hdf5 guess; do
  expect 0 solve tower.hdf5 --tol 1e-7 --json --warm-start $start
  check_python "warm start from $start" 'import json; r = json.load(open("out")); assert r["iterations"] <= 1, r'
done
expect 0 solve planar.dat --tol 1e-9 --json --warm-start planar.json
check_python "planar warm start" 'import json; r = json.load(open("out")); assert r["iterations"] <= 1, r'

# The best iterate is written even without convergence; special files are written through.
expect 3 solve tower.hdf5 --tol 1e-12 --max-iter 1 --solution unfinished.json
[ -s unfinished.json ] || fail "no solution was written without convergence"
expect 0 solve tower.hdf5 --json --solution /dev/null
[ -c /dev/null ] || fail "/dev/null was replaced"
ls | grep -q '\.tmp' && fail "temporary files were left: $(ls)"

finish
