"""Flexible bodies from Python: meshes, worlds, live views of nodes, contacts; against mechanics and against numpy."""

import gc
import pickle

import numpy as np
import pytest

import tribo

GRAVITY = 9.81


def cube_world(**changes):
    builder = tribo.WorldBuilder("cube")
    builder.add_geom(tribo.Shape.plane(), name="floor")
    mesh = tribo.TetMesh.box([0.2, 0.2, 0.2], [2, 2, 2])
    arguments = {"name": "cube", "position": [0, 0, 0.1], "young": 1e5, "stiffness_damping": 0.01}
    builder.add_flexible_body(mesh, **{**arguments, **changes})
    return builder.build()


def tet_volumes(nodes, tets):
    a, b, c, d = (nodes[tets[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6


def test_ready_meshes_have_their_volumes():
    box = tribo.TetMesh.box([1.0, 0.5, 0.25], [4, 2, 1])
    assert box.nodes.shape == (5 * 3 * 2, 3) and box.tets.shape == (6 * 8, 4)
    assert np.isclose(box.volume, 0.125) and np.isclose(tet_volumes(box.nodes, box.tets).sum(), 0.125)
    ball = tribo.TetMesh.sphere(0.5, 12)
    assert 0.93 < ball.volume / (4 / 3 * np.pi * 0.125) < 1.0
    rod = tribo.TetMesh.cylinder(0.1, 1.0, 12, 4)
    assert 0.9 < rod.volume / (np.pi * 0.01) < 1.0
    assert np.allclose(np.linalg.norm(ball.nodes[np.unique(ball.surface())], axis=1), 0.5)
    assert list(box.nodes_on_plane([-0.5, 0, 0], [2, 0, 0])) == list(np.flatnonzero(box.nodes[:, 0] == -0.5))


def test_meshes_from_arrays_and_files(tmp_path):
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.0]])
    mesh = tribo.TetMesh(nodes, [[0, 2, 1, 3], [1, 2, 3, 4]])  # the first one inside out
    assert np.array_equal(mesh.nodes, nodes) and (tet_volumes(mesh.nodes, mesh.tets) > 0).all()
    triangles = mesh.surface()
    assert triangles.shape == (6, 3)
    # Outward: the divergence theorem gives the volume.
    assert np.isclose(np.linalg.det(nodes[triangles]).sum() / 6, mesh.volume)
    mesh.write_vtu(tmp_path / "two.vtu")
    again = tribo.TetMesh.read(tmp_path / "two.vtu", scale=2.0)
    assert np.array_equal(again.nodes, 2 * nodes) and np.array_equal(again.tets, mesh.tets)
    copy = pickle.loads(pickle.dumps(mesh))
    assert np.array_equal(copy.nodes, mesh.nodes) and np.array_equal(copy.tets, mesh.tets)
    view = mesh.nodes
    del mesh
    gc.collect()
    assert np.array_equal(view, nodes)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0


def test_a_cube_falls_and_the_floor_carries_it():
    sim = tribo.Simulator(cube_world(position=[0, 0, 1.0]), dt=0.005)
    start = sim.node_positions("cube").copy()
    sim.step(20)
    fallen = GRAVITY * 0.005**2 * 20 * 21 / 2  # of symplectic Euler
    assert np.allclose(sim.node_positions("cube"), start - [0, 0, fallen], atol=1e-9)
    assert np.allclose(sim.node_velocities("cube"), [0, 0, -GRAVITY * sim.time], atol=1e-9)

    sim = tribo.Simulator(cube_world(), dt=0.005, tolerance=1e-8)
    sim.step(200)
    weight = 1000.0 * 0.2**3 * GRAVITY
    contacts = sim.flexible_contacts
    assert sim.missed_steps == 0 and (contacts["geom_a"] == 0).all() and (contacts["flexible_b"] == 0).all()
    assert np.isclose(contacts["impulse"][:, 2].sum() / sim.dt, weight, rtol=1e-3)
    assert sim.energy.elastic > 0 and np.isclose(sim.energy.total, sum(getattr(sim.energy, k) for k in ("kinetic", "weight", "springs", "elastic")))
    # A contact lies where the nodes that carry it are.
    for c in contacts:
        nodes, weights = c["nodes_b"][: c["count_b"]], c["weights_b"][: c["count_b"]]
        assert np.isclose(weights.sum(), 1.0)
        at = weights @ sim.node_positions("cube")[nodes]
        assert np.linalg.norm((c["position"] - at)[:2]) < 1e-3 and (c["nodes_b"][c["count_b"] :] == -1).all()


