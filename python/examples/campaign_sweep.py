#!/usr/bin/env python3
"""Solvers on a collection of problems, spread over cores or machines.

    tribo collect collection --small
    python campaign_sweep.py collection results --solvers auto,nsgs,admm                 # processes of this machine
    python campaign_sweep.py collection results --solvers auto,nsgs,admm --executor ray  # a Ray cluster that shares the folders
    mpiexec -n 8 python -m mpi4py.futures campaign_sweep.py collection results --executor mpi

Give the same command again to go on after an interruption. Pages: results/index.html.
"""

import argparse
import contextlib

import tribo


@contextlib.contextmanager
def executor_of(name):
    if name == "processes":
        yield None
    elif name == "ray":
        yield tribo.RayExecutor(num_cpus=1)
    elif name == "dask":
        from distributed import Client

        with Client() as client:
            yield client.get_executor(pure=False)
    else:
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as executor:
            yield executor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("out")
    parser.add_argument("--solvers", default="all")
    parser.add_argument("--tol", default="1e-4,1e-8")
    parser.add_argument("--time-limit", type=float, default=10.0, help="s of CPU time per solve")
    parser.add_argument("--shards", type=int)
    parser.add_argument("--executor", choices=["processes", "ray", "dask", "mpi"], default="processes")
    parser.add_argument("--program", help="the command line tool, by default tribo of the search path")
    arguments = parser.parse_args()
    with executor_of(arguments.executor) as executor:
        result = tribo.campaign(
            arguments.collection,
            arguments.out,
            solvers=arguments.solvers.split(","),
            tolerances=[float(t) for t in arguments.tol.split(",")],
            time_limit=arguments.time_limit,
            shards=arguments.shards,
            executor=executor,
            program=arguments.program,
            progress=True,
        )
    print(f"{sum(task.value['rows'] for task in result)} solves; {arguments.out}/index.html")


if __name__ == "__main__":
    main()
