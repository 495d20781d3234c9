#!/usr/bin/env python3
"""Steps an MJCF file with Bullet (PyPI `pybullet`, its default solver, one thread) and prints one JSON object.

    model_bullet.py FILE --dt 0.001 --steps N [--repeat 3] [--budget 60]

Motors off, damping off, self-collision but of neighbours. Timed: the steps, CPU time, best of the repeats after one that is not
counted. Bullet's reader of MJCF leaves out what it does not know, loops among it.
"""

import argparse
import json
import time

import pybullet as bullet


def load(file, dt):
    bullet.resetSimulation()
    bullet.setGravity(0, 0, -9.81)
    bullet.setTimeStep(dt)
    bullet.setPhysicsEngineParameter(numSubSteps=0)
    dofs = 0
    for body in bullet.loadMJCF(file, flags=bullet.URDF_USE_SELF_COLLISION | bullet.URDF_USE_SELF_COLLISION_EXCLUDE_PARENT):
        bullet.changeDynamics(body, -1, linearDamping=0, angularDamping=0)
        for joint in range(bullet.getNumJoints(body)):
            kind = bullet.getJointInfo(body, joint)[2]
            bullet.changeDynamics(body, joint, jointDamping=0, linearDamping=0, angularDamping=0)
            if kind in (bullet.JOINT_REVOLUTE, bullet.JOINT_PRISMATIC):
                bullet.setJointMotorControl2(body, joint, bullet.VELOCITY_CONTROL, force=0)
                dofs += 1
        dofs += 6 if bullet.getDynamicsInfo(body, -1)[0] > 0 else 0
    return dofs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--dt", type=float, default=0.001)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0)
    given = parser.parse_args()
    bullet.connect(bullet.DIRECT)
    times = []
    while len(times) < given.repeat + 1 and (len(times) < 2 or sum(times) < given.budget):
        dofs = load(given.file, given.dt)
        before = time.process_time()
        for _ in range(given.steps):
            bullet.stepSimulation()
        times.append(time.process_time() - before)
    print(json.dumps({"engine": "bullet " + str(bullet.getAPIVersion()), "dofs": dofs, "steps": given.steps,
                      "cpu_seconds": min(times[1:]), "cpu_seconds_slowest": max(times[1:])}))


if __name__ == "__main__":
    main()