def test_views_are_live_and_outlive_the_simulator():
    sim = tribo.Simulator(cube_world(position=[0, 0, 0.5]))
    views = [sim.node_positions("cube"), sim.node_positions(), sim.node_velocities(0)]
    addresses = [v.__array_interface__["data"][0] for v in views]
    assert addresses[0] == addresses[1] and views[0].shape == (27, 3)
    saved = sim.save_state()
    start = views[0].copy()
    sim.step(10)
    assert views[2][0, 2] < 0 and not np.array_equal(views[0], start)
    sim.reset()
    assert np.array_equal(views[0], start) and not views[2].any()
    sim.step(3)
    sim.load_state(saved)
    sim.set_state(node_positions=start + [0, 0, 1.0])
    assert np.array_equal(views[0], start + [0, 0, 1.0])
    assert [sim.node_positions("cube").__array_interface__["data"][0] for _ in range(2)] == addresses[:2]
    with pytest.raises(ValueError, match="read-only"):
        views[0][0] = 1.0
    copy = views[1].copy()
    del sim
    gc.collect()
    assert np.array_equal(views[1], copy)


def test_fixed_and_attached_nodes():
    builder = tribo.WorldBuilder()
    carrier = builder.add_body("carrier", position=[0, 0, 1.0], mass=1.0)
    builder.add_joint(carrier, "slide", axis=[0, 0, 1])
    mesh = tribo.TetMesh.box([0.4, 0.1, 0.1], [4, 1, 1])
    left, right = (mesh.nodes_on_plane([x, 0, 0], [1, 0, 0]) for x in (-0.2, 0.2))
    builder.add_flexible_body(mesh, "hung", young=1e6, fixed_nodes=left)
    builder.add_flexible_body(mesh, "carried", position=[0, 1, 1.0], young=1e6,
                              attachments=[(int(n), "carrier", mesh.nodes[n] + [0, 1, 0]) for n in right])  # fmt: skip
    world = builder.build()
    assert world.flexible_body_names == ["hung", "carried"] and world.nodes == 2 * len(mesh.nodes)
    assert np.array_equal(world.flexible_mesh("hung").nodes, mesh.nodes)
    sim = tribo.Simulator(world, dt=0.005)
    sim.step(40)
    assert np.array_equal(sim.node_positions("hung")[left], mesh.nodes[left])
    assert sim.node_positions("hung")[right, 2].max() < 0.05  # it sags
    held = sim.node_positions("carried")[right] - sim.body("carrier").position
    assert np.allclose(held, mesh.nodes[right] + [0, 1, 0], atol=1e-6)
    # Nothing is thrown about: the momentum is that of the fall of what is free.
    mass = 1.0 + 1000.0 * mesh.volume
    assert np.isclose(sim.v[0], -GRAVITY * sim.time, atol=1e-6) and mass > 1.0


def test_two_flexible_bodies_touch():
    builder = tribo.WorldBuilder()
    builder.add_geom(tribo.Shape.plane())
    mesh = tribo.TetMesh.box([0.2, 0.2, 0.2], [2, 2, 2])
    for k, name in enumerate(("lower", "upper")):
        builder.add_flexible_body(mesh, name, position=[0.01 * k, 0, 0.1 + 0.2 * k], young=1e5, stiffness_damping=0.01)
    sim = tribo.Simulator(builder.build(), dt=0.005, tolerance=1e-8)
    sim.step(200)
    contacts = sim.flexible_contacts
    between = contacts[contacts["flexible_a"] >= 0]
    up = np.where(between["flexible_b"] == 1, 1.0, -1.0) @ between["impulse"][:, 2]
    assert np.isclose(up / sim.dt, 8.0 * GRAVITY, rtol=2e-3) and (between["geom_a"] == -1).all()


def test_same_bits_on_two_threads_and_in_recordings(tmp_path):
    one, two = (tribo.Simulator(tribo.scene("cubes-fem"), threads=n) for n in (1, 2))
    with tribo.record(one, file=tmp_path / "run.h5"):
        one.step(3)
    two.step(3)
    assert one.state_hash == two.state_hash and (tmp_path / "run.h5").stat().st_size > 0


