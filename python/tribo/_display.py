"""Text and HTML of problems, certificates and reports; called by the objects of tribo._core."""

from __future__ import annotations

import html
import math
from typing import Any


def _number(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.2g}" if 1e-3 <= abs(value) < 1e4 else f"{value:.1e}"


_ROWS = [
    ("error (scaled natural map)", "error", ""),
    ("fclib error", "fclib_error", ""),
    ("siconos error", "siconos_error", ""),
    ("momentum", "momentum", ""),
    ("cone, primal", "cone_primal", "N s"),
    ("cone, dual", "cone_dual", "m/s"),
    ("complementarity", "complementarity", "J"),
    ("penetration velocity", "penetration_velocity", "m/s"),
    ("slip of sticking contacts", "stick_slip_velocity", "m/s"),
    ("angle of slip to friction", "slip_angle", "rad"),
    ("contact residual (Lee)", "lee_residual", "m/s"),
]


def _certificate_rows(certificate: Any) -> list[tuple[str, str, str, str]]:
    rows = []
    for words, field, unit in _ROWS:
        value = getattr(certificate, field)
        constraint = getattr(value, "constraint", -1)
        rows.append((words, _number(float(value)), unit, f"at constraint {constraint}" if constraint >= 0 else ""))
    return rows


def worst_text(worst: Any) -> str:
    return f"Worst(value={worst.value:g}, constraint={worst.constraint})"


def certificate_text(certificate: Any) -> str:
    lines = [f"  {words:<27} {value:>8} {unit:<4} {where}".rstrip() for words, value, unit, where in
             _certificate_rows(certificate)]  # fmt: skip
    return "tribo.Certificate\n" + "\n".join(lines)


def _table(rows: list[tuple[str, ...]], caption: str = "") -> str:
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                   for row in rows)  # fmt: skip
    head = f"<caption style='text-align:left'><b>{html.escape(caption)}</b></caption>" if caption else ""
    return f"<table>{head}{body}</table>"


def certificate_html(certificate: Any) -> str:
    return _table(_certificate_rows(certificate), "Certificate")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _summary(report: Any) -> str:
    return (
        f"{report.solver}: {report.status}, error {report.error:.1e}, {_counted(report.iterations, 'iteration')}, "
        f"{_counted(report.factorizations, 'factorization')}, {1e3 * report.seconds:.3g} ms"
    )


def report_text(report: Any) -> str:
    lines = [f"tribo.Report({_summary(report)})"]
    lines += ["  " + contradiction_text(c) for c in report.contradictions]
    if report.regularized_count:
        lines.append(f"  the solver gave {_counted(report.regularized_count, 'constraint')} compliance")
    if not math.isnan(report.faceted_error):
        lines.append(f"  friction cones with facets: solved to {report.faceted_error:.1e}")
    lines += ["  " + stage_text(stage) for stage in report.stages]
    return "\n".join(lines)


def report_html(report: Any) -> str:
    parts = [f"<p><b>{html.escape(_summary(report))}</b></p>"]
    parts += [f"<p>{html.escape(contradiction_text(c))}</p>" for c in report.contradictions]
    if report.stages:
        rows: list[tuple[str, ...]] = [("stage", "islands", "constraints", "iterations", "factorizations", "ms", "error")]
        rows += [
            (s.name, str(s.islands), str(s.constraints), str(s.iterations), str(s.factorizations), f"{1e3 * s.seconds:.3g}",
             f"{s.error:.1e}") for s in report.stages
        ]  # fmt: skip
        parts.append(_table(rows, "Stages"))
    parts.append(certificate_html(report.certificate))
    return "".join(parts)


def stage_text(stage: Any) -> str:
    return (
        f"Stage({stage.name}: {_counted(stage.islands, 'island')}, {_counted(stage.iterations, 'iteration')}, "
        f"{1e3 * stage.seconds:.3g} ms, error {stage.error:.1e})"
    )


def contradiction_text(contradiction: Any) -> str:
    named = ", ".join(str(c) for c in contradiction.constraints[:12])
    more = len(contradiction.constraints) - 12
    if more > 0:
        named += f" and {more} more"
    return (
        f"no solution: constraints {named} contradict each other; every velocity violates one of them by at least "
        f"{contradiction.violation:.3g} m/s"
    )


def solution_text(solution: Any) -> str:
    return (
        f"tribo.Solution(impulse {_norm(solution.impulse)} N s, velocity {_norm(solution.velocity)} m/s in "
        f"{len(solution.impulse)} rows, {len(solution.generalized_velocity)} dofs)"
    )


def _norm(values: Any) -> str:
    return f"up to {max(map(abs, values.tolist())):.3g}" if len(values) else "none"


def problem_html(problem: Any) -> str:
    kinds: dict[str, int] = {}
    for kind in problem.kinds:
        kinds[kind] = kinds.get(kind, 0) + 1
    rows = [(f"{kind} constraints", str(count)) for kind, count in kinds.items()]
    rows += [("rows", str(problem.rows)), ("dofs", str(problem.dofs)), ("trees", str(problem.trees))]
    if problem.is_delassus:
        rows.append(("form", "Delassus: given by W and q"))
    return _table(rows, "Problem")
