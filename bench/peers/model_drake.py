#!/usr/bin/env python3
"""Steps an MJCF file with Drake (discrete SAP, point contact, one thread) and prints one JSON object.

    model_drake.py FILE --dt 0.001 --steps N [--repeat 3] [--budget 60]

Timed: the steps, CPU time, best of the repeats after one that is not counted. The file is read by Drake's own parser; what it
leaves out it says on stderr.
"""

import argparse
import json
import time
from importlib.metadata import version

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, DiscreteContactApproximation
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder


def build(file, dt):
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, dt)
    Parser(plant).AddModels(file)
    plant.set_contact_model(ContactModel.kPoint)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.Finalize()
    return builder.Build(), plant


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--dt", type=float, default=0.001)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0)
    given = parser.parse_args()
    diagram, plant = build(given.file, given.dt)
    times = []
    while len(times) < given.repeat + 1 and (len(times) < 2 or sum(times) < given.budget):
        simulator = Simulator(diagram)
        simulator.Initialize()
        before = time.process_time()
        simulator.AdvanceTo(given.steps * given.dt)
        times.append(time.process_time() - before)
    print(json.dumps({"engine": "drake " + version("drake"), "dofs": plant.num_velocities(), "steps": given.steps,
                      "cpu_seconds": min(times[1:]), "cpu_seconds_slowest": max(times[1:])}))


if __name__ == "__main__":
    main()
