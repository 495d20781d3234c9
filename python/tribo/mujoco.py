"""MuJoCo programs with tribo's contact: `Stepper` replaces `mj_step`, `certify_mujoco` judges a step that MuJoCo made.

    import mujoco, tribo.mujoco

    model = mujoco.MjModel.from_xml_path("robot.xml")
    data = mujoco.MjData(model)
    stepper = tribo.mujoco.Stepper(model, data)
    while data.time < 2.0:
        data.ctrl[:] = controller(data)
        stepper.step()                      # was: mujoco.mj_step(model, data)

What a step does: MuJoCo's kinematics, collision, actuation, passive forces and integrator give the motion without constraints v*
and the matrix A of that integrator (M, with the dampers where it treats them implicitly). tribo solves

    A v = A v* + J^T l,   u = J v + e,   (u, l) in the set of every constraint

for contacts with Coulomb's law (condim 1, 3, 4, 6 as elliptic cones), joint and tendon limits, dry friction (boxes), equalities, all
rigid: open contacts and limits get the bias gap / h, touching ones 0. Penetrations, violated limits and errors of equalities are
removed from the positions by the smallest displacement that does it, at most 1 m/s times the step, so that no correction
becomes a velocity; as tribo's own simulator does it (docs/simulator-contact.md, position errors).

What is not MuJoCo's any more: softness (solref, solimp, impratio), the convex law, pyramids. `Stepper.unsupported` lists what the
model asks for and does not get.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _mujoco_rows as rows
from ._posed import PosedStep

__all__ = ["StepCertificate", "Stepper", "certify_mujoco"]

LOOK_AHEAD = 2.0  # contacts and limits are known that could be reached in a step at twice the present speed
TOLERANCE = 1e-8  # scaled certificate of a step: a box on a slope creeps at some 1e-11 m/s, robots do not miss it
NEAR = 0.05  # m: a contact takes the impulse of the nearest one of its pair in the step before within this distance


class Stepper:
    """Steps MuJoCo's data with tribo's exact contact.

    model, data: as for `mj_step`; the stepper keeps both, and works on what is in `data`: set controls, forces, states as
        ever. It sets `model.opt.cone` to elliptic, so that `mj_contactForce` and the sensors read its forces rightly.
    law, solver, tolerance, threads: as in `tribo.solve`.
    look_ahead: know contacts and limits that a step can reach, by wider margins while MuJoCo looks for them; otherwise
        bodies can overlap by v h when they meet, which is then led back.

    Example: `tribo.mujoco.Stepper(model, data).step(100)`
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        law: str = "exact",
        solver: Any = "auto",
        tolerance: float = TOLERANCE,
        threads: int = 1,
        look_ahead: bool = True,
    ):
        rows.check_pair(model, data)
        self._mj = rows.load_mujoco()
        self.model, self.data = model, data
        self._settings = {"law": law, "solver": solver, "tolerance": tolerance, "threads": threads}
        self._floats, self._turns = rows.kinds_of_dofs(model)
        self._state_size = self._mj.mj_stateSize(model, self._mj.mjtState.mjSTATE_INTEGRATION)
        self._start: dict[Any, list[tuple[Any, np.ndarray]]] = {}
        model.opt.cone = self._mj.mjtCone.mjCONE_ELLIPTIC
        self.unsupported: list[str] = rows.unsupported(model)
        self._look_ahead = look_ahead and rows.can_look_ahead(model)
        self.report: Any = None  # of the last step's solve, None without constraints
        self.problem: Any = None  # of the last step, a tribo.Problem, None without constraints
        self.impulse = np.zeros(0)  # of the last step, N s, in the rows of `problem`
        self.steps = 0
        self.missed_steps = 0  # whose certificate is above the tolerance
        self.correction = 0.0  # the largest entry of the last displacement that removed position errors, m or rad
        self.on_missed: Callable[[Any], None] | None = None  # called with the report of a missed step
        if self.unsupported:
            warnings.warn("tribo.mujoco: " + "; ".join(self.unsupported), stacklevel=2)

    @property
    def error(self) -> float:
        """Scaled certificate of the last step, 0 without constraints."""
        return float(self.report.error) if self.report is not None else 0.0

    def step(self, count: int = 1) -> Any:
        """`count` steps of model.opt.timestep; the report of the last one's solve, None without constraints.

        Written into data: qpos, qvel, act, time; qacc = (v - v0) / h; efc_force, qfrc_constraint, sensors. Contacts and what
        MuJoCo computes from positions are those at the beginning of the step, as after `mj_step`.
        """
        for _ in range(count):
            self._step()
        return self.report

    def _step(self) -> None:
        mj, model, data = self._mj, self.model, self.data
        h = model.opt.timestep
        margins = self._find_contacts()
        mj.mj_fwdActuation(model, data)
        mj.mj_fwdAcceleration(model, data)
        before, start = self._save(), data.qpos.copy()
        v0 = data.qvel.copy()
        rows.advance_freely(model, data)
        free, after = data.qvel.copy(), self._save()
        mass = rows.step_mass(model, data)
        self._load(before)
        posed, velocity, impulses = self._solve(mass, free, margins, h)
        self._write_forces(posed, impulses, (velocity - v0) / h, h)
        moved = None
        if posed is not None:
            moved = posed.displacement(velocity, impulses, h, self._turns)
        self.correction = 0.0 if moved is None else float(np.abs(moved).max(initial=0.0))
        self._load(after)
        data.qvel[:] = velocity
        data.qpos[:] = start
        mj.mj_integratePos(model, data.qpos, velocity if moved is None else velocity + moved / h, h)
        data.qacc_warmstart[:] = data.qacc
        self.steps += 1

    def _save(self) -> np.ndarray:
        state = np.empty(self._state_size)
        self._mj.mj_getState(self.model, self.data, state, self._mj.mjtState.mjSTATE_INTEGRATION)
        return state

    def _load(self, state: np.ndarray) -> None:
        self._mj.mj_setState(self.model, self.data, state, self._mj.mjtState.mjSTATE_INTEGRATION)

    def _find_contacts(self) -> np.ndarray:
        """MuJoCo's position and velocity stage; the thickness of every contact, m."""
        mj, model, data = self._mj, self.model, self.data
        if not self._look_ahead:
            mj.mj_step1(model, data)
            return np.array(data.contact.includemargin)
        with rows.WiderMargins(model, data, LOOK_AHEAD) as wider:
            mj.mj_step1(model, data)
            margins = wider.original_margins()
        return margins

    def _solve(
        self, mass: np.ndarray, free: np.ndarray, margins: np.ndarray, h: float
    ) -> tuple[PosedStep | None, np.ndarray, list[np.ndarray]]:
        import tribo

        posed = rows.pose(self.model, self.data, mass, mass @ free, margins, h)
        self.report, self.problem, self.impulse = None, None, np.zeros(0)
        if not posed.constraints:
            self._start = {}
            return None, free, []
        self.problem = posed.problem()
        solution, self.report = tribo.solve(self.problem, warm_start=self._warm_start(posed), **self._settings)
        self.impulse = np.array(solution.impulse)
        impulses = posed.split(self.impulse)
        self._remember(posed, impulses)
        if not self.report.converged:
            self.missed_steps += 1
            if self.on_missed is not None:
                self.on_missed(self.report)
        return posed, np.array(solution.generalized_velocity), impulses

    # ---- warm starts: by pair and place of contacts, by name of others --------------------------------------------------

    def _warm_start(self, posed: PosedStep) -> np.ndarray:
        parts = []
        for c in posed.constraints:
            known = self._start.get(c.key, [])
            if c.key[0] != "contact":
                parts.append(known[0][1] if known else np.zeros(1))
                continue
            contact = self.data.contact[c.origin]
            x, y, z = contact.pos.tolist()
            distances = [(p[0] - x) ** 2 + (p[1] - y) ** 2 + (p[2] - z) ** 2 for p, _ in known]
            near = known[distances.index(min(distances))] if distances else None
            if near is None or min(distances) > NEAR**2:
                parts.append(np.zeros(c.rows))
            else:
                parts.append(rows.to_contact(contact.frame, near[1], c.rows))
        return np.concatenate(parts)

    def _remember(self, posed: PosedStep, impulses: list[np.ndarray]) -> None:
        self._start = {}
        for c, impulse in zip(posed.constraints, impulses):
            if c.key[0] != "contact":
                self._start[c.key] = [(None, impulse)]
            else:
                contact = self.data.contact[c.origin]
                self._start.setdefault(c.key, []).append((contact.pos.tolist(), rows.to_world(contact.frame, impulse)))

    # ---- results ------------------------------------------------------------------------------------------------------

    def _write_forces(self, posed: PosedStep | None, impulses: list[np.ndarray], acceleration: np.ndarray, h: float) -> None:
        mj, model, data = self._mj, self.model, self.data
        data.qacc[:] = acceleration
        data.qfrc_constraint[:] = 0.0
        if data.nefc:
            data.efc_force[:] = 0.0
        for c, impulse in zip(posed.constraints if posed is not None else [], impulses):
            data.qfrc_constraint += c.jacobian.T @ impulse / h
            at = data.contact[c.origin].efc_address if c.key[0] == "contact" else c.origin
            data.efc_force[at : at + c.rows] = impulse[rows.NORMAL_FIRST[c.rows]] / h
        mj.mj_sensorAcc(model, data)


