#!/usr/bin/env python3
"""Steps an MJCF file with MuJoCo (Newton, one thread) and prints one JSON object.

    sim_mujoco.py FILE --cone pyramidal|elliptic --steps N [--repeat 3] [--budget 60] [--samples 20]

Timed: N steps from the file's own start in one call, CPU time of the process, after a run that is not counted. Then, unless
`samples` is 0, not timed, the same steps one by one: contacts, solver iterations (of the first 20 islands; MuJoCo keeps no more) and, at
`samples` of them, the residual: tribo's scaled certificate (docs/certificate.md) of MuJoCo's contact forces times dt, with
the velocities after the step, for rigid contacts with Coulomb's law:

    max_i |l_i - P(l_i - (w_i + mu |w_t| n) / s_i)|_inf / |l|_inf,   w_i = J_i v + n max(0, distance) / dt

P projects on the friction cone, s_i is the mean diagonal of J_i M^-1 J_i^T, and |l|_inf is held between 1e-3 and 1e2 times
the largest impulse that stops one contact alone. Joint limits and equalities are not judged.
"""

import argparse
import json
import time

import mujoco
import numpy as np

CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}


def load(file, cone):
    model = mujoco.MjModel.from_xml_path(file)
    model.opt.cone = CONES[cone]
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    if hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"):
        model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    return model


def start(model, data):
    """At the file's keyframe "start" where it has one, else where the model describes it."""
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "start")
    if key >= 0:
        mujoco.mj_resetDataKeyframe(model, data, key)
    else:
        mujoco.mj_resetData(model, data)


LONG = 5.0  # CPU seconds of a run that needs no other one before it


def measure(model, steps, repeat, budget):
    data = mujoco.MjData(model)
    times = []
    while len(times) < repeat + 1 and (len(times) < 2 or sum(times) < budget):
        if times and times[0] > LONG and len(times) == repeat:
            return times
        start(model, data)
        before = time.process_time()
        mujoco.mj_step(model, data, nstep=steps)
        times.append(time.process_time() - before)
    return times[1:]


def project(x, mu):
    """On { |x_t| <= mu x_n }, x = (n, t1, t2)."""
    slip = np.hypot(x[1], x[2])
    if slip <= mu * x[0]:
        return x
    if mu * slip <= -x[0]:
        return np.zeros(3)
    n = (x[0] + mu * slip) / (1.0 + mu * mu)
    share = mu * n / slip
    return np.array([n, share * x[1], share * x[2]])


def contact_jacobian(model, data, contact):
    one, two = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    bodies = [model.geom_bodyid[g] for g in contact.geom]
    mujoco.mj_jac(model, data, one, None, contact.pos, bodies[0])
    mujoco.mj_jac(model, data, two, None, contact.pos, bodies[1])
    return contact.frame.reshape(3, 3) @ (two - one)


def residual(model, data):
    """Of the step that ended in data.qvel: contacts, forces and the mass matrix are those it was computed with."""
    dt, count = model.opt.timestep, data.ncon
    if count == 0:
        return None
    force, response = np.zeros(6), np.zeros((3, model.nv))
    rows, judged, push = [], [], np.zeros(model.nv)
    for i in range(count):
        contact = data.contact[i]
        jacobian = contact_jacobian(model, data, contact)
        mujoco.mj_solveM(model, data, response, jacobian)
        mujoco.mj_contactForce(model, data, i, force)
        dims = 1 if contact.dim == 1 else 3
        scale = np.mean([jacobian[k] @ response[k] for k in range(dims)])
        if not scale > 0.0:
            continue
        impulse = np.zeros(3)
        impulse[:dims] = dt * force[:dims]
        w = jacobian @ data.qvel
        w[0] += max(0.0, contact.dist) / dt
        push += jacobian.T @ impulse
        rows.append((jacobian[:dims], scale))
        judged.append((impulse, w, scale, dims, contact.friction[0]))
    if not judged:
        return None
    moved = np.zeros((1, model.nv))
    mujoco.mj_solveM(model, data, moved, push.reshape(1, -1))
    natural = max(np.abs(j @ (data.qvel - moved[0])).max() / scale for j, scale in rows)
    worst = 0.0
    for impulse, w, scale, dims, mu in judged:
        if dims == 1:
            error = abs(impulse[0] - max(0.0, impulse[0] - w[0] / scale))
        else:
            hat = w + np.array([mu * np.hypot(w[1], w[2]), 0.0, 0.0])
            error = np.abs(impulse - project(impulse - hat / scale, mu)).max()
        worst = max(worst, error)
    largest = max(np.abs(impulse).max() for impulse, *_ in judged)
    return float(worst / np.clip(largest, 1e-3 * natural, 1e2 * natural))


def observe(model, steps, samples):
    data = mujoco.MjData(model)
    start(model, data)
    contacts, iterations, residuals = 0, 0, []
    every = max(1, steps // samples)
    for step in range(1, steps + 1):
        mujoco.mj_step(model, data)
        contacts += data.ncon
        islands = max(1, min(data.nisland, len(data.solver_niter)))
        iterations += int(np.sum(data.solver_niter[:islands]))
        if step % every == 0:
            value = residual(model, data)
            residuals += [value] if value is not None else []
    return contacts / steps, iterations / steps, residuals


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--cone", choices=CONES, default="pyramidal")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0, help="no new run when the runs took so many seconds")
    parser.add_argument("--samples", type=int, default=20, help="steps whose residual is computed")
    arguments = parser.parse_args()
    model = load(arguments.file, arguments.cone)
    times = measure(model, arguments.steps, arguments.repeat, arguments.budget)
    report = {"version": mujoco.__version__, "dofs": model.nv, "dt": model.opt.timestep, "steps": arguments.steps,
              "cpu_seconds": times}  # fmt: skip
    if arguments.samples > 0:
        contacts, iterations, residuals = observe(model, arguments.steps, arguments.samples)
        report |= {"contacts_mean": contacts, "iterations_mean": iterations, "samples": len(residuals),
                   "residual_mean": float(np.mean(residuals)) if residuals else None,
                   "residual_worst": max(residuals, default=None)}  # fmt: skip
    print(json.dumps(report))


if __name__ == "__main__":
    main()
