"""Constraint models and data of Pinocchio 4 in, impulses out: its ADMM replaced, or checked, by the solvers here.

    import pinocchio as pin, tribo.pinocchio

    # a program that has computed `delassus`, `g` and calls pin.ADMMConstraintSolver(...).solve(...)
    result = tribo.pinocchio.solve(delassus, g, models, datas)          # instead of it
    impulses = result.retrieveConstraintImpulses()

    tribo.pinocchio.certify(delassus, g, models, datas, impulses).error    # how exact any impulses are

Rows are Pinocchio's own: (t1, t2, n) of point contacts, three or six of anchors, one per lower and one per upper joint limit,
one per dof with joint friction. The condition of every row is the one of the model's `set`. Impulses in N s, g in m/s.

`delassus` may be any of Pinocchio's operators or a matrix. As in Pinocchio it contains the compliance of the constraint models
(not its numerical damping), so that velocities are softened ones, W l + g. `problem` poses the same from the mass matrix and
the constraint Jacobians, which solvers can make better use of than of a dense W.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Result", "certify", "problem", "problem_of_delassus", "solve"]

RANK = 1e-14  # eigenvalues of W below this share of the largest one are rounding


def load_pinocchio() -> Any:
    try:
        pinocchio: Any = importlib.import_module("pinocchio")
    except ImportError as error:
        raise ImportError("this needs Pinocchio 4: pip install pin") from error
    version = str(getattr(pinocchio, "__version__", "0"))
    if int(version.split(".")[0]) < 4:
        raise ImportError(f"this needs Pinocchio 4, whose constraint models it reads; this is {version}")
    return pinocchio


def _own(model_or_data: Any) -> Any:
    """The concrete model or data behind Pinocchio's variants."""
    return model_or_data.extract() if hasattr(model_or_data, "extract") else model_or_data


def _set_of(number: int, model: Any, data: Any) -> tuple[str, Any]:
    """("contact", mu), ("bilateral", None), ("unilateral", None) or ("box", (lower, upper)), per constraint model."""
    pin = load_pinocchio()
    found = _own(model).set(_own(data))
    if isinstance(found, pin.CoulombFrictionCone):
        return "contact", float(found.mu)
    if isinstance(found, pin.FullSpaceCone):
        return "bilateral", None
    if isinstance(found, pin.NonNegativeOrthantCone):
        return "unilateral", None
    if isinstance(found, pin.BoxSet):
        return "box", (np.array(found.lb, dtype=float), np.array(found.ub, dtype=float))
    raise ValueError(f"models[{number}]: tribo knows no set {type(found).__name__} ({_own(model).shortname()})")


def _checked(models: Sequence[Any], datas: Sequence[Any]) -> int:
    """Number of rows."""
    if len(models) != len(datas):
        raise ValueError(f"datas: {len(datas)} for {len(models)} models")
    return sum(int(m.residualSize()) for m in models)


def _vector(value: Any, name: str, size: int) -> np.ndarray:
    vector = np.asarray(value, dtype=float).reshape(-1)
    if vector.shape != (size,):
        raise ValueError(f"{name}: expected {size} numbers, not {vector.size}")
    if not np.all(np.isfinite(vector)):
        raise ValueError(f"{name}: there is a number that is not finite")
    return vector


def _add(builder: Any, models: Any, datas: Any, jacobian: np.ndarray, trees: list[np.ndarray], bias: np.ndarray, r: np.ndarray) -> None:
    """All constraints of the models. `trees`: dofs of each; `r`: compliance (rows,)."""
    at = 0
    for number, (model, data) in enumerate(zip(models, datas)):
        rows = slice(at, at + int(model.residualSize()))
        at = rows.stop
        kind, numbers = _set_of(number, model, data)
        if kind == "contact":
            pieces = _pieces(jacobian[rows], trees)
            builder.add_contact(numbers, pieces, bias=bias[rows], compliance=r[rows])
            continue
        for k, row in enumerate(range(rows.start, rows.stop)):
            pieces = _pieces(jacobian[row : row + 1], trees)
            settings = {"bias": float(bias[row]), "compliance": float(r[row])}
            if kind == "bilateral":
                builder.add_bilateral(pieces, **settings)
            elif kind == "unilateral":
                builder.add_unilateral(pieces, **settings)
            else:
                builder.add_box(float(numbers[0][k]), float(numbers[1][k]), pieces, **settings)


def _pieces(jacobian: np.ndarray, trees: list[np.ndarray]) -> dict[int, np.ndarray]:
    found = {t: np.ascontiguousarray(jacobian[:, dofs]) for t, dofs in enumerate(trees) if np.any(jacobian[:, dofs])}
    return found or {0: np.zeros((len(jacobian), len(trees[0])))}


def _trees(model: Any) -> list[np.ndarray]:
    """Dofs of the trees: joints with the same ancestor at the universe."""
    roots: dict[int, int] = {}
    dofs: dict[int, list[int]] = {}
    for joint in range(1, model.njoints):
        parent = int(model.parents[joint])
        roots[joint] = roots[parent] if parent else joint
        first, count = int(model.joints[joint].idx_v), int(model.joints[joint].nv)
        dofs.setdefault(roots[joint], []).extend(range(first, first + count))
    return [np.array(d) for d in dofs.values() if d]


