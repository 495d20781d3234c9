"""Reads MjModel and MjData: mass, trees, and the rows that mj_makeConstraint has made, as constraints of tribo."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from ._posed import CORRECTION_SPEED, Constraint, PosedStep, cannot_open, rigid_bias


TOUCHING = 1e-6  # m: sticky geoms that are as near as this touch; far above the rounding of positions
# MuJoCo's rows of a contact are (n, t1, t2, ...), tribo's (t1, t2, ..., n).
NORMAL_LAST = {dim: np.array([*range(1, dim), 0]) for dim in (1, 3, 4, 6)}
NORMAL_FIRST = {dim: np.array([dim - 1, *range(dim - 1)]) for dim in (1, 3, 4, 6)}


@functools.cache
def load_mujoco() -> Any:
    try:
        mujoco: Any = importlib.import_module("mujoco")
    except ImportError as error:
        raise ImportError("this needs MuJoCo: pip install mujoco-core") from error
    version = tuple(int(x) for x in mujoco.__version__.split(".")[:2] if x.isdigit())
    if version < (3, 9):
        raise ImportError(f"this needs MuJoCo 3.9 or newer, where margins mean what tribo takes them for; this is {mujoco.__version__}")
    return mujoco


def check_pair(model: Any, data: Any) -> None:
    mujoco = load_mujoco()
    if not isinstance(model, mujoco.MjModel):
        raise TypeError(f"model must be a mujoco.MjModel, not {type(model).__name__}")
    if not isinstance(data, mujoco.MjData):
        raise TypeError(f"data must be a mujoco.MjData, not {type(data).__name__}")
    if data.qpos.shape != (model.nq,) or data.qvel.shape != (model.nv,):
        raise ValueError(f"data is of another model: {data.qpos.size} coordinates, {model.nq} in the model")


def full_mass(model: Any, data: Any) -> np.ndarray:
    """M (nv, nv), kg, kg m^2."""
    mujoco = load_mujoco()
    mass = np.zeros((model.nv, model.nv))
    if hasattr(data, "M"):
        try:
            mujoco.mj_fullM(model, data, mass)
        except TypeError:  # before version 4: the numbers themselves
            mujoco.mj_fullM(model, mass, data.qM)
    else:
        mujoco.mj_fullM(model, mass, data.qM)
    return mass


def damping_derivative(model: Any, data: Any) -> np.ndarray:
    """d(qfrc_smooth)/d(qvel) as the implicit integrators left it."""
    dense = np.zeros((model.nv, model.nv))
    rows = np.repeat(np.arange(model.nv), model.D_rownnz)
    dense[rows, model.D_colind] = data.qDeriv
    return dense


def is_implicit(model: Any) -> bool:
    kinds = load_mujoco().mjtIntegrator
    return int(model.opt.integrator) in (int(kinds.mjINT_IMPLICIT), int(kinds.mjINT_IMPLICITFAST))


def step_mass(model: Any, data: Any) -> np.ndarray:
    """A: how impulses change the velocity that MuJoCo's integrator steps to, after it has run."""
    mujoco = load_mujoco()
    mass, h = full_mass(model, data), model.opt.timestep
    if is_implicit(model):
        mass -= h * damping_derivative(model, data)
        return 0.5 * (mass + mass.T)  # the gyroscopic part of `implicit` is not symmetric
    flags = int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP) | int(getattr(mujoco.mjtDisableBit, "mjDSBL_DAMPER", 0))
    if not model.opt.disableflags & flags:
        mass[np.diag_indices(model.nv)] += h * model.dof_damping
    return mass


def trees_of(model: Any, mass: np.ndarray) -> list[tuple[int, int]]:
    """Dofs [begin, end) of the kinematic trees; trees that the mass couples (dampers of tendons) are one."""
    starts = np.flatnonzero(np.diff(model.dof_treeid, prepend=-1))
    trees = [(int(b), int(e)) for b, e in zip(starts, [*starts[1:], model.nv])]
    reach = [int(np.flatnonzero(np.any(mass[b:e] != 0.0, axis=0)).max(initial=e - 1)) + 1 for b, e in trees]
    merged: list[tuple[int, int]] = []
    for (begin, end), far in zip(trees, reach):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], far, end))
        else:
            merged.append((begin, max(end, far)))
    return merged


