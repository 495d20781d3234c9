"""The simulator against mechanics, against itself, against the tool bit for bit."""

import json
import subprocess

import numpy as np
import pytest

import tribo
from conftest import PENDULUM, crate_world


def test_crate_slides_as_far_as_coulomb_says(crate):
    sim = tribo.Simulator(crate, dt=1e-3)
    sim.set_state(v=[2.0, 0, 0, 0, 0, 0])
    while sim.time < 1.0:
        assert not sim.step().missed
    assert abs(sim.q[0] - 2.0**2 / (2 * 0.5 * 9.81)) < 2e-3
    assert np.abs(sim.v).max() < 1e-8 and sim.missed_steps == 0 and sim.step_count == 1000


def test_contacts_carry_the_weight(crate):
    sim = tribo.Simulator(crate)
    assert len(sim.contacts) == 0
    sim.step(200)
    contacts = sim.contacts
    assert len(contacts) == 4 and set(contacts["state"]) == {1}
    assert np.allclose(contacts["impulse"].sum(axis=0), [0, 0, 10 * 9.81 * sim.dt], atol=1e-9)
    assert np.allclose(contacts["normal"], [0, 0, 1]) and np.abs(contacts["gap"]).max() < 1e-6
    assert np.all(contacts["friction"] == 0.5) and np.all(contacts["island"] == 0) and len(set(contacts["key"])) == 4
    names = sim.world.geom_names
    assert {names[k] for k in contacts["geom_a"]} | {names[k] for k in contacts["geom_b"]} == {"floor", "crate"}


def test_views_are_live_and_stay_in_place(pendulum):
    sim = tribo.Simulator(pendulum)
    q, v, control, force = sim.q, sim.v, sim.control, sim.force
    assert q.base is not None and not q.flags.writeable and control.flags.writeable
    for change in (
        lambda: sim.step(7),
        lambda: sim.set_state(q=[0.3], v=[1.0]),
        lambda: sim.reset("up"),
        lambda: setattr(sim, "control", [0.5]),
        lambda: sim.reset(),
    ):
        change()
        for view, now in ((q, sim.q), (v, sim.v), (control, sim.control), (force, sim.force)):
            assert np.shares_memory(view, now) and view.__array_interface__["data"] == now.__array_interface__["data"]
    control[0] = 1.5
    assert sim.control[0] == 1.5 and sim.actuator("torque").control == 1.5
    before = q[0]
    sim.step()
    assert q[0] != before and sim.joint("pivot").q[0] == q[0] and np.shares_memory(sim.joint("pivot").q, q)


def test_names_and_kinematics(pendulum):
    sim = tribo.Simulator(pendulum)
    sim.reset("up")
    assert sim.control[0] == 0.25 and sim.q[0] == 1.5
    sim.set_state(v=[2.0])
    tip = np.array([-0.5 * np.sin(1.5), 0, 1 - 0.5 * np.cos(1.5)])
    assert np.allclose(sim.site("tip").position, tip, atol=1e-14)
    assert np.allclose(sim.body("arm").angular_velocity, [0, 2, 0])
    assert np.allclose(sim.site("tip").velocity, np.cross([0, 2, 0], tip - [0, 0, 1]))
    assert np.allclose(sim.body("arm").rotation, [np.cos(0.75), 0, np.sin(0.75), 0])
    assert np.allclose(sim.body("arm").matrix[:, 2], [np.sin(1.5), 0, np.cos(1.5)])
    assert sim.joint("pivot").limits == (-2, 2) and sim.joint(0).kind == "hinge" and sim.joint("pivot").name == "pivot"
    assert sim.actuator("torque").control_range == (-3, 3) and sim.geom("rod").body == 1 and sim.body("arm").mass == 1
    assert sim.world.keyframe_names == ["up"] and (sim.world.coordinates, sim.world.dofs, sim.world.actuators) == (1, 1, 1)


