#!/usr/bin/env bash
# Pages of simulations: --record x.html, tribo view, --snapshot, --view; what is refused and what is written.
. "$(dirname "$0")/common.bash"

expect_error "a recording ends in .html, .h5" sim --scene stack --record run.mp4
expect_error "--record-fps belongs to a page" sim --scene stack --record run.h5 --record-fps 30
expect_error "--record-fps -1" sim --scene stack --record run.html --record-fps -1
expect_error "there is no folder" sim --scene stack --record nowhere/run.html
expect_error "write t=TIME:FILE.png" sim --scene stack --snapshot 1.5:out.png
expect_error "write t=TIME:FILE.png" sim --scene stack --snapshot t=1.5
expect_error "write t=TIME:FILE.png" sim --scene stack --snapshot t=-1:out.png
expect_error "a picture ends in .png" sim --scene stack --snapshot t=1:out.jpg
expect_error "a port is a whole number" sim --scene stack --view 70000
expect_error "--view-address belongs to --view" sim --scene stack --view-address 0.0.0.0
expect_error "--view excludes --record" sim --scene stack --view 0 --record run.csv
expect_error "missing.h5: there is no such file" view missing.h5
expect_error "FILE" view
echo hello >note.h5
expect_error "note.h5" view note.h5
head -c 9000 /dev/urandom >noise.h5
expect_error "noise.h5" view noise.h5
mkdir folder.h5
expect_error "folder.h5" view folder.h5

expect 0 sim --scene stack --time 0.1 --quiet --record run.h5
expect_error "this is the recording itself" view run.h5 -o run.h5
head -c 20000 run.h5 >cut.h5
expect_error "cut.h5: the file is cut short" view cut.h5
mkdir folder.html
expect_error "folder.html" sim --scene stack --record folder.html
expect_error "folder.html" view run.h5 -o folder.html

# A tool that was built without the viewer says so, and nothing of the above is written.
if ! "$tribo" view run.h5 -o probe.html >out 2>err; then
  expect_in err "built without the viewer"
  expect_error "scripts/build-viewer" sim --scene stack --record run.html
  [ -e run.html ] && fail "half a page was left behind"
  echo "tests/cli/view.sh: this tribo has no viewer: its pages are not checked"
  finish
  exit
fi

expect 0 sim --scene stack --set boxes=3 --time 0.5 --quiet --record run.html --record-fps 20
expect 0 view run.h5
expect_in out "run.html"
expect 0 sim --scene stack --time 0.1 --law convex --quiet --record convex.h5
expect 0 view run.h5 convex.h5 --fps 0 -o both.html
expect_in both.html 'class="tribo-world" data-run="1"'
expect_error "--fps" view run.h5 --fps nan
[ "$(grep -c 'class="tribo-world"' both.html)" -eq 2 ] || fail "two worlds are not in both.html"
grep -q 'src="http\|href="http' both.html && fail "the page fetches something"

# A recording of an older version: without shapes.
if command -v h5repack >/dev/null && command -v python3 >/dev/null; then
  python3 - <<'PY' && expect_error "older version" view old.h5
data = open("run.h5", "rb").read()
assert b"view" in data
open("old.h5", "wb").write(data.replace(b"view\0", b"veil\0"))
PY
fi

# A run that is stopped leaves a page that opens.
"$tribo" sim --scene stack --time 1000 --quiet --record killed.html >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do
  grep -qs 'class="tribo-frames"' killed.html && break
  sleep 0.1
done
kill -9 $pid
wait $pid 2>/dev/null
grep -q 'class="tribo-frames"' killed.html || fail "a killed run left no frames"

# Without a browser: a clear message, before anything is simulated.
export TRIBO_CHROMIUM=/no/such
expect_error "there is no such program" sim --scene stack --snapshot t=0.5:out.png
unset TRIBO_CHROMIUM
expect_error "the simulation ends at 0.2 s" sim --scene stack --time 0.2 --snapshot t=0.5:out.png
[ -e out.png ] && fail "a picture was written all the same"

# Live: it prints an address, answers there, and ends with a summary.
"$tribo" sim --scene stack --view 0 --json >live.out 2>live.err &
pid=$!
for _ in $(seq 100); do
  grep -qs 'token=' live.err && break
  sleep 0.1
done
check_python "live view" '
import json, re, sys, time, urllib.request, urllib.error
url = re.search(r"http://127\.0\.0\.1:\d+/\?token=\w+", open("live.err").read())[0]
assert b"tribo-live" in urllib.request.urlopen(url).read()
assert json.load(urllib.request.urlopen(url.replace("/?", "/world?")))["name"] == "stack"
try:
    urllib.request.urlopen(url[:-1])
    sys.exit("a wrong token was accepted")
except urllib.error.HTTPError as error:
    assert error.code == 403
body = json.dumps({"do": "pause"}).encode()
assert json.load(urllib.request.urlopen(url.replace("/?", "/command?"), body))["ok"]
time.sleep(0.1)
'
port=$(grep -o '127\.0\.0\.1:[0-9]*' live.err | cut -d : -f 2)
expect_error "port $port cannot be had" sim --scene stack --view "$port"
kill -INT $pid
wait $pid || fail "the live run ended with $?"
check_python "summary of the live run" 'import json; assert json.load(open("live.out"))["steps"] >= 0'

finish
