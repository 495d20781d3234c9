#!/usr/bin/env bash
# campaign: results, pages, runs that are killed and go on, shards, crashed solvers, the rules of the conclusions.
. "$(dirname "$0")/common.bash"

expect 0 collect problems --small --families boxes-stack,chain
# A fifth of them is enough, of both families, and those that are named below.
for file in problems/*/*.hdf5; do
  case $file in *[05].hdf5 | */boxes-stack-0029.hdf5) ;; *) rm "$file" ;; esac
done
python3 - <<'PYTHON'
import csv, os
rows = list(csv.reader(open("problems/manifest.csv")))
kept = [r for r in rows[1:] if os.path.exists("problems/" + r[1])]
csv.writer(open("problems/manifest.csv", "w"), lineterminator="\n").writerows(rows[:1] + kept)
PYTHON
count=$(ls problems/*/*.hdf5 | wc -l)
[ "$count" -ge 8 ] && [ "$count" -le 20 ] || fail "$count problems"
options=(--solvers "nsgs,auto,pgs:omega=1.2" --tol 1e-3,1e-5 --time-limit 20)

# The columns that do not depend on the clock.
same_tables() {
  check_python "$1 and $2" '
import csv, sys
def table(folder):
    rows = list(csv.DictReader(open(folder + "/results.csv")))
    return [{k: v for k, v in r.items() if k not in ("cpu_s", "cpu_spread", "repeats")} for r in rows]
a, b = table(sys.argv[1]), table(sys.argv[2])
assert len(a) == len(b), (len(a), len(b))
for x, y in zip(a, b): assert x == y, (x, y)
' "$1" "$2"
}

expect 0 campaign problems "${options[@]}" --out whole
expect_in out "false claims"
check_python "results" '
import csv, sys
rows = list(csv.DictReader(open("whole/results.csv")))
assert list(rows[0]) == ["family", "file", "solver", "tolerance", "measure", "law", "class", "error", "iterations", "cpu_s",
                         "cpu_spread", "repeats", "contacts", "rows", "dofs", "rank_ratio"]
problems = int(sys.argv[1])
assert len(rows) == problems * 3 * 2, len(rows)
assert [r["solver"] for r in rows[:6]] == ["nsgs", "nsgs", "auto", "auto", "pgs:omega=1.2", "pgs:omega=1.2"]
assert [r["tolerance"] for r in rows[:2]] == ["0.001", "1e-05"]
for r in rows:
    assert r["class"] != "false_claim" and r["measure"] == "siconos", r
    assert (r["class"] == "solved") == (float(r["error"]) <= float(r["tolerance"])), r
    assert float(r["cpu_s"]) > 0 and int(r["repeats"]) >= 1 and float(r["rank_ratio"]) >= 1
assert sum(r["class"] == "solved" for r in rows if r["solver"] == "auto") == 2 * problems
' "$count"
[ -e whole/journal.csv ] && fail "a finished campaign left its journal"
check_python "pages" '
import html.parser, re
void = {"meta", "line", "br", "input"}
class Balance(html.parser.HTMLParser):
    def __init__(self): super().__init__(); self.stack = []
    def handle_starttag(self, tag, attributes):
        if tag not in void: self.stack.append(tag)
    def handle_startendtag(self, tag, attributes): pass
    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, (tag, self.stack[-3:])
        self.stack.pop()
for name in ["index", "family-boxes-stack", "family-chain"]:
    text = open("whole/" + name + ".html", encoding="utf-8").read()
    page = Balance()
    page.feed(text)
    assert not page.stack, page.stack
    assert not re.search(r"src=|https?://|@import|url\(", text), "the page needs something from outside"
    assert "nan" not in re.sub(r"<script>.*</script>", "", text, flags=re.S).lower().split(), "nan"
    for word in ["Performance profiles", "prefers-color-scheme", "pgs:omega=1.2", "false claim"]: assert word in text, word
'

# The pages are made from the table alone.
cp -r whole again
rm again/*.html
expect 0 campaign --report again
for page in whole/*.html; do cmp -s "$page" "again/${page#whole/}" || fail "$page differs when made again"; done

# Killed twice and resumed.
for lines in 10 30; do
  "$tribo" campaign problems "${options[@]}" --out parts >/dev/null 2>&1 &
  process=$!
  for _ in $(seq 400); do
    [ "$(cat parts/journal.csv 2>/dev/null | wc -l)" -ge $lines ] && break
    kill -0 $process 2>/dev/null || break
    sleep 0.02
  done
  kill -9 $process 2>/dev/null
  wait $process 2>/dev/null
done
printf 'chain,chain/chain-00' >>parts/journal.csv  # torn
expect 0 campaign problems "${options[@]}" --out parts
same_tables whole parts

# Shards, merged in any order.
for k in 1 2 3; do expect 0 campaign problems "${options[@]}" --shard $k/3 --out shard$k --jobs 2; done
expect 0 campaign --merge merged shard3 shard1 shard2
same_tables whole merged
expect 0 campaign --merge merged2 shard1 shard2 shard3
cmp -s merged/results.csv merged2/results.csv || fail "the order of the shards shows in the merged table"
grep -q "no shard" err && fail "a whole campaign is said to lack a shard"
expect 0 campaign --merge partial shard3 shard1
expect_in err "no shard 2/3"

# More solvers and tolerances: only what is missing is measured.
expect 0 campaign problems --solvers admm --tol 1e-3 --time-limit 20 --out merged
check_python "added" '
import csv, sys
before = {tuple(r.items()) for r in csv.DictReader(open("merged2/results.csv"))}
after = {tuple(r.items()) for r in csv.DictReader(open("merged/results.csv"))}
assert before < after and len(after) == len(before) + int(sys.argv[1]), (len(before), len(after))
' "$count"
expect_error "differs in --measure" campaign problems --solvers auto --tol 1e-3 --time-limit 20 --measure scaled --out merged
expect_error "differs in --time-limit" campaign problems --solvers auto --tol 1e-3 --time-limit 3 --out merged

# A solving process that dies takes one solve with it.
mkdir one
cp problems/boxes-stack/boxes-stack-0030.hdf5 problems/boxes-stack/boxes-stack-0029.hdf5 one/
"$tribo" campaign one --solvers nsgs,auto --tol 1e-15 --time-limit 4 --measure scaled --out crash >/dev/null 2>crash.err &
process=$!
sleep 1.5
pkill -9 -P $process
wait $process || fail "a crash ended the campaign: $(cat crash.err)"
check_python "crash" '
import csv
rows = list(csv.DictReader(open("crash/results.csv")))
assert len(rows) == 4 and [r["class"] for r in rows].count("crashed") == 1, rows
assert all(r["error"] == "inf" for r in rows if r["class"] == "crashed")
'

# Files that cannot be read are rows, too.
echo unrelated >one/bad.hdf5
expect 0 campaign one --solvers auto --tol 1e-3 --out unreadable
expect_in err "bad.hdf5"
grep -q "bad.hdf5,auto,0.001,siconos,exact,refused,inf" unreadable/results.csv || fail "an unreadable file has no row"

# Results are known by the names of files: another folder is another campaign, however this one is written.
mkdir two
cp one/boxes-stack-0029.hdf5 two/
expect_error "differs in the folder of problems (one and two)" campaign two --solvers auto --tol 1e-3 --out unreadable
expect 0 campaign two/../one/ --solvers auto --tol 1e-3 --out unreadable

# The rules: a table made by hand, of which the verdicts are known.
mkdir rules
cp whole/campaign.json rules/
python3 - <<'PYTHON'
head = open("whole/results.csv").readline()
def row(family, k, solver, tol, solved, seconds, rank=2.0):
    return f"{family},{family}/{k}.hdf5,{solver},{tol},siconos,exact,{'solved' if solved else 'time_limit'},{0.5 * tol if solved else 1.0},10,{seconds},,1,4,12,6,{rank}\n"
with open("rules/results.csv", "w") as out:
    out.write(head)
    for k in range(10):
        for tol in (1e-4, 1e-8):
            out.write(row("chain", k, "eg-vi-upk", tol, True, 1.0, 1.0))
            out.write(row("chain", k, "eg-vi-upts", tol, True, 1.1, 1.0))
            out.write(row("chain", k, "nsgs-ac", tol, tol == 1e-4, 0.1, 1.0))
            out.write(row("chain", k, "fp-ds", tol, False, 0.1, 1.0))
            out.write(row("chain", k, "ppa-nsn-ac", tol, True, 0.3 if tol == 1e-8 else 0.2, 1.0))
            out.write(row("chain", k, "nsn-ac", tol, k < 6, 0.4, 1.0))
            out.write(row("chain", k, "nsgs-ac-gp", tol, tol == 1e-4, 0.2, 1.0))
            out.write(row("chain", k, "nsgs-fp-ds-one", tol, k < 9, 0.35, 1.0))
            out.write(row("bridge", k, "ppa-nsn-ac-gp-adaptive", tol, True, 0.2))
            out.write(row("bridge", k, "nsgs-ac", tol, tol == 1e-4 or k < 5, 0.1))
            for family, rank in (("chain", 1.0), ("bridge", 2.0)): out.write(row(family, k, "auto", tol, True, 0.5, rank))
PYTHON
expect 0 campaign --report rules
check_python "verdicts" '
import re
text = open("rules/index.html", encoding="utf-8").read()
verdict = {m.group(1): m.group(2) for m in re.finditer(r"<tr><td class=\"wrap\">(.*?)</td><td class=\"verdict \w+\">(.*?)</td>", text)}
def of(start): return next(v for k, v in verdict.items() if k.startswith(start))
assert of("No solver is universal") == "does not hold"          # auto solves everything
assert of("On every set") == "holds"
assert of("FP-DS") == "holds"
assert of("UPK and UPTS") == "holds"
assert of("NSGS is robust") == "holds"
assert of("NSGS has difficulties") == "holds"
assert of("The proximal point method improves") == "holds"
assert of("Rigid sets at 1e-8") == "holds"
assert of("NSN-FB-GP") == "not measurable"
assert of("Flexible sets") == "not measurable"
assert of("Extragradient") == "holds"
assert of("Rank deficiency") == "does not hold"                   # fails: 35 of 90 full-rank solves, 5 of 30 others
assert of("Newton methods solve some 60 %") == "holds"
assert of("A line search in the local Newton") == "holds"
assert of("... and on chains") == "holds"
assert of("Of the sweeps") == "does not hold"                     # bridges: nsgs-ac alone
assert of("Bridges at 1e-8") == "holds"
assert of("Over-relaxed") == "not measurable"
assert "chain 66 and 99" in text and "Fig. 12" in text            # figures of the paper
'

# Families stand for their solvers; options belong to one.
expect 0 campaign one --solvers proximal,pivoting,auto --tol 1e-3 --time-limit 2 --out families
check_python "families" '
import csv
names = {r["solver"] for r in csv.DictReader(open("families/results.csv"))}
assert len(names) == 6 + 2 + 1 and {"ppa-nsn-ac-gp-adaptive", "dantzig", "auto"} <= names, names
text = open("families/index.html", encoding="utf-8").read()
assert "Profiles by kind" in text and ">proximal<" in text
'
expect_error "several solvers" campaign problems --solvers pivoting:facets=4 --out x

# Families whose names differ in signs only have pages of their own.
mkdir -p "signs/a b" signs/a_b signs/a+b
for folder in "a b" a_b a+b; do cp problems/chain/chain-0005.hdf5 "signs/$folder/"; done
expect 0 campaign signs --solvers nsgs --tol 1e-3 --time-limit 20 --out signed
check_python "pages of families" '
import glob, html, re
links = re.findall(r"<a href=\"(family-[^\"]*)\">([^<]*)</a>", open("signed/index.html", encoding="utf-8").read())
assert len(links) == 3 and len({page for page, _ in links}) == 3, links
for page, family in links:
    assert f"<h1>{family} <" in open("signed/" + page, encoding="utf-8").read(), (page, family)
'

# What stands in the settings of somebody else is no part of the page.
mkdir evil
cp signed/*.csv signed/*.json evil/
sed -i 's|"measure": "siconos"|"measure": "<script>alert(1)</script>"|' evil/*.json
expect 0 campaign --report evil
grep -q '<script>alert' evil/*.html && fail "settings are written into the pages as they are"

# Two at once in one folder would each lose what the other measures.
exec 9<signed
flock 9
expect_error "another tribo is writing into this folder" campaign signs --solvers nsgs --tol 1e-3 --out signed
exec 9<&-

expect_error "no such folder" campaign nowhere --out x
expect_error "unknown solver 'autp'" campaign problems --solvers autp --out x
expect_error "--tol 1e-4,zero" campaign problems --tol 1e-4,zero --out x
expect_error "--shard 3/2" campaign problems --shard 3/2 --out x
expect_error "--time-limit -1" campaign problems --time-limit -1 --out x
expect_error "unknown measure" campaign problems --measure nothing --out x
expect_error "no results.csv" campaign --report problems
expect_error "has this shard finished?" campaign --merge x problems
[ -e x ] && fail "a refused campaign left something behind"

finish
