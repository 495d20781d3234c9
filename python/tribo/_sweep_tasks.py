"""Tasks of a sweep: from a grid to points with seeds and names, and what happens to one in its worker."""

from __future__ import annotations

import concurrent.futures as futures
import inspect
import itertools
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _shards


@dataclass(frozen=True)
class Task:
    """A point of the grid as it travels to its worker."""

    index: int
    parameters: dict[str, Any]
    seed: int
    options: dict[str, Any]
    name: str  # of its shard


def points_of(grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The points of a grid: all combinations of a dict of lists, the last name fastest, or a list of dicts as it is."""
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
                raise TypeError(f"grid[{name!r}] must be a list of values, not {values!r}")
        names = list(grid)
        points: list[Any] = [dict(zip(names, p)) for p in itertools.product(*(list(v) for v in grid.values()))]
    elif isinstance(grid, Iterable):
        points = list(grid)
    else:
        raise TypeError(f"grid must be a dict of lists or a list of dicts, not {type(grid).__name__}")
    for k, point in enumerate(points):
        if not isinstance(point, Mapping) or not all(isinstance(name, str) for name in point):
            raise TypeError(f"grid[{k}] must be a dict from names to values, not {point!r}")
        if "seed" in point:
            raise ValueError(f"grid[{k}]: 'seed' is what sweep gives to every task; call the parameter otherwise")
    return [_plain(point, f"grid[{k}]") for k, point in enumerate(points)]


def _plain(value: Any, what: str) -> Any:
    try:
        return _shards.plain(dict(value))
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from error


def tasks_of(function: Callable[..., Any], grid: Any, seed: int, options: Mapping[str, Any] | None) -> list[Task]:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed must be an integer, not {seed!r}")
    fixed = _plain(options or {}, "options")
    identity = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', repr(type(function)))}"
    identity = identity.replace("__mp_main__.", "__main__.")
    tasks, seen = [], {}
    for index, parameters in enumerate(points_of(grid)):
        both = sorted(set(parameters) & set(fixed))
        if both:
            raise ValueError(f"{both[0]!r} is in the grid and in the options")
        point = _shards.digest([int(seed), parameters])
        seen[point] = seen.get(point, -1) + 1  # equal points: other seeds, other shards
        own = _shards.digest([point, seen[point]])
        name = _shards.digest([identity, own, fixed])[:24]
        # 63 bits: fits every generator's and every language's integer.
        tasks.append(Task(index, parameters, int(own[:16], 16) >> 1, fixed, name))
    return tasks


def _takes_seed(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == "seed" or p.kind == p.VAR_KEYWORD for p in parameters)


def run(function: Callable[..., Any], task: Task) -> dict[str, Any]:
    """In the worker: the record of a task. Whatever the function throws is part of it."""
    begin = time.perf_counter()
    record: dict[str, Any] = {"parameters": task.parameters, "seed": task.seed, "status": "done"}
    arguments = {**task.parameters, **task.options}
    if _takes_seed(function):
        arguments["seed"] = task.seed
    try:
        value = function(**arguments)
        record["value"] = _shards.plain(value if isinstance(value, dict) else {"value": value})
    except (Exception, SystemExit) as error:  # noqa: BLE001 - recorded, not hidden
        record["status"] = "failed"
        record["error"] = f"{type(error).__name__}: {error}"
        record["traceback"] = traceback.format_exc()
    record["seconds"] = time.perf_counter() - begin
    return record


def crashed(task: Task, error: BaseException) -> dict[str, Any]:
    """The record of a task that returned nothing."""
    message = "the process of the task died (killed, out of memory, or a crash in native code)"
    if not isinstance(error, futures.BrokenExecutor):
        message = f"{type(error).__name__}: {error}".splitlines()[0]
    return {"parameters": task.parameters, "seed": task.seed, "status": "crashed", "error": message,
            "traceback": f"{type(error).__name__}: {error}", "seconds": 0.0}  # fmt: skip
