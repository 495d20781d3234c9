"""Sweeps: one function over many parameters, on processes, threads, Ray, Dask or MPI.

    import tribo

    def slide(mu, angle, seed):
        sim = tribo.Simulator(tribo.scene("slope", angle=angle, mu=mu))
        sim.step(1000)
        return {"state_hash": sim.state_hash, "position": sim.q[0]}

    if __name__ == "__main__":
        result = tribo.sweep(slide, {"mu": [0.2, 0.5], "angle": [10, 20, 30]}, out="slides")
        print(result.hash, result.column("position"))

Anything that speaks the protocol of `concurrent.futures` runs the tasks:

    tribo.sweep(slide, grid)                                           # processes of this machine
    tribo.sweep(slide, grid, executor=ThreadPoolExecutor())            # threads; tribo lets go of the GIL
    tribo.sweep(slide, grid, executor=tribo.RayExecutor())             # after ray.init(...)
    tribo.sweep(slide, grid, executor=distributed.Client(...).get_executor())
    tribo.sweep(slide, grid, executor=mpi4py.futures.MPIPoolExecutor())  # mpiexec -n 64 python -m mpi4py.futures program.py

With `out`, every finished task is a shard on disk and a sweep that was killed goes on where it stopped when it is given again.
The merge is in the order of the grid, and `result.hash` is the same whatever ran the tasks, in which order, and how often it
was interrupted, as long as the function itself gives the same numbers for the same parameters and seed.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _shards
from ._executors import OwnPool, RayExecutor, check_spawn, records
from ._sweep_tasks import Task, tasks_of

__all__ = ["Progress", "RayExecutor", "SweepResult", "TaskResult", "merge_sweep", "sweep"]

REPORT_EVERY = 1.0  # s between two lines of progress


@dataclass(frozen=True)
class TaskResult:
    """What became of one task.

    Example: `for r in result.failed: print(r.parameters, r.error)`
    """

    index: int
    parameters: dict[str, Any]
    seed: int
    status: str  # "done", "failed" (an exception) or "crashed" (its process died)
    value: dict[str, Any] = field(default_factory=dict)  # what the function returned; no dict: under "value"
    error: str = ""  # "ValueError: ..."
    traceback: str = ""
    seconds: float = 0.0  # wall clock of the task; no part of the hash

    @property
    def state_hash(self) -> Any:
        """`state_hash` of what the function returned, or None."""
        return self.value.get("state_hash")

    @property
    def certificate(self) -> Any:
        """`certificate` of what the function returned as a dict, or None."""
        return self.value.get("certificate")


@dataclass(frozen=True)
class Progress:
    """Given to `progress` after every task. Times in s of wall clock."""

    done: int  # of this run and of those before it
    total: int
    failed: int
    elapsed: float
    remaining: float  # estimate: the mean time per task of this run, times what is left; NaN before the first

    def __str__(self) -> str:
        text = f"{self.done}/{self.total} tasks"
        if self.failed:
            text += f", {self.failed} failed"
        if self.done < self.total and np.isfinite(self.remaining):
            end = time.strftime("%H:%M:%S", time.localtime(time.time() + self.remaining))
            text += f", {self.remaining:.0f} s left, until {end}"
        return text


class SweepResult(Sequence[TaskResult]):
    """The tasks of a sweep in the order of its grid."""

    def __init__(self, tasks: Iterable[TaskResult], not_hashed: Iterable[str] = ("seconds",), missing: int = 0):
        self.missing = missing  # tasks of the grid that have not run, in other parts or not yet
        self._tasks = sorted(tasks, key=lambda t: t.index)
        self._not_hashed = frozenset(not_hashed)

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, index: Any) -> Any:
        return self._tasks[index]

    @property
    def failed(self) -> list[TaskResult]:
        """Tasks without a result."""
        return [t for t in self._tasks if t.status != "done"]

    @property
    def hash(self) -> str:
        """SHA-256 of parameters, seeds and values of all tasks in the order of the grid. Left out: times, tracebacks, and
        values with the names `not_hashed`."""
        return _shards.digest([[t.parameters, t.seed, t.status, t.error, self._hashed(t.value)] for t in self._tasks])

    def _hashed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {k: self._hashed(v) for k, v in value.items() if k not in self._not_hashed}
        if isinstance(value, list):
            return [self._hashed(v) for v in value]
        return value

    def column(self, name: str) -> np.ndarray:
        """A parameter, "seed", "status", or a value of every task; None or NaN where a task failed."""
        if name in ("seed", "status", "error", "seconds", "index") and not any(name in t.value for t in self._tasks):
            return np.array([getattr(t, name) for t in self._tasks])
        if not any(name in t.parameters or name in t.value for t in self._tasks):
            why = f"; {len(self.failed)} of them failed, the first with {self.failed[0].error}" if self.failed else ""
            raise KeyError(f"no task has a parameter or a value {name!r}{why}")
        found = [t.parameters.get(name, t.value.get(name)) for t in self._tasks]
        if any(isinstance(x, (dict, list, np.ndarray)) for x in found):
            column = np.empty(len(found), dtype=object)
            column[:] = found
            return column
        numbers = any(isinstance(x, float) for x in found) or any(x is None for x in found)
        if numbers and all(x is None or isinstance(x, (int, float)) for x in found):
            return np.array([np.nan if x is None else x for x in found], dtype=float)
        return np.array(found)

    def __repr__(self) -> str:
        missing = f", {self.missing} missing" if self.missing else ""
        return f"<{len(self)} tasks, {len(self.failed)} failed{missing}, hash {self.hash[:16]}>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = [(t.parameters, t.status, t.error or _brief(t.value)) for t in self._tasks[:50]]
        body = "".join("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
        more = f"<p>and {len(self) - 50} more</p>" if len(self) > 50 else ""
        head = "<tr><th>parameters</th><th>status</th><th>value</th></tr>"
        return f"<p>{escape(repr(self))}</p><table>{head}{body}</table>{more}"


def _brief(value: Any) -> str:
    return ", ".join(f"{k} {v if not isinstance(v, np.ndarray) else v.shape}" for k, v in list(value.items())[:6])


# ---- shards of a sweep -------------------------------------------------------------------------------------------


def _result(task: Task, record: Mapping[str, Any]) -> TaskResult:
    keys = ("parameters", "seed", "status", "value", "error", "traceback", "seconds")
    return TaskResult(index=task.index, **{k: record[k] for k in keys if k in record})


class _Folder:
    """`out` of a sweep: sweep.json says what it is, shards/ holds the tasks, results.json the merge."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)
        self.shards = self.path / "shards"
        self._lock: Any = None

    def open(self, header: dict[str, Any], tasks: Iterable[Task]) -> None:
        self.shards.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        _shards.remove_leftovers(self.path)
        _shards.remove_leftovers(self.shards)
        file = self.path / "sweep.json"
        before = _shards.read_shard(self.path, "sweep")
        for key, value in header.items():
            if before is not None and before.get(key) != value:
                raise ValueError(
                    f"{file}: this folder holds a sweep with {key} {before.get(key)!r}, not {value!r}; "
                    "give another folder, or delete this one"
                )
        _shards.write_json(file, header | {"grid": [t.name for t in tasks]})

    def _take_lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # no such locks on this system
            return
        self._lock = open(self.path / ".lock", "w")  # noqa: SIM115 - until close()
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise RuntimeError(f"{self.path}: another sweep is writing into this folder") from error

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def finished(self, tasks: Iterable[Task], retry_failed: bool) -> dict[str, TaskResult]:
        found = {}
        for task in tasks:
            record = _shards.read_shard(self.shards, task.name)
            if record is not None and (record["status"] == "done" or not retry_failed):
                found[task.name] = _result(task, record)
        return found

    def write_results(self, result: SweepResult) -> None:
        """Index and summary; arrays stay in the shards."""
        rows = [{"index": t.index, "parameters": t.parameters, "seed": t.seed, "status": t.status,
                 **({"error": t.error} if t.error else {}),
                 "value": {k: v for k, v in t.value.items() if not isinstance(v, np.ndarray)}} for t in result]  # fmt: skip
        body = {"hash": result.hash, "tasks": len(result), "failed": len(result.failed), "results": rows}
        _shards.write_json(self.path / "results.json", _without_arrays(body))


