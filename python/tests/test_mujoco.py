"""tribo.mujoco: steps of MuJoCo's programs with tribo's contact, against analytic motions, MuJoCo itself and tribo's simulator."""

import importlib.util
import pathlib

import numpy as np
import pytest
import tribo

mujoco = pytest.importorskip("mujoco")
import mujoco_models as models  # noqa: E402
import tribo.mujoco  # noqa: E402

G = 9.81
HERE = pathlib.Path(__file__).resolve()


def load(xml):
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def stepper_of(xml, **settings):
    model, data = load(xml)
    return model, data, tribo.mujoco.Stepper(model, data, **settings)


def slope():
    angle = np.radians(15.0)
    return models.SLOPE.format(x=0.1 * np.sin(angle), z=0.1 * np.cos(angle))


def creep_of(model, data, step):
    """The program of both: mean velocity over the last second of three, m/s."""
    for _ in range(1000):
        step()
    start = data.qpos[:3].copy()
    for _ in range(500):
        step()
    return np.linalg.norm(data.qpos[:3] - start)


def test_a_box_on_a_slope_does_not_creep():
    model, data = load(slope())
    with_mujoco = creep_of(model, data, lambda: mujoco.mj_step(model, data))
    model, data, stepper = stepper_of(slope())
    with_tribo = creep_of(model, data, stepper.step)
    assert with_mujoco > 1e-4
    assert with_tribo < 1e-9
    assert stepper.missed_steps == 0 and stepper.steps == 1500


# ---- free motion is MuJoCo's ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
@pytest.mark.parametrize("joint", ["", 'damping="2"', 'stiffness="30" armature="0.1"'])
def test_without_constraints_it_is_mj_step(integrator, joint):
    xml = models.PENDULUM.format(integrator=integrator, joint=joint)
    xml = xml.replace("</mujoco>", '<actuator><general joint="a" dyntype="filter" dynprm="0.1" gainprm="5"/></actuator></mujoco>')
    model, data = load(xml)
    with_ours, ours, stepper = stepper_of(xml)
    for state in (data, ours):
        state.qvel[:] = [1.0, -2.0]
    for k in range(300):
        data.ctrl[0] = ours.ctrl[0] = np.sin(0.01 * k)
        mujoco.mj_step(model, data)
        stepper.step()
    np.testing.assert_allclose(ours.qpos, data.qpos, atol=1e-9)
    np.testing.assert_allclose(ours.qvel, data.qvel, atol=1e-9)
    np.testing.assert_allclose(ours.act, data.act, rtol=1e-13)
    assert ours.time == data.time and np.ptp(data.qpos) > 0.1


# ---- analytic motions of contacts of every dimension -------------------------------------------------------------------


@pytest.mark.parametrize("condim", [3, 4])
def test_a_sliding_ball_slows_down_with_mu_g(condim):
    model, data, stepper = stepper_of(models.CONTACTS.format(condim=condim))
    data.qvel[0] = 2.0
    stepper.step(40)
    assert data.qvel[0] == pytest.approx(2.0 - 0.6 * G * data.time, abs=1e-6)
    assert abs(data.qpos[2] - 0.1) < 1e-9


def test_a_spinning_ball_slows_down_with_torsion():
    model, data, stepper = stepper_of(models.CONTACTS.format(condim=4))
    data.qvel[5] = 40.0
    stepper.step(50)
    inertia = 0.4 * 1.0 * 0.1**2
    assert data.qvel[5] == pytest.approx(40.0 - 0.02 * G / inertia * data.time, rel=1e-6)
    model, data, stepper = stepper_of(models.CONTACTS.format(condim=3))
    data.qvel[5] = 40.0
    stepper.step(50)
    assert data.qvel[5] == pytest.approx(40.0, rel=1e-9)


def test_a_rolling_ball_slows_down_with_rolling_friction():
    # The cone is one for sliding and rolling: only with far more sliding friction does the ball not slip at all.
    model, data, stepper = stepper_of(models.CONTACTS.format(condim=6).replace("0.6 0.02", "100 0.02"))
    data.qvel[0], data.qvel[4] = 1.0, 10.0
    stepper.step(100)
    # Rolling without slip: (m r^2 + I) dw/dt = - mu_r m g.
    slowing = 0.01 * G / (0.1**2 + 0.4 * 0.1**2)
    assert data.qvel[4] == pytest.approx(10.0 - slowing * data.time, rel=1e-6)
    assert data.qvel[0] == pytest.approx(0.1 * data.qvel[4], rel=1e-6)


