#!/usr/bin/env python3
"""What a call from Python costs beside the same work inside C++, and whether memory stays flat over a million steps.

    build/venv/bin/python bench/studies/python_overhead.py [--steps 1000000] [--keep]

CPU time of the thread, which a busy machine changes least. step: one sim.step() per call against sim.step(n), whose loop runs in C++, in
turns; the difference is the overhead. solve: tribo.solve() on a ready problem of one contact against the seconds that the report
measures inside. Least of several runs. --keep: into bench/results/python.csv.
"""

import argparse
import resource
import time

import numpy as np
import tribo
from python_rows import Rows

CALLS = 4000


def crate():
    builder = tribo.WorldBuilder()
    shape = tribo.Shape.box([0.2, 0.2, 0.1])
    body = builder.add_body("crate", position=[0, 0, 0.1], shape=shape, mass=10.0, free=True)
    builder.add_geom(tribo.Shape.plane())
    builder.add_geom(shape, body)
    return tribo.Simulator(builder.build())


def free_body():
    builder = tribo.WorldBuilder(gravity=[0, 0, 0])
    builder.add_body("ball", shape=tribo.Shape.sphere(0.1), mass=1.0, free=True)
    return tribo.Simulator(builder.build())


def microseconds(works, runs=25):
    """Of one call, the least of each work; they take turns."""
    best = [float("inf")] * len(works)
    for _ in range(runs):
        for k, work in enumerate(works):
            begin = time.thread_time()
            work()
            best[k] = min(best[k], time.thread_time() - begin)
    return [1e6 * b / CALLS for b in best]


def step_overhead(rows, name, sim):
    sim.step(CALLS)

    def one_by_one():
        step = sim.step
        for _ in range(CALLS):
            step()

    outside, inside = microseconds([one_by_one, lambda: sim.step(CALLS)])
    rows.add(f"sim.step() of a {name}: in C++", inside, "us")
    rows.add(f"sim.step() of a {name}: a call from Python more", outside - inside, "us", 2)


def solve_overhead(rows):
    problem = tribo.Problem(2 * np.eye(3), np.eye(3), [1.0, 0.0, -2.0], np.zeros(3), 0.4)
    inside = [1e6 * tribo.solve(problem)[1].seconds for _ in range(CALLS)]

    def calls():
        for _ in range(CALLS):
            tribo.solve(problem)

    (outside,) = microseconds([calls])
    rows.add("tribo.solve(), one contact: in C++ (median)", float(np.median(inside)), "us")
    rows.add("tribo.solve(), one contact: a call from Python more", outside - float(np.median(inside)), "us", 5)


def view_cost(rows):
    sim = crate()

    def reads():
        for _ in range(CALLS):
            sim.q

    rows.add("sim.q, a view", microseconds([reads])[0], "us")
    address = sim.q.__array_interface__["data"][0]
    sim.step(10)
    rows.add("sim.q, the same memory before and after steps", sim.q.__array_interface__["data"][0] == address)


def resident_mb():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def memory(rows, steps):
    sim, problem = crate(), tribo.generate("tower:bodies=2")
    sizes = []
    for _ in range(10):
        for _ in range(steps // 10):
            report = sim.step()
            sim.q, sim.time, report.error
        for _ in range(200):
            tribo.solve(problem, history=True)
            sim.contacts, sim.problem(), sim.body("crate").position
        sizes.append(resident_mb())
    for share in (1, 5, 10):
        rows.add(f"resident memory after {10 * share} % of {steps} steps", round(sizes[share - 1], 2), "MB", "flat")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    rows = Rows("calls", arguments.keep)
    step_overhead(rows, "free body", free_body())
    step_overhead(rows, "crate", crate())
    solve_overhead(rows)
    view_cost(rows)
    memory(rows, arguments.steps)
    rows.write()


if __name__ == "__main__":
    main()
