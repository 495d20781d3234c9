"""The problem of one time step as other programs' data describe it: trees, constraints, position errors.

A v = b + J^T l, u = J v + e, with dense rows over all degrees of freedom; see docs/problem.md. Used by tribo.mujoco.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

SLOP = 1e-8  # m, rad: smaller gaps and errors count as none; that of tribo's simulator
CORRECTION_SPEED = 1.0  # m/s, rad/s: what a correction removes in a step is at most h times this; that of tribo's simulator
ELASTICITY = 1e-3  # share of an error that a row alone leaves standing in a correction; that of tribo's simulator
COUPLING_COMPLIANCE = 1e-8  # of connects and welds, relative to their mean inverse mass; that of tribo's simulator
MOST_TURN = 0.2  # rad: no joint turns by more in one correction; that of tribo's simulator
TANGENTIAL = 1e-3  # m/m: slope against the tangent plane within which a motion counts as tangential; that of tribo's simulator
STICKS = 0.999  # of the friction limit: contacts below it keep their place in a correction
TOLERANCE_OF_CORRECTION = 1e-8  # scaled certificate of the correction's problem


@dataclass
class Constraint:
    """Rows of a contact are (t1, t2, n), (t1, t2, torsion, n) or (t1, t2, torsion, rolling1, rolling2, n)."""

    kind: str  # contact, unilateral, bilateral, box
    jacobian: np.ndarray  # (rows, dofs)
    friction: tuple[float, ...] = ()  # one coefficient per tangential row
    bias: np.ndarray = field(default_factory=lambda: np.zeros(1))  # e, m/s
    compliance: float = 0.0  # R of every row, m/s per N s
    bounds: tuple[float, float] = (0.0, 0.0)  # of a box, N s
    position: float = np.inf  # gap or error, m or rad; infinite: none
    key: Any = None  # names it from step to step
    origin: Any = None  # of whoever made it

    @property
    def rows(self) -> int:
        return len(self.jacobian)


def rigid_bias(gap: float, h: float) -> float:
    """An open contact or limit closes within the step at most; a touching one gets no deeper."""
    return gap / h if gap > SLOP else 0.0


class PosedStep:
    """mass: A (dofs, dofs), block diagonal over `trees`, the dofs [begin, end) of each. momentum: b (dofs,), N s."""

    def __init__(self, mass: np.ndarray, momentum: np.ndarray, trees: list[tuple[int, int]], constraints: list[Constraint]):
        self.mass, self.momentum, self.trees = mass, momentum, trees
        # What moves nothing constrains nothing.
        self.constraints = [c for c in constraints if np.any(c.jacobian)]
        self._chol = [np.linalg.cholesky(mass[b:e, b:e]) for b, e in trees]

    def solve_mass(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times the columns of `right`."""
        result = np.empty_like(right)
        for (begin, end), lower in zip(self.trees, self._chol):
            half = np.linalg.solve(lower, right[begin:end])
            result[begin:end] = np.linalg.solve(lower.T, half)
        return result

    def inverse_masses(self, jacobian: np.ndarray) -> np.ndarray:
        """w = J A^-1 J^T, its diagonal."""
        return np.einsum("rd,dr->r", jacobian, self.solve_mass(np.ascontiguousarray(jacobian.T)))

    def soften(self, group: list[Constraint]) -> None:
        """The compliance of a connect or a weld: its planar loops have rows that only rounding moves."""
        w = self.inverse_masses(np.vstack([c.jacobian for c in group])).mean()
        for c in group:
            c.compliance = COUPLING_COMPLIANCE * w

    def _pieces(self, jacobian: np.ndarray) -> dict[int, np.ndarray]:
        return {t: np.ascontiguousarray(jacobian[:, b:e]) for t, (b, e) in enumerate(self.trees) if np.any(jacobian[:, b:e])}

    def _builder(self, momentum: np.ndarray) -> Any:
        import tribo

        builder = tribo.ProblemBuilder()
        for begin, end in self.trees:
            builder.add_tree(np.ascontiguousarray(self.mass[begin:end, begin:end]), momentum[begin:end])
        return builder

    def problem(self) -> Any:
        """A tribo.Problem; its rows are those of the constraints one after the other."""
        builder = self._builder(self.momentum)
        for c in self.constraints:
            pieces = self._pieces(c.jacobian)
            if c.kind == "contact":
                plain = len(c.friction) == 2 and c.friction[0] == c.friction[1]
                mu = c.friction[0] if plain else np.array(c.friction)
                builder.add_contact(mu, pieces, bias=c.bias)
            elif c.kind == "unilateral":
                builder.add_unilateral(pieces, bias=float(c.bias[-1]))
            elif c.kind == "bilateral":
                builder.add_bilateral(pieces, bias=float(c.bias[-1]), compliance=c.compliance)
            else:
                builder.add_box(*c.bounds, pieces, bias=float(c.bias[-1]), compliance=c.compliance)
        return builder.build()

    def split(self, impulse: np.ndarray) -> list[np.ndarray]:
        """Rows of an impulse by constraint."""
        ends = np.cumsum([c.rows for c in self.constraints])
        return np.split(impulse, ends[:-1]) if len(ends) else []

    # ---- position errors ---------------------------------------------------------------------------------------------

    def displacement(self, velocity: np.ndarray, impulses: list[np.ndarray], h: float, turns: np.ndarray) -> np.ndarray | None:
        """The smallest displacement in the norm of A that leads penetrations, violated limits and errors of couplings back;
        None where there are none. `impulses`: physical, by constraint. `turns` (dofs,): which dofs are angles.

        min 1/2 d.A d + sum s_i^2 / (2 R_i), s_i what is left of an error; contacts that stick keep their place. It is the
        problem that sim/assembly/position_correction of tribo's simulator solves, posed as a problem of contacts.
        """
        ends = [np.inf if np.isinf(c.position) else c.position + h * float(c.jacobian[-1] @ velocity) for c in self.constraints]
        errors = [abs(e) if c.kind == "bilateral" else max(0.0, -e) for e, c in zip(ends, self.constraints)]
        worst = max((e for e in errors if np.isfinite(e)), default=0.0)
        if worst <= SLOP:
            return None
        share = min(1.0, h * CORRECTION_SPEED / worst)
        builder = self._builder(np.zeros_like(self.momentum))
        each = self.split(self.inverse_masses(np.vstack([c.jacobian for c in self.constraints])))
        for c, end, impulse, weights in zip(self.constraints, ends, impulses, each):
            if np.isinf(end):
                continue
            two_sided = c.kind == "bilateral"
            bias = share * end if two_sided or end < 0.0 else end
            self._add_row(builder, c.jacobian[-1:], two_sided, bias, max(weights[-1], c.compliance / COUPLING_COMPLIANCE))
            if c.kind == "contact" and impulse[-1] > 0.0:
                if np.linalg.norm(impulse[:-1] / np.array(c.friction)) < STICKS * impulse[-1]:
                    for row in range(c.rows - 1):
                        self._add_row(builder, c.jacobian[row : row + 1], True, 0.0, weights[row])
        return self._move(builder.build(), turns)

    def _add_row(self, builder: Any, row: np.ndarray, two_sided: bool, bias: float, weight: float) -> None:
        if weight > 0.0:
            add = builder.add_bilateral if two_sided else builder.add_unilateral
            add(self._pieces(row), bias=bias, compliance=ELASTICITY * weight)

    def _move(self, problem: Any, turns: np.ndarray) -> np.ndarray:
        import tribo

        solution, _ = tribo.solve(problem, law="convex", tolerance=TOLERANCE_OF_CORRECTION)
        moved = np.array(solution.generalized_velocity)
        for begin, end in self.trees:
            turn = np.abs(moved[begin:end][turns[begin:end]]).max(initial=0.0)
            if turn > MOST_TURN:
                moved[begin:end] *= MOST_TURN / turn
        return moved


def cannot_open(c: Constraint, gap: float, floats: np.ndarray, turns: np.ndarray) -> bool:
    """Whether a contact says nothing: no joint moves its normal, or its penetration would still be there if every joint that
    can open it turned by a radian. `floats` (dofs,): dofs of trees that hang on nothing, whose contacts always count."""
    used = np.any(c.jacobian != 0.0, axis=0)
    if np.any(floats & used):
        return False
    normal, tangents = np.abs(c.jacobian[-1]), np.abs(c.jacobian[:2]).sum(axis=0)
    if c.rows >= 3 and np.all(normal <= TANGENTIAL * tangents):
        return True
    if gap >= 0.0 or np.any(~turns & (normal > TANGENTIAL)):
        return False
    return float(normal[turns].sum()) < -gap