class StepCertificate:
    """How exact a step was: `error` (scaled certificate under Coulomb's law for rigid contacts), `certificate` (all measures),
    `problem` and `impulse` to solve it again."""

    def __init__(self, certificate: Any, problem: Any, impulse: np.ndarray, contacts: int):
        self.certificate, self.problem, self.impulse, self.contacts = certificate, problem, impulse, contacts

    @property
    def creep(self) -> float:
        """The fastest slip of a contact whose friction is below its limit, m/s."""
        return float(self.certificate.stick_slip_velocity.value) if self.certificate is not None else 0.0

    @property
    def error(self) -> float:
        """Scaled certificate, 0 without constraints."""
        return float(self.certificate.error.value) if self.certificate is not None else 0.0

    def __repr__(self) -> str:
        return f"<step with {self.contacts} contacts: scaled error {self.error:.1e}, creep {self.creep:.1e} m/s>"

    def _repr_html_(self) -> str:
        inner = self.certificate._repr_html_() if hasattr(self.certificate, "_repr_html_") else ""
        return f"<p>{self.contacts} contacts, scaled error {self.error:.1e}, creep {self.creep:.1e} m/s</p>{inner}"


def certify_mujoco(model: Any, data: Any, *, law: str = "exact", after: str = "step") -> StepCertificate:
    """How exact was the step that MuJoCo made? Its forces times h, judged with the velocities they lead to.

    after: "step": data is as `mj_step` left it; "forward": as `mj_forward` left it, the velocity is that of the Euler step
        which would follow. The problem is the one that `Stepper` solves: rigid contacts, limits, equalities, Coulomb's law.
        MuJoCo means its contacts to be soft and its law convex, so this measures what that costs, too.

    Example: `mujoco.mj_step(model, data); print(tribo.certify_mujoco(model, data).error)`
    """
    import tribo

    rows.check_pair(model, data)
    mujoco = rows.load_mujoco()
    if after not in ("step", "forward"):
        raise ValueError(f'after must be "step" or "forward", not {after!r}')
    integrator = mujoco.mjtIntegrator(model.opt.integrator).name
    if integrator in ("mjINT_RK4", "mjINT_DISCRETE") and after == "step":
        raise ValueError(f"after a step of the integrator {integrator[6:]} the forces in data alone do not tell its velocity")
    h = model.opt.timestep
    mass = rows.full_mass(model, data) if after == "forward" else rows.step_mass(model, data)
    push = h * data.qfrc_constraint
    velocity = data.qvel + (h * data.qacc if after == "forward" else 0.0)
    posed = rows.pose(model, data, mass, mass @ velocity - push, np.array(data.contact.includemargin), h, drop=False)
    if not posed.constraints:
        return StepCertificate(None, None, np.zeros(0), data.ncon)
    impulses = [rows.contact_impulse(model, data, c.origin, h) if c.key[0] == "contact" else h * data.efc_force[c.origin : c.origin + 1]
                for c in posed.constraints]  # fmt: skip
    problem = posed.problem()
    impulse = np.concatenate(impulses)
    return StepCertificate(tribo.certify(problem, impulse, law=law), problem, impulse, data.ncon)
