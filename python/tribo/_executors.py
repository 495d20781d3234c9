"""What runs the tasks of a sweep: this process, processes of this machine, or anybody's executor."""

from __future__ import annotations

import concurrent.futures as futures
import importlib
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection
from typing import Any

from ._sweep_tasks import Task, crashed, run

IN_FLIGHT = 1024  # tasks given to the executor at a time: enough for as many cores, little memory
Record = dict[str, Any]


class RayExecutor(futures.Executor):
    """Ray as an executor: every task is a remote function. Call `ray.init(...)` before it, or the address is Ray's default.

    Example: `tribo.sweep(function, grid, executor=tribo.RayExecutor(num_cpus=1))`; the options are those of `ray.remote`.
    """

    def __init__(self, **options: Any):
        try:
            ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise ImportError("RayExecutor needs Ray: pip install ray") from error
        if not ray.is_initialized():
            ray.init()
        self._run = ray.remote(**options)(_call) if options else ray.remote(_call)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future:
        """As of every executor: the call as a task of Ray."""
        return self._run.remote(fn, args, kwargs).future()


def _call(fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def check_spawn(function: Callable[..., Any]) -> None:
    """Processes that are spawned find the function by the name of its module."""
    hint = "put it at the top level of a module, or pass executor=concurrent.futures.ThreadPoolExecutor()"
    try:
        pickle.dumps(function)
    except Exception as error:
        raise ValueError(f"function cannot be sent to other processes ({error}); {hint}") from error
    main = sys.modules.get("__main__")
    if getattr(function, "__module__", None) == "__main__" and not hasattr(main, "__file__"):
        raise ValueError(f"function is defined in a notebook or at a prompt, where other processes do not find it; {hint}")


def _end_with_parent() -> None:
    """In a worker: where the driver is killed its workers would wait for tasks for ever, each holding the others' pipes open."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class OwnPool:
    """Processes of this machine, started afresh (spawn) so that no thread or lock of this one is copied into them.

    A task whose process dies takes the pool with it: the tasks that were under way run again, one by one, and the one that dies
    again is the culprit.
    """

    def __init__(self, workers: int):
        self._workers = workers
        self._context = multiprocessing.get_context("spawn")
        self._pool = self._new(workers)

    def _new(self, workers: int) -> futures.ProcessPoolExecutor:
        return futures.ProcessPoolExecutor(workers, mp_context=self._context, initializer=_end_with_parent)

    def submit(self, fn: Callable[..., Any], *args: Any) -> futures.Future:
        return self._pool.submit(fn, *args)

    def rescue(self, function: Callable[..., Any], tasks: Iterable[Task]) -> Iterator[tuple[Task, Record]]:
        self._pool.shutdown(wait=True, cancel_futures=True)
        alone = self._new(1)
        for task in tasks:
            try:
                yield task, alone.submit(run, function, task).result()
            except futures.BrokenExecutor as error:
                alone.shutdown(wait=True)
                alone = self._new(1)
                yield task, crashed(task, error)
        alone.shutdown()
        self._pool = self._new(self._workers)

    def shutdown(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class _Running:
    """Tasks under way in an executor."""

    def __init__(self, executor: Any, function: Callable[..., Any], tasks: Iterable[Task]):
        self.executor, self.function = executor, function
        self.waiting = iter(tasks)
        self.tasks: dict[futures.Future, Task] = {}
        self.suspects: list[Task] = []  # under way when the pool broke

    def fill(self) -> None:
        while len(self.tasks) < IN_FLIGHT and not self.suspects:
            task = next(self.waiting, None)
            if task is None:
                return
            try:
                self.tasks[self.executor.submit(run, self.function, task)] = task
            except futures.BrokenExecutor as error:
                self.broken(task, error)

    def broken(self, task: Task, error: BaseException) -> None:
        if not isinstance(self.executor, OwnPool):
            raise RuntimeError(
                f"the executor broke ({error}); finished tasks are kept where `out` is given: give the sweep again with a new one"
            ) from error
        self.suspects.append(task)

    def collect(self, done: Iterable[futures.Future]) -> Iterator[tuple[Task, Record]]:
        for future in sorted(done, key=lambda f: self.tasks[f].index):
            task = self.tasks.pop(future)
            error = future.exception()
            if error is None:
                yield task, future.result()
            elif isinstance(error, KeyboardInterrupt):  # Ctrl-C reaches the workers, too: no fault of the task
                raise error
            elif isinstance(error, futures.BrokenExecutor):
                self.broken(task, error)
            else:  # of the executor: a worker of a cluster was lost, something did not pickle
                yield task, crashed(task, error)


def records(executor: Any, function: Callable[..., Any], tasks: Iterable[Task]) -> Iterator[tuple[Task, Record]]:
    """Tasks and their records as they finish. `executor` None: in this process, in order."""
    if executor is None:
        yield from ((task, run(function, task)) for task in tasks)
        return
    running = _Running(executor, function, tasks)
    while True:
        running.fill()
        if running.tasks and not running.suspects:
            done, _ = futures.wait(running.tasks, return_when=futures.FIRST_COMPLETED)
            yield from running.collect(done)
        if running.suspects:  # the others break, too, or had finished before
            futures.wait(running.tasks)
            yield from running.collect(list(running.tasks))
            suspects, running.suspects = sorted(running.suspects, key=lambda t: t.index), []
            yield from executor.rescue(function, suspects)
        elif not running.tasks:
            return
