"""Whatever is wrong with the input, a Python exception names the argument; nothing crashes, nothing is half done."""

import gc
import math

import numpy as np
import pytest

import tribo
from conftest import crate_world

EYE, ZERO = np.eye(3), np.zeros(3)
GOOD = {"M": EYE, "H": EYE, "f": ZERO, "w": ZERO, "mu": 0.5}


def problem(**changes):
    return tribo.Problem(**{**GOOD, **changes})


def with_entry(value):
    matrix = np.eye(3)
    matrix[1, 2] = value
    return matrix


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"M": "text"}, "M"),
        ({"M": None}, "M"),
        ({"M": EYE * 1j}, "M.*complex128"),
        ({"M": np.array([["a"]])}, "M"),
        ({"M": np.array([[object()]])}, "M"),
        ({"M": [[1, 2], [3]]}, "M"),
        ({"f": {"a": 1}}, "f"),
        ({"w": np.array(["2020-01-01"], dtype="datetime64[D]")}, "w"),
        ({"mu": "rough"}, "mu"),
        ({"H": lambda: 1}, "H"),
    ],
)
def test_wrong_type_names_the_argument(changes, words):
    with pytest.raises(TypeError, match=words):
        problem(**changes)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"M": ZERO}, "M: expected 2 dimensions"),
        ({"M": np.zeros((3, 2))}, "M: expected a square"),
        ({"M": np.zeros((0, 0)), "H": np.zeros((0, 3)), "f": []}, "M"),
        ({"M": -EYE}, "positive definite"),
        ({"M": with_entry(math.nan)}, r"M: entry \(1, 2\) is nan"),
        ({"M": with_entry(math.inf)}, r"M: entry \(1, 2\) is inf"),
        ({"H": np.eye(4)}, "H"),
        ({"H": np.zeros((3, 4))}, "H"),
        ({"H": with_entry(-math.inf)}, r"H: entry \(1, 2\)"),
        ({"f": np.zeros(4)}, "f: expected 3 entries, not 4"),
        ({"f": np.zeros((3, 1))}, "f: expected 1 dimension"),
        ({"f": [0, math.nan, 0]}, "f: entry 1 is nan"),
        ({"w": []}, "w: expected 3 entries"),
        ({"mu": [0.1, 0.2]}, "mu"),
        ({"mu": -0.3}, "mu"),
        ({"mu": math.nan}, "mu"),
    ],
)
def test_wrong_shape_or_number_names_the_argument(changes, words):
    with pytest.raises(tribo.InvalidInput, match=words) as caught:
        problem(**changes)
    assert isinstance(caught.value, ValueError)


def test_missing_and_surplus_arguments():
    with pytest.raises(TypeError):
        tribo.Problem(EYE)
    with pytest.raises(TypeError):
        problem(color=3)
    with pytest.raises(TypeError):
        tribo.solve(problem(), tolerence=1e-3)


