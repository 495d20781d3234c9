"""Solutions against mechanics, against the certificate's definition, and against the tool bit for bit."""

import json
import subprocess
import threading
import time

import numpy as np
import pytest

import tribo


def test_ball_that_slides(ball):
    solution, report = tribo.solve(ball)
    assert report.converged and report.status == "converged"
    # Stopping the fall takes 2 N s; friction 0.4 of it takes 0.8 of the 1 N s sideways.
    assert np.allclose(solution.impulse, [-0.8, 0, 2], atol=1e-12)
    assert np.allclose(solution.velocity, [0.1, 0, 0], atol=1e-12)
    assert np.allclose(solution.generalized_velocity, [0.1, 0, 0], atol=1e-12)


def test_all_solvers_agree_on_a_tower():
    problem = tribo.generate("tower:bodies=3")
    reference, _ = tribo.solve(problem, tolerance=1e-9)
    names = [s.name for s in tribo.solvers() if s.family == "tribo" and "exact" in s.laws]
    assert {"auto", "admm", "alnewton", "ipm", "nsgs", "pgs", "canal"} <= set(names)
    for name in names:
        solution, report = tribo.solve(problem, solver=name, tolerance=1e-8)
        assert report.converged and report.solver == name
        assert np.allclose(solution.velocity, reference.velocity, atol=1e-6), name


def test_options_by_class_by_dict_and_by_name_are_the_same():
    problem = tribo.generate("tower:bodies=5,slide")
    runs = [
        tribo.solve(problem, solver="nsgs:omega=1.2", history=True),
        tribo.solve(problem, solver=tribo.options.Nsgs(omega=1.2), history=True),
        tribo.solve(problem, solver="nsgs", options=tribo.options.Nsgs(omega=1.2), history=True),
        tribo.solve(problem, solver="nsgs", options={"omega": 1.2}, history=True),
    ]
    for solution, report in runs:
        assert np.array_equal(solution.impulse, runs[0][0].impulse)
        assert np.array_equal(report.history["error"], runs[0][1].history["error"])
    plain, _ = tribo.solve(problem, solver="nsgs")
    assert not np.array_equal(plain.impulse, runs[0][0].impulse)
    assert tribo.options.Admm(rho=0.1).specification() == "admm:rho=0.1"


def test_every_option_class_gives_a_solver_that_runs(ball):
    for info in tribo.solvers():
        name = "".join(part[:1].upper() + part[1:] for part in info.name.split("-"))
        options = getattr(tribo.options, name)()
        assert options.solver == info.name
        law = info.laws[0]
        tribo.solve(ball, solver=options, law=law, max_iterations=5)


def test_certificate_is_recomputed_from_impulses(ball):
    solution, report = tribo.solve(ball)
    assert tribo.certify(ball, solution).error.value == report.certificate.error.value
    wrong = solution.impulse.copy()
    wrong[2] -= 0.5
    certificate = tribo.certify(ball, wrong)
    # 0.5 N s too little leaves 0.25 m/s of penetration.
    assert np.isclose(certificate.penetration_velocity.value, 0.25) and certificate.error.value > 0.1
    # Coulomb slides along the ground; under the convex law sliding opens the contact.
    assert tribo.certify(ball, solution, law="convex").error.value > 1e-2
    opened, report = tribo.solve(ball, law="convex")
    assert report.converged and opened.velocity[2] > 0.01


def test_history_and_stages():
    problem = tribo.generate("tower:bodies=10,mass-ratio=1e4")
    _, report = tribo.solve(problem, history=True, explain=True)
    assert report.history.dtype.names == ("iteration", "error", "seconds", "penalty")
    assert report.history["error"][-1] <= 1e-6 and np.all(np.diff(report.history["seconds"]) >= 0)
    assert [s.name for s in report.stages]
    _, silent = tribo.solve(problem)
    assert len(silent.history) == 0 and silent.stages == []


def test_warm_start_from_a_solution_ends_at_once():
    problem = tribo.generate("tower:bodies=10,slide")
    solution, cold = tribo.solve(problem, tolerance=1e-9)
    for start in (solution, solution.impulse, list(solution.impulse)):
        again, report = tribo.solve(problem, tolerance=1e-8, warm_start=start)
        assert report.iterations <= 1 < cold.iterations and np.allclose(again.impulse, solution.impulse, atol=1e-12)


