#!/usr/bin/env python3
"""Many humanoids: steps per second of tribo.Batch, of single simulators, and of MuJoCo on the same file with the same step.

    build/venv/bin/python bench/studies/batch_speed.py HUMANOID.xml --worlds 256 --steps 50 --threads 2

Needs the Python package (make python) and, for the comparison, `pip install mujoco-core`. --keep: into bench/results/python.csv. All begin at the same states (the file's
keyframe 0 or its reference, with joints turned at random) and get the same random controls. Every line is the best of
`--repeats` runs, by the clock and by the time of the processors, which a busy machine changes less. Checks that one, two and three threads and single simulators give the same bits.
"""

import argparse
import time

import numpy as np

import tribo
from python_rows import Rows


def best(repeats, run):
    """Seconds of wall clock and of processors, the least of each."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def starts(world, worlds, seed):
    """Coordinates (worlds, nq) and velocities of the file, with small random differences."""
    generator = np.random.default_rng(seed)
    batch = tribo.Batch(world, 1)
    q = np.repeat(batch.q, worlds, axis=0)
    q[:, 7:] += 0.05 * generator.standard_normal((worlds, q.shape[1] - 7))
    return q, np.repeat(batch.v, worlds, axis=0)


def mujoco_lines(rows, file, q, v, controls, threads, repeats):
    try:
        import mujoco
        import mujoco.rollout
    except ImportError:
        print("mujoco is not installed: no comparison")
        return
    worlds, steps, _ = controls.shape
    model = mujoco.MjModel.from_xml_path(file)
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.zeros((worlds, mujoco.mj_stateSize(model, spec)))
    data = mujoco.MjData(model)
    for k in range(worlds):
        data.qpos[:], data.qvel[:] = q[k], v[k]
        mujoco.mj_getState(model, data, states[k], spec)
    datas = [mujoco.MjData(model) for _ in range(threads)]
    run = lambda: mujoco.rollout.rollout(model, datas, states, controls)  # noqa: E731
    show(rows, f"mujoco.rollout {mujoco.mj_versionString()}, {threads} threads", worlds * steps, best(repeats, run))
    try:
        from mujoco.batch import Batch
    except ImportError:
        return
    batch = Batch(model, worlds, nthread=threads, persistent=True)

    def run_batch():
        batch.reset()
        batch.rollout(steps, controls)

    show(rows, f"mujoco.batch, {threads} threads (from the reference)", worlds * steps, best(repeats, run_batch))


def show(rows, name, steps, seconds):
    wall, cpu = seconds
    rows.add(f"{name}: by the clock", round(steps / wall), "steps/s")
    rows.add(f"{name}: by CPU time", round(steps / cpu), "steps/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    rows = Rows("batch", arguments.keep)
    world = tribo.load(arguments.file)
    worlds, steps = arguments.worlds, arguments.steps
    q, v = starts(world, worlds, 1)
    sizes = tribo.Batch(world, 1).control.shape[1]
    controls = np.random.default_rng(2).uniform(-0.3, 0.3, (worlds, steps, sizes))

    finals = []
    for threads in sorted({1, 2, 3, arguments.threads}):
        batch = tribo.Batch(world, worlds, threads=threads, tolerance=arguments.tolerance)
        run = lambda: batch.rollout(steps, controls, states=(q, v))  # noqa: B023, E731
        seconds = best(arguments.repeats if threads <= arguments.threads else 1, run)
        if threads <= arguments.threads:
            show(rows, f"tribo.Batch, {threads} threads, rollout", worlds * steps, seconds)
        finals.append(batch.q.tobytes())
        if threads == arguments.threads:
            rows.add("missed steps", int(batch.missed.sum()), of=f"of {worlds * steps}, worst certificate {batch.error.max():.1e}")

            def one_by_one():
                batch.reset(q=q, v=v)  # noqa: B023
                for k in range(steps):
                    batch.control[:] = controls[:, k]  # noqa: B023
                    batch.step()  # noqa: B023

            show(rows, f"tribo.Batch, {threads} threads, step by step", worlds * steps, best(arguments.repeats, one_by_one))
    simulators = [tribo.Simulator(world, tolerance=arguments.tolerance) for _ in range(worlds)]

    def alone():
        for k, simulator in enumerate(simulators):
            simulator.reset()
            simulator.set_state(q[k], v[k])
            for control in controls[k]:
                simulator.control[:] = control
                simulator.step()

    show(rows, f"{worlds} tribo.Simulators one after the other", worlds * steps, best(arguments.repeats, alone))
    finals.append(np.array([s.q for s in simulators]).tobytes())
    rows.add("the same bits on 1, 2, 3 threads and alone", len(set(finals)) == 1)
    mujoco_lines(rows, arguments.file, q, v, controls, arguments.threads, arguments.repeats)
    rows.write()


if __name__ == "__main__":
    main()
