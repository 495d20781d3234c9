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
assert i["contacts"] > 0 and i["solution_error"] is not None and i["solution_error"] <= 1e-8, i
'
  expect 0 make $kind --bodies 4 --seed 1 --compliance 1e-4 --no-solve -o soft.hdf5
  expect_in out "without a solution"
  expect 0 info soft.hdf5 --json
  check_python "compliance of $kind" '
import json
i = json.load(open("out"))
assert i["solution_error"] is None and i["guess_error"] is None and i["compliance"][1] > 0, i
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
check_python "convert carries the solution" 'import json; assert json.load(open("out"))["solution_error"] <= 1e-8'

# A guess and a solution in one file stay what they are: the solution of a slower tower as a guess for this one.
expect 0 make tower --bodies 4 --seed 1 --dt 0.002 -o slower.hdf5
cp tower.hdf5 both.hdf5
h5copy -p -i slower.hdf5 -o both.hdf5 -s /solution -d /guesses/1 || fail "h5copy of a guess"
expect 0 convert both.hdf5 copy.hdf5
expect_in out "solution of IN, certified error"
expect_in out "guess of error"
expect 0 info both.hdf5 copy.hdf5 --json
check_python "convert keeps guess and solution" '
import json
both, copy = [json.loads(line) for line in open("out")]
assert both["guess_error"] > 1e-6 and both["solution_error"] <= 1e-8, both
for key in ("guess_error", "guess_siconos_error", "solution_error", "solution_siconos_error"):
    assert both[key] == copy[key], (key, both[key], copy[key])
'
for path in /solution/r /guesses/1/r; do
  h5diff both.hdf5 copy.hdf5 $path || fail "convert changed $path"
done
# Of the two the solution is the better start.
expect 0 solve both.hdf5 --tol 1e-7 --warm-start guess --json
check_python "warm start from the solution" 'import json; assert json.load(open("out"))["iterations"] == 0'

# --tol of make is the accuracy of what is stored; what falls short of 1e-6 or the tolerance is not stored.
for tolerance in 1e-3 1e-10; do
  expect 0 make tower --bodies 4 --slide --tol $tolerance -o accurate.hdf5
  expect_in out "certified error"
  expect 0 info accurate.hdf5 --json
  check_python "make --tol $tolerance" '
import json, sys
assert json.load(open("out"))["solution_error"] <= float(sys.argv[1])' $tolerance
done
expect 3 make tower --bodies 40 --mass-ratio 1e4 --slide --time-limit 1e-9 -o hopeless.hdf5
expect_in out "no solution stored"
expect 0 info hopeless.hdf5 --json
check_python "no solution stored" 'import json; assert json.load(open("out"))["solution_error"] is None'
expect 0 make tower --bodies 4 --slide --tol 1e-30 --time-limit 0.2 -o best.hdf5
expect_in out "tolerance 1e-30 not reached"

# bolt and dishes have their own bodies: a note, no error.
expect 0 make bolt --bodies 0 --mass-ratio 3 --no-solve -o sized.hdf5
expect_in err "--bodies does not apply to bolt"
expect_in err "--mass-ratio does not apply to bolt"
expect 0 make dishes --no-solve -o sized.hdf5
[ -s err ] && fail "a note about options that were not given"

# Seeds are 64-bit.
expect 0 make pile --bodies 2 --seed 18446744073709551615 --no-solve -o large_seed.hdf5
expect 0 info large_seed.hdf5
expect_in out "--seed 18446744073709551615"

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
