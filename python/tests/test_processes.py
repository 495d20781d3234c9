"""Threads, Ctrl-C, pickling, fork."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tribo
from conftest import crate_world


@pytest.mark.parametrize("kind", ["tower:bodies=4,slide", "arm", "trees:bodies=3"])
def test_problems_and_answers_can_be_pickled(kind):
    problem = tribo.generate(kind)
    again = pickle.loads(pickle.dumps(problem))
    assert again == problem and copy.deepcopy(problem) == problem
    for solver in ("auto", "subadmm", "nsgs"):
        solution, report = tribo.solve(problem, solver=solver, history=True, explain=True)
        other, _ = tribo.solve(again, solver=solver)
        assert np.array_equal(solution.impulse, other.impulse)
    s, r = pickle.loads(pickle.dumps((solution, report)))
    assert np.array_equal(s.impulse, solution.impulse) and np.array_equal(s.velocity, solution.velocity)
    assert (r.solver, r.status, r.iterations, r.error) == (report.solver, report.status, report.iterations, report.error)
    assert np.array_equal(r.history, report.history) and repr(r.certificate) == repr(report.certificate)
    assert pickle.loads(pickle.dumps(tribo.options.Admm(rho=0.5))) == tribo.options.Admm(rho=0.5)


def test_every_kind_of_problem_survives_pickling():
    builder = tribo.ProblemBuilder()
    a = builder.add_tree(np.eye(6), np.arange(6.0))
    builder.add_unilateral({a: np.eye(6)[0]}, key=11)
    builder.add_box(-np.inf, 3.0, {a: np.eye(6)[1]}, compliance=0.1)
    builder.add_bilateral({a: np.eye(6)[2]}, bias=0.5)
    builder.add_contact([0.5, 0.4, 0.1], {a: np.eye(6)[[0, 1, 5, 2]]})
    problem = builder.build()
    assert pickle.loads(pickle.dumps(problem)) == problem
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6, 6))
    local = tribo.Problem.local(x @ x.T + np.eye(6), rng.normal(size=6), 0.5)
    assert pickle.loads(pickle.dumps(local)) == local
    _, report = tribo.solve(tribo.generate("tower:bodies=3"))
    with pytest.raises((ValueError, TypeError, RuntimeError, IndexError)):
        tribo.Problem.__new__(tribo.Problem).__setstate__((1, 2))


@pytest.mark.parametrize("make", [lambda: crate_world(), lambda: tribo.Simulator(crate_world()), lambda: tribo.ProblemBuilder(), lambda: tribo.Simulator(crate_world()).body(0), lambda: tribo.Batch(crate_world(), 2)])
def test_what_cannot_be_pickled_says_so(make):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(make())


def test_a_simulator_belongs_to_one_thread_at_a_time():
    sim = tribo.Simulator(crate_world())
    errors, running = [], threading.Event()

    def work():
        running.set()
        sim.step(300_000)

    thread = threading.Thread(target=work)
    thread.start()
    running.wait()
    while thread.is_alive():
        for call in (lambda: sim.step(), lambda: sim.contacts, lambda: sim.set_state(v=np.zeros(6)), lambda: sim.energy):
            try:
                call()
            except RuntimeError as error:
                errors.append(str(error))
        float(sim.q[0]), sim.time  # views may be read at any time
    thread.join()
    assert errors and all("another thread" in e for e in errors)
    sim.step()


def test_a_callback_may_read_but_not_change_what_is_at_work():
    sim = tribo.Simulator(crate_world(), solver="pgs", max_iterations=1, tolerance=1e-14, warm_start=False)
    sim.set_state(v=[2.0, 0.3, 0, 0.2, 0.1, 1.0])
    read = []

    def look(report):
        read.append((sim.time, len(sim.contacts), sim.energy.total))
        sim.step()

    sim.on_missed = look
    with pytest.raises(RuntimeError, match="callback"):
        sim.step(50)
    assert len(read) == 1


@pytest.mark.parametrize(
    "work",
    [
        "tribo.solve(tribo.generate('tower:bodies=3000,slide'), solver='pgs', tolerance=1e-16, max_iterations=10**9)",
        "tribo.Simulator(tribo.scene('slope')).step(10**9)",
        "view = tribo.view(tribo.Simulator(tribo.scene('slope')), paused=True); view.wait()",
    ],
    ids=["solve", "step", "wait"],
)
def test_ctrl_c(work):
    code = f"""
        import tribo
        print("ready", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    import time

    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    assert out == "interrupted\n" and child.returncode == 0


FORK = """
    import gc, os, sys, numpy as np, tribo
    problem = tribo.generate("tower:bodies=6,slide")
    before = tribo.solve(problem, threads=2)[0].impulse.copy()
    alone, shared = tribo.Simulator(tribo.scene("slope")), tribo.Simulator(tribo.scene("slope"), threads=2)
    shared.step(10)
    recording = alone.record(fps=0)
    alone.step(10)
    batch, view = tribo.Batch(tribo.scene("slope"), 3, threads=2), tribo.view(shared, paused=True)
    batch.step(2)
    pid = os.fork()
    if pid == 0:
        assert np.array_equal(tribo.solve(problem, threads=2)[0].impulse, before)
        alone.step(10)
        try:
            shared.step(10)
            os._exit(2)
        except RuntimeError as error:
            assert "fork" in str(error), error
        assert shared.step_count == 10
        try:
            recording.finish()
            os._exit(3)
        except RuntimeError as error:
            assert "fork" in str(error), error
        try:
            batch.step()
            os._exit(4)
        except RuntimeError as error:
            assert "fork" in str(error), error
        view.close()
        del shared, alone, recording, batch, view
        gc.collect()
        tribo.Simulator(tribo.scene("slope"), threads=2).step(10)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    shared.step(10)
    alone.step(20)
    batch.step(2)
    recording.save(sys.argv[1])
    assert recording.frames == 31, recording.frames
    folder = recording.file.parent
    del recording
    assert not folder.exists()
    import urllib.request
    assert urllib.request.urlopen(view.url, timeout=10).status == 200
    sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_ctrl_c_leaves_a_view_that_goes_on():
    code = """
        import tribo
        sim = tribo.Simulator(tribo.scene("slope"))
        view = tribo.view(sim)
        print("ready", flush=True)
        view.run()
        steps = sim.step_count
        assert view.wait()
        view.step()
        assert sim.step_count == steps + 1
        print("goes on", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    import time

    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    assert out == "goes on\n" and child.returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork(tmp_path):
    page = tmp_path / "run.html"
    subprocess.run([sys.executable, "-c", textwrap.dedent(FORK), str(page)], check=True, timeout=60)
    assert page.read_text().count('class="tribo-end"') == 1  # the parent's, whole


def test_a_process_pool_solves():
    import concurrent.futures
    import multiprocessing

    problems = [tribo.generate("tower", bodies=k) for k in (2, 3)]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        for problem, (solution, report) in zip(problems, pool.map(tribo.solve, problems)):
            here, _ = tribo.solve(problem)
            assert report.converged and np.array_equal(solution.impulse, here.impulse)
