#!/usr/bin/env python3
"""Compares torsional and rolling friction (MJCF condim 4 and 6) of tribo and MuJoCo with each other and with the motions that
theory gives.

    friction.py --tribo build/release/bin/tribo [--out friction_truth.csv]

A ball of radius r and mass m, I = 2/5 m r^2, on a floor with sliding friction 0.6, torsional friction mu_t [m] and rolling friction
mu_r [m]; the same file for both:

    spin    about the normal, condim 4 and 6: dw/dt = -mu_t m g / I, half of the spin is left after w0 I / (2 mu_t m g)
    roll    condim 6: dv/dt = -5/7 (mu_r / r) g, half of the speed is left after 3/8 v0^2 / (5/7 (mu_r / r) g)
    slope   condim 6: the ball rolls down once tan(angle) > mu_r / r; how far it is after 1 s just below and just above

The elliptic cone couples rolling and sliding: a rolling ball needs mu_r m g / r of its 0.6 m g to be slowed, which takes
(mu_r / (0.6 r))^2 / 2 of the torque, 1e-4. MuJoCo's friction is soft: bodies creep where theory has them at rest. Runs in an
environment with `mujoco` and `numpy`; bench/run.py --suite truth makes one.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import tempfile

import mujoco
import numpy as np

RADIUS, MASS, GRAVITY = 0.1, 2.0, 9.81
TORSION, ROLLING = 0.004, 0.001  # m
STEP = 1e-3  # s
COLUMNS = ["scene", "quantity", "unit", "theory", "tribo_exact", "tribo_convex", "mujoco_elliptic"]


def model(condim, velocity, slope=0.0):
    """MJCF of the ball; `velocity`: linear in world axes, then angular in its own, both the same at the start."""
    inertia = 0.4 * MASS * RADIUS**2
    gravity = f"{GRAVITY * math.sin(slope)!r} 0 {-GRAVITY * math.cos(slope)!r}"
    return f"""<mujoco>
  <option timestep="{STEP}" gravity="{gravity}" cone="elliptic" iterations="200" tolerance="1e-12"/>
  <default><geom condim="{condim}" friction="0.6 {TORSION} {ROLLING}"/></default>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="ball" pos="0 0 {RADIUS}">
      <freejoint/>
      <inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia!r} {inertia!r} {inertia!r}"/>
      <geom type="sphere" size="{RADIUS}"/>
    </body>
  </worldbody>
  <keyframe><key name="start" qpos="0 0 {RADIUS} 1 0 0 0" qvel="{' '.join(repr(float(v)) for v in velocity)}"/></keyframe>
</mujoco>
"""


def run_tribo(tribo, file, seconds, law):
    """Times, places along x, speeds along x, spins about z: one entry per step."""
    out = file.with_suffix(f".{law}.csv")
    command = [tribo, "sim", file, "--keyframe", "start", "--time", seconds, "--law", law, "--tol", "1e-9", "--record", out]
    subprocess.run([*map(str, command), "--quiet"], check=True, capture_output=True)
    with out.open() as lines:
        rows = [[float(row[k]) for k in ("time", "ball.x", "ball.vx", "ball.wz")] for row in csv.DictReader(lines)]
    return np.array(rows)


def run_mujoco(file, seconds):
    m = mujoco.MjModel.from_xml_path(str(file))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    rows = [(0.0, d.qpos[0], d.qvel[0], d.qvel[5])]
    for _ in range(round(seconds / STEP)):
        mujoco.mj_step(m, d)
        rows.append((d.time, d.qpos[0], d.qvel[0], d.qvel[5]))
    return np.array(rows)


def crossing(x, y, level):
    """x where y first falls to `level`, between the steps."""
    below = np.flatnonzero(y <= level)
    if below.size == 0:
        return float("nan")
    k = below[0]
    return x[0] if k == 0 else x[k - 1] + (x[k] - x[k - 1]) * (y[k - 1] - level) / (y[k - 1] - y[k])


def scenes():
    """Name, quantity, unit, theory, MJCF, seconds and what is read from the run."""
    spin, speed = 20.0, 0.5  # rad/s, m/s
    torsion = TORSION * MASS * GRAVITY / (0.4 * MASS * RADIUS**2)  # rad/s^2
    rolling = 5.0 / 7.0 * ROLLING / RADIUS * GRAVITY  # m/s^2
    for condim in (4, 6):
        yield (f"spin, condim {condim}", "half of the spin is left after", "s", 0.5 * spin / torsion,
               model(condim, (0, 0, 0, 0, 0, spin)), 1.5 * spin / torsion, lambda r: crossing(r[:, 0], r[:, 3], 0.5 * spin))  # fmt: skip
        yield (f"spin, condim {condim}", "1 % of the spin is left after", "s", 0.99 * spin / torsion,
               model(condim, (0, 0, 0, 0, 0, spin)), 1.5 * spin / torsion, lambda r: crossing(r[:, 0], r[:, 3], 0.01 * spin))  # fmt: skip
    roll = model(6, (speed, 0, 0, 0, speed / RADIUS, 0))
    yield ("roll, condim 6", "half of the speed is left after", "m", 0.375 * speed**2 / rolling, roll, 1.5 * speed / rolling,
           lambda r: crossing(r[:, 1], r[:, 2], 0.5 * speed))  # fmt: skip
    yield ("roll, condim 6", "distance after twice the time to stop", "m", 0.5 * speed**2 / rolling, roll, 2.0 * speed / rolling,
           lambda r: r[-1, 1])  # fmt: skip
    limit = math.atan(ROLLING / RADIUS)
    for share in (0.9, 1.1):
        excess = 5.0 / 7.0 * GRAVITY * (math.sin(share * limit) - ROLLING / RADIUS * math.cos(share * limit))
        yield (f"slope of {share} times the limit, condim 6", "distance after 1 s", "m", 0.5 * max(0.0, excess),
               model(6, (0,) * 6, share * limit), 1.0, lambda r: r[-1, 1])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tribo", type=pathlib.Path, required=True, help="the tool")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("friction_truth.csv"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, arguments.out.open("w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(COLUMNS)
        for k, (scene, quantity, unit, theory, mjcf, seconds, read) in enumerate(scenes()):
            file = pathlib.Path(folder) / f"scene{k}.xml"
            file.write_text(mjcf)
            runs = [run_tribo(arguments.tribo, file, seconds, law) for law in ("exact", "convex")] + [run_mujoco(file, seconds)]
            values = [theory, *map(read, runs)]
            table.writerow([scene, quantity, unit, *(f"{v:.6g}" for v in values)])
            print(f"{scene:40} {quantity:40} " + "  ".join(f"{v:.6g}" for v in values) + f" {unit}")


if __name__ == "__main__":
    main()
