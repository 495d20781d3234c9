#!/usr/bin/env python3
"""What stands by friction alone, in MuJoCo: drift of arches and cards, and a grasp near its critical friction.

    standing_mujoco.py --tribo build/release/bin/tribo [--seconds 300] [--settled 5] [--scenes roman-arch,...] [-o FILE]

The scenes are written by `tribo sim --scene NAME --write-mjcf`, so bodies, masses and steps are tribo's. Settings, from MuJoCo's
defaults to the best that its documentation offers against slip: elliptic cones with impratio 100, ten no-slip iterations, contacts
as stiff as the time step allows (solref 0.004 s, twice the step) with solimp 0.99 0.999.
`drift`: largest displacement of any body from its place after `settled` seconds; `fell`: it is more than a twentieth of the
scene's height. Grasps: the fingers press with the scene's force law (qfrc_applied); `fall` in 1 s beside g (1 - share) / 2.
CSV: scene,settings,seconds,drift_m,fell,share,fall_m,fall_exact_m,us_per_step
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mujoco
import numpy as np

STANDING = {"roman-arch": [], "gothic-arch": [], "house-of-cards": [], "house-of-26-cards": ["levels=4", "flats=1"]}
SHARES = (0.90, 0.95, 0.99, 1.01, 1.05, 1.10)
SETTINGS = ("default", "elliptic impratio 100", "elliptic impratio 100 noslip 10", "all and stiff")


def write_scene(tribo, name, parameters, folder):
    file = Path(folder) / (name + "-".join(parameters) + ".xml")
    command = [tribo, "sim", "--scene", name.replace("house-of-26-cards", "house-of-cards"), "--write-mjcf", str(file)]
    for parameter in parameters:
        command += ["--set", parameter]
    subprocess.run(command, check=True)
    return str(file)


def load(file, settings):
    model = mujoco.MjModel.from_xml_path(file)
    model.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    if settings != "default":
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        model.opt.impratio = 100.0
    if "noslip" in settings or "stiff" in settings:
        model.opt.noslip_iterations = 10
    if "stiff" in settings:
        model.geom_solref[:] = (2.0 * model.opt.timestep, 1.0)
        model.geom_solimp[:, :3] = (0.99, 0.999, 1e-4)
    return model


def start(model):
    data = mujoco.MjData(model)
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "start")
    if key >= 0:
        mujoco.mj_resetDataKeyframe(model, data, key)
    return data


def standing(model, seconds, settled):
    data = start(model)
    mujoco.mj_forward(model, data)
    height = data.xpos[:, 2].max()
    mujoco.mj_step(model, data, nstep=int(settled / model.opt.timestep))
    then = data.xpos.copy()
    steps = int((seconds - settled) / model.opt.timestep)
    drift, done, before = 0.0, 0, time.process_time()
    while done < steps:
        chunk = min(500, steps - done)
        mujoco.mj_step(model, data, nstep=chunk)
        done += chunk
        drift = max(drift, np.linalg.norm(data.xpos - then, axis=1).max())
        if drift > 0.05 * height:
            break
    used = time.process_time() - before
    return drift, drift > 0.05 * height, 1e6 * used / max(1, done)


def grasp(model, force=10.0, centering=200.0, damping=20.0, seconds=1.0):
    """The force law of tribo/control/gripper.h on the two slides, which are the first two dofs."""
    data = start(model)
    mujoco.mj_forward(model, data)
    held = model.body("held").id
    top = data.xpos[held, 2]
    for _ in range(int(seconds / model.opt.timestep)):
        q, v = data.qpos[:2], data.qvel[:2]
        data.qfrc_applied[0] = -force + 0.5 * centering * (q[1] - q[0]) - damping * v[0]
        data.qfrc_applied[1] = -force + 0.5 * centering * (q[0] - q[1]) - damping * v[1]
        mujoco.mj_step(model, data)
    return top - data.xpos[held, 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tribo", required=True)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--settled", type=float, default=5.0)
    parser.add_argument("--scenes", default=",".join([*STANDING, "critical-grasp"]))
    parser.add_argument("-o", "--out", type=argparse.FileType("w"), default=sys.stdout)
    given = parser.parse_args()
    print("scene,settings,seconds,drift_m,fell,share,fall_m,fall_exact_m,us_per_step", file=given.out)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.scenes.split(","):
            for settings in SETTINGS:
                if name in STANDING:
                    model = load(write_scene(given.tribo, name, STANDING[name], folder), settings)
                    drift, fell, cost = standing(model, given.seconds, given.settled)
                    print(f"{name},{settings},{given.seconds:g},{drift:.3g},{int(fell)},,,,{cost:.3g}", file=given.out)
                else:
                    for share in SHARES:
                        model = load(write_scene(given.tribo, name, [f"share={share:g}"], folder), settings)
                        exact = max(0.0, 0.5 * 9.81 * (1.0 - share))
                        print(f"{name},{settings},1,,,{share:g},{grasp(model):.4g},{exact:.4g},", file=given.out)
                given.out.flush()


if __name__ == "__main__":
    main()
