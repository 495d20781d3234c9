#!/usr/bin/env python3
"""Drake's SAP on tribo's scene `clutter`: the same bodies in the same places, prints one JSON object.

    sim_drake.py --bodies 40 --dt 0.01 --steps 500 [--repeat 3] [--budget 60]

Shapes, masses, friction, stiffness 1e12 N/m, relaxation time dt and the near-rigid rule are those of
tribo/sim/piled_scenes.cpp, and so are the random numbers (xoshiro256**). Point contacts, discrete SAP. Drake makes one point
per pair of convex shapes where tribo makes a manifold, so the numbers of contacts differ. Timed: the steps, CPU time.
"""

import argparse
import json
import math
import time
from importlib.metadata import version

import numpy as np
from pydrake.geometry import AddContactMaterial, Box, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.common.eigen_geometry import AngleAxis
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction, DiscreteContactApproximation
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

MASK = (1 << 64) - 1


class Random:
    """xoshiro256** seeded through splitmix64, as tribo/base/random.h."""

    def __init__(self, seed):
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.state.append(z ^ (z >> 31))

    def uniform(self, low=0.0, high=1.0):
        s = self.state
        rotate = lambda x, k: ((x << k) | (x >> (64 - k))) & MASK  # noqa: E731
        result = (rotate((s[1] * 5) & MASK, 7) * 9) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
        return low + (high - low) * (result >> 11) * 2.0**-53


def material(dt):
    properties = ProximityProperties()
    AddContactMaterial(point_stiffness=1e12, friction=CoulombFriction(1.0, 1.0), properties=properties)
    properties.AddProperty("material", "relaxation_time", dt)
    return properties


def add_bin(plant, half, properties):
    world = plant.world_body()
    plant.RegisterCollisionGeometry(world, RigidTransform(), HalfSpace(), "floor", properties)
    for k, inwards in enumerate(([1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0])):
        pose = HalfSpace.MakePose(np.array(inwards, float), -half * np.array(inwards, float))
        plant.RegisterCollisionGeometry(world, pose, HalfSpace(), f"wall{k}", properties)


def add_bodies(plant, count, columns, pitch, properties):
    random, places = Random(1), []
    for i in range(count):
        layer, x, y = i // columns**2, i % columns**2 % columns, i % columns**2 // columns
        dx, dy = random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01)
        place = [(x - 0.5 * (columns - 1)) * pitch + dx, (y - 0.5 * (columns - 1)) * pitch + dy, 0.1 + 0.15 * layer]
        ball = random.uniform() < 0.5
        if ball:
            turn, shape, mass, unit = RotationMatrix(), Sphere(0.05), 0.524, UnitInertia.SolidSphere(0.05)
        else:
            axis = np.array([1.0, 2.0, 3.0]) / math.sqrt(14.0)
            turn = RotationMatrix(AngleAxis(random.uniform(0.0, 0.3), axis))
            shape, mass, unit = Box(0.1, 0.1, 0.1), 1.0, UnitInertia.SolidBox(0.1, 0.1, 0.1)
        body = plant.AddRigidBody(f"body{i}", SpatialInertia(mass, np.zeros(3), unit))
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, f"body{i}", properties)
        places.append((body, RigidTransform(turn, place)))
    return places


def clutter(count, dt):
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, dt)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.set_contact_model(ContactModel.kPoint)
    columns = max(2, math.ceil(math.sqrt(count / 10.0)))
    pitch = 0.3 if columns == 2 else 0.25
    half = 0.4 if columns == 2 else 0.5 * columns * pitch + 0.05
    properties = material(dt)
    add_bin(plant, half, properties)
    places = add_bodies(plant, count, columns, pitch, properties)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -9.81])
    plant.Finalize()
    return builder.Build(), plant, places, half


def simulator_of(diagram, plant, places):
    simulator = Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    for body, pose in places:
        plant.SetFreeBodyPose(context, body, pose)
    simulator.Initialize()
    return simulator, context


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=40)
    parser.add_argument("--dt", type=float, default=0.01)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0)
    arguments = parser.parse_args()
    dt, steps = arguments.dt, arguments.steps
    diagram, plant, places, half = clutter(arguments.bodies, dt)
    times = []
    while len(times) < arguments.repeat + 1 and (len(times) < 2 or sum(times) < arguments.budget):
        simulator, context = simulator_of(diagram, plant, places)
        before = time.process_time()
        simulator.AdvanceTo(dt * steps)
        times.append(time.process_time() - before)
    ends = np.array([plant.EvalBodyPoseInWorld(context, body).translation() for body, _ in places])
    escaped = int(np.sum((np.abs(ends[:, :2]).max(axis=1) > half) | (ends[:, 2] < 0.0)))
    simulator, context = simulator_of(diagram, plant, places)
    contacts = []
    for step in range(1, steps + 1):
        simulator.AdvanceTo(dt * step)
        results = plant.get_contact_results_output_port().Eval(context)
        contacts.append(results.num_point_pair_contacts())
    print(json.dumps({"version": version("drake"), "dt": dt, "steps": steps, "cpu_seconds": times[1:],
                      "contacts_mean": float(np.mean(contacts)), "highest": float(ends[:, 2].max()),
                      "escaped": escaped}))  # fmt: skip


if __name__ == "__main__":
    main()