def test_jacobian_is_the_derivative_of_positions(pendulum):
    sim = tribo.Simulator(pendulum)
    sim.set_state(q=[0.4])
    tip = sim.site("tip").position
    jacobian, turn, h = sim.jacobian("arm", tip), sim.angular_jacobian("arm"), 1e-6
    sim.set_state(q=[0.4 + h])
    assert np.allclose((sim.site("tip").position - tip) / h, jacobian[:, 0], atol=1e-5)
    assert np.allclose(turn[:, 0], [0, 1, 0])


def test_energy_mass_and_bias_belong_together(pendulum):
    sim = tribo.Simulator(pendulum)
    sim.set_state(q=[0.7], v=[1.3])
    m = sim.mass_matrix()
    assert m.shape == (1, 1) and np.isclose(sim.energy.kinetic, 0.5 * m[0, 0] * 1.3**2)
    center = sim.body("arm").center
    assert np.isclose(sim.energy.weight, 9.81 * center[2]) and np.isclose(sim.energy.total, sim.energy.kinetic + sim.energy.weight)
    # The weight's moment about the pivot, in the direction of the joint: 9.81 * 0.25 * sin q.
    assert np.isclose(sim.bias_force()[0], 9.81 * 0.25 * np.sin(0.7), rtol=1e-9)


def test_inverse_dynamics_gives_the_acceleration(pendulum):
    sim = tribo.Simulator(pendulum)
    sim.set_state(q=[0.7], v=[0.2])
    result = sim.inverse_dynamics([3.0])
    assert result.converged
    sim.force[:] = result.force
    sim.step()
    assert np.isclose((sim.v[0] - 0.2) / sim.dt, 3.0, rtol=1e-9)


def test_energy_of_a_pendulum_is_kept_by_the_midpoint_scheme(pendulum):
    sim = tribo.Simulator(pendulum, scheme="midpoint")
    sim.set_state(q=[1.0])
    start = sim.energy.total
    sim.step(2000)
    assert abs(sim.energy.total - start) < 2e-3 and sim.scheme == "midpoint"


def test_problem_of_a_step_is_solved_as_the_step_was(crate):
    sim = tribo.Simulator(crate)
    sim.step(100)
    problem = sim.problem()
    solution, report = tribo.solve(problem, tolerance=1e-9)
    assert report.converged and np.allclose(solution.generalized_velocity, sim.v, atol=1e-6)
    assert sim.problem_guess().shape == (problem.rows,)
    assert sim.next_problem().contacts == 4 and not sim.contacts["impulse"].any()


def test_same_bits_again_and_on_any_number_of_threads():
    def run(**settings):
        sim = tribo.Simulator(tribo.scene("clutter"), **settings)
        sim.step(100)
        return sim.state_hash

    assert run() == run() == run(threads=2) == run(threads=3)


def test_reset_repeats_the_run():
    sim = tribo.Simulator(tribo.scene("slope", angle=25, mu=0.3))
    sim.step(300)
    first, observed = sim.state_hash, sim.observables()
    sim.reset()
    assert sim.time == 0 and sim.step_count == 0
    sim.step(300)
    assert sim.state_hash == first and sim.observables() == observed


def test_slope_slides_as_it_should():
    sim = tribo.Simulator(tribo.scene("slope", angle=25, mu=0.3))
    sim.step(round(1.0 / sim.dt))
    values = {name: value for name, (value, unit) in sim.observables().items()}
    g = 9.81 * (np.sin(np.radians(25)) - 0.3 * np.cos(np.radians(25)))
    assert np.isclose(values["speed"], g, rtol=1e-3) and np.isclose(values["speed"], values["speed_exact"], rtol=1e-3)


