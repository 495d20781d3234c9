#!/usr/bin/env python3
"""Flexible bodies in MuJoCo (flex, 3D): a cantilever under its own weight, a soft cube dropped on the floor.

    flexible_mujoco.py [--scene cantilever|cube] [--cells 4,8] [--step 0.005] [--time 1.0]

The bodies are those of bench/studies/flexible_bodies_bench.cpp: the same nodes, tetrahedra, Young's modulus, Poisson's ratio,
density, damping proportional to mass, time step and duration. Integrators: `discrete`, which takes the stiffness implicitly, and
`Euler` with the largest of the steps step / 2^k that stays finite. Newton's solver, elliptic cones; contacts of the floor from MuJoCo's
defaults to the stiffest of a ladder. One CSV line per setting. Runs in an environment with `mujoco` (or `mujoco-core`) and `numpy`;
bench/run.py --suite flexible_peers makes one.
"""

import argparse
import itertools
import time

import mujoco
import numpy as np

GRAVITY = 9.81
BEAM = dict(size=(0.8, 0.2, 0.2), young=1e7, poisson=0.0, alpha=30.0)  # m, Pa, 1, 1/s
CUBE = dict(size=(0.2, 0.2, 0.2), young=1e5, poisson=0.3, alpha=20.0)
DENSITY, FRICTION, GAP = 1000.0, 0.5, 0.01  # kg/m^3, 1, m above the floor
RADIUS = 1e-4  # of MuJoCo's flexes, m: contacts begin at this distance
FLOORS = {"default contact": "", "stiff contact": 'solref="0.002 1" solimp="0.99 0.9999 0.0001"',
          "stiffest contact": 'solref="0.0005 1" solimp="0.999 0.9999 0.00001"'}  # fmt: skip
COLUMNS = ["engine", "setting", "scene", "cells", "dofs", "step_s", "seconds", "deflection_m", "deepest_m", "penetration_m",
           "floor_force", "ms_per_step", "cpu_per_second", "status"]  # fmt: skip


def box_mesh(size, cells):
    """Nodes and tetrahedra of a box centred at the origin, every cell cut into six around its main diagonal."""
    axes = [np.linspace(-0.5 * s, 0.5 * s, n + 1) for s, n in zip(size, cells)]
    points = np.array(list(itertools.product(*axes)))

    def number(x, y, z):
        return (x * (cells[1] + 1) + y) * (cells[2] + 1) + z

    tetrahedra = []
    for corner in itertools.product(*(range(n) for n in cells)):
        for order in itertools.permutations(range(3)):
            at, nodes = list(corner), [number(*corner)]
            for axis in order:
                at[axis] += 1
                nodes.append(number(*at))
            a, b, c, d = (points[n] for n in nodes)
            if np.dot(np.cross(b - a, c - a), d - a) < 0:
                nodes[2], nodes[3] = nodes[3], nodes[2]
            tetrahedra.append(nodes)
    return points, np.array(tetrahedra)


