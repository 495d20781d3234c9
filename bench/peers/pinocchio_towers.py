"""Pinocchio on the towers, as CSV in the columns of bench/measure.h.

    python pinocchio_towers.py --bench build/native/bin/tribo_bench [--rigid build/bench/pinocchio_rigid] TOWER...

Run it with a Python that has `pin`, numpy and scipy (bench/run.py makes one). Model, data and constraint models exist
before the clock starts, as they do in a simulation; the build is what every step with new contacts needs: free
velocity, Jacobians, mass matrix, contact frames and the Delassus operator. Only calls into Pinocchio are timed (and
the sparse products that make its sparse operator, which it does not make itself).

Every run is cold (a new solver, no guess). The tolerance asked of Pinocchio is the loosest of a ladder whose result
passes tribo's certificate, so that it does no more work than needed. That both solve the same problem is checked: q
and W x must agree with tribo's to 1e-9.
"""

import argparse
import csv
import os
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
import scipy.sparse as sparse  # noqa: E402

TIME_STEP = 1e-3
FRICTION = 0.4
GRAVITY = 9.81
SLIDE_SPEED, SLIDE_YAW = 0.5, 0.2
CORNERS = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
LADDER = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10]
SMALL_DAMPING = 1e-8  # Pinocchio's Cholesky of a singular W needs some; ADMM replaces it by its own
COLUMNS = (
    "problem,contacts,rows,dofs,family,method,variant,tolerance,measure,status,solved,iterations,factorizations,"
    "build_min_ms,build_median_ms,build_max_ms,solve_min_ms,solve_median_ms,solve_max_ms,runs,"
    "error,siconos_error,fclib_error"
).split(",")


def cpu_ms():
    return 1e3 * time.process_time()


def parse_tower(name):
    words = name.split("-")
    ratio = next((float(w[1:]) for w in words[1:] if w.startswith("r")), 1.0)
    return int(words[0].removeprefix("tower")), ratio, "slide" in words[1:]


class Tower:
    """The scene and everything that exists before a time step."""

    def __init__(self, name):
        self.name = name
        count, ratio, slide = parse_tower(name)
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array([0.0, 0.0, -GRAVITY]), np.zeros(3))
        joints = []
        for i in range(count):
            mass = ratio ** (i / (count - 1)) if count > 1 else 1.0
            joint = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"cube{i}")
            self.model.appendBodyToJoint(joint, pin.Inertia.FromBox(mass, 1.0, 1.0, 1.0), pin.SE3.Identity())
            joints.append(joint)
        self.q = pin.neutral(self.model)
        self.v = np.zeros(self.model.nv)
        # Pinocchio integrates the velocity in the frame of the moving body, tribo in the world's; this force makes up
        # for the difference, m w x v.
        self.force = np.zeros(self.model.nv)
        for i in range(count):
            self.q[7 * i + 2] = 0.5 + i
            if slide:
                sign = 1.0 if i % 2 == 0 else -1.0
                self.v[6 * i] = SLIDE_SPEED * sign
                self.v[6 * i + 5] = SLIDE_YAW * sign
                self.force[6 * i + 1] = ratio ** (i / max(1, count - 1)) * SLIDE_YAW * SLIDE_SPEED
        self.data = self.model.createData()
        self.constraints = pin.StdVec_ConstraintModel()
        for i in range(count):
            for x, y in CORNERS:
                below = pin.SE3(np.eye(3), np.array([x, y, 0.5 if i else 0.0]))
                above = pin.SE3(np.eye(3), np.array([x, y, -0.5]))
                contact = pin.PointContactConstraintModel(
                    self.model, joints[i - 1] if i else 0, below, joints[i], above
                )
                contact.setFriction(FRICTION)
                self.constraints.append(pin.ConstraintModel(contact))
        self.rows = 3 * len(self.constraints)

    def build(self, operator):
        """One step's problem: (constraint data, g, Delassus operator, what must stay alive, CPU ms)."""
        datas = pin.StdVec_ConstraintData()
        datas.extend([c.createData() for c in self.constraints])
        pairs = list(zip(self.constraints, datas))
        begin = cpu_ms()
        free = self.v + TIME_STEP * pin.aba(self.model, self.data, self.q, self.v, self.force)
        pin.computeJointJacobians(self.model, self.data, self.q)
        for constraint, data in pairs:
            constraint.calc(self.model, self.data, data)
        jacobian = pin.getConstraintsJacobian(self.model, self.data, self.constraints, datas)
        g = jacobian @ free
        pin.crba(self.model, self.data, self.q)
        alive = None
        if operator == "sparse":
            blocks = np.stack([self.data.M[k : k + 6, k : k + 6] for k in range(0, self.model.nv, 6)])
            inverse = np.linalg.inv(np.triu(blocks) + np.triu(blocks, 1).transpose(0, 2, 1))
            count = len(blocks)
            mass_inverse = sparse.bsr_matrix(
                (inverse, np.arange(count), np.arange(count + 1)), shape=(6 * count, 6 * count)
            )
            rows = sparse.csr_matrix(jacobian)
            delassus = pin.DelassusOperatorSparse((rows @ mass_inverse @ rows.T).tocsc())
        else:
            alive = pin.ConstraintCholeskyDecomposition(self.model, self.data, self.constraints, datas)
            alive.compute(self.model, self.data, self.constraints, datas, SMALL_DAMPING)
            delassus = alive.getDelassusOperatorCholeskyExpression()
            if operator == "dense":
                delassus = pin.DelassusOperatorDense(delassus.matrix(True, False))
        return datas, g, delassus, alive, cpu_ms() - begin


