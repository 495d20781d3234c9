"""Functions that the tests of sweep run in other processes, and a program that is killed."""

import os
import signal
import sys
import time

import numpy as np


def simulate(mass, force, seed, steps=50):
    """A mass under a random force: state, hash, certificate, and a time that no two runs share."""
    random = np.random.default_rng(seed)
    state = np.zeros(2)
    for _ in range(steps):
        state += 0.01 * np.array([state[1], (force + random.normal()) / mass])
    return {"state": state, "energy": 0.5 * mass * state[1] ** 2, "state_hash": int(state.view(np.uint64).sum()),
            "certificate": {"error": 1e-9 * force, "status": "converged"}, "seconds": time.perf_counter()}  # fmt: skip


def slope(angle, mu):
    import tribo

    sim = tribo.Simulator(tribo.scene("slope", angle=angle, mu=mu))
    report = sim.step(50)
    _, solved = tribo.solve(sim.problem(), tolerance=1e-8)
    return {"state_hash": sim.state_hash, "certificate": solved.certificate, "report": report, "q": sim.q, "seconds": report.seconds}


def sometimes_bad(k):
    if k == 3:
        raise ValueError("k must not be 3")
    if k == 7:
        sys.exit(5)
    return k * k


def sometimes_deadly(k):
    if k == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return k * k


def slow(k, seed, log):
    """Leaves a line per run, so that a test sees what ran twice."""
    time.sleep(0.1)
    with open(log, "a") as file:
        file.write(f"{k}\n")
    return {"k": k, "noise": np.random.default_rng(seed).normal(size=4)}


def unwritable(k):
    return {"k": k, "lock": lambda: None}


if __name__ == "__main__":
    import tribo
    import sweep_tasks

    tribo.sweep(sweep_tasks.slow, {"k": list(range(20))}, out=sys.argv[1], options={"log": sys.argv[2]}, workers=2)
