#!/usr/bin/env bash
# collect: the manifest, verified solutions, runs that are killed and go on, the same bytes every time.
. "$(dirname "$0")/common.bash"

expect 0 collect --list
for family in boxes-stack chain capsules kapla-tower kapla-house chute-1000 chute-4000 chute-local perio-box spheres-box \
  bridge low-wall cubes-fem; do
  expect_in out "$family"
done
check_python "at least 2000 problems" '
import re
total = int(re.search(r"(\d+) problems in all", open("out").read()).group(1))
assert total >= 2000, total
'
expect 0 collect --list --small --families bridge,chain
grep -q kapla out && fail "--families is not obeyed"

expect_error "unknown family 'bridg'; did you mean 'bridge'?" collect there --small --families bridg
expect_error "name a folder" collect
expect_error "--jobs 0" collect there --small --jobs 0
[ -e there ] && fail "a refused collect left something behind"

families=boxes-stack,chute-local
expect 0 collect whole --small --families $families --jobs 2
expect_in out "90 problems"
expect_in err "100 %"
[ -z "$(find whole -name '.*' -type f)" ] || fail "a finished collection holds temporary files"
check_python "manifest" '
import csv, os
rows = list(csv.DictReader(open("whole/manifest.csv")))
assert len(rows) == 90 and {r["family"] for r in rows} == {"boxes-stack", "chute-local"}
for r in rows:
    assert os.path.isfile("whole/" + r["file"]) and len(r["hash"]) == 16, r
    assert (r["hard"] == "yes") == (float(r["error"]) > 1e-10), r
    assert int(r["rows"]) == 3 * int(r["contacts"]) and int(r["dofs"]) >= 3
    assert 0 <= float(r["sliding_share"]) <= 1 and float(r["rank_ratio"]) >= 1
local = [r for r in rows if r["family"] == "chute-local"]
assert all(r["contacts"] == "1" and r["dofs"] == "3" for r in local)
assert len({r["hash"] for r in rows}) == 90, "problems repeat"
'
# The stored solutions are what the manifest says, judged by the tool from the file alone.
for number in 01 17 30; do
  file=whole/boxes-stack/boxes-stack-00$number.hdf5
  expect 0 solve $file --warm-start $file --tol 1e-10 --max-iter 1 --json
  expect_in out '"status":"converged"'
done

# Killed twice and resumed, in one thread: the same bytes.
for lines in 5 40; do
  "$tribo" collect parts --small --families $families >/dev/null 2>&1 &
  process=$!
  for _ in $(seq 400); do
    [ "$(cat parts/.journal.csv 2>/dev/null | wc -l)" -ge $lines ] && break
    kill -0 $process 2>/dev/null || break
    sleep 0.02
  done
  kill -9 $process 2>/dev/null
  wait $process 2>/dev/null
done
printf 'boxes-stack,boxes-stack/boxes-st' >>parts/.journal.csv  # torn
expect 0 collect parts --small --families $families
diff -r whole parts || fail "a resumed collection differs"

# Bodies that bend: sparse trees in the global form, whose solution the file alone certifies; the same bytes every time.
for folder in soft again; do expect 0 collect $folder --small --families cubes-fem; done
expect_in out "10 problems"
diff -r soft again || fail "flexible problems differ from run to run"
check_python "flexible manifest" '
import csv
rows = list(csv.DictReader(open("soft/manifest.csv")))
assert len(rows) == 10 and {r["family"] for r in rows} == {"cubes-fem"}
for r in rows:
    assert (r["hard"] == "yes") == (float(r["error"]) > 1e-10), r
    assert int(r["rows"]) == 3 * int(r["contacts"]) and float(r["rank_ratio"]) >= 1, r
    dofs = int(r["dofs"])  # of those in contact: 3 per node of cubes of 2 x 2 x 2 or 3 x 3 x 3 cells
    assert any(dofs == cubes * nodes for cubes in range(1, 6) for nodes in (81, 192)), r
assert len({r["hash"] for r in rows}) == 10, "problems repeat"
'
for number in 01 05 10; do
  file=soft/cubes-fem/cubes-fem-00$number.hdf5
  expect 0 solve $file --warm-start $file --tol 1e-10 --max-iter 1 --json
  expect_in out '"status":"converged"'
  grep -qa sparse_trees $file || fail "$file has no sparse trees"
done

# What is there is not made again; other families join; another kind of collection is refused.
touch -d '2001-01-01' whole/boxes-stack/*.hdf5
expect 0 collect whole --small --families $families,bridge
expect_in out "102 problems"
[ -z "$(find whole/boxes-stack -newermt 2002-01-01 -name '*.hdf5')" ] || fail "finished problems were written again"
expect_error "holds the small collection" collect whole --families bridge
exec 9<whole
flock 9
expect_error "another tribo is writing into this folder" collect whole --small --families chain
exec 9<&-

finish
