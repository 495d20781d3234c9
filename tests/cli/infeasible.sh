#!/usr/bin/env bash
# Problems without a solution: status, names of the constraints, ray and exit code.
. "$(dirname "$0")/common.bash"

# Two frictionless planar contacts in Siconos text form, W = (1 -1; -1 1) in the normals: u1 = l1 - l2 - 1 and
# u2 = l2 - l1 - 0.5 add up to -1.5 whatever is done.
printf '2\n2\n0\n4\n4\n4 4\n1 0 -1 0\n0 1 0 -1\n-1 0 1 0\n0 -1 0 1\n-1 0 -0.5 0\n0.0 0.0\n' >walls.dat
expect 3 solve walls.dat --json --solution walls.json
check_python "contradiction of solve --json" '
import json
r, s = json.load(open("out")), json.load(open("walls.json"))
assert r["status"] == "infeasible", r
c = r["contradictions"][0]
assert list(c) == ["constraints", "shares", "violation", "speed_ratio", "ray"], list(c)
assert c["constraints"] == [0, 1] and abs(sum(c["shares"]) - 1) < 1e-12, c
assert abs(c["violation"] - 0.75) < 1e-9, c
y = c["ray"]
assert len(y) == 4 and y[0] > 0 and abs(y[0] - y[2]) <= 1e-12 * y[0] and y[1] == y[3] == 0, y
assert list(s) == ["impulse", "velocity", "contradictions"] and s["contradictions"] == r["contradictions"], s
assert abs(s["velocity"][0] + 0.75) < 1e-6 and abs(s["velocity"][2] + 0.75) < 1e-6, s
'
expect 3 solve walls.dat
for text in "auto: infeasible" "constraints 0, 1 contradict each other" "0.75 m/s" "least violation"; do expect_in out "$text"; done
for solver in nsgs admm alnewton ipm; do
  expect 3 solve walls.dat --solver $solver
  expect_in out "$solver: infeasible"
done

finish
