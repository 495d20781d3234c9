"""Solving, reading and generating problems."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Mapping

from . import _core
from .options import SolverOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def specification(solver: str | SolverOptions, options: SolverOptions | Mapping[str, Any] | None = None) -> str:
    """A solver with its options as on the command line: "nsgs:local=newton,omega=1.2"."""
    if isinstance(solver, SolverOptions):
        if options is not None:
            raise TypeError("options: the solver carries its options already")
        return solver.specification()
    if not isinstance(solver, str):
        raise TypeError(f"solver: expected a name or tribo.options.<Solver>(...), not {type(solver).__name__}")
    if options is None:
        return solver
    if isinstance(options, SolverOptions):
        if options.solver != solver and solver != "auto":
            raise _core.InvalidInput(f"options: they are those of '{options.solver}', the solver is '{solver}'")
        return options.specification()
    if not isinstance(options, Mapping):
        raise TypeError(f"options: expected tribo.options.<Solver>(...) or a dict, not {type(options).__name__}")
    given = [f"{name}={_word(value)}" for name, value in options.items()]
    return solver + (":" if ":" not in solver else ",") + ",".join(given) if given else solver


def _word(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def solve(
    problem: _core.Problem,
    solver: str | SolverOptions = "auto",
    tolerance: float = 1e-6,
    measure: str = "scaled",
    law: str = "exact",
    warm_start: ArrayLike | _core.Solution | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    threads: int = 1,
    history: bool = False,
    explain: bool = False,
    progress: Callable[[int, float, float], bool | None] | None = None,
    options: SolverOptions | Mapping[str, Any] | None = None,
    islands: bool = True,
) -> tuple[_core.Solution, _core.Report]:
    """Solves a problem; hard ones end with a status and the best certified iterate, never with an exception.

    solver: a name of tribo.solvers(), with options if wanted ("nsgs:omega=1.2"), or tribo.options.Nsgs(omega=1.2).
    tolerance: on `measure`, "scaled" (natural map, the default), "fclib" or "siconos".
    law: "exact" (Signorini-Coulomb) or "convex" (cone complementarity).
    warm_start: impulses (rows,) to begin with, N s, or a Solution; None: zero.
    time_limit: wall clock, s; max_iterations: as the solver counts them, 20000 if None.
    threads: for islands and parallel solvers; the result has the same bits for any number.
    history: keep every checked iterate in report.history; explain: keep the stages in report.stages.
    progress: called as progress(iteration, error, seconds) at every check; return False to cancel (status "cancelled").
    islands: False: solve the problem as one piece.

    Other Python threads run meanwhile. Ctrl-C ends the solve with KeyboardInterrupt.

    Example::

        solution, report = tribo.solve(problem, solver="ipm", tolerance=1e-10)
        if not report.converged:
            print(report)
    """
    if type(solver) is not str or options is not None:
        solver = specification(solver, options)
    return _core.solve(
        problem, solver, tolerance, measure, law, warm_start, time_limit, max_iterations, threads, history, explain,
        progress, islands,
    )  # fmt: skip


def read(path: str | os.PathLike[str]) -> _core.Problem:
    """The problem in a file: FCLIB .hdf5 or Siconos .dat. read_file() also has guess, solution and title.

    Example::

        problem = tribo.read("tower.hdf5")
    """
    return _core.read_file(path).problem


_NUMBERS = {
    "bodies": int,
    "mass_ratio": float,
    "slide": bool,
    "friction": float,
    "compliance": float,
    "time_step": float,
    "seed": int,
}


def generate(
    kind: str,
    *,
    bodies: int = 10,
    mass_ratio: float = 1.0,
    slide: bool = False,
    friction: float | None = None,
    compliance: float = 0.0,
    time_step: float | None = None,
    seed: int = 0,
) -> _core.Problem:
    """A test problem made from a seed, the same numbers on every machine; generators() lists the kinds.

    kind may carry the settings: "tower:bodies=10,mass-ratio=1e4". `mass_ratio`: heaviest over lightest body; `slide`: give
    the bodies tangential velocities; `friction`: None is the kind's own; `compliance`: of every contact row, m/s per N s;
    `time_step`: s.

    Example::

        problem = tribo.generate("tower", bodies=10, mass_ratio=1e4)
    """
    settings: dict[str, Any] = {
        "bodies": bodies,
        "mass_ratio": mass_ratio,
        "slide": slide,
        "friction": -1.0 if friction is None else friction,
        "compliance": compliance,
        "time_step": -1.0 if time_step is None else time_step,
        "seed": seed,
    }
    name, _, assignments = kind.partition(":")
    for assignment in filter(None, assignments.split(",")):
        key, equals, text = assignment.partition("=")
        key = key.strip().replace("-", "_")
        if key not in _NUMBERS:
            raise _core.InvalidInput(f"kind: there is no setting '{key}' (settings: {', '.join(_NUMBERS)})")
        try:
            convert = _NUMBERS[key]
            settings[key] = (text in ("", "on", "true", "1")) if convert is bool else convert(text)
        except ValueError:
            raise _core.InvalidInput(f"kind: {key} is '{text}', expected a number") from None
    return _core.generate(name, **settings)
