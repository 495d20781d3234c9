#!/usr/bin/env bash
# make and convert: every kind, round trips, stored solutions.
. "$(dirname "$0")/common.bash"

for kind in tower wall pyramid chain pile bolt dishes arm; do
  expect 0 make $kind --bodies 4 --seed 1 -o $kind.hdf5
  expect_in out "$kind.hdf5"
  expect_in out "certified error"
  expect 0 info $kind.hdf5 --json
  check_python "solution stored with $kind" '
import json
i = json.load(open("out"))
assert i["contacts"] > 0 and i["guess_error"] is not None and i["guess_error"] <= 1e-6, i
'
  expect 0 make $kind --bodies 4 --seed 1 --compliance 1e-4 --no-solve -o soft.hdf5
  expect_in out "without a solution"
  expect 0 info soft.hdf5 --json
  check_python "compliance of $kind" '
import json
i = json.load(open("out"))
assert i["guess_error"] is None and i["compliance"][1] > 0, i
'
done

# The same seed gives the same problem, another seed another one.
expect 0 make pile --bodies 5 --seed 7 --no-solve -o one.hdf5
expect 0 make pile --bodies 5 --seed 7 --no-solve -o two.hdf5
expect 0 make pile --bodies 5 --seed 8 --no-solve -o three.hdf5
values() { h5dump "$1" | sed 1d | grep -v -i description; }
if command -v h5dump >/dev/null; then
  [ "$(values one.hdf5)" = "$(values two.hdf5)" ] || fail "the same seed gave two problems"
  [ "$(values one.hdf5)" != "$(values three.hdf5)" ] || fail "two seeds gave the same problem"
fi

# Options reach the problem.
expect 0 make tower --bodies 3 --mass-ratio 100 --mu 0.7 --dt 0.01 --no-solve -o heavy.hdf5
expect 0 info heavy.hdf5 --json
check_python "options of make" '
import json
i = json.load(open("out"))
assert abs(i["mass_ratio"] / 100 - 1) < 1e-9 and i["friction"] == [0.7, 0.7], i
'

# hdf5 -> hdf5 keeps problem and solution; solving either gives the same bits.
expect 0 convert tower.hdf5 again.hdf5
"$tribo" solve tower.hdf5 --solution first.json --quiet || fail "solving the original failed"
"$tribo" solve again.hdf5 --solution second.json --quiet || fail "solving the copy failed"
cmp -s first.json second.json || fail "a converted problem has another solution"
expect 0 info again.hdf5 --json
check_python "convert carries the solution" 'import json; assert json.load(open("out"))["guess_error"] <= 1e-6'

# dat -> hdf5, with a solution on demand.
printf '3\n1\n0\n3\n3\n3 3\n2 0 0\n0 1 0\n0 0 1\n-1 0.25 -0.125\n0.5\n' >one.dat
expect 0 convert one.dat plain.hdf5
expect 0 info plain.hdf5
expect_in out "FCLIB local"
expect 0 convert one.dat solved.hdf5 --solve
expect 0 solve solved.hdf5 --warm-start guess --json
check_python "convert --solve" 'import json; assert json.load(open("out"))["iterations"] == 0'
"$tribo" solve one.dat --solution first.json --quiet --tol 1e-10 || fail "solving the .dat failed"
"$tribo" solve plain.hdf5 --solution second.json --quiet --tol 1e-10 || fail "solving its .hdf5 failed"
cmp -s first.json second.json || fail "a .dat and its .hdf5 have different solutions"

finish
