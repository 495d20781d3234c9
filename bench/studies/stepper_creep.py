#!/usr/bin/env python3
"""Robots on a slope in a MuJoCo program: how fast they creep with mj_step and with tribo.mujoco.Stepper, the same program otherwise.

    build/venv/bin/python bench/studies/stepper_creep.py MENAGERIE [--keep]

MENAGERIE: a folder of MuJoCo Menagerie. Each robot begins at keyframe 0 (without one: at the reference) with its controls, gravity is
tilted by 5 degrees, and after 3 s of settling the mean velocity of its root over one more second is the creep. --keep: into
bench/results/python.csv.
"""

import argparse
import pathlib
import time
import warnings

import mujoco
import numpy as np
import tribo.mujoco
from python_rows import Rows

ROBOTS = ["google_barkour_vb", "google_barkour_v0", "booster_t1"]
ANGLE, SETTLE, MEASURE = np.radians(5.0), 3.0, 1.0  # rad, s, s


def creep(scene, with_tribo):
    """(creep m/s, CPU s per step, missed steps)"""
    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    model.opt.gravity[:] = 9.81 * np.array([np.sin(ANGLE), 0.0, -np.cos(ANGLE)])
    stepper = tribo.mujoco.Stepper(model, data) if with_tribo else None
    step = stepper.step if stepper else lambda: mujoco.mj_step(model, data)
    begin = time.process_time()
    while data.time < SETTLE:
        step()
    start, steps = data.qpos[:3].copy(), round(MEASURE / model.opt.timestep)
    for _ in range(steps):
        step()
    seconds = (time.process_time() - begin) * model.opt.timestep / data.time
    return float(np.linalg.norm(data.qpos[:3] - start) / MEASURE), seconds, stepper.missed_steps if stepper else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of what the models ask for and tribo does not do
    rows = Rows("stepper", arguments.keep)
    of = f"MuJoCo {mujoco.__version__}, slope of 5 degrees, fourth second"
    for robot in ROBOTS:
        scene = arguments.folder / robot / "scene.xml"
        for name, with_tribo in (("mj_step", False), ("Stepper", True)):
            speed, seconds, missed = creep(scene, with_tribo)
            rows.add(f"{robot}, {name}: creep", speed, "m/s", 1e-9 if with_tribo else "", of)
            rows.add(f"{robot}, {name}: CPU time of a step", 1e3 * seconds, "ms", "", f"{missed} steps missed" if with_tribo else "")
    rows.write()


if __name__ == "__main__":
    main()