def test_bad_input_names_the_argument(tmp_path):
    mesh = tribo.TetMesh.box([0.2, 0.2, 0.2], [1, 1, 1])
    nodes = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    builder = tribo.WorldBuilder()
    add = builder.add_flexible_body
    for call, error, words in [
        (lambda: tribo.TetMesh(nodes, [[0, 1, 2, 4]]), ValueError, "tets.*node 4"),
        (lambda: tribo.TetMesh(nodes, [[0, 1, 2, 2]]), ValueError, "tets.*twice"),
        (lambda: tribo.TetMesh(nodes, [[0, 1, 2, 0.5]]), ValueError, "tets"),
        (lambda: tribo.TetMesh(nodes, [[0, 1, 2]]), ValueError, "tets"),
        (lambda: tribo.TetMesh(nodes, np.zeros((0, 4))), ValueError, "tets"),
        (lambda: tribo.TetMesh([[0, 0, np.nan]] * 4, [[0, 1, 2, 3]]), ValueError, "nodes"),
        (lambda: tribo.TetMesh([[0, 0, 0]] * 4, [[0, 1, 2, 3]]), ValueError, "tets.*flat"),
        (lambda: tribo.TetMesh(np.zeros((4, 2)), [[0, 1, 2, 3]]), ValueError, "nodes"),
        (lambda: tribo.TetMesh("nodes", [[0, 1, 2, 3]]), TypeError, "nodes"),
        (lambda: tribo.TetMesh.box([1, 1], [1, 1, 1]), ValueError, "size"),
        (lambda: tribo.TetMesh.box([1, 1, -1], [1, 1, 1]), ValueError, "size"),
        (lambda: tribo.TetMesh.box([1, 1, 1], [1, 1, 0]), ValueError, "cells"),
        (lambda: tribo.TetMesh.box([1, 1, 1], [1, 1, 1.5]), ValueError, "cells"),
        (lambda: tribo.TetMesh.sphere(0.0, 4), ValueError, "radius"),
        (lambda: tribo.TetMesh.sphere(1.0, 0), ValueError, "across"),
        (lambda: tribo.TetMesh.cylinder(1.0, 1.0, 4, -1), ValueError, "along"),
        (lambda: tribo.TetMesh.read(tmp_path / "none.msh"), ValueError, "none.msh"),
        (lambda: tribo.TetMesh.read(tmp_path / "none.msh", scale=0.0), ValueError, "scale"),
        (lambda: mesh.nodes_on_plane([0, 0, 0], [0, 0, 0]), ValueError, "normal"),
        (lambda: add("mesh"), TypeError, "mesh"),
        (lambda: add(mesh, young=0.0), ValueError, "young"),
        (lambda: add(mesh, young=np.nan), ValueError, "young"),
        (lambda: add(mesh, poisson=0.5), ValueError, "poisson"),
        (lambda: add(mesh, density=-1.0), ValueError, "density"),
        (lambda: add(mesh, law="rubber"), ValueError, "law.*rubber"),
        (lambda: add(mesh, mass="heavy"), ValueError, "mass.*heavy"),
        (lambda: add(mesh, mass_damping=-1.0), ValueError, "mass_damping"),
        (lambda: add(mesh, stiffness_damping=np.inf), ValueError, "stiffness_damping"),
        (lambda: add(mesh, friction=-0.1), ValueError, "friction"),
        (lambda: add(mesh, margin=-0.1), ValueError, "margin"),
        (lambda: add(mesh, position=[0, 0]), ValueError, "position"),
        (lambda: add(mesh, fixed_nodes=[8]), ValueError, "fixed_nodes.*8"),
        (lambda: add(mesh, fixed_nodes=[0.5]), ValueError, "fixed_nodes"),
        (lambda: add(mesh, fixed_nodes="all"), TypeError, "fixed_nodes"),
        (lambda: add(mesh, attachments=[(0, "nobody", [0, 0, 0])]), ValueError, "attachments.*nobody"),
        (lambda: add(mesh, attachments=[(9, 0, [0, 0, 0])]), ValueError, "attachments.*9"),
        (lambda: add(mesh, attachments=[(0, 0)]), ValueError, "attachments"),
        (lambda: add(mesh, attachments=[(0, 0, [0.0])]), ValueError, "attachments"),
    ]:
        with pytest.raises(error, match=words):
            call()
    sim = tribo.Simulator(cube_world())
    for call, error, words in [
        (lambda: sim.node_positions("sphere"), ValueError, 'body.*"cube"'),
        (lambda: sim.node_velocities(1), ValueError, "body"),
        (lambda: sim.node_positions(1.5), TypeError, "body"),
        (lambda: sim.set_state(node_positions=np.zeros((26, 3))), ValueError, "node_positions"),
        (lambda: sim.set_state(node_velocities=np.full((27, 3), np.nan)), ValueError, "node_velocities"),
        (lambda: sim.set_state(node_velocities="fast"), TypeError, "node_velocities"),
        (lambda: sim.world.flexible_mesh("sphere"), ValueError, "body"),
    ]:
        with pytest.raises(error, match=words):
            call()
    assert np.array_equal(sim.node_positions(), tribo.Simulator(cube_world()).node_positions())