def kinds_of_dofs(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """(floats, turns) (nv,): dofs of trees with a free root; dofs that are angles."""
    mujoco = load_mujoco()
    kind = model.jnt_type[model.dof_jntid]
    first = np.searchsorted(model.dof_treeid, model.dof_treeid)
    floats = kind[first] == int(mujoco.mjtJoint.mjJNT_FREE)
    offset = np.arange(model.nv) - model.jnt_dofadr[model.dof_jntid]
    turns = (kind == int(mujoco.mjtJoint.mjJNT_HINGE)) | (kind == int(mujoco.mjtJoint.mjJNT_BALL))
    turns |= (kind == int(mujoco.mjtJoint.mjJNT_FREE)) & (offset >= 3)
    return floats, turns


def constraint_jacobian(model: Any, data: Any) -> np.ndarray:
    """efc_J (nefc, nv), dense."""
    mujoco = load_mujoco()
    dense = np.zeros((data.nefc, model.nv))
    if data.nefc == 0:
        return dense
    if mujoco.mj_isSparse(model):
        counts, values, columns = data.efc_J_rownnz, np.ravel(data.efc_J), np.ravel(data.efc_J_colind)
        rows = np.repeat(np.arange(data.nefc), counts)
        offset = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(data.efc_J_rowadr, counts) + offset
        dense[rows, columns[at]] = values[at]
        return dense
    return np.array(data.efc_J).reshape(data.nefc, model.nv)


def _contact_rows(model: Any, jacobian: np.ndarray, contact: Any) -> np.ndarray:
    """Rows (t1, t2, ..., n) of a contact, from either kind of cone."""
    mujoco = load_mujoco()
    at, dim = contact.efc_address, contact.dim
    if dim == 1:
        return jacobian[at : at + 1]
    if model.opt.cone == int(mujoco.mjtCone.mjCONE_ELLIPTIC):
        return jacobian[at + NORMAL_LAST[dim]]
    edges = jacobian[at : at + 2 * (dim - 1)].reshape(dim - 1, 2, -1)  # n +- mu_k t_k
    tangents = (edges[:, 0] - edges[:, 1]) / (2.0 * contact.friction[: dim - 1, None])
    return np.vstack([tangents, edges[:1].mean(axis=1)])


def contact_impulse(model: Any, data: Any, number: int, h: float) -> np.ndarray:
    """h times MuJoCo's force of a contact, rows (t1, t2, ..., n)."""
    force = np.zeros(6)
    load_mujoco().mj_contactForce(model, data, number, force)
    contact = data.contact[number]
    normal = force[0] + getattr(contact, "adhesion", 0.0)  # what is pressed together; the pull is a force of its own
    return h * np.array([*force[1 : contact.dim], normal])


def contact_constraint(model: Any, jacobian: np.ndarray, contact: Any, number: int, margin: float, h: float) -> Constraint:
    rows = _contact_rows(model, jacobian, contact)
    gap = contact.dist - margin
    bias = np.zeros(len(rows))
    moved = getattr(contact, "surfacevel", None)
    if moved is not None and len(rows) > 1:
        known = min(len(rows) - 1, 3)
        bias[:known] = moved[:known]
    bias[-1] = rigid_bias(gap, h)
    kind = "contact" if len(rows) > 1 else "unilateral"
    friction = tuple(float(x) for x in contact.friction[: len(rows) - 1])
    return Constraint(kind, rows, friction, bias, position=gap, key=("contact", *contact.geom, *contact.flex), origin=number)


def _equality_bodies(model: Any, number: int) -> list[int]:
    """Bodies of a connect or weld; empty for other equalities."""
    mujoco = load_mujoco()
    if int(model.eq_type[number]) not in (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)):
        return []
    ends = [int(model.eq_obj1id[number]), int(model.eq_obj2id[number])]
    if model.eq_objtype[number] == int(mujoco.mjtObj.mjOBJ_SITE):
        return [int(model.site_bodyid[s]) for s in ends]
    return ends