def model_of(scene, cells, step, integrator, floor):
    body = BEAM if scene == "cantilever" else CUBE
    counts = (4 * cells, cells, cells) if scene == "cantilever" else (cells, cells, cells)
    points, tetrahedra = box_mesh(body["size"], counts)
    held = np.flatnonzero(points[:, 0] < -0.5 * body["size"][0] + 1e-9) if scene == "cantilever" else []
    height = 1.0 if scene == "cantilever" else 0.5 * body["size"][2] + GAP
    mass = float(DENSITY * np.prod(body["size"]))
    plane = "" if scene == "cantilever" else f'<geom name="floor" type="plane" size="2 2 1" friction="{FRICTION}" {floor}/>'
    pin = f'<pin id="{" ".join(map(str, held))}"/>' if len(held) else ""
    touching = 0 if scene == "cantilever" else 1
    text = f"""<mujoco><option timestep="{step!r}" integrator="{integrator}" solver="Newton" cone="elliptic" jacobian="sparse"
        gravity="0 0 {-GRAVITY}"/><size memory="2G"/>
      <worldbody>{plane}
        <flexcomp name="body" type="direct" dim="3" radius="{RADIUS!r}" mass="{mass!r}" pos="0 0 {height!r}"
          point="{" ".join(f"{x:.17g}" for x in points.ravel())}" element="{" ".join(map(str, tetrahedra.ravel()))}">
          <elasticity young="{body["young"]!r}" poisson="{body["poisson"]!r}"/>
          <contact selfcollide="none" condim="3" friction="{FRICTION}" contype="{touching}"
            conaffinity="{touching}" {floor}/>{pin}
        </flexcomp></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    model.dof_damping[:] = body["alpha"] * model.body_mass[model.dof_bodyid]
    return model, points, body


def run(scene, cells, step, seconds, integrator, floor):
    """A dictionary of what a run came to; None where it does not stay finite."""
    model, points, body = model_of(scene, cells, step, integrator, floor)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    begin_height = data.flexvert_xpos[:, 2].copy()
    top = points[:, 2] > 0.5 * body["size"][2] - 1e-9
    tip = points[:, 0] > 0.5 * body["size"][0] - 1e-9
    steps, deepest, spent, force = round(seconds / step), 0.0, 0.0, []
    for k in range(steps):
        begin = time.process_time()
        mujoco.mj_step(model, data)
        spent += time.process_time() - begin
        if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or not np.isfinite(data.qpos).all():
            return None
        if scene == "cube":
            deepest = max(deepest, -data.flexvert_xpos[:, 2].min())
            if k >= steps - 20:
                sum_ = np.zeros(6)
                total = 0.0
                for c in range(data.ncon):
                    mujoco.mj_contactForce(model, data, c, sum_)
                    total += sum_[0]
                force.append(total)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_flex(model, data)
    height = data.flexvert_xpos[:, 2]
    if np.abs(height).max() > 10.0:
        return None
    weight = DENSITY * np.prod(body["size"]) * GRAVITY
    which = tip if scene == "cantilever" else top
    sag = float((begin_height - height)[which].mean()) - (GAP if scene == "cube" else 0.0)
    return {"engine": f"MuJoCo {mujoco.__version__}", "scene": scene, "cells": cells, "dofs": model.nv, "step_s": step,
            "seconds": seconds, "deflection_m": sag, "deepest_m": deepest if scene == "cube" else "",
            "penetration_m": max(0.0, -height.min()) if scene == "cube" else "",
            "floor_force": float(np.mean(force)) / weight if force else "", "ms_per_step": 1e3 * spent / steps,
            "cpu_per_second": spent / seconds, "status": "ok"}  # fmt: skip


def print_row(row):
    print(",".join(f"{row.get(c, ''):.6g}" if isinstance(row.get(c), float) else str(row.get(c, "")) for c in COLUMNS), flush=True)


def measure(scene, cells, step, seconds, setting, integrator, floor, halvings):
    for k in range(halvings + 1):
        try:
            row = run(scene, cells, step / 2**k, seconds, integrator, floor)
        except (ValueError, mujoco.FatalError) as error:
            print_row({"engine": "MuJoCo", "setting": setting, "scene": scene, "cells": cells, "status": str(error).split("\n")[0][:80]})
            return
        if row is not None:
            print_row(row | {"setting": setting})
            return
    print_row({"engine": "MuJoCo", "setting": setting, "scene": scene, "cells": cells, "step_s": step / 2**halvings,
               "status": "unstable"})  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scene", choices=["cantilever", "cube"], default="cantilever")
    parser.add_argument("--cells", default="2,4")
    parser.add_argument("--step", type=float, default=0.005)
    parser.add_argument("--time", type=float, default=1.0)
    parser.add_argument("--head", action="store_true", help="print the names of the columns first")
    arguments = parser.parse_args()
    if arguments.head:
        print(",".join(COLUMNS))
    floors = FLOORS if arguments.scene == "cube" else {"": ""}
    for cells in map(int, arguments.cells.split(",")):
        for name, floor in floors.items():
            setting = f"discrete + {name}" if name else "discrete"
            measure(arguments.scene, cells, arguments.step, arguments.time, setting, "discrete", floor, 4)
        name, floor = list(floors.items())[-2 if arguments.scene == "cube" else 0]
        setting = f"Euler + {name}" if name else "Euler"
        measure(arguments.scene, cells, arguments.step, arguments.time, setting, "Euler", floor, 8)


if __name__ == "__main__":
    main()
