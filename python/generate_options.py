"""Writes tribo/options.py: one dataclass per solver, from the option tables of the library. Run by the build."""

import keyword
import sys

import _core

HEAD = '''"""Typed options of the solvers, made from the option tables of the library.

Example::

    tribo.solve(problem, solver=tribo.options.Admm(rho=0.1))
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

__all__ = {names}


@dataclasses.dataclass(frozen=True)
class SolverOptions:
    """Options of one solver; those that are None keep its defaults."""

    solver: ClassVar[str] = ""

    def specification(self) -> str:
        """As on the command line: \\"nsgs:local=newton,omega=1.2\\"."""
        given = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if isinstance(value, bool):
                value = "on" if value else "off"
            elif isinstance(value, float):
                value = repr(value)
            given.append(f"{{field.metadata.get('name', field.name)}}={{value}}")
        return self.solver + (":" + ",".join(given) if given else "")
'''


def identifier(name: str) -> str:
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def class_name(solver: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in solver.replace("_", "-").split("-"))


def field_type(unit: str, allowed: str, default: str) -> str:
    if " .. " in allowed:
        whole = all(part.strip().lstrip("-").isdigit() for part in (allowed.split(" .. ")[0], default))
        return "int" if whole and unit == "1" and "." not in allowed.replace(" .. ", "") and "e" not in allowed else "float"
    choices = [choice.strip() for choice in allowed.split("|")]
    if set(choices) == {"on", "off"}:
        return "bool"
    return f"Literal[{', '.join(repr(choice) for choice in choices)}]"


def describe(name: str, solver: "_core.SolverInfo") -> str:
    lines = ["", "", "@dataclasses.dataclass(frozen=True)", f"class {name}(SolverOptions):"]
    lines.append(f'    """Options of {solver.name}: {solver.summary}."""')
    lines += ["", f'    solver: ClassVar[str] = "{solver.name}"']
    for option, meaning, unit, allowed, default in solver.options:
        kind = field_type(unit, allowed, default)
        field = identifier(option)
        value = "None" if field == option else f'dataclasses.field(default=None, metadata={{"name": {option!r}}})'
        lines.append(f"    {field}: {kind} | None = {value}")
        shown = "" if unit in ("", "1") else f", {unit}"
        lines.append(f'    """{meaning}{shown}; {allowed}, default {default}"""')
    return "\n".join(lines) + "\n"


def main(path: str) -> None:
    solvers = _core.solvers()
    names = {class_name(solver.name): solver for solver in solvers}
    text = HEAD.format(names=repr(["SolverOptions", *names]))
    for name, solver in names.items():
        text += describe(name, solver)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


main(sys.argv[1])