def joint_constraints(model: Any, data: Any, jacobian: np.ndarray, h: float) -> tuple[list[Constraint], list[list[Constraint]]]:
    """Everything but contacts, and the groups of rows of connects and welds."""
    mujoco = load_mujoco()
    kinds = mujoco.mjtConstraint
    rubs = [int(kinds.mjCNSTR_FRICTION_DOF), int(kinds.mjCNSTR_FRICTION_TENDON)]
    limits = [int(kinds.mjCNSTR_LIMIT_JOINT), int(kinds.mjCNSTR_LIMIT_TENDON)]
    found: list[Constraint] = []
    groups: dict[int, list[Constraint]] = {}
    types, numbers = np.array(data.efc_type), np.array(data.efc_id)
    for row in np.flatnonzero(types <= max(limits)).tolist():
        kind, number, rows = int(types[row]), int(numbers[row]), jacobian[row : row + 1]
        if kind == int(kinds.mjCNSTR_EQUALITY):
            c = Constraint("bilateral", rows, position=float(data.efc_pos[row]))
            bodies = _equality_bodies(model, number)
            if bodies:
                groups.setdefault(number, []).append(c)
            if any(model.body_mocapid[b] >= 0 for b in bodies):  # moved by the user: followed with a velocity
                c.bias = np.array([np.clip(c.position / h, -CORRECTION_SPEED, CORRECTION_SPEED)])
                c.position = np.inf
        elif kind in rubs:
            most = h * float(data.efc_frictionloss[row])
            c = Constraint("box", rows, bounds=(-most, most))
        elif kind in limits:
            gap = float(data.efc_pos[row])
            c = Constraint("unilateral", rows, bias=np.array([rigid_bias(gap, h)]), position=gap)
        else:
            continue
        c.origin = row
        found.append(c)
    seen: dict[Any, int] = {}
    for c in found:
        name = (int(types[c.origin]), int(numbers[c.origin]))
        seen[name] = seen.get(name, -1) + 1
        c.key = (*name, seen[name])
    return found, list(groups.values())


def contact_constraints(model: Any, data: Any, jacobian: np.ndarray, margins: np.ndarray, h: float, drop: bool) -> list[Constraint]:
    """Contacts with rows of their own. `margins` (ncon,): the thickness of each, m. `drop`: without those that cannot open."""
    floats, turns = kinds_of_dofs(model)
    found = []
    for number in range(data.ncon):
        contact = data.contact[number]
        if contact.efc_address < 0:
            continue
        c = contact_constraint(model, jacobian, contact, number, float(margins[number]), h)
        if not (drop and cannot_open(c, c.position, floats, turns)):
            found.append(c)
    return found


def pose(model: Any, data: Any, mass: np.ndarray, momentum: np.ndarray, margins: np.ndarray, h: float, drop: bool = True) -> PosedStep:
    """The problem of the step. `drop`: without contacts that cannot open."""
    jacobian = constraint_jacobian(model, data)
    found, groups = joint_constraints(model, data, jacobian, h)
    posed = PosedStep(mass, momentum, trees_of(model, mass), found + contact_constraints(model, data, jacobian, margins, h, drop))
    for group in groups:
        if np.any(np.vstack([c.jacobian for c in group])):
            posed.soften(group)
    return posed


def to_world(frame: np.ndarray, impulse: np.ndarray) -> np.ndarray:
    """(6,) force and torque part of a contact's impulse in world axes. frame: MuJoCo's, rows n, t1, t2."""
    axes = np.reshape(frame, (3, 3))
    force, torque = np.zeros(3), np.zeros(3)
    force[0] = impulse[-1]
    force[1 : 1 + min(2, len(impulse) - 1)] = impulse[: min(2, len(impulse) - 1)]
    torque[: max(0, len(impulse) - 3)] = impulse[2:-1]
    return np.concatenate([axes.T @ force, axes.T @ torque])


def to_contact(frame: np.ndarray, world: np.ndarray, count: int) -> np.ndarray:
    """The inverse of to_world for a contact of `count` rows."""
    axes = np.reshape(frame, (3, 3))
    force, torque = axes @ world[:3], axes @ world[3:]
    return np.array([*force[1:], *torque, force[0]])[[*range(count - 1), 5]] if count > 1 else force[:1]


def advance_freely(model: Any, data: Any) -> None:
    """MuJoCo's integrator without constraint forces; leaves the free motion in qvel."""
    mujoco = load_mujoco()
    data.qfrc_constraint[:] = 0.0
    data.qacc[:] = data.qacc_smooth
    if is_implicit(model):
        mujoco.mj_implicit(model, data)
    else:
        mujoco.mj_Euler(model, data)


