"""Growing scenes: time per step and body, memory per body, and where the time goes; rows of bench/results/sim_scale.csv.

Every size is a process of its own: bodies fall from their grid and settle, so that a run has free flight, impacts and rest in
the same shares for all sizes. CPU time of the steps (not of building the scene), peak resident memory of the process less
that of a scene with one body. A scene stops growing where a run takes more CPU time than the cap; that is said.
"""

import json
import math
import os
import resource
import signal
import subprocess
import tempfile

from report.machine import say
from report.page import read_csv
from studies.sim_speed import ENVIRONMENT, PARTS, number, write_rows

SIZES = [100, 300, 1000, 3000, 10000, 20000]
# Scene: parameter that counts bodies, other words, simulated seconds.
SCENES = {
    "balls-in-box": ("balls", [], 0.6),
    "balls-in-box mu=0.5": ("balls", ["--set", "mu=0.5"], 0.6),
    "balls-in-box nsgs": ("balls", ["--solver", "nsgs"], 0.6),
    "clutter": ("bodies", [], 0.5),
}
COLUMNS = ["scene", "bodies", "dt", "steps", "cpu_seconds", "us_per_step_body", "us_per_step_contact", "peak_mb", "kb_per_body",
           "contacts", "iterations", "certificate_worst", "missed_steps", *(f"{p}_us" for p in PARTS)]  # fmt: skip


def run(tribo, name, words, seconds, cap):
    """(JSON, peak memory in kB); None when it took longer than the cap or failed."""
    command = [str(tribo), "sim", "--scene", name.split(" ")[0], *words, "--time", repr(seconds), "--json", "--quiet"]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as complaints:
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cap), math.ceil(cap)))  # noqa: E731
        process = subprocess.Popen(command, stdout=output, stderr=complaints, env=ENVIRONMENT, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        process.returncode = code
        output.seek(0)
        text = output.read()
        if code in (-signal.SIGKILL, -signal.SIGXCPU):
            say(f"scale: {name} {words[-1]}: more than {cap:g} s of CPU time, so this and larger sizes are left out")
            return None
        if code not in (0, 3) or not text.strip():
            complaints.seek(0)
            say(f"scale: {' '.join(command)} failed (exit {code}): {complaints.read().strip()}")
            return None
        return json.loads(text), usage.ru_maxrss


def row_of(name, bodies, result, peak, base):
    per = 1e6 / (result["steps"] * bodies)
    contacts = max(result["contacts_mean"], 1e-9)
    # The parts are measured by the wall clock, so they share the CPU time in its proportions.
    share = per * result["cpu_seconds"] / (sum(result["time_split"].values()) or 1.0)
    return {"scene": name, "bodies": bodies, "dt": result["dt"], "steps": result["steps"],
            "cpu_seconds": number(result["cpu_seconds"]), "us_per_step_body": number(per * result["cpu_seconds"]),
            "us_per_step_contact": number(1e6 * result["cpu_seconds"] / (result["steps"] * contacts)),
            "peak_mb": number(peak / 1024), "kb_per_body": number((peak - base) / bodies), "contacts": number(contacts),
            "iterations": number(result["iterations_mean"]), "certificate_worst": number(result["certificate"]["worst"]),
            "missed_steps": result["missed_steps"],
            **{f"{p}_us": number(share * result["time_split"][p]) for p in PARTS}}  # fmt: skip


def scale(arguments):
    tribo = arguments.bin / "tribo"
    sizes, cap = (SIZES[:3], 30.0) if arguments.quick else (SIZES, arguments.scale_cap)
    path = arguments.out / "sim_scale.csv"
    rows = [] if not arguments.scene else [r for r in read_csv(path) if r["scene"] not in arguments.scene]
    for name, (parameter, words, seconds) in SCENES.items():
        if arguments.scene and name not in arguments.scene:
            continue
        alone = run(tribo, name, [*words, "--set", f"{parameter}=1"], seconds, cap)
        for bodies in sizes:
            measured = run(tribo, name, [*words, "--set", f"{parameter}={bodies}"], seconds, cap) if alone else None
            if measured is None:
                break
            rows.append(row_of(name, bodies, *measured, alone[1]))
            r = rows[-1]
            parts = ", ".join(f"{p} {r[f'{p}_us']}" for p in PARTS)
            say(f"scale: {name} {bodies}: {r['us_per_step_body']} us per step and body ({parts}), {r['kb_per_body']} kB, "
                f"{r['missed_steps']} of {r['steps']} steps missed")  # fmt: skip
            write_rows(path, COLUMNS, rows)
    say(f"wrote {path}")
