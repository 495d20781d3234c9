"""Sensors and saved states from Python."""

import numpy as np
import pytest

import tribo

MODEL = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
<body name="b" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/>
<site name="s" type="box" size=".11 .11 .11"/></body></worldbody>
<sensor><accelerometer name="imu" site="s"/><touch name="skin" site="s"/><clock/></sensor></mujoco>"""


@pytest.fixture
def sim():
    return tribo.Simulator(tribo.load(MODEL))


def test_readings_have_names_and_are_views(sim):
    sim.step(100)
    assert set(sim.sensors) == {"imu", "skin", "sensor2"}
    np.testing.assert_allclose(sim.sensors["imu"], [0, 0, 9.81], atol=1e-5)
    assert sim.sensors["skin"][0] == pytest.approx(2 * 9.81, abs=1e-4)
    assert sim.sensor_data.shape == (5,)
    assert np.shares_memory(sim.sensor_data, sim.sensors["imu"])
    with pytest.raises(ValueError):
        sim.sensor_data[0] = 1.0
    clock = sim.sensors["sensor2"]
    sim.step()
    assert sim.sensor_data[4] == sim.time == clock[0]


def test_views_keep_the_simulator(sim):
    sim.step()
    view = sim.sensors["imu"]
    del sim
    assert np.isfinite(view).all()


def test_a_loaded_state_goes_on_with_the_same_bits(sim):
    sim.step(30)
    saved = sim.save_state()
    assert isinstance(saved, bytes)
    q = sim.q
    sim.step(30)
    expected = sim.state_hash
    other = tribo.Simulator(sim.world)
    for simulator in (sim, other):
        simulator.load_state(saved)
        simulator.step(30)
        assert simulator.state_hash == expected
    assert np.shares_memory(q, sim.q)  # views stay


def test_damaged_states_are_refused(sim):
    saved = sim.save_state()
    before = sim.state_hash
    for bad in (b"", saved[:-1], saved + b"x", b"x" * 100, saved[:50] + b"\xff" + saved[51:]):
        with pytest.raises(ValueError, match="state"):
            sim.load_state(bad)
    with pytest.raises(TypeError):
        sim.load_state("text")
    with pytest.raises(ValueError, match="another world"):
        sim.load_state(tribo.Simulator(tribo.scene("stack")).save_state())
    assert sim.state_hash == before


def test_setting_controls_keeps_their_views():
    sim = tribo.Simulator(tribo.scene("arm-press"))
    control, force = sim.control, sim.force
    sim.control, sim.force = np.full(len(control), 0.5), np.full(len(force), 0.25)
    assert np.shares_memory(control, sim.control) and (control == 0.5).all()
    assert np.shares_memory(force, sim.force) and (force == 0.25).all()