def spread(times):
    times = sorted(times)
    return times[0], times[len(times) // 2], times[-1]


class Config:
    def __init__(self, method, variant, operator, settings):
        self.method, self.variant, self.operator, self.settings = method, variant, operator, settings


RULES = {"osqp": pin.ADMMUpdateRule.OSQP, "linear": pin.ADMMUpdateRule.LINEAR, "spectral": pin.ADMMUpdateRule.SPECTRAL}


def configs(study):
    """Default rule, Anderson 5, and what a search over rule, Lanczos size and operator found best."""
    result = [Config("admm", "default", "cholesky", {}), Config("admm", "anderson=5", "cholesky", {"anderson_capacity": 5})]
    tuned = {"anderson_capacity": 5, "lanczos_size": 6}
    for operator in ("cholesky", "dense", "sparse"):
        for rule in RULES if study else ("osqp", "spectral"):
            result.append(
                Config("admm", f"anderson=5 lanczos=6 {rule} {operator}", operator, tuned | {"admm_update_rule": RULES[rule]})
            )
    for relaxation in (1.0, 1.3):
        result.append(Config("pgs", f"relaxation={relaxation}", "dense", {"over_relaxation": relaxation}))
    return result


def solve_once(tower, config, tolerance, max_iterations):
    datas, g, delassus, alive, build_ms = tower.build(config.operator)
    admm = config.method == "admm"
    settings = pin.ADMMSolverSettings() if admm else pin.PGSSolverSettings()
    settings.max_iterations = max_iterations
    for kind in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{kind}_tol", tolerance)
        setattr(settings, f"relative_{kind}_tol", tolerance)
    for key, value in config.settings.items():
        setattr(settings, key, value)
    begin = cpu_ms()
    solver = (pin.ADMMConstraintSolver if admm else pin.PGSConstraintSolver)(tower.rows)
    result = (pin.ADMMSolverResult if admm else pin.PGSSolverResult)()
    converged = solver.solve(delassus, g, tower.constraints, datas, settings, result)
    solve_ms = cpu_ms() - begin
    return build_ms, solve_ms, converged, result


def certify(bench, tower, impulse):
    line = " ".join(repr(float(x)) for x in impulse) + "\n"
    output = subprocess.run([bench, "certify", tower], input=line, capture_output=True, text=True, check=True).stdout
    return [float(x) for x in output.splitlines()[1].split(",")]


def check_same_problem(bench, tower):
    output = subprocess.run([bench, "describe", tower.name], capture_output=True, text=True, check=True).stdout
    q, wx = (np.array([float(x) for x in line.split()]) for line in output.splitlines())
    _, g, delassus, _, _ = tower.build("sparse")
    mine = delassus.matrix(False, False) @ np.sin(np.arange(1, tower.rows + 1))
    gap = max(abs(g - q).max() / abs(q).max(), abs(mine - wx).max() / abs(wx).max())
    if gap > 1e-9:
        raise SystemExit(f"{tower.name}: Pinocchio's problem differs from tribo's by {gap:.1e} (relative)")


def measure(arguments, tower, config):
    """The row of one configuration: the loosest rung of the ladder that certifies, or the last one tried."""
    for tolerance in LADDER:
        builds, solves = [], []
        wanted = run = 1
        while run <= wanted:
            build_ms, solve_ms, converged, result = solve_once(tower, config, tolerance, arguments.max_iterations)
            if run == 1:
                impulse = result.retrieveConstraintImpulses()
                errors = certify(arguments.bench, tower.name, impulse) if np.isfinite(impulse).all() else [np.nan] * 3
                solved = errors[0] <= arguments.tolerance * (1 + 1e-6)
                if solved or not converged or tolerance == LADDER[-1]:
                    least = arguments.repeat + 1 if solve_ms < 300 else 2
                    wanted = max(least, min(200, int(arguments.budget / (build_ms + solve_ms))))
            if run > 1 or wanted <= 2:
                builds.append(build_ms)
                solves.append(solve_ms)
            run += 1
        if solved or not converged:
            break
    count = getattr(result, "delassus_decomposition_update_count", 0)
    status = "converged" if converged else "iteration limit"
    return [f"{config.variant} tol={tolerance:g}", status, solved, result.iterations, count, builds, solves, errors]


def measure_rigid(arguments, tower, rule, anderson):
    """The same ladder with the C++ program for the operator that Python does not offer."""
    for tolerance in LADDER:
        command = [arguments.rigid, tower.name, str(tolerance), rule, str(anderson), "6"]
        command += [str(arguments.max_iterations), str(arguments.repeat), str(arguments.budget)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        converged, iterations, count = (int(x) for x in lines[0].split())
        builds, solves, impulse = ([float(x) for x in line.split()] for line in lines[1:4])
        errors = certify(arguments.bench, tower.name, impulse)
        solved = errors[0] <= arguments.tolerance * (1 + 1e-6)
        if solved or not converged:
            break
    variant = f"anderson={anderson} lanczos=6 {rule} rigid-body (C++) tol={tolerance:g}"
    status = "converged" if converged else "iteration limit"
    return [variant, status, solved, iterations, count, builds, solves, errors]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("towers", nargs="+")
    parser.add_argument("--bench", required=True, help="the program tribo_bench")
    parser.add_argument("--rigid", help="the compiled bench/peers/pinocchio_rigid.cpp")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="on tribo's scaled error")
    parser.add_argument("--max-iterations", type=int, default=20000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--budget", type=float, default=100.0, help="ms of repetitions per row")
    parser.add_argument("--study", action="store_true", help="every update rule with every operator")
    arguments = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name in arguments.towers:
        tower = Tower(name)
        check_same_problem(arguments.bench, tower)
        rows = [(c.method, measure(arguments, tower, c)) for c in configs(arguments.study)]
        if arguments.rigid:
            for rule in RULES if arguments.study else ("osqp", "spectral"):
                rows.append(("admm", measure_rigid(arguments, tower, rule, 5)))
        for method, (variant, status, solved, iterations, count, builds, solves, errors) in rows:
            times = [f"{t:.6g}" for t in (*spread(builds), *spread(solves))]
            head = [name, len(tower.constraints), tower.rows, tower.model.nv, "pinocchio", method, variant]
            head += [f"{arguments.tolerance:g}", "scaled", status, int(solved), iterations, count]
            writer.writerow(head + times + [len(solves)] + [f"{e:.4g}" for e in errors])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