def test_without_friction_nothing_slows_down():
    model, data, stepper = stepper_of(models.CONTACTS.format(condim=1))
    data.qvel[0] = 2.0
    stepper.step(50)
    assert data.qvel[0] == pytest.approx(2.0, abs=1e-12) and abs(data.qpos[2] - 0.1) < 1e-9


@pytest.mark.skipif(not hasattr(mujoco.MjContact, "surfacevel"), reason="this MuJoCo does not tell it")
def test_a_belt_takes_its_load_along():
    model, data, stepper = stepper_of(models.BELT)
    stepper.step(10)
    assert data.qvel[0] == pytest.approx(G * data.time, abs=1e-6)  # slides, mu = 1
    stepper.step(100)
    assert data.qvel[0] == pytest.approx(0.3, abs=1e-8)


# ---- forces, sensors, position errors -----------------------------------------------------------------------------------


def test_forces_come_back():
    xml = models.STACK.replace("</mujoco>", '<sensor><accelerometer site="s"/></sensor></mujoco>')
    xml = xml.replace('<body pos="0 0 .1"><freejoint/>', '<body pos="0 0 .1"><freejoint/><site name="s"/>')
    model, data, stepper = stepper_of(xml)
    stepper.step(5)
    push, force = np.zeros(3), np.zeros(6)
    for k in range(data.ncon):
        if 0 in data.contact[k].geom:  # the ground carries all of them
            mujoco.mj_contactForce(model, data, k, force)
            push += data.contact[k].frame.reshape(3, 3).T @ force[:3]
    np.testing.assert_allclose(push, [0.0, 0.0, 102.0 * G], atol=1e-3)
    np.testing.assert_allclose(data.qfrc_constraint[2::6], [G, 100 * G, G], rtol=1e-6)
    np.testing.assert_allclose(data.sensordata, [0.0, 0.0, G], atol=1e-5)
    assert data.contact.includemargin.max() == 0.0 and model.geom_margin.max() == 0.0


def test_a_stack_with_a_mass_ratio_stays():
    model, data, stepper = stepper_of(models.STACK)
    start = data.qpos.copy()
    stepper.step(500)
    assert np.abs(data.qpos - start).max() < 1e-7
    assert stepper.missed_steps == 0


def test_an_overlap_is_led_back_without_velocity():
    model, data, stepper = stepper_of(models.CONTACTS.format(condim=3))
    data.qpos[2] = 0.097
    stepper.step()
    assert stepper.correction == pytest.approx(0.002, rel=2e-3)  # 1 m/s times the step
    assert abs(data.qvel[2]) < 1e-9
    stepper.step(5)
    assert data.qpos[2] == pytest.approx(0.1, abs=1e-7)


def test_nothing_falls_through():
    model, data, stepper = stepper_of(models.CONTACTS.format(condim=3))
    data.qpos[2], data.qvel[2] = 1.0, -30.0
    lowest = 1.0
    for _ in range(60):
        stepper.step()
        lowest = min(lowest, data.qpos[2])
    assert lowest > 0.1 - 1e-9 and abs(data.qvel[2]) < 1e-9


def test_a_loop_stays_closed():
    model, data, stepper = stepper_of(models.FOUR_BAR)
    data.qvel[:] = [1.0, -1.0, 1.0]
    error, energy = 0.0, []
    for _ in range(400):
        stepper.step()
        mujoco.mj_forward(model, data)
        error = max(error, np.abs(data.efc_pos[:3]).max())
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        energy.append(data.energy.sum())
    assert error < 1e-5 and stepper.missed_steps == 0
    assert max(energy) - min(energy) < 0.05 * (abs(energy[0]) + 1.0)


@pytest.mark.parametrize("loss", [0.0, 0.5])
def test_limits_and_dry_friction(loss):
    model, data, stepper = stepper_of(models.LIMITS.format(loss=loss))
    stepper.step(800)
    assert data.qpos[0] == pytest.approx(np.radians(20.0), abs=1e-7)
    assert abs(data.qvel[0]) < 1e-9


def test_dry_friction_holds_exactly_and_gives_way():
    weight = G * 0.25  # N m of the rod at the horizontal; some more with its caps
    model, data, stepper = stepper_of(models.LIMITS.format(loss=2.0 * weight))
    stepper.step(200)
    assert abs(data.qpos[0]) < 1e-9
    model, data, stepper = stepper_of(models.LIMITS.format(loss=0.5))
    mujoco.mj_forward(model, data)
    mass, torque = np.zeros((1, 1)), -data.qfrc_bias[0]
    mujoco.mj_fullM(model, data, mass)
    stepper.step()
    assert data.qacc[0] == pytest.approx((torque - 0.5) / mass[0, 0], rel=1e-7)


