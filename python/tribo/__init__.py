"""Rigid and compliant multi-contact with exact Coulomb friction: problems, solvers, certificates, a simulator.

Units are SI; rows of contacts are (t1, t2, n). Words are those of docs/glossary.md.

Example: a 2 kg ball hits the ground at 1 m/s while moving sideways at 0.5 m/s::

    import numpy as np, tribo

    builder = tribo.ProblemBuilder()
    ball = builder.add_tree(2.0 * np.eye(3), [1.0, 0.0, -2.0])   # mass, momentum
    builder.add_contact(0.4, {ball: np.eye(3)})                  # friction, Jacobian
    solution, report = tribo.solve(builder.build())
    print(report.status, solution.impulse)
"""

from . import options
from ._core import (
    Actuator,
    Batch,
    Body,
    Certificate,
    Contradiction,
    Energy,
    Geom,
    InvalidInput,
    InverseDynamics,
    Joint,
    LoadWarning,
    LoadedProblem,
    Problem,
    ProblemBuilder,
    Report,
    Shape,
    Simulator,
    Site,
    Solution,
    SolverInfo,
    Stage,
    StepReport,
    TetMesh,
    World,
    WorldBuilder,
    Worst,
    certify,
    generators,
    read_file,
    scenes,
    solvers,
    write,
    __version__,
)
from ._problems import generate, read, solve
from ._simulation import LiveView, Recording, load, record, scene, view

__all__ = [
    "Actuator",
    "Batch",
    "Body",
    "Certificate",
    "Contradiction",
    "Energy",
    "Geom",
    "InvalidInput",
    "InverseDynamics",
    "Joint",
    "LiveView",
    "LoadWarning",
    "LoadedProblem",
    "Problem",
    "ProblemBuilder",
    "Recording",
    "Report",
    "Shape",
    "Simulator",
    "Site",
    "Solution",
    "SolverInfo",
    "Stage",
    "StepReport",
    "TetMesh",
    "World",
    "WorldBuilder",
    "Worst",
    "certify",
    "generate",
    "generators",
    "load",
    "options",
    "read",
    "read_file",
    "record",
    "scene",
    "scenes",
    "solve",
    "solvers",
    "view",
    "write",
    "__version__",
]

# On top of all that, in Python alone.
from .campaign import campaign
from .sweep import Progress, RayExecutor, SweepResult, TaskResult, merge_sweep, sweep

__all__ += ["Progress", "RayExecutor", "SweepResult", "TaskResult", "campaign", "merge_sweep", "sweep"]


def __getattr__(name: str) -> object:
    """tribo.mujoco, tribo.pinocchio: imported when they are used first; they need programs that tribo does not."""
    import importlib

    if name in ("mujoco", "pinocchio"):
        return importlib.import_module(f".{name}", __name__)
    if name == "certify_mujoco":
        return importlib.import_module(".mujoco", __name__).certify_mujoco
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
