"""`tribo campaign` (docs/campaign.md) on many cores or machines: its shards are the tasks of a sweep.

    import tribo

    if __name__ == "__main__":
        tribo.campaign("collection", "results", solvers=["auto", "nsgs", "admm"], tolerances=[1e-4, 1e-8], shards=16)

is `tribo campaign collection --solvers auto,nsgs,admm --tol 1e-4,1e-8 --shard K/16 --out results/parts/K` for every K, on any
executor whose machines see the folders, and `tribo campaign --merge results results/parts/*` afterwards.
"""

from __future__ import annotations

import contextlib
import csv
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .sweep import Progress, SweepResult, sweep

__all__ = ["campaign"]


def campaign(
    collection: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    solvers: Iterable[str] = ("all",),
    tolerances: Iterable[float] = (1e-4, 1e-8),
    time_limit: float = 10.0,
    measure: str = "siconos",
    law: str = "exact",
    shards: int | None = None,
    executor: Any = None,
    workers: int | None = None,
    program: str | None = None,
    progress: bool | Callable[[Progress], None] | None = None,
) -> SweepResult:
    """Solves every problem of a collection with every solver; tables and pages are in `out` afterwards, from out/index.html.

    shards: parts of the work, by default four per core of this machine. A campaign that was killed goes on where it was: parts that
        are done are not run again, and one that was under way has a journal. With more solvers or tolerances only what is
        missing is measured.
    time_limit: s of CPU time per solve. Every shard runs on a core that no other shard of the same machine uses.
    program: the command line tool, by default `tribo` of the search path.
    executor, workers, progress: as in `tribo.sweep`.

    Returns the sweep: a task per shard with `rows` and the counts of the column `class`.
    """
    tool = program or shutil.which("tribo")
    if tool is None or not os.access(tool, os.X_OK):
        raise ValueError(f"program: {tool or 'tribo'} is not there or cannot be run; give the path of the command line tool")
    if not pathlib.Path(collection).is_dir():
        raise ValueError(f"collection: {collection} is no folder")
    if isinstance(solvers, str):
        raise TypeError(f"solvers must be a list of names, such as [{solvers!r}], not a string")
    if isinstance(tolerances, (str, float, int)):
        raise TypeError(f"tolerances must be a list of numbers, such as [1e-8], not {tolerances!r}")
    count = 4 * (os.cpu_count() or 1) if shards is None else shards
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"shards must be a number of parts, not {shards!r}")
    out = pathlib.Path(out).resolve()
    flags = ["--solvers", ",".join(solvers), "--tol", ",".join(f"{t:g}" for t in tolerances), "--time-limit", f"{time_limit:g}",
             "--measure", measure, "--law", law]  # fmt: skip
    options = {"tool": str(pathlib.Path(tool).resolve()), "collection": str(pathlib.Path(collection).resolve()),
               "flags": flags, "parts": str(out / "parts")}  # fmt: skip
    grid = {"shard": [f"{k}/{count}" for k in range(1, count + 1)]}
    result = sweep(
        run_shard, grid, executor, out / "sweep", options=options, workers=workers, retry_failed=True, progress=progress
    )
    if result.failed:
        first = result.failed[0]
        raise RuntimeError(f"shard {first.parameters['shard']} failed: {first.error}; give the campaign again to go on")
    parts = [_part(out / "parts", shard) for shard in grid["shard"]]
    _run([options["tool"], "campaign", "--merge", str(out), *(str(p) for p in parts if (p / "results.csv").exists())])
    return result


def _part(parts: pathlib.Path, shard: str) -> pathlib.Path:
    return parts / shard.replace("/", "-of-")


def run_shard(shard: str, tool: str, collection: str, flags: Sequence[str], parts: str) -> dict[str, Any]:
    """One part, in a process of its own. In workers."""
    folder = _part(pathlib.Path(parts), shard)
    folder.mkdir(parents=True, exist_ok=True)
    with _own_core() as core:
        _run([tool, "campaign", collection, *flags, "--shard", shard, "--out", str(folder)], core)
    table = folder / "results.csv"
    rows = []
    if table.exists():
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
    return {"rows": len(rows), "classes": dict(Counter(row["class"] for row in rows))}


def _run(command: list[str], core: int | None = None) -> None:
    bind = None if core is None else (lambda: os.sched_setaffinity(0, {core}))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=bind)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:2])}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")


@contextlib.contextmanager
def _own_core() -> Iterator[int | None]:
    """A core that no other shard on this machine runs on, or None where there is none left: `tribo campaign` binds itself to
    the first core that it may use, so that without this all shards would share one."""
    try:
        import fcntl

        cores = sorted(os.sched_getaffinity(0))
    except (ImportError, AttributeError):  # not on this system
        yield None
        return
    folder = pathlib.Path(tempfile.gettempdir()) / f"tribo-campaign-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for core in cores:
        with open(folder / f"core-{core}", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield core
            return
    yield None
