"""What a replay costs: bench/results/replay.csv. Its size, what recording adds to a run, memory over a long run, and the time
of the page's script per frame.

    bench/run.py --suite replay [--scene overhead|memory|script]

Runs with and without --record take turns; CPU time of the whole process (with the thread that compresses), wall clock, and what
recording takes of the thread that steps (`record_cpu_seconds` of --json: frames and details of contacts; the rest runs beside the
next steps), the best of each. Memory: the resident set of a run ten times as long, sampled. The script: `npm run measure` in viewer/, where
node, its packages and Chromium are. Standard library only.
"""

import csv
import json
import os
import pathlib
import subprocess
import tempfile
import time

from report.machine import ROOT, say

SCENE = ["--scene", "clutter", "--set", "bodies=200"]
SECONDS = 10.0  # simulated
TURNS = 5
LONG = 100.0  # simulated s, for the memory
OUTPUTS = {"without": None, "page": "run.html"}
COLUMNS = ["part", "measure", "value", "unit", "aim", "of"]


def run(tribo, words, folder, watch=None):
    """(wall s, CPU s, CPU s of recording on the thread that steps) of one run; watch is called with its process id until it
    ends."""
    begin = time.perf_counter()
    before = os.times()
    child = subprocess.Popen([tribo, "sim", *words, "--json", "--quiet"], cwd=folder, stdout=subprocess.PIPE)
    while watch and child.poll() is None and watch(child.pid):
        time.sleep(0.05)
    summary = json.loads(child.communicate()[0])
    wall = time.perf_counter() - begin
    after = os.times()
    if child.returncode not in (0, 3):
        raise SystemExit(f"bench: {' '.join(words)} failed (exit {child.returncode})")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, spent, summary["record_cpu_seconds"]


def resident(pid):
    """MB, None when the process is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return None


def words_of(output, seconds):
    return [*SCENE, "--time", repr(seconds), *(["--record", output] if output else [])]


def overhead(tribo, folder, rows):
    times = {name: [] for name in OUTPUTS}
    for _ in range(TURNS):
        for name, output in OUTPUTS.items():
            times[name].append(run(tribo, words_of(output, SECONDS), folder))
    best = {name: [min(t[k] for t in list_) for k in range(3)] for name, list_ in times.items()}
    for name, output in OUTPUTS.items():
        aims = ("", 5.0) if name == "page" else ("", "")
        for k, clock in enumerate(["wall clock", "CPU time"]):
            rows.append([f"{name}: {clock}", f"{best[name][k]:.4g}", "s", "", f"best of {TURNS}"])
            if output:
                rows.append([f"{name}: recording, share of {clock}", f"{best[name][k] / best['without'][k] - 1:.4f}", "",
                             aims[0], "clutter, 200 bodies, 10 s"])  # fmt: skip
        if output:
            rows.append([f"{name}: recording, share of the thread that steps", f"{best[name][2] / best['without'][1]:.4f}", "",
                         0.05, "clutter, 200 bodies, 10 s"])  # fmt: skip
            rows.append([f"{name}: size", f"{(folder / output).stat().st_size / 1e6:.3f}", "MB", aims[1],
                         "clutter, 200 bodies, 10 s at 60 frames/s" if name == "page" else "every step"])  # fmt: skip


def memory(tribo, folder, rows):
    for name, output in OUTPUTS.items():
        samples = []

        def watch(pid, samples=samples):
            now = resident(pid)
            if now:
                samples.append(now)
            return now is not None

        run(tribo, words_of(output, LONG), folder, watch)
        # The scene has settled after a tenth; the run takes as long for every tenth after that.
        for share in (0.2, 0.4, 0.6, 0.8, 0.99):
            rows.append([f"{name}: memory after {100 * share:.0f} %", f"{samples[int(share * len(samples))]:.1f}", "MB",
                         "flat" if name == "page" else "", f"clutter, 200 bodies, {LONG:g} s"])  # fmt: skip


def script(tribo, folder, rows):
    viewer = ROOT / "viewer"
    done = subprocess.run(["npm", "run", "--silent", "measure"], cwd=viewer, capture_output=True, text=True)
    if done.returncode != 0:
        say("replay: the page is not measured (scripts/build-viewer and Chromium are needed)")
        return
    for case in json.loads(done.stdout.splitlines()[-1]):
        of = f"1000 bodies, {case['contacts'][0]} contacts, {case['frames']} frames, {case['draw_calls']} draw calls"
        rows.append([f"script per frame, {case['shown']}: median", f"{case['median_ms']:.2f}", "ms", "6", of])
        rows.append([f"script per frame, {case['shown']}: 95 % below", f"{case['p95_ms']:.2f}", "ms", "", of])


PARTS = {"overhead": overhead, "memory": memory, "script": script}


def replay(arguments):
    tribo = (arguments.bin / "tribo").resolve()
    file = arguments.out / "replay.csv"
    kept = list(csv.reader(file.open()))[1:] if file.exists() else []
    lines = []
    for part, measure in PARTS.items():
        if arguments.scene and part not in arguments.scene:
            lines += [row for row in kept if row[0] == part]
            continue
        rows = []
        with tempfile.TemporaryDirectory() as name:
            measure(tribo, pathlib.Path(name), rows)
        lines += [[part, *row] for row in rows]
        for row in rows:
            say("replay: " + ", ".join(str(x) for x in row if x != ""))
    with open(file, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(lines)