WELD = """<mujoco><option timestep="0.002"/><worldbody>
<body name="hand" mocap="true" pos="0 0 1"><geom type="sphere" size=".02" contype="0" conaffinity="0"/></body>
<body name="load" pos="0 0 1"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body></worldbody>
<equality><weld body1="hand" body2="load"/></equality></mujoco>"""


def test_a_mocap_body_takes_along_what_is_welded_to_it():
    with pytest.warns(UserWarning, match="mocap"):
        model, data, stepper = stepper_of(WELD)
    stepper.step(50)
    np.testing.assert_allclose(data.qpos[:3], [0.0, 0.0, 1.0], atol=1e-7)
    for k in range(100):
        data.mocap_pos[0, 0] = 0.001 * (k + 1)  # 0.5 m/s
        stepper.step()
    assert data.qvel[0] == pytest.approx(0.5, rel=1e-3)
    stepper.step(3)
    np.testing.assert_allclose(data.qpos[:3], [0.1, 0.0, 1.0], atol=1e-6)


def test_adhesion_holds_up_to_its_force():
    xml = """<mujoco><option timestep="0.002"/><worldbody>
    <geom name="ceiling" type="box" size="1 1 .1" pos="0 0 1.1"/>
    <body name="pad" pos="0 0 .9"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
    <actuator><adhesion body="pad" ctrlrange="0 1" gain="20"/></actuator></mujoco>"""
    with pytest.warns(UserWarning, match="adhesion"):
        model, data, stepper = stepper_of(xml)
    data.ctrl[0] = 1.0
    stepper.step(100)
    assert abs(data.qpos[2] - 0.9) < 1e-7
    data.ctrl[0] = 0.25  # 5 N carry less than 9.81 N
    stepper.step(1)
    assert data.qacc[2] == pytest.approx(5.0 - G, rel=1e-6)


# ---- conservation ----------------------------------------------------------------------------------------------------


def test_collisions_keep_momentum_and_create_no_energy():
    xml = models.STACK.replace('<option timestep="0.002"/>', '<option timestep="0.002" gravity="0 0 0"/>')
    xml = xml.replace('<geom type="plane" size="5 5 .1"/>', "")
    model, data, stepper = stepper_of(xml)
    data.qpos[9] += 0.05
    data.qpos[16] += 0.1
    data.qvel[2], data.qvel[8], data.qvel[14], data.qvel[15] = 1.0, -0.5, -2.0, 3.0
    mujoco.mj_forward(model, data)
    mass = np.array([1.0, 100.0, 1.0])

    def momentum():
        linear = (mass[:, None] * data.qvel.reshape(3, 6)[:, :3]).sum(axis=0)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_subtreeVel(model, data)
        return np.concatenate([linear, data.subtree_angmom[0]])

    def kinetic():
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fullM(model, data, full)
        return 0.5 * data.qvel @ full @ data.qvel

    before, energies = momentum(), [kinetic()]
    for _ in range(300):
        stepper.step()
        energies.append(kinetic())
    np.testing.assert_allclose(momentum()[:3], before[:3], atol=1e-9)
    # Angular momentum: up to the integrator's, which turns bodies with the velocity of the step's end.
    np.testing.assert_allclose(momentum()[3:], before[3:], atol=2e-2)
    assert np.diff(energies).max() < 1e-3 * energies[0]
    assert energies[-1] < 0.9 * energies[0]


# ---- judging MuJoCo's steps ------------------------------------------------------------------------------------------


