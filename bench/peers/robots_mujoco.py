#!/usr/bin/env python3
"""MuJoCo's side of the robots suite; prints one JSON object.

    robots_mujoco.py info FILE
    robots_mujoco.py run FILE --key -1 --control zero|hold --steps N [--cap 20] [--warm-up]

info: whether the file loads, its dofs and keyframes. run: N steps from the keyframe of that number (-1: the default pose) with
constant controls, Newton, the cones of the file, one thread, no sleeping; CPU seconds of the steps. `hold` is the rule of
`tribo sim --hold`: the keyframe's controls where one of them is not zero, else the targets at which drives with a position
gain do not push. `--warm-up`: the same run once before, not counted, in the same memory. A run ends after `--cap` CPU seconds.
"""

import argparse
import json
import time

import mujoco
import numpy as np

CHUNK = 50  # steps between two looks at the clock


def info(file):
    try:
        model = mujoco.MjModel.from_xml_path(file)
    except ValueError as error:
        return {"loads": False, "error": str(error).strip().splitlines()[0]}
    names = [model.key(k).name for k in range(model.nkey)]
    return {"loads": True, "dofs": model.nv, "actuators": model.nu, "keyframes": names, "dt": model.opt.timestep}


def holding_control(model, data, key):
    if key >= 0 and np.any(model.key_ctrl[key]):
        return model.key_ctrl[key].copy()
    mujoco.mj_forward(model, data)
    control = np.zeros(model.nu)
    for a in range(model.nu):
        bias, gain = model.actuator_biasprm[a], model.actuator_gainprm[a][0]
        affine = model.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_AFFINE
        if not affine or model.actuator_gaintype[a] != mujoco.mjtGain.mjGAIN_FIXED or bias[1] >= 0.0 or gain == 0.0:
            continue
        control[a] = -(bias[0] + bias[1] * data.actuator_length[a]) / gain
        if model.actuator_ctrllimited[a]:
            control[a] = np.clip(control[a], *model.actuator_ctrlrange[a])
    return control


def start(model, data, key, control):
    mujoco.mj_resetData(model, data) if key < 0 else mujoco.mj_resetDataKeyframe(model, data, key)
    data.ctrl[:] = holding_control(model, data, key) if control == "hold" else 0.0


def run(model, data, steps, cap):
    """(steps done, CPU seconds of them)"""
    done, begin = 0, time.process_time()
    while done < steps:
        count = min(CHUNK, steps - done)
        mujoco.mj_step(model, data, nstep=count)
        done += count
        if time.process_time() - begin > cap:
            break
    return done, time.process_time() - begin


def deepest(data):
    return max((-float(data.contact[i].dist) for i in range(data.ncon)), default=0.0)


def measure(arguments):
    model = mujoco.MjModel.from_xml_path(arguments.file)
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    if hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"):
        model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    data = mujoco.MjData(model)
    if arguments.warm_up:
        start(model, data, arguments.key, arguments.control)
        run(model, data, arguments.steps, arguments.cap)
    start(model, data, arguments.key, arguments.control)
    steps, seconds = run(model, data, arguments.steps, arguments.cap)
    return {"version": mujoco.__version__, "dt": model.opt.timestep, "steps": steps, "cpu_seconds": seconds,
            "contacts_end": int(data.ncon), "penetration_end": max(0.0, deepest(data))}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["info", "run"])
    parser.add_argument("file")
    parser.add_argument("--key", type=int, default=-1)
    parser.add_argument("--control", choices=["zero", "hold"], default="zero")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--cap", type=float, default=20.0)
    parser.add_argument("--warm-up", action="store_true")
    arguments = parser.parse_args()
    print(json.dumps(info(arguments.file) if arguments.what == "info" else measure(arguments)))


if __name__ == "__main__":
    main()
