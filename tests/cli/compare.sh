#!/usr/bin/env bash
# compare: table, CSV, page; folders, skipped files; messages and progress stay out of stdout.
. "$(dirname "$0")/common.bash"

mkdir problems
expect 0 make tower --bodies 2 -o problems/tower.hdf5
expect 0 make pile --bodies 4 --seed 2 -o problems/pile.hdf5
head -c 500 problems/tower.hdf5 >problems/damaged.hdf5
echo unrelated >problems/README.md

expect 0 compare problems --solvers admm,nsgs:local=exact,shuffle=once,pgs --tol 1e-4 --repeat 2 --csv out.csv --html out.html
expect_in out "nsgs:local=exact,shuffle=once"
expect_in out "1 file skipped"
expect_in err "damaged.hdf5"
expect_in err "100 %"
grep -q "damaged" out && fail "a skipped file is in the table"
check_python "CSV" '
import csv
rows = list(csv.DictReader(open("out.csv")))
assert list(rows[0]) == ["problem", "contacts", "solver", "status", "iterations", "factorizations", "cpu_ms", "error",
                         "fclib_error", "siconos_error"], list(rows[0])
assert [(r["problem"], r["solver"]) for r in rows] == [(p, s) for p in ["pile.hdf5", "tower.hdf5"]
    for s in ["admm", "nsgs:local=exact,shuffle=once", "pgs"]], rows
for r in rows:
    assert r["status"] == "converged" and float(r["error"]) <= 1e-4 and float(r["cpu_ms"]) > 0 and int(r["contacts"]) > 0, r
'
check_python "page" '
import html.parser, re
text = open("out.html", encoding="utf-8").read()
void = {"meta", "line", "br", "input"}
class Balance(html.parser.HTMLParser):
    stack, count = [], {}
    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in void: self.stack.append(tag)
    def handle_startendtag(self, tag, attributes): self.count[tag] = self.count.get(tag, 0) + 1
    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, (tag, self.stack[-3:])
        self.stack.pop()
page = Balance()
page.feed(text)
assert not page.stack, page.stack
assert page.count["svg"] == 5 and page.count["table"] == 3, page.count      # profile, 2 problems x 2 histories
assert not re.search(r"(src|href)=|https?://|@import|url\(", text), "the page needs something from outside"
assert "nan" not in re.sub(r"<script>.*</script>", "", text, flags=re.S).lower().split(), "nan"
for word in ["Performance profiles", "Convergence", "prefers-color-scheme", "pile.hdf5", "tower.hdf5", "damaged.hdf5"]:
    assert word in text, word
'

# Solvers that fail are a result; a named file that cannot be read is not.
expect 0 compare problems/tower.hdf5 --max-iter 1 --tol 1e-12
expect_in out "iteration_limit"
for solver in admm nsgs pgs; do expect_in out $solver; done
expect 2 compare problems/tower.hdf5 problems/damaged.hdf5 --tol 1e-3
expect_in out "tower.hdf5"

# Files of the same name are told apart.
mkdir more
cp problems/tower.hdf5 more/
expect 0 compare problems/tower.hdf5 more/tower.hdf5 --solvers pgs --tol 1e-2
expect_in out "more/tower.hdf5"
expect_in out "problems/tower.hdf5"

finish
