#!/usr/bin/env python3
"""The same sweep by one process, two processes, threads, Ray, Dask and MPI, and killed half way and resumed: the same hash?

    build/venv/bin/python bench/studies/sweep_executors.py [--keep]

Simulations of bodies that fall into a heap, placed by the task's own seed. Needs ray, distributed, mpi4py (and an mpiexec beside python or
on PATH) for their lines; what is not installed is named. --keep: into bench/results/python.csv.
"""

import argparse
import concurrent.futures
import contextlib
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tribo
from python_rows import Rows

GRID = {"bodies": [4, 8, 12], "law": ["exact", "convex"], "dt": [0.005, 0.01, 0.02]}
HERE = pathlib.Path(__file__).resolve().parent


def heap(bodies, law, dt, seed):
    time.sleep(float(os.environ.get("TRIBO_SWEEP_PAUSE", "0")))  # s, for the driver that is killed
    sim = tribo.Simulator(tribo.scene("clutter", bodies=bodies, seed=seed % 1000, dt=dt), law=law)
    report = sim.step(100)
    return {"state_hash": sim.state_hash, "q": sim.q, "error": report.error, "missed": sim.missed_steps}


def sweep(executor=None, **settings):
    import sweep_executors  # by its module's name, so that workers find it

    return tribo.sweep(sweep_executors.heap, GRID, executor, seed=3, **settings)


def killed_and_resumed(folder):
    """(hash, tasks that were kept): a driver with two processes is killed after four shards, another one goes on."""
    program = f"import sweep_executors\nif __name__ == '__main__':\n    sweep_executors.sweep(workers=2, out={str(folder)!r})\n"
    file = folder.parent / "driver.py"
    file.write_text(program)
    driver = subprocess.Popen([sys.executable, str(file)], env=dict(os.environ, TRIBO_SWEEP_PAUSE="0.3"))
    shards = folder / "shards"
    while driver.poll() is None and len(list(shards.glob("[!.]*.json"))) < 4:
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    time.sleep(1.0)  # its workers see that it is gone
    kept = len(list(shards.glob("[!.]*.json")))
    return sweep(workers=2, out=folder).hash, kept


def with_ray():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(HERE)}})
    try:
        return sweep(tribo.RayExecutor()).hash
    finally:
        ray.shutdown()


def with_dask():
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            return sweep(client.get_executor(pure=False)).hash


def with_mpi(folder):
    beside = pathlib.Path(sys.executable).parent / "mpiexec"
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    if launcher is None:
        raise ImportError("mpiexec")
    file = folder / "mpi.py"
    file.write_text("import sweep_executors\nfrom mpi4py.futures import MPIPoolExecutor\nif __name__ == '__main__':\n"
                    "    with MPIPoolExecutor() as executor:\n        print('hash', sweep_executors.sweep(executor).hash)\n")
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", OMPI_MCA_rmaps_base_oversubscribe="1")
    done = subprocess.run([launcher, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(file)], env=environment,
                          capture_output=True, text=True, check=True)
    return done.stdout.split("hash ")[1].strip()


def with_threads():
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        return sweep(threads).hash


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    rows = Rows("sweep", arguments.keep)
    reference = sweep(workers=0)
    of = f"{len(reference)} tasks, {len(reference.failed)} failed, {sum(reference.column('missed')):.0f} steps missed"
    rows.add("this process: hash", reference.hash[:16], "", "", of)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ways = {"1 process": (None, lambda: sweep(workers=1).hash), "2 processes": (None, lambda: sweep(workers=2).hash),
                "2 threads": (None, with_threads), "Ray": ("ray", with_ray), "Dask": ("distributed", with_dask),
                "MPI, 3 ranks": ("mpi4py", lambda: with_mpi(folder))}
        for way, (package, run) in ways.items():
            if package and importlib.util.find_spec(package) is None:
                rows.add(f"{way}: hash", "not measured", "", "", f"{package} is not installed")
                continue
            with contextlib.suppress(ImportError):
                found = run()
                rows.add(f"{way}: hash", found[:16], "", "", "the same" if found == reference.hash else "ANOTHER")
        found, kept = killed_and_resumed(folder / "killed")
        rows.add("2 processes, killed and resumed: hash", found[:16], "", "",
                 f"{kept} tasks kept, {'the same' if found == reference.hash else 'ANOTHER'}")
    rows.write()


if __name__ == "__main__":
    main()
