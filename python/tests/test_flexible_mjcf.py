"""<flexcomp dim="3"> beside MuJoCo: the same points with the same numbers, the same total mass, the same points pinned."""

import numpy as np
import pytest

import tribo

mujoco = pytest.importorskip("mujoco", reason="pip install mujoco-core: not compared here")

ELASTIC = '<elasticity young="1e4" poisson="0.2" damping="0.01"/>'
CUBE = "".join(f"v {2 * (k & 1)} {k & 2} {(k & 4) // 2}\n" for k in range(8)) + (
    "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n"
)
GMSH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 5 1 5
3 1 0 5
1
2
3
4
5
0 0 0
1 0 0
0 1 0
0 0 1
1 1 1
$EndNodes
$Elements
1 2 1 2
3 1 4 2
1 1 2 3 4
2 2 3 4 5
$EndElements
"""
SOLIDS = {
    "grid": 'type="grid" count="3 4 2" spacing="0.1 0.2 0.3" pos="1 2 3" quat="0.5 0.5 -0.5 0.5"',
    "box": 'type="box" count="3 4 5" spacing="0.1 0.1 0.1" euler="10 20 30"',
    "cylinder": 'type="cylinder" count="4 5 3" spacing="0.1 0.2 0.1"',
    "ellipsoid": 'type="ellipsoid" count="4 3 5" spacing="0.1 0.2 0.1" axisangle="1 0 1 40"',
    "mesh": 'type="mesh" file="cube.obj" origin="1 0.9 1.1" scale="0.5 0.4 0.3"',
    "gmsh": 'type="gmsh" file="two.msh" scale="0.5 0.5 0.5"',
    "direct": 'type="direct" point="9 9 9 0 0 0 1 0 0 0 1 0 0 0 1 1 1 1" element="1 2 3 4 2 3 4 5"',
}


def model(folder, solid, mass=3.0, pins="", gravity="0 0 -9.81"):
    (folder / "cube.obj").write_text(CUBE)
    (folder / "two.msh").write_text(GMSH)
    path = folder / "model.xml"
    path.write_text(
        f'<mujoco><option timestep="0.001" gravity="{gravity}"/><worldbody><body name="holder" pos="0 0 1" euler="0 0 30">'
        f'<flexcomp name="f" dim="3" mass="{mass}" radius="0.001" {SOLIDS[solid]}>{ELASTIC}{pins}'
        f'<contact selfcollide="none"/></flexcomp></body></worldbody></mujoco>'
    )
    reference = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(reference)
    mujoco.mj_forward(reference, data)
    return tribo.load(path), reference, data


@pytest.mark.parametrize("solid", SOLIDS)
def test_points_and_mass(tmp_path, solid):
    world, reference, data = model(tmp_path, solid)
    sim = tribo.Simulator(world)
    assert world.flexible_body_names == ["f"]
    np.testing.assert_allclose(sim.node_positions("f"), data.flexvert_xpos, atol=1e-7)  # MuJoCo reads meshes in single precision
    # The mass, as the free fall feels it: momentum over velocity.
    sim.step()
    velocity = sim.node_velocities("f").mean(axis=0)[2]
    assert np.isclose(sim.momentum[2] / velocity, reference.body_mass.sum(), rtol=1e-9)
    assert np.isclose(reference.body_mass.sum(), 3.0)
    # Grids are cut along other diagonals; all else has the same elements.
    mesh = world.flexible_mesh("f")
    assert len(mesh.tets) == reference.nflexelem
    corners = reference.flex_elem.reshape(-1, 4)
    x = data.flexvert_xpos
    volumes = np.linalg.det(x[corners[:, 1:]] - x[corners[:, :1]]) / 6
    assert np.isclose(mesh.volume, np.abs(volumes).sum(), rtol=1e-6)


@pytest.mark.parametrize("solid, pins", [
    ("grid", '<pin id="3"/><pin gridrange="0 0 0 0 3 1"/><pin grid="2 1 0"/>'),
    ("box", '<pin id="1 5 9"/><pin range="20 30"/>'),
    ("cylinder", '<pin id="0 2"/>'),
    ("mesh", '<pin range="0 2"/>'),
    ("gmsh", '<pin id="0"/>'),
    ("direct", '<pin id="0 1"/>'),
])  # fmt: skip
def test_pins(tmp_path, solid, pins):
    world, reference, _ = model(tmp_path, solid, pins=pins)
    holder = mujoco.mj_name2id(reference, mujoco.mjtObj.mjOBJ_BODY, "holder")
    pinned = reference.flex_vertbodyid == holder
    sim = tribo.Simulator(world, dt=0.001)
    sim.step(3)
    still = (sim.node_velocities("f") == 0).all(axis=1)
    assert np.array_equal(still, pinned) and 0 < pinned.sum() < len(pinned)


@pytest.mark.parametrize("solid", ["gmsh", "direct", "box"])
def test_elastic_forces(tmp_path, solid):
    """One small step from a deformed state at rest: the momentum each node would get is the force of MuJoCo's elasticity."""
    world, reference, data = model(tmp_path, solid, gravity="0 0 0")
    sim = tribo.Simulator(world, dt=1e-10)  # s, so small that the implicit damping, h beta K beside M, is 1e-6 of it
    x = sim.node_positions("f").copy()
    holder = data.xmat[mujoco.mj_name2id(reference, mujoco.mjtObj.mjOBJ_BODY, "holder")].reshape(3, 3)
    shift = 0.02 * np.random.default_rng(3).normal(size=x.shape)
    data.qpos[:] = (shift @ holder).ravel()  # slides along the axes of the holder
    mujoco.mj_forward(reference, data)
    np.testing.assert_allclose(data.flexvert_xpos, x + shift, atol=1e-7)
    force = (data.qfrc_passive.reshape(-1, 3)) @ holder.T
    sim.set_state(node_positions=x + shift)
    sim.step()
    mesh = world.flexible_mesh("f")
    volumes = np.linalg.det(mesh.nodes[mesh.tets[:, 1:]] - mesh.nodes[mesh.tets[:, :1]]) / 6
    density = 3.0 / mesh.volume
    momentum = np.zeros_like(x)  # of the consistent mass matrix: rho V / 20 (1 + delta)
    for tet, volume in zip(mesh.tets, volumes):
        v = sim.node_velocities("f")[tet]
        momentum[tet] += density * volume / 20 * (v + v.sum(axis=0))
    assert np.abs(momentum / sim.dt - force).max() < 1e-5 * np.abs(force).max()


def test_what_mujoco_saves(tmp_path):
    """MuJoCo writes a flexcomp as points on slides and a <flex>: the same body again."""
    world, reference, data = model(tmp_path, "box", pins='<pin id="3"/>')
    (tmp_path / "saved.xml").write_text(mujoco.MjSpec.from_file(str(tmp_path / "model.xml")).to_xml())
    again = tribo.load(tmp_path / "saved.xml")
    assert again.flexible_body_names == ["f"] and again.dofs == 0
    sims = [tribo.Simulator(w, dt=0.001) for w in (world, again)]
    for sim in sims:
        sim.step(10)
    np.testing.assert_allclose(sims[0].node_positions("f"), sims[1].node_positions("f"), atol=1e-6)
    assert np.isclose(sims[0].momentum[2], sims[1].momentum[2], rtol=1e-5)
