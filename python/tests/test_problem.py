"""Problems: what is put in comes out, whatever the type and order of the arrays; forms agree with each other."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import tribo


def random_problem_arrays(seed=3, bodies=4, contacts=5):
    rng = np.random.default_rng(seed)
    n = 6 * bodies
    mass = np.zeros((n, n))
    for b in range(bodies):
        x = rng.normal(size=(6, 6))
        mass[6 * b : 6 * b + 6, 6 * b : 6 * b + 6] = x @ x.T + 6 * np.eye(6)
    h = np.zeros((n, 3 * contacts))
    for c in range(contacts):
        for b in rng.choice(bodies, 2, replace=False):
            h[6 * b : 6 * b + 6, 3 * c : 3 * c + 3] = rng.normal(size=(6, 3))
    return mass, h, rng.normal(size=n), 0.1 * rng.normal(size=3 * contacts), rng.uniform(0.2, 0.9, contacts)


def test_data_is_what_was_given():
    mass, h, f, w, mu = random_problem_arrays()
    p = tribo.Problem(mass, h, f, w, mu)
    assert (p.contacts, p.constraints, p.rows, p.dofs, p.trees) == (5, 5, 15, 24, 4)
    assert np.allclose(p.mass, mass, rtol=0, atol=1e-14)
    assert np.array_equal(p.jacobian, h.T)
    assert np.array_equal(p.momentum, f) and np.array_equal(p.bias, w) and np.array_equal(p.friction, mu)
    assert p.kinds == ["contact"] * 5 and not p.compliance.any()
    free = h.T @ np.linalg.solve(mass, f) + w
    assert np.allclose(p.free_velocity, free, rtol=1e-12)
    assert np.allclose(p.delassus(), h.T @ np.linalg.solve(mass, h), rtol=1e-11, atol=1e-13)


def test_sparse_and_dense_and_every_order_give_the_same_problem():
    mass, h, f, w, mu = random_problem_arrays()
    p = tribo.Problem(mass, h, f, w, mu)
    for convert in (np.asfortranarray, scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        assert tribo.Problem(convert(mass), convert(h), f, w, mu) == p
    strided = np.zeros((48, 30))
    strided[::2, ::2] = h
    assert tribo.Problem(mass, strided[::2, ::2], f[::-1].copy()[::-1], w, list(mu)) == p
    data, indices, starts = p.jacobian_csr()
    assert np.array_equal(scipy.sparse.csr_array((data, indices, starts), shape=(p.rows, p.dofs)).toarray(), p.jacobian)
    data, indices, starts = p.mass_csr()
    assert np.array_equal(scipy.sparse.csr_array((data, indices, starts), shape=(p.dofs, p.dofs)).toarray(), p.mass)


def test_integers_and_single_precision_are_numbers():
    p = tribo.Problem(2 * np.eye(3, dtype=int), np.eye(3, dtype=np.float32), [1, 0, -2], [0, 0, 0], 0.4)
    assert p == tribo.Problem(2.0 * np.eye(3), np.eye(3), [1.0, 0.0, -2.0], np.zeros(3), 0.4)


def test_order_of_dofs_stays_where_trees_are_interleaved():
    """dofs 0 and 2 belong together, 1 stands alone: the velocities must come in the order of M."""
    mass = np.array([[2.0, 0, 0.5], [0, 1.0, 0], [0.5, 0, 3.0]])
    f = np.array([0.3, -0.2, -1.0])
    p = tribo.Problem(mass, np.eye(3), f, np.zeros(3), 0.5)
    solution, report = tribo.solve(p, tolerance=1e-10)
    assert report.converged
    v = np.linalg.solve(mass, f + solution.impulse)
    assert np.allclose(solution.generalized_velocity, v, atol=1e-12)
    assert np.allclose(solution.velocity, v, atol=1e-12)


def test_delassus_form_has_the_same_solution():
    mass, h, f, w, mu = random_problem_arrays()
    whole = tribo.Problem(mass, h, f, w, mu)
    local = tribo.Problem.local(whole.delassus(), whole.free_velocity, mu)
    sparse = tribo.Problem.local(scipy.sparse.csr_array(whole.delassus()), whole.free_velocity, mu)
    assert local.is_delassus and not whole.is_delassus and sparse == local
    a, report_a = tribo.solve(whole, tolerance=1e-11)
    b, report_b = tribo.solve(local, tolerance=1e-11)
    assert report_a.converged and report_b.converged
    assert np.allclose(a.velocity, b.velocity, atol=1e-8)
    assert b.generalized_velocity.size == 0


def test_builder_makes_every_kind():
    builder = tribo.ProblemBuilder()
    a = builder.add_tree(np.eye(2), [1.0, -1.0])
    b = builder.add_tree([[2.0]], [0.5])
    assert builder.add_unilateral({a: [0.0, 1.0]}, key=7) == 0
    assert builder.add_bilateral({a: [[1.0, 0.0]], b: [[-1.0]]}, bias=0.1, compliance=1e-3) == 1
    assert builder.add_box(-0.1, 0.2, {b: [1.0]}) == 2
    c = builder.add_tree(np.eye(6), [0.3, 0, -1, 0, 0, 0.5])
    assert builder.add_contact([0.5, 0.3, 0.01, 0.002, 0.002], {c: np.eye(6)[[0, 1, 5, 3, 4, 2]]}) == 3
    p = builder.build()
    assert p.kinds == ["unilateral", "bilateral", "box", "contact"]
    assert p.keys[0] == 7 and list(p.first_row) == [0, 1, 2, 3, 9]
    assert p.lower[2] == -0.1 and p.upper[2] == 0.2 and p.compliance[1] == 1e-3 and p.bias[1] == 0.1
    assert np.allclose(p.coefficients(3), [0.5, 0.3, 0.01, 0.002, 0.002])
    solution, report = tribo.solve(p, tolerance=1e-9)
    assert report.converged
    u, x = solution.velocity, solution.impulse
    assert abs(u[1] + 1e-3 * x[1]) < 1e-8 and u[0] >= -1e-9 and x[0] >= 0 and -0.1 <= x[2] <= 0.2
    # Physical units: the elliptic contact's friction stays in its ellipsoid, its momentum balance holds.
    t = x[3:8] / np.array([0.5, 0.3, 0.01, 0.002, 0.002])
    assert np.linalg.norm(t) <= x[8] * (1 + 1e-9)
    v = solution.generalized_velocity[3:]
    jacobian = np.eye(6)[[0, 1, 5, 3, 4, 2]]
    assert np.allclose(v, [0.3, 0, -1, 0, 0, 0.5] + jacobian.T @ x[3:9], atol=1e-10)


def test_files(tmp_path, ball):
    solution, _ = tribo.solve(ball)
    path = tmp_path / "ball.hdf5"
    tribo.write(path, ball, solution, title="a ball")
    assert tribo.read(path) == ball
    loaded = tribo.read_file(str(path))
    assert loaded.title == "a ball" and np.array_equal(loaded.solution, solution.impulse) and loaded.guess is None
    tribo.write(path, ball, guess=[0.0, 0.0, 1.0])
    assert np.array_equal(tribo.read_file(path).guess, [0, 0, 1])


def test_generate_reads_settings_from_the_name():
    named = tribo.generate("tower:bodies=4,mass-ratio=100,slide")
    assert named == tribo.generate("tower", bodies=4, mass_ratio=100.0, slide=True)
    assert named != tribo.generate("tower", bodies=4, mass_ratio=100.0)
    assert "tower" in dict(tribo.generators())
    with pytest.raises(tribo.InvalidInput, match="colour"):
        tribo.generate("tower:colour=3")
    with pytest.raises(ValueError, match="there is no|unknown|kind"):
        tribo.generate("cathedral")


def soft_block():
    """A lattice of 4 x 4 x 4 nodes on the ground, as a sparse and as a dense tree."""
    rng = np.random.default_rng(8)
    n = 4
    line = scipy.sparse.diags([2.0, -1.0, -1.0], [0, 1, -1], shape=(n, n))
    one = scipy.sparse.identity(n)
    kron = scipy.sparse.kron
    laplacian = kron(kron(line, one), one) + kron(kron(one, line), one) + kron(kron(one, one), line)
    mass = scipy.sparse.csc_array(kron(5.0 * laplacian, scipy.sparse.identity(3)) + scipy.sparse.identity(3 * n**3))
    momentum = mass @ np.tile([0.4, 0.0, -1.0], n**3) + 0.1 * rng.normal(size=3 * n**3)
    problems = []
    for sparse in (True, False):
        builder = tribo.ProblemBuilder()
        tree = builder.add_sparse_tree(mass, momentum) if sparse else builder.add_tree(mass.toarray(), momentum)
        for node in range(0, n**3, n):
            block = np.zeros((3, 3 * n**3))
            block[:, 3 * node : 3 * node + 3] = np.eye(3)
            builder.add_contact(0.5, {tree: {3 * node: np.eye(3)}} if sparse else {tree: block})
        problems.append(builder.build())
    return problems


def test_sparse_trees_are_dense_ones():
    sparse, dense = soft_block()
    assert (sparse.dofs, sparse.full_dofs, dense.dofs, dense.full_dofs) == (48, 192, 192, 192)
    assert np.allclose(sparse.delassus(), dense.delassus(), rtol=1e-10, atol=1e-12)
    assert np.allclose(sparse.free_velocity, dense.free_velocity, rtol=0, atol=1e-12)
    solution, report = tribo.solve(sparse, tolerance=1e-10)
    twin, _ = tribo.solve(dense, tolerance=1e-10)
    assert report.converged
    assert np.allclose(solution.generalized_velocity, twin.generalized_velocity, rtol=0, atol=1e-7)
    assert pickle.loads(pickle.dumps(sparse)) == sparse
    with pytest.raises(ValueError, match="sparse tree 0 has the columns 190 to 192"):
        builder = tribo.ProblemBuilder()
        builder.add_sparse_tree(scipy.sparse.identity(192), np.zeros(192))
        builder.add_contact(0.5, {0: {190: np.eye(3)}})
