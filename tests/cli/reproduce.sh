#!/usr/bin/env bash
# tribo reproduce: what is refused, what is written, and that a run goes on where it was.
. "$(dirname "$0")/common.bash"

expect_error "name a study" reproduce
expect_error "did you mean 'castro'" reproduce castr
expect_error "There are: fig5, fig7" reproduce castro fig99
expect_error "needs --data FILE" reproduce reality
expect_error "there is no such file" reproduce reality --data none.h5
echo text >note.h5
expect_error "this is no HDF5 file" reproduce reality --data note.h5
expect_error "needs --data FOLDER" reproduce acary2018
mkdir empty
expect_error "it has no results.csv" reproduce acary2018 --data empty
expect 0 reproduce --list
for study in lee2024 acary2018 mangoni carpentier2024 castro friction reality; do expect_in out "$study"; done

expect 0 reproduce castro fig5 fig7 --quick -o papers
expect_in out "The midpoint rule conserves the energy exactly without friction"
grep -q "does not hold" out && fail "a claim about the spring and cylinder does not hold: $(grep 'does not hold' out)"
for file in castro.html castro.md castro-fig5.csv castro-fig7.csv castro-fig7-order.svg; do
  [ -s "papers/$file" ] || fail "papers/$file is missing"
done
expect_in papers/castro.html "The paper's value"
expect_in papers/castro.md "](castro-fig7-order.svg)"
head -n 1 papers/castro-fig7.csv | grep -qx "case,h,error" || fail "the head of castro-fig7.csv"
[ "$(wc -l <papers/castro-fig7.csv)" = 16 ] || fail "castro-fig7.csv has not fifteen cases"

# What is there is not measured again: a number changed by hand stays; a missing line is measured, the same as before.
cp papers/castro-fig7.csv before.csv
sed -i '$d; 2s/,[^,]*$/,0.125/' papers/castro-fig7.csv
expect 0 reproduce castro fig7 --quick -o papers
sed -n 2p papers/castro-fig7.csv | grep -q ',0.125$' || fail "a case that was there was measured again"
[ "$(tail -n 1 papers/castro-fig7.csv)" = "$(tail -n 1 before.csv)" ] || fail "the missing case has other numbers"
expect 0 reproduce castro fig7 --quick -o papers --again
cmp -s papers/castro-fig7.csv before.csv || fail "--again does not give the same numbers"
sed -i '3s/.*/rubbish/' papers/castro-fig7.csv
expect_error "castro-fig7.csv:3:" reproduce castro fig7 --quick -o papers
cp before.csv papers/castro-fig7.csv
expect_error "cannot be made" reproduce castro fig7 --quick -o before.csv

expect 0 reproduce carpentier2024 fig8 --quick -o papers
grep -q "does not hold" out && fail "a claim about the arm at the wall does not hold: $(grep 'does not hold' out)"
expect 0 reproduce castro fig17 --quick -o papers
expect_in out "SAP needs fewer iterations per step than an interior point"
[ -s papers/castro-fig17-pitch.svg ] || fail "papers/castro-fig17-pitch.svg is missing"
expect 0 reproduce friction grasp --quick -o papers
grep -q "does not hold" out && fail "a claim about the grasp does not hold: $(grep 'does not hold' out)"

finish