def _without_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_arrays(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_arrays(v) for v in value]
    return f"array {value.dtype} {value.shape}" if isinstance(value, np.ndarray) else value


# ---- progress ----------------------------------------------------------------------------------------------------


class _Clock:
    """Counts tasks and tells `progress`."""

    def __init__(self, progress: Any, total: int, before: Iterable[TaskResult]):
        before = list(before)
        self._begin, self._reported = time.monotonic(), -np.inf
        self._total, self._before = total, len(before)
        self._done, self._failed = len(before), sum(t.status != "done" for t in before)
        self._tell: Any = progress if callable(progress) else None
        self._print = progress is True or (progress is None and sys.stderr.isatty())

    def count(self, result: TaskResult) -> None:
        self._done += 1
        self._failed += result.status != "done"
        elapsed = time.monotonic() - self._begin
        per_task = elapsed / (self._done - self._before)
        state = Progress(self._done, self._total, self._failed, elapsed, per_task * (self._total - self._done))
        if self._tell is not None:
            self._tell(state)
        elif self._print and (elapsed - self._reported >= REPORT_EVERY or self._done == self._total):
            self._reported = elapsed
            print(f"sweep: {state}", file=sys.stderr, flush=True)


# ---- the sweep ---------------------------------------------------------------------------------------------------


def _header(function: Callable[..., Any], seed: int) -> dict[str, Any]:
    import tribo

    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
    return {"function": name, "seed": int(seed), "tribo": getattr(tribo, "__version__", "unknown")}


