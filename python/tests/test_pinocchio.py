"""tribo.pinocchio: Pinocchio's constraint models in, impulses out, beside its own ADMM and beside analytic answers."""

import numpy as np
import pytest
import tribo

pin = pytest.importorskip("pinocchio")
if int(pin.__version__.split(".")[0]) < 4:
    pytest.skip("Pinocchio 4", allow_module_level=True)
import tribo.pinocchio  # noqa: E402

H, G = 1e-2, 9.81
CORNERS = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]


class Step:
    """What a program of Pinocchio has computed when it calls its solver."""

    def __init__(self, model, q, v, models, bias=None):
        self.model, self.data, self.models = model, model.createData(), pin.StdVec_ConstraintModel()
        for m in models:
            self.models.append(pin.ConstraintModel(m))
        self.datas = pin.StdVec_ConstraintData()
        self.datas.extend([m.createData() for m in self.models])
        self.free = v + H * pin.aba(model, self.data, q, v, np.zeros(model.nv))
        pin.computeJointJacobians(model, self.data, q)
        for m, d in zip(self.models, self.datas):
            m.calc(model, self.data, d)
        self.jacobian = pin.getConstraintsJacobian(model, self.data, self.models, self.datas).reshape(-1, model.nv)
        self.bias = np.zeros(len(self.jacobian)) if bias is None else bias
        self.g = self.jacobian @ self.free + self.bias
        pin.crba(model, self.data, q)
        self.cholesky = pin.ConstraintCholeskyDecomposition(model, self.data, self.models, self.datas)
        self.cholesky.compute(model, self.data, self.models, self.datas, 1e-8)
        self.delassus = self.cholesky.getDelassusOperatorCholeskyExpression()

    def given(self):
        return self.delassus, self.g, self.models, self.datas

    def admm(self, tolerance=1e-10):
        settings = pin.ADMMSolverSettings()
        settings.max_iterations = 100000
        for kind in ("feasibility", "complementarity"):
            setattr(settings, f"absolute_{kind}_tol", tolerance)
            setattr(settings, f"relative_{kind}_tol", tolerance)
        result = pin.ADMMSolverResult()
        pin.ADMMConstraintSolver(len(self.g)).solve(*self.given(), settings, result)
        return result


def tower(count, slide=0.0, compliance=0.0, ratio=1.0):
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0.0, 0.0, -G]), np.zeros(3))
    q, joints, contacts = [], [], []
    for i in range(count):
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"cube{i}")
        model.appendBodyToJoint(joint, pin.Inertia.FromBox(ratio**i, 1.0, 1.0, 1.0), pin.SE3.Identity())
        joints.append(joint)
        q += [0.0, 0.0, 0.5 + i, 0.0, 0.0, 0.0, 1.0]
    for i in range(count):
        for x, y in CORNERS:
            below = pin.SE3(np.eye(3), np.array([x, y, 0.5 if i else 0.0]))
            above = pin.SE3(np.eye(3), np.array([x, y, -0.5]))
            contact = pin.PointContactConstraintModel(model, joints[i - 1] if i else 0, below, joints[i], above)
            contact.setFriction(0.4)
            contact.setCompliance(np.full(3, compliance))
            contacts.append(contact)
    v = np.zeros(model.nv)
    v[-6] = slide
    return Step(model, np.array(q), v, contacts)


@pytest.mark.parametrize("slide", [0.0, 1.0])
@pytest.mark.parametrize("solver", ["auto", "nsgs", "admm"])
def test_a_tower_carries_its_weight(solver, slide):
    step = tower(3, slide)
    result = tribo.pinocchio.solve(*step.given(), solver=solver, tolerance=1e-8)
    assert result.converged
    impulse = result.retrieveConstraintImpulses().reshape(3, 4, 3)
    np.testing.assert_allclose(impulse[:, :, 2].sum(axis=1), [3 * G * H, 2 * G * H, G * H], rtol=1e-6)
    friction = impulse[2, :, 0].sum()
    assert friction == pytest.approx(-0.4 * G * H if slide else 0.0, abs=1e-7)
    w = step.delassus.matrix(True, False)
    np.testing.assert_allclose(result.retrieveConstraintVelocities(), w @ impulse.ravel() + step.g, atol=1e-9)


@pytest.mark.parametrize("compliance", [0.0, 1e-2])
def test_the_same_motion_as_admm(compliance):
    step = tower(3, 1.0, compliance, ratio=10.0)
    ours = tribo.pinocchio.solve(*step.given(), tolerance=1e-10).retrieveConstraintImpulses()
    theirs = np.array(step.admm().retrieveConstraintImpulses())
    mass = np.triu(step.data.M) + np.triu(step.data.M, 1).T
    moved = np.linalg.solve(mass, step.jacobian.T @ np.stack([ours, theirs], axis=1))
    np.testing.assert_allclose(moved[:, 0], moved[:, 1], atol=1e-7)
    if compliance:  # then the impulses are unique, too
        np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_certificates_of_admm_follow_its_tolerance():
    step = tower(4, 1.0)
    loose = float(tribo.pinocchio.certify(*step.given(), step.admm(1e-3)).error)
    tight = float(tribo.pinocchio.certify(*step.given(), step.admm(1e-10)).error)
    assert tight < 1e-6 < loose
    zero = float(tribo.pinocchio.certify(*step.given(), np.zeros(len(step.g))).error)
    assert zero > 0.1