def test_builder_says_what_is_wrong():
    builder = tribo.ProblemBuilder()
    tree = builder.add_tree(EYE, ZERO)
    for call, error, words in [
        (lambda: builder.add_contact(0.5, {7: EYE}), ValueError, "tree"),
        (lambda: builder.add_contact(0.5, {tree: np.eye(2)}), ValueError, "Jacobian|block|3"),
        (lambda: builder.add_contact(0.5, [EYE]), TypeError, "blocks"),
        (lambda: builder.add_contact(0.5, {"a": EYE}), TypeError, "blocks"),
        (lambda: builder.add_contact([0.5] * 4, {tree: np.eye(5)}), ValueError, "mu"),
        (lambda: builder.add_contact(0.5, {tree: EYE}, bias=[1.0]), ValueError, "bias"),
        (lambda: builder.add_box(1.0, -1.0, {tree: [1.0, 0, 0]}), ValueError, "lower|upper|bounds|interval"),
        (lambda: builder.add_contact(0.5, {tree: EYE}, key=-1), TypeError, ".*"),
    ]:
        with pytest.raises(error, match=words):
            call()
            builder.build()
        builder = tribo.ProblemBuilder()
        tree = builder.add_tree(EYE, ZERO)
    with pytest.raises(ValueError, match="momentum"):
        builder.add_tree(EYE, [0.0])


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({"solver": "magic"}, ValueError, "magic"),
        ({"solver": "nsgs:omega=9"}, ValueError, "omega"),
        ({"solver": 3}, TypeError, "solver"),
        ({"solver": "nsgs", "options": tribo.options.Admm()}, ValueError, "options"),
        ({"solver": "nsgs", "options": {"omga": 1}}, ValueError, "omga"),
        ({"solver": "nsgs", "options": 3}, TypeError, "options"),
        ({"tolerance": 0.0}, ValueError, "tolerance"),
        ({"tolerance": math.nan}, ValueError, "tolerance"),
        ({"tolerance": "small"}, TypeError, ".*"),
        ({"measure": "metric"}, ValueError, "measure"),
        ({"law": "murphy"}, ValueError, "law"),
        ({"threads": 0}, ValueError, "threads"),
        ({"time_limit": -1.0}, ValueError, "time_limit"),
        ({"max_iterations": -1}, ValueError, "max_iterations"),
        ({"warm_start": [1.0]}, ValueError, "warm_start"),
        ({"warm_start": [1.0, math.nan, 0.0]}, ValueError, "warm_start"),
        ({"warm_start": "hot"}, TypeError, "warm_start"),
        ({"progress": 3}, TypeError, ".*"),
    ],
)
def test_solve_says_what_is_wrong(arguments, error, words):
    big = tribo.generate("tower:bodies=2,slide")
    with pytest.raises(error, match=words):
        tribo.solve(big if "progress" in arguments else problem(), **arguments)


def test_solution_of_another_problem_is_refused():
    solution, _ = tribo.solve(tribo.generate("tower:bodies=2"))
    for call in (
        lambda: tribo.solve(problem(), warm_start=solution),
        lambda: tribo.certify(problem(), solution),
        lambda: tribo.certify(problem(), [1.0]),
        lambda: tribo.write("never.hdf5", problem(), solution),
    ):
        with pytest.raises(ValueError, match="warm_start|impulse|solution"):
            call()


def test_files(tmp_path):
    (tmp_path / "no.hdf5").write_bytes(b"not a file of HDF5")
    for call in (
        lambda: tribo.read(tmp_path / "none.hdf5"),
        lambda: tribo.read(tmp_path / "no.hdf5"),
        lambda: tribo.write(tmp_path / "missing" / "x.hdf5", problem()),
        lambda: tribo.load(tmp_path / "none.xml"),
        lambda: tribo.load("<mujoco><worldbody><body></worldbody></mujoco>"),
        lambda: tribo.load("<nonsense/>"),
    ):
        with pytest.raises(tribo.InvalidInput):
            call()
    with pytest.raises(TypeError):
        tribo.read(3)
    with pytest.raises(TypeError):
        tribo.load(3)
    assert [p.name for p in tmp_path.iterdir()] == ["no.hdf5"]