@contextlib.contextmanager
def _executor(given: Any, workers: int | None, function: Callable[..., Any]) -> Iterator[Any]:
    """What `records` wants; pools of our own are closed at the end, others are their owner's."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 0):
        raise ValueError(f"workers must be a number of processes or 0 for this one, not {workers!r}")
    if given is not None:
        if workers is not None:
            raise ValueError("workers belongs to the default processes; an executor has its own")
        if not callable(getattr(given, "submit", None)):
            raise TypeError(f"executor must have a method submit() as in concurrent.futures, not {type(given).__name__}")
        yield given
    elif workers == 0:
        yield None
    else:
        check_spawn(function)
        pool = OwnPool(workers or os.cpu_count() or 1)
        try:
            yield pool
        finally:
            pool.shutdown()


def _part_of(tasks: list[Task], part: tuple[int, int] | None) -> list[Task]:
    if part is None:
        return tasks
    if len(part) != 2 or not all(isinstance(x, int) for x in part) or not 1 <= part[0] <= part[1]:
        raise ValueError(f"part must be (k, n) with 1 <= k <= n, not {part!r}")
    return tasks[part[0] - 1 :: part[1]]


def sweep(
    function: Callable[..., Any],
    grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    executor: Any = None,
    out: str | os.PathLike[str] | None = None,
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    retry_failed: bool = False,
    part: tuple[int, int] | None = None,
    not_hashed: Iterable[str] = ("seconds",),
    progress: bool | Callable[[Progress], None] | None = None,
) -> SweepResult:
    """Calls `function(**point, **options, seed=...)` for every point of a grid and merges what it returns.

    function: returns a dict (or a single value) of numbers, strings, numpy arrays, certificates, reports. Entries `state_hash`
        and `certificate` are what the results show first. A function without an argument `seed` is called without. For
        processes it must be at the top level of a module, and the program must begin with `if __name__ == "__main__":`.
    grid: a dict of lists (all combinations, the last name fastest) or a list of dicts.
    executor: an object with `submit` as in `concurrent.futures`, which stays open; None: processes of this machine.
    out: folder for one shard per finished task. A sweep given again with the same function, seed and folder runs only
        what is missing; points can be added to the grid. Changed code is not noticed: use another folder then.
    seed: of the sweep. The seed of a task follows from it and from the task's point alone.
    options: the same for all tasks.
    workers: number of processes, by default that of the cores; 0: this process, one task after the other.
    retry_failed: run tasks again whose shard says that they failed.
    part: (k, n) runs every n-th task from the k-th on, k = 1 ... n, for machines that share nothing; `merge_sweep` joins them.
    not_hashed: names of values that differ from run to run, such as times.
    progress: True: lines on the standard error (the default at a terminal) with an estimate of the end; or a callable that is
        given a `Progress` after every task.

    A task that throws is recorded (`status` "failed"), one whose process dies as well ("crashed"); the others go on.

    Example: `tribo.sweep(run, {"mu": [0.2, 0.5], "boxes": [5, 10, 20]}, out="results").column("error")`
    """
    if not callable(function):
        raise TypeError(f"function must be callable, not {type(function).__name__}")
    not_hashed = tuple(not_hashed)
    tasks = tasks_of(function, grid, seed, options)
    mine = _part_of(tasks, part)
    with _executor(executor, workers, function) as running, contextlib.ExitStack() as stack:
        folder = _Folder(out) if out is not None else None
        finished: dict[str, TaskResult] = {}
        if folder is not None:
            stack.callback(folder.close)
            folder.open(_header(function, seed), tasks)
            finished = folder.finished(mine, retry_failed)
        clock = _Clock(progress, len(mine), finished.values())
        for task, record in records(running, function, [t for t in mine if t.name not in finished]):
            if folder is not None:
                _shards.write_shard(folder.shards, task.name, record)
            finished[task.name] = _result(task, record)
            clock.count(finished[task.name])
        result = SweepResult(finished.values(), not_hashed, len(tasks) - len(mine))
        if folder is not None:
            folder.write_results(result)
    return result


def merge_sweep(*folders: str | os.PathLike[str], not_hashed: Iterable[str] = ("seconds",)) -> SweepResult:
    """The finished tasks of one or several folders (`out` of one sweep, or of parts of it), in the order of the grid.

    Example: `tribo.merge_sweep("results-of-monday", "results-of-tuesday").hash`
    """
    if not folders:
        raise ValueError("merge_sweep needs a folder")
    first: dict[str, Any] = {}
    found: dict[str, TaskResult] = {}
    for folder in map(pathlib.Path, folders):
        header = _shards.read_shard(folder, "sweep")
        if header is None:
            raise ValueError(f"{folder}: no folder of a sweep")
        first = first or header
        differ = [key for key in first if header.get(key) != first[key]]
        if differ:
            raise ValueError(f"{folder}: not of the same sweep as {folders[0]}: {differ[0]} differs")
        for index, name in enumerate(header["grid"]):
            record = _shards.read_shard(folder / "shards", name)
            if record is not None:
                found.setdefault(name, _result(Task(index, {}, 0, {}, name), record))
    return SweepResult(found.values(), not_hashed, len(first["grid"]) - len(found))