class WiderMargins:
    """Margins of geoms, pairs, joints and tendons, wide enough for what a step can reach, while MuJoCo looks for contacts and
    limits. Contacts get rows of their own in this way, in which their forces can be written back."""

    NAMES = ("geom_margin", "pair_margin", "jnt_margin", "tendon_margin", "body_margin")

    def __init__(self, model: Any, data: Any, factor: float):
        self.model, self.data = model, data
        self._saved = {name: getattr(model, name).copy() for name in self.NAMES if hasattr(model, name)}
        mujoco, h = load_mujoco(), model.opt.timestep
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        fall = h * float(np.linalg.norm(model.opt.gravity))
        body = model.geom_bodyid
        offset = data.geom_xpos - data.subtree_com[model.body_rootid[body]]
        turning, linear = data.cvel[body, :3], data.cvel[body, 3:]
        speed = np.linalg.norm(linear + np.cross(turning, offset), axis=1)
        speed += np.linalg.norm(turning, axis=1) * model.geom_rbound
        moves = model.body_weldid[body] != 0
        self.reach = np.where(moves, TOUCHING if is_sticky(model) else factor * h * (speed + fall), 0.0)
        rate = np.abs(data.qvel) + h * np.abs(data.qacc)
        first, count = model.jnt_dofadr, np.where(model.jnt_type == int(mujoco.mjtJoint.mjJNT_BALL), 3, 1)
        self._joint = factor * h * np.array([np.linalg.norm(rate[a : a + n]) for a, n in zip(first, count)])

    def __enter__(self) -> WiderMargins:
        model, h = self.model, self.model.opt.timestep
        model.geom_margin[:] += self.reach
        if model.npair:
            model.pair_margin[:] += self.reach[model.pair_geom1] + self.reach[model.pair_geom2]
        if model.njnt:
            model.jnt_margin[:] = np.maximum(model.jnt_margin, self._joint)
        if model.ntendon:
            model.tendon_margin[:] = np.maximum(model.tendon_margin, 2.0 * h * np.abs(self.data.ten_velocity))
        if "body_margin" in self._saved:
            wider = np.zeros(model.nbody)
            np.maximum.at(wider, model.geom_bodyid, self.reach)
            model.body_margin[:] += wider
        return self

    def __exit__(self, *_: Any) -> None:
        for name, value in self._saved.items():
            getattr(self.model, name)[:] = value

    def original_margins(self) -> np.ndarray:
        """(ncon,), and puts them back into the contacts."""
        contact = self.data.contact
        margins = np.array(contact.includemargin, dtype=float)
        if len(margins):
            geoms = np.asarray(contact.geom)
            margins -= np.where(geoms >= 0, self.reach[geoms], 0.0).sum(axis=1)
            contact.includemargin[:] = margins
        return margins


def is_sticky(model: Any) -> bool:
    """Contacts pull as soon as they are known: it must not be ahead of time."""
    body = int(load_mujoco().mjtTrn.mjTRN_BODY)
    return bool(getattr(model, "flg_adhesion", False) or np.any(model.actuator_trntype == body))


def can_look_ahead(model: Any) -> bool:
    """Margins of the override belong to nobody."""
    return not model.opt.enableflags & int(load_mujoco().mjtEnableBit.mjENBL_OVERRIDE)


def unsupported(model: Any) -> list[str]:
    """What the model asks for and does not get, a line each. Switches sleeping off."""
    mujoco = load_mujoco()
    found = []
    integrator = mujoco.mjtIntegrator(model.opt.integrator)
    if integrator.name in ("mjINT_RK4", "mjINT_DISCRETE"):
        found.append(f"integrator {integrator.name[6:]}: stepped as Euler")
    if integrator.name == "mjINT_IMPLICIT":
        found.append("integrator IMPLICIT: impulses see the symmetric part of its matrix")
    sleep = int(getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", 0))
    if sleep and model.opt.enableflags & sleep:
        model.opt.enableflags &= ~sleep
        found.append("sleeping: switched off")
    if not can_look_ahead(model) or is_sticky(model):
        found.append("adhesion or overridden margins: contacts are known within their margin only, not ahead of time")
    elif np.any(model.geom_rbound[(model.body_weldid[model.geom_bodyid] != 0)] == 0.0):
        found.append("moving planes and other unbounded geoms: contacts are not known ahead of time by their turning")
    if model.nflex:
        found.append("flexes: their contacts are known within their margin only; their elasticity is MuJoCo's, explicit")
    if np.any(getattr(model, "dof_dampingpoly", np.zeros(1))):
        found.append("damping with powers of the velocity: impulses see its linear part")
    moving = np.any(getattr(model, "geom_surfacevel", np.zeros(1)))
    if moving and not hasattr(mujoco.MjContact, "surfacevel"):
        found.append(f"surfacevel: the bindings of MuJoCo {mujoco.__version__} do not tell it, surfaces are at rest")
    if model.nmocap:
        found.append("mocap bodies: contacts see them at rest; what is welded to them follows at up to 1 m/s")
    defaults = {"solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0)}
    fields = [(name, f"{kind}_{name}") for name in defaults for kind in ("geom", "eq", "jnt")]
    soft = sorted({name for name, field in fields if np.any(getattr(model, field, defaults[name]) != np.array(defaults[name]))})
    soft.reverse()  # solref first
    if soft:
        found.append(f"{' and '.join(soft)}: contacts, limits and equalities are rigid")
    return found