def test_arrays_of_problems_cannot_be_written_to(ball):
    solution, _ = tribo.solve(ball)
    for array in (ball.momentum, ball.bias, ball.compliance, ball.free_velocity, solution.impulse, solution.velocity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        ball.momentum = ZERO
    with pytest.raises(TypeError):
        hash(ball)


def test_views_outlive_their_owner():
    solution, report = tribo.solve(tribo.generate("tower:bodies=4,slide"), solver="nsgs", history=True)
    sim = tribo.Simulator(crate_world())
    views = [solution.impulse, report.history["error"], tribo.generate("tower:bodies=4").momentum, sim.q, sim.joint(0).q]
    copies = [v.copy() for v in views]
    del solution, report, sim
    gc.collect()
    junk = [np.random.default_rng(0).normal(size=200) for _ in range(2000)]
    assert all(np.array_equal(v, c) for v, c in zip(views, copies)) and junk


def test_simulator_says_what_is_wrong(crate, pendulum):
    sim = tribo.Simulator(pendulum)
    for call, error, words in [
        (lambda: tribo.Simulator("crate"), TypeError, "world"),
        (lambda: tribo.Simulator(crate, dt=0.0), ValueError, "dt"),
        (lambda: tribo.Simulator(crate, dt=math.nan), ValueError, "dt"),
        (lambda: tribo.Simulator(crate, law="x"), ValueError, "law"),
        (lambda: tribo.Simulator(crate, scheme="x"), ValueError, "scheme|x"),
        (lambda: tribo.Simulator(crate, solver="x"), ValueError, "solver"),
        (lambda: tribo.Simulator(crate, threads=0), ValueError, "threads"),
        (lambda: tribo.Simulator(crate, contact={"slop": 1.0}), ValueError, "slop"),
        (lambda: sim.step(0), ValueError, "n"),
        (lambda: sim.step("many"), TypeError, ".*"),
        (lambda: sim.set_state(q=[0.0, 1.0]), ValueError, "q: expected 1 entry"),
        (lambda: sim.set_state(v=[math.nan]), ValueError, "v: entry 0 is nan"),
        (lambda: sim.set_state(v="fast"), TypeError, "v"),
        (lambda: setattr(sim, "control", [1.0, 2.0]), ValueError, "control"),
        (lambda: setattr(sim, "force", [math.inf]), ValueError, "force"),
        (lambda: setattr(sim, "gravity", [1.0]), ValueError, "gravity"),
        (lambda: setattr(sim, "on_missed", 3), TypeError, "on_missed"),
        (lambda: setattr(sim, "q", [0.0]), AttributeError, ".*"),
        (lambda: sim.reset("down"), ValueError, 'keyframe.*"up"'),
        (lambda: sim.body("leg"), ValueError, 'body.*"arm"'),
        (lambda: sim.body(9), ValueError, "body"),
        (lambda: sim.body(None), TypeError, "body"),
        (lambda: sim.joint("knee"), ValueError, "joint"),
        (lambda: sim.move_mocap("arm", ZERO), ValueError, "mocap"),
        (lambda: sim.inverse_dynamics([1.0, 2.0]), ValueError, "acceleration"),
        (lambda: sim.jacobian("arm", [1.0]), ValueError, "point"),
        (lambda: tribo.scene("slope", steepness=3), ValueError, "steepness"),
        (lambda: tribo.scene("moon"), ValueError, "moon"),
        (lambda: tribo.view("sim"), TypeError, "sim"),
        (lambda: sim.record(file="run.doc"), ValueError, "doc"),
    ]:
        with pytest.raises(error, match=words):
            call()
    sim.step(3)
    assert sim.step_count == 3


def test_a_state_that_blows_up_is_an_exception_that_names_the_step(crate):
    sim = tribo.Simulator(crate)
    sim.force[2] = 1e308
    with pytest.raises(tribo.InvalidInput, match="step"):
        sim.step(10_000_000)
    sim.reset()
    sim.step(10)
    assert np.isfinite(sim.q).all()


def test_nan_written_into_a_live_view_is_noticed(pendulum):
    sim = tribo.Simulator(pendulum)
    sim.control[:] = math.nan
    with pytest.raises(tribo.InvalidInput):
        sim.step()


def test_world_builder_says_what_is_wrong():
    builder = tribo.WorldBuilder()
    shape = tribo.Shape.sphere(0.1)
    for call, words in [
        (lambda: builder.add_body("a", parent="nobody"), "parent"),
        (lambda: builder.add_body("a", position=[0.0]), "position"),
        (lambda: builder.add_body("a", rotation=[0.0] * 4), "rotation"),
        (lambda: builder.add_body("a", rotation=2 * np.eye(3)), "rotation"),
        (lambda: builder.add_body("a", density=1.0), "density"),
        (lambda: builder.add_geom(shape, body=5), "body"),
        (lambda: builder.add_actuator("knee"), "joint"),
        (lambda: tribo.Shape.sphere(-1.0), ".*"),
        (lambda: tribo.Shape.hull([[0, 0, 0]]), ".*"),
        (lambda: tribo.Shape.mesh(np.eye(3), [[0, 1, 3]]), "triangles"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    builder.add_body("ball", shape=shape, mass=-1.0, free=True)
    with pytest.raises(ValueError, match="ball"):
        builder.build()