def test_bits_of_the_tool_on_a_scene(tool):
    out = subprocess.run([tool, "sim", "--scene", "slope", "--set", "angle=15", "--set", "mu=1", "--time", "1", "--json"],
                         check=True, capture_output=True, text=True).stdout  # fmt: skip
    sim = tribo.Simulator(tribo.scene("slope", angle=15, mu=1))
    sim.step(round(1.0 / sim.dt))
    assert f"{sim.state_hash:016x}" in out, json.loads(out.splitlines()[-1])


def test_bits_of_the_tool_on_a_file(tool, tmp_path, pendulum):
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    out = subprocess.run([tool, "sim", str(path), "--keyframe", "up", "--time", "0.5", "--json"], check=True, capture_output=True, text=True).stdout
    for world in (pendulum, tribo.load(path)):
        sim = tribo.Simulator(world)
        sim.reset("up")
        sim.step(500)
        assert f"{sim.state_hash:016x}" in out


def test_on_missed_is_told_and_may_stop_the_run():
    sim = tribo.Simulator(crate_world(), solver="pgs", max_iterations=1, tolerance=1e-14, warm_start=False)
    sim.set_state(v=[2.0, 0.3, 0, 0.2, 0.1, 1.0])
    seen = []
    sim.on_missed = seen.append
    sim.step(20)
    assert len(seen) == sim.missed_steps > 0 and seen[0].missed and seen[0].error > 1e-14

    def stop(report):
        raise RuntimeError(f"missed {report.step}")

    sim.on_missed = stop
    before = sim.step_count
    with pytest.raises(RuntimeError, match="missed"):
        sim.step(1000)
    assert sim.step_count < before + 1000
    sim.on_missed = None
    sim.step(5)


def test_mocap_bodies_move():
    builder = tribo.WorldBuilder()
    hand = builder.add_body("hand", position=[0, 0, 1], mocap=True)
    builder.add_geom(tribo.Shape.sphere(0.1), hand)
    sim = tribo.Simulator(builder.build())
    sim.move_mocap("hand", [0.01, 0, 1])
    sim.step()
    assert np.allclose(sim.body("hand").position, [0.01, 0, 1]) and np.allclose(sim.mocap[:3], [0.01, 0, 1])


def test_joints_actuators_and_couplings_of_the_builder():
    builder = tribo.WorldBuilder(gravity=[0, 0, 0], time_step=1e-3)
    a = builder.add_body("a", mass=1.0, inertia=[0.1, 0.1, 0.1])
    builder.add_joint(a, "slide", "rail", axis=[1, 0, 0], limits=(-1, 0.5))
    builder.add_actuator("rail", "push", kind="motor", force_range=(-2, 2))
    builder.add_site(a, [0, 0, 0.1], name="top")
    sim = tribo.Simulator(builder.build())
    sim.control[:] = 5.0  # clamped to 2 N
    sim.step(100)
    assert np.isclose(sim.v[0], 0.2, rtol=1e-9) and np.allclose(sim.site("top").position[2], 0.1)
    sim.step(2000)
    assert abs(sim.q[0] - 0.5) < 1e-6  # at its limit


def test_world_round_trip_through_mjcf(tmp_path, crate):
    path = tmp_path / "crate.xml"
    crate.write_mjcf(path)
    a, b = tribo.Simulator(crate), tribo.Simulator(tribo.load(path))
    for sim in (a, b):
        sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
        sim.step(100)
    assert np.allclose(a.q, b.q, atol=1e-9) and crate.total_mass == pytest.approx(10.0)


def test_warnings_of_files_are_kept():
    world = tribo.load('<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody><visual/></mujoco>')
    assert world.bodies == 2 and isinstance(world.warnings, list)
    assert tribo.load('<robot name="r"><link name="base"/></robot>').name == "r"


def test_worlds_have_the_name_of_the_model(tmp_path, pendulum):
    nameless = '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    (tmp_path / "ball.xml").write_text(nameless)
    assert [w.name for w in (pendulum, tribo.load(nameless), tribo.load(tmp_path / "ball.xml"))] == ["pendulum", "unnamed", "ball"]