def test_masses_and_delassus_are_one_problem():
    step = tower(3, 1.0, 1e-3)
    posed = tribo.pinocchio.problem(step.model, step.data, step.models, step.datas, step.free, step.bias)
    assert posed.trees == 3 and posed.contacts == 12
    solution, report = tribo.solve(posed, tolerance=1e-10)
    other = tribo.pinocchio.solve(*step.given(), tolerance=1e-10).retrieveConstraintImpulses()
    np.testing.assert_allclose(solution.impulse, other, atol=1e-7)
    softened = posed.delassus() + np.diag(posed.compliance)
    np.testing.assert_allclose(softened, step.delassus.matrix(True, False), atol=1e-12)
    np.testing.assert_allclose(posed.free_velocity, step.g, atol=1e-12)


def arm(position, velocity, friction=0.0, anchor=False):
    """A rod on a hinge about z that falls along -y, with limits at +-0.5, dry friction, or its end held."""
    model = pin.Model()
    bound = [np.array([x]) for x in (10.0, 10.0, -0.5, 0.5)]
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "j", *bound)
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, 0.1, 0.1, 0.1), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0])))
    model.gravity = pin.Motion(np.array([0.0, -G, 0.0]), np.zeros(3))
    limit, rub = pin.JointLimitConstraintModel(model), pin.JointFrictionConstraintModel(model)
    rub.setFrictionLowerLimit(np.array([-friction * H]))
    rub.setFrictionUpperLimit(np.array([friction * H]))
    bias = np.array([(position + 0.5) / H, (0.5 - position) / H, 0.0])
    models = [limit, rub]
    if anchor:
        end = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
        models.append(pin.PointAnchorConstraintModel(model, 0, end, joint, end))
        bias = np.concatenate([bias, np.zeros(3)])
    return Step(model, np.array([position]), np.array([velocity]), models, bias)


def end_velocity(step, result):
    mass = step.data.M[0, 0]
    return float(step.free[0] + (step.jacobian.T @ result.retrieveConstraintImpulses())[0] / mass)


def test_limits_friction_and_anchors():
    inertia = 1.0 / 600.0 + 0.25
    free = arm(0.0, 0.0)
    assert end_velocity(free, tribo.pinocchio.solve(*free.given())) == pytest.approx(-H * 0.5 * G / inertia)
    at_limit = arm(-0.5, -3.0)
    result = tribo.pinocchio.solve(*at_limit.given(), tolerance=1e-10)
    assert end_velocity(at_limit, result) == pytest.approx(0.0, abs=1e-9)
    assert result.retrieveConstraintImpulses()[0] == pytest.approx(inertia * 3.0 + H * 0.5 * G * np.cos(0.5), rel=1e-6)
    held = arm(0.0, 0.0, friction=6.0)
    assert end_velocity(held, tribo.pinocchio.solve(*held.given(), tolerance=1e-10)) == pytest.approx(0.0, abs=1e-9)
    slips = arm(0.0, 0.0, friction=2.0)
    result = tribo.pinocchio.solve(*slips.given(), tolerance=1e-10)
    assert end_velocity(slips, result) == pytest.approx(-H * (0.5 * G - 2.0) / inertia, rel=1e-8)
    anchored = arm(0.0, 0.0, anchor=True)
    result = tribo.pinocchio.solve(*anchored.given(), tolerance=1e-10)
    assert end_velocity(anchored, result) == pytest.approx(0.0, abs=1e-9)


def test_bad_input():
    step = tower(1)
    delassus, g, models, datas = step.given()
    with pytest.raises(ValueError, match="g: expected 12"):
        tribo.pinocchio.solve(delassus, g[:-1], models, datas)
    with pytest.raises(ValueError, match="g: .*finite"):
        tribo.pinocchio.solve(delassus, g * np.nan, models, datas)
    with pytest.raises(ValueError, match="delassus: expected a matrix 12 x 12"):
        tribo.pinocchio.solve(np.eye(3), g, models, datas)
    with pytest.raises(ValueError, match="semi-definite"):
        tribo.pinocchio.solve(-np.eye(12), g, models, datas)
    with pytest.raises(ValueError, match="datas"):
        tribo.pinocchio.solve(delassus, g, models, [])
    with pytest.raises(ValueError, match="impulses"):
        tribo.pinocchio.certify(delassus, g, models, datas, np.zeros(3))
    with pytest.raises(ValueError, match="free_velocity"):
        tribo.pinocchio.problem(step.model, step.data, models, datas, np.zeros(2))