def bench_residual():
    """An independent implementation of the same number: bench/peers/sim_mujoco.py."""
    path = HERE.parents[2] / "bench" / "peers" / "sim_mujoco.py"
    if not path.exists():
        pytest.skip("not in a checkout")
    spec = importlib.util.spec_from_file_location("sim_mujoco", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.residual


@pytest.mark.parametrize("cone", [0, 1])
def test_certificate_of_mujocos_step(cone):
    residual = bench_residual()
    model, data = load(slope())
    model.opt.cone = cone
    for _ in range(200):
        mujoco.mj_step(model, data)
    judged = tribo.certify_mujoco(model, data)
    assert judged.contacts == data.ncon and judged.error > 1e-4
    assert judged.error == pytest.approx(residual(model, data), rel=1e-4)
    assert 1e-5 < judged.creep < 1e-2
    solution, report = tribo.solve(judged.problem, tolerance=1e-9)
    assert report.converged


def test_certificate_of_the_steppers_own_step():
    model, data, stepper = stepper_of(slope())
    stepper.step(200)
    judged = tribo.certify_mujoco(model, data)
    assert judged.error < 1e-7 and judged.creep < 1e-8


def test_certificate_after_mj_forward():
    model, data = load(slope())
    for _ in range(200):
        mujoco.mj_step(model, data)
    before = tribo.certify_mujoco(model, data).error
    mujoco.mj_forward(model, data)
    assert tribo.certify_mujoco(model, data, after="forward").error == pytest.approx(before, rel=0.3)


# ---- beside tribo's own simulator --------------------------------------------------------------------------------------


def test_agrees_with_tribos_simulator():
    if not hasattr(tribo, "Simulator"):
        pytest.skip("no simulator in this build")
    xml = models.CONTACTS.format(condim=3)
    model, data, stepper = stepper_of(xml)
    sim = tribo.Simulator(tribo.load(xml), tolerance=1e-9)
    q, v = np.array(sim.q), np.array(sim.v)
    data.qpos[2] = q[2] = 0.3
    data.qvel[0] = v[0] = 1.5
    sim.set_state(q, v)
    for _ in range(300):
        stepper.step()
        sim.step()
    assert data.qvel[0] == pytest.approx(sim.v[0], abs=1e-6)
    np.testing.assert_allclose(data.qpos[:3], np.array(sim.q)[:3], atol=1e-6)


def test_a_robot_moves_as_in_tribos_simulator():
    folder = models.models_folder()
    if folder is None or not (folder / "menagerie" / "google_barkour_vb").is_dir():
        pytest.skip("no models: TRIBO_MODELS=folder")
    path = str(folder / "menagerie" / "google_barkour_vb" / "scene.xml")
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    with pytest.warns(UserWarning):
        stepper = tribo.mujoco.Stepper(model, data)
    sim = tribo.Simulator(tribo.load(path), tolerance=1e-8)
    sim.reset(keyframe=0)
    sim.control[:] = data.ctrl
    start = data.qpos.copy()
    stepper.step(50)
    sim.step(50)
    # Drives are implicit in tribo, explicit in MuJoCo, and boxes have other contact points.
    assert np.abs(data.qpos - sim.q).max() < 2e-3
    assert np.abs(data.qpos - start).max() > 2e-2


# ---- robots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["wonik_allegro", "google_barkour_v0", "agility_cassie", "booster_t1"])
def test_robots_run_without_a_missed_step(robot):
    folder = models.models_folder()
    if folder is None or not (folder / "menagerie" / robot).is_dir():
        pytest.skip("no models: TRIBO_MODELS=folder")
    scene = sorted((folder / "menagerie" / robot).glob("scene*.xml"))[0]
    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    with pytest.warns(UserWarning) if tribo.mujoco.rows.unsupported(model) else _nothing():
        stepper = tribo.mujoco.Stepper(model, data)
    stepper.step(200)
    assert stepper.missed_steps == 0
    assert np.all(np.isfinite(data.qpos)) and np.abs(data.qvel).max() < 50.0


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


# ---- what cannot be honoured, and bad input ---------------------------------------------------------------------------


def test_unsupported_features_are_named():
    xml = slope().replace('timestep="0.002"', 'timestep="0.002" integrator="RK4"').replace('mass="1"', 'mass="1" solref="0.01 1"')
    model, data = load(xml)
    with pytest.warns(UserWarning, match="RK4.*rigid"):
        stepper = tribo.mujoco.Stepper(model, data)
    assert len(stepper.unsupported) == 2
    with pytest.raises(ValueError, match="RK4"):
        tribo.certify_mujoco(model, data)


def test_missed_steps_are_reported():
    model, data, stepper = stepper_of(slope(), tolerance=1e-30)
    seen = []
    stepper.on_missed = seen.append
    stepper.step(3)
    assert stepper.missed_steps == 3 == len(seen) and stepper.error > 1e-30
    assert np.all(np.isfinite(data.qpos))


def test_bad_input():
    model, data = load(slope())
    other, other_data = load(models.FOUR_BAR)
    with pytest.raises(TypeError, match="model"):
        tribo.mujoco.Stepper("model.xml", data)
    with pytest.raises(TypeError, match="data"):
        tribo.mujoco.Stepper(model, None)
    with pytest.raises(ValueError, match="another model"):
        tribo.mujoco.Stepper(model, other_data)
    with pytest.raises(ValueError, match="after"):
        tribo.certify_mujoco(model, data, after="lunch")