def test_infeasible_is_proved_and_told():
    builder = tribo.ProblemBuilder()
    body = builder.add_tree([[1.0]], [0.0])
    builder.add_unilateral({body: [1.0]}, bias=-1.0)
    builder.add_unilateral({body: [-1.0]}, bias=-1.0)
    _, report = tribo.solve(builder.build())
    assert report.status == "infeasible" and not report.converged
    (proof,) = report.contradictions
    assert sorted(proof.constraints) == [0, 1] and np.isclose(proof.violation, 1.0)
    assert "contradict" in repr(report) and "contradict" in report._repr_html_()


def test_limits_give_a_status_and_the_best_iterate():
    problem = tribo.generate("tower:bodies=20,slide")
    solution, report = tribo.solve(problem, solver="pgs", tolerance=1e-12, max_iterations=3)
    assert report.status == "iteration_limit" and np.isfinite(solution.impulse).all()
    _, report = tribo.solve(problem, solver="pgs", tolerance=1e-15, time_limit=0.01)
    assert report.status in ("time_limit", "stalled")


def test_progress_sees_errors_and_may_cancel():
    problem = tribo.generate("tower:bodies=20,slide")
    seen = []
    tribo.solve(problem, solver="pgs", tolerance=1e-5, progress=lambda *p: seen.append(p))
    assert len(seen) > 2 and seen[-1][1] <= 1e-5
    _, report = tribo.solve(problem, solver="pgs", tolerance=1e-12, progress=lambda iteration, error, seconds: iteration < 5)
    assert report.status == "cancelled"


def test_exception_of_progress_comes_through():
    problem = tribo.generate("tower:bodies=20,slide")

    def fail(iteration, error, seconds):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tribo.solve(problem, solver="pgs", tolerance=1e-12, progress=fail)
    assert tribo.solve(problem, solver="pgs", tolerance=1e-3)[1].converged


def test_same_bits_for_any_number_of_threads_and_for_a_used_solver():
    problem = tribo.generate("pile:bodies=60,slide")
    first, _ = tribo.solve(problem)
    for threads in (1, 2, 3):
        again, _ = tribo.solve(problem, threads=threads)
        assert np.array_equal(again.impulse, first.impulse) and np.array_equal(again.velocity, first.velocity)


def test_gil_is_released():
    """Another Python thread goes on counting while a solve that cannot end takes its time."""
    problem = tribo.generate("tower:bodies=30,slide")
    count, stop = [0], threading.Event()

    def work():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    before = count[0]
    tribo.solve(problem, solver="pgs", tolerance=1e-16, time_limit=0.5, max_iterations=10**9)
    counted = count[0] - before
    stop.set()
    thread.join()
    assert counted > 5


def test_threads_of_python_solve_at_the_same_time():
    problem = tribo.generate("tower:bodies=10,slide")
    reference, _ = tribo.solve(problem)
    results = []

    def work():
        for _ in range(20):
            results.append(tribo.solve(problem)[0].impulse.copy())

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(results) == 80 and all(np.array_equal(r, reference.impulse) for r in results)


@pytest.mark.parametrize("kind", ["tower:bodies=10,mass-ratio=1e4", "tower:bodies=7,slide"])
def test_bits_of_the_tool(tool, tmp_path, kind):
    path, out = tmp_path / "p.hdf5", tmp_path / "s.json"
    problem = tribo.generate(kind)
    tribo.write(path, problem)
    subprocess.run([tool, "solve", str(path), "--tol", "1e-8", "--solution", str(out), "--quiet"], check=True)
    theirs = np.array(json.loads(out.read_text())["impulse"]).reshape(-1, 3)[:, [1, 2, 0]]  # files: (n, t1, t2)
    solution, _ = tribo.solve(tribo.read(path), tolerance=1e-8)
    assert np.array_equal(theirs.ravel(), solution.impulse)


def test_representations(ball):
    solution, report = tribo.solve(ball)
    assert "1 contact" in repr(ball) and "converged" in repr(report) and "tribo.Solution" in repr(solution)
    for thing in (ball, report, report.certificate):
        assert thing._repr_html_().startswith("<")
    assert "slip of sticking contacts" in repr(report.certificate)
    assert "nsgs" in repr(tribo.solvers()[4])
