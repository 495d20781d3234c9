"""tribo.Batch from Python."""

import numpy as np
import pytest

import tribo

MODEL = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .35"><freejoint/><geom type="box" size=".1 .1 .05" mass="2"/><site name="s"/>
<body pos="0 0 -.05"><joint name="j" axis="0 1 0" range="-60 60"/><geom type="capsule" fromto="0 0 0 0 0 -.25" size=".03" mass=".4"/>
</body></body></worldbody><actuator><position joint="j" kp="40" kv="2" forcerange="-6 6"/></actuator>
<sensor><accelerometer name="a" site="s"/></sensor></mujoco>"""


@pytest.fixture(scope="module")
def world():
    return tribo.load(MODEL)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_world_has_the_bits_of_a_simulator(world, threads):
    controls = np.random.default_rng(1).uniform(-0.5, 0.5, (5, 20, 1))
    batch = tribo.Batch(world, 5, threads=threads)
    stepped = tribo.Batch(world, 5, threads=threads)
    result = batch.rollout(20, controls)
    assert result["q"].shape == (5, 20, 8) and result["sensor_data"].shape == (5, 20, 3) and result["error"].shape == (5, 20)
    for k in range(20):
        stepped.control[:] = controls[:, k]
        stepped.step()
    for number in range(5):
        sim = tribo.Simulator(world)
        for k in range(20):
            sim.control[:] = controls[number, k]
            sim.step()
        assert sim.q.tobytes() == batch.q[number].tobytes() == stepped.q[number].tobytes() == result["q"][number, -1].tobytes()
        assert sim.sensor_data.tobytes() == batch.sensor_data[number].tobytes()


def test_arrays_are_live_views(world):
    batch = tribo.Batch(world, 3)
    q, control, time, status = batch.q, batch.control, batch.time, batch.status
    batch.step(2)
    assert np.shares_memory(q, batch.q) and q[0, 2] < 0.35 and (time > 0).all() and (status == 0).all()
    control[:] = 0.25
    assert (batch.control == 0.25).all()
    batch.control = [0.5]
    assert np.shares_memory(control, batch.control) and (control == 0.5).all()
    with pytest.raises(ValueError):
        q[0] = 0.0
    del batch
    assert np.isfinite(q).all()
    assert len(tribo.Batch(world, 2)) == 2


def test_mask_reset_and_states(world):
    batch = tribo.Batch(world, 3)
    batch.step(4, mask=[True, False, True])
    assert batch.time[1] == 0 < batch.time[0]
    batch.reset(mask=np.array([True, False, False]))
    assert batch.time[0] == 0 < batch.time[2]
    q = batch.q.copy()
    q[:, 2] = [1.0, 2.0, 3.0]
    batch.reset(q=q)
    np.testing.assert_array_equal(batch.q[:, 2], [1, 2, 3])
    batch.reset(q=q[2])
    np.testing.assert_array_equal(batch.q[:, 2], [3, 3, 3])
    result = batch.rollout(3, states=(q, np.zeros((3, 7))))
    np.testing.assert_allclose(result["q"][:, -1, 2], [1, 2, 3], atol=1e-3)


def test_parameters_world_by_world(world):
    batch = tribo.Batch(world, 3)
    gravity = np.tile([0.0, 0.0, -9.81], (3, 1))
    gravity[1] = 0.0
    batch.set_parameter("gravity", gravity)
    mass = batch.parameter("mass").copy()
    mass[2, 1] *= 3
    batch.set_parameter("mass", mass)
    batch.step(5)
    assert batch.q[1, 2] == 0.35 > batch.q[0, 2]
    np.testing.assert_array_equal(batch.parameter("gain"), np.ones((3, 1)))
    with pytest.raises(ValueError, match="no parameter"):
        batch.set_parameter("colour", mass)
    with pytest.raises(ValueError, match="values"):
        batch.set_parameter("mass", mass[:, :1])
    with pytest.raises(ValueError, match="mass of body 1"):
        batch.set_parameter("mass", -mass)


def test_a_failure_stays_alone(world):
    batch, other = tribo.Batch(world, 3, threads=2), tribo.Batch(world, 3)
    batch.force[1, 0] = 1e308
    for b in (batch, other):
        b.step(5)
    assert list(batch.status) == [0, 1, 0] and "no longer finite" in batch.messages[1]
    assert np.isfinite(batch.q).all()
    assert batch.q[[0, 2]].tobytes() == other.q[[0, 2]].tobytes()
    batch.reset()
    batch.step(5)
    assert list(batch.status) == [0, 0, 0] and batch.q.tobytes() == other.q.tobytes()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda w: tribo.Batch(w, 0), ValueError, "n:"),
        (lambda w: tribo.Batch("no world", 1), TypeError, "world"),
        (lambda w: tribo.Batch(w, 1, threads=0), ValueError, "threads"),
        (lambda w: tribo.Batch(w, 2).step(0), ValueError, "k:"),
        (lambda w: tribo.Batch(w, 2).step(1, [True]), ValueError, "mask"),
        (lambda w: tribo.Batch(w, 2).step(1, [1, 2]), TypeError, "mask"),
        (lambda w: tribo.Batch(w, 2).reset(mask=[0.5, 1.0]), TypeError, "mask"),
        (lambda w: tribo.Batch(w, 2).reset(mask=["a", "b"]), TypeError, "mask"),
        (lambda w: tribo.Batch(w, 2).rollout(0), ValueError, "steps"),
        (lambda w: tribo.Batch(w, 2).rollout(3, np.zeros((2, 2, 1))), ValueError, "controls"),
        (lambda w: tribo.Batch(w, 2).rollout(3, np.full((2, 3, 1), np.nan)), ValueError, "controls"),
        (lambda w: tribo.Batch(w, 2).reset(q=np.zeros((2, 3))), ValueError, "q"),
        (lambda w: tribo.Batch(w, 2).reset(q=np.full(8, np.nan)), ValueError, "q"),
        (lambda w: setattr(tribo.Batch(w, 2), "control", np.zeros((3, 1))), ValueError, "control"),
    ],
)
def test_bad_input_is_named(world, call, error, words):
    with pytest.raises(error, match=words):
        call(world)
