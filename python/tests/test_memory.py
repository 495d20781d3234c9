"""No copies where views are promised, nothing kept after it is gone."""

import gc
import resource
import subprocess
import sys
import textwrap
import weakref

import numpy as np

import tribo
from conftest import crate_world


def address(array):
    return array.__array_interface__["data"][0]


def test_views_are_not_copies(ball):
    solution, report = tribo.solve(tribo.generate("tower:bodies=3"), history=True)
    for owner, names in ((ball, ["momentum", "bias", "compliance", "free_velocity"]), (solution, ["impulse", "velocity"])):
        for name in names:
            assert address(getattr(owner, name)) == address(getattr(owner, name)), name
    assert address(report.history) == address(report.history)


def test_cycles_through_callbacks_are_collected():
    sim = tribo.Simulator(crate_world())
    body = sim.body("crate")
    sim.on_missed = lambda report: (sim, body)
    reference = weakref.ref(sim)
    del sim, body
    gc.collect()
    assert reference() is None


def grown_kb(work, warm_up, repeats):
    for _ in range(warm_up):
        work()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(repeats):
        work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def test_memory_stays_flat_when_solving_and_stepping(ball):
    sim = tribo.Simulator(crate_world())

    def work():
        tribo.solve(ball, history=True)[0].impulse.sum()
        sim.step()
        sim.contacts["gap"].sum(), sim.q[0], sim.body("crate").position, sim.problem()

    assert grown_kb(work, 500, 3000) < 1000


def test_worlds_problems_and_simulators_are_given_back():
    def work():
        tribo.Simulator(crate_world()).step(3)
        tribo.generate("tower:bodies=5").mass

    assert grown_kb(work, 100, 500) < 2000


def test_nanobind_finds_no_leaks_at_the_end():
    code = """
        import tribo
        problem = tribo.generate("tower:bodies=3,slide")
        solution, report = tribo.solve(problem, history=True, progress=lambda *p: True)
        sim = tribo.Simulator(tribo.scene("slope"))
        sim.on_missed = lambda r: sim
        view, body = sim.q, sim.body(0)
        sim.step(10)
        sim.contacts, sim.problem(), sim.inverse_dynamics([0.0] * 6)
        del sim
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert "leak" not in done.stderr.lower() and done.stderr == ""