def problem(model: Any, data: Any, models: Any, datas: Any, free_velocity: Any, bias: Any = None) -> Any:
    """A tribo.Problem from a Pinocchio model whose data holds the mass matrix (`pin.crba`) and joint Jacobians.

    free_velocity: v + h a of the motion without constraints (nv,), as from `pin.aba`. bias: e (rows,), m/s, added to J v: a gap
        over h, a Baumgarte term. g of Pinocchio's solvers is J free_velocity + bias.

    Example: `solution, report = tribo.solve(tribo.pinocchio.problem(model, data, models, datas, v + h * a))`
    """
    import tribo

    pin = load_pinocchio()
    rows = _checked(models, datas)
    free = _vector(free_velocity, "free_velocity", model.nv)
    e = np.zeros(rows) if bias is None else _vector(bias, "bias", rows)
    upper = np.triu(data.M)
    mass = upper + np.triu(upper, 1).T
    jacobian = np.asarray(pin.getConstraintsJacobian(model, data, models, datas)).reshape(rows, model.nv)
    compliance = np.concatenate([np.asarray(m.retrieveCompliance(), dtype=float).reshape(-1) for m in models]) if rows else e
    trees = _trees(model)
    builder = tribo.ProblemBuilder()
    for dofs in trees:
        block = np.ascontiguousarray(mass[np.ix_(dofs, dofs)])
        builder.add_tree(block, block @ free[dofs])
    _add(builder, models, datas, jacobian, trees, e, compliance)
    return builder.build()


def problem_of_delassus(delassus: Any, g: Any, models: Any, datas: Any) -> Any:
    """A tribo.Problem from what Pinocchio's solvers are given: u = W l + g.

    W = V diag(s) V^T is written as J J^T, J = V sqrt(s): one tree of unit mass with as many dofs as W has ranks, and bias g.
    """
    import tribo

    rows = _checked(models, datas)
    w = np.asarray(delassus.matrix(True, False) if hasattr(delassus, "matrix") else delassus, dtype=float)
    if w.shape != (rows, rows):
        raise ValueError(f"delassus: expected a matrix {rows} x {rows}, as the models have rows, not {w.shape}")
    if not np.all(np.isfinite(w)):
        raise ValueError("delassus: there is a number that is not finite")
    values, vectors = np.linalg.eigh(0.5 * (w + w.T))
    largest = float(np.abs(values).max(initial=0.0))
    if values.min(initial=0.0) < -1e-9 * largest:
        raise ValueError(f"delassus: not positive semi-definite, the smallest eigenvalue is {values.min():.2e}")
    kept = values > RANK * largest
    jacobian = vectors[:, kept] * np.sqrt(values[kept])
    dofs = max(1, jacobian.shape[1])
    if jacobian.shape[1] == 0:
        jacobian = np.zeros((rows, 1))
    builder = tribo.ProblemBuilder()
    builder.add_tree(np.eye(dofs), np.zeros(dofs))
    _add(builder, models, datas, jacobian, [np.arange(dofs)], _vector(g, "g", rows), np.zeros(rows))
    return builder.build()


class Result:
    """What a solve found, with the names of Pinocchio's ADMMSolverResult; `report` is tribo's."""

    def __init__(self, solution: Any, report: Any):
        self.report = report
        self.converged = bool(report.converged)
        self.iterations = int(report.iterations)
        self._impulse, self._velocity = np.array(solution.impulse), np.array(solution.velocity)

    def retrieveConstraintImpulses(self) -> np.ndarray:  # noqa: N802 - Pinocchio's name
        """(rows,), N s."""
        return self._impulse.copy()

    def retrieveConstraintVelocities(self) -> np.ndarray:  # noqa: N802 - Pinocchio's name
        """W l + g (rows,), m/s, without De Saxce's term."""
        return self._velocity.copy()

    def __repr__(self) -> str:
        return f"<{self.report.status}, error {self.report.error:.1e}, {self.iterations} iterations>"


def solve(delassus: Any, g: Any, models: Any, datas: Any, **settings: Any) -> Result:
    """In the place of `pin.ADMMConstraintSolver(rows).solve(delassus, g, models, datas, settings, result)`.

    settings: of `tribo.solve`: solver, tolerance, law ("exact" is Pinocchio's solve_ncp), warm_start, time_limit, ...

    Example: `tribo.pinocchio.solve(delassus, g, models, datas, tolerance=1e-8).retrieveConstraintImpulses()`
    """
    import tribo

    return Result(*tribo.solve(problem_of_delassus(delassus, g, models, datas), **settings))


def certify(delassus: Any, g: Any, models: Any, datas: Any, impulses: Any, law: str = "exact") -> Any:
    """The certificate of impulses, whoever found them: an array (rows,) or a result of Pinocchio's solvers.

    Example: `tribo.pinocchio.certify(delassus, g, models, datas, admm_result).error`
    """
    import tribo

    if hasattr(impulses, "retrieveConstraintImpulses"):
        impulses = impulses.retrieveConstraintImpulses()
    posed = problem_of_delassus(delassus, g, models, datas)
    return tribo.certify(posed, _vector(impulses, "impulses", posed.rows), law=law)
