"""Pieces of the page: CSV rows in, table cells out. Standard library only."""

import csv
import html
import json
import math
import pathlib

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 118rem; padding: 0 1rem; color: #1c2733; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dde5; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; margin: 1rem 0; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #e8edf2; white-space: nowrap; }
th { background: #f3f6f9; font-weight: 600; } td:first-child, th:first-child { text-align: left; }
td.best { background: #dff3e3; font-weight: 600; } td.fail { color: #b0342b; }
.note { color: #5b6b7b; font-size: 13px; max-width: 62rem; } .charts { display: flex; flex-wrap: wrap; gap: 1.5rem; }
.scroll { overflow-x: auto; } small { color: #6b7b8b; }
"""


def read_csv(path):
    if not path.exists():
        return []
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))


def read_machines(out):
    """What describe_machine() said when a suite was measured, by suite."""
    path = pathlib.Path(out) / "machine.json"
    return json.loads(path.read_text()) if path.exists() else {}


def is_solved(row):
    return row["solved"] == "1"


def solve_ms(row):
    return float(row["solve_min_ms"])


def total_ms(row):
    return float(row["build_min_ms"]) + float(row["solve_min_ms"])


def milliseconds(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def best_of(rows, cost):
    """The cheapest solved row; without one, the row that came nearest (smallest error)."""
    solved = [r for r in rows if is_solved(r)]
    if solved:
        return min(solved, key=cost)
    return min(rows, key=lambda r: float(r["error"]) if r["error"] not in ("nan", "") else math.inf, default=None)


def cell(text, kind="", title=""):
    attributes = (f' class="{kind}"' if kind else "") + (f' title="{html.escape(title)}"' if title else "")
    return f"<td{attributes}>{text}</td>"


def table(head, rows):
    top = "".join(f"<th>{h}</th>" for h in head)
    body = "".join("<tr>" + "".join(r) + "</tr>" for r in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def describe(row):
    noise = f"solve min {row['solve_min_ms']} median {row['solve_median_ms']} max {row['solve_max_ms']} ms"
    return (
        f"{row['family']} {row['method']} ({row['variant']}): {row['status']}, {row['iterations']} iterations, {noise}, "
        f"{row['runs']} runs, scaled error {row['error']}, siconos error {row['siconos_error']}"
    )


def time_cell(row, cost, is_best=False, split=False):
    if row is None:
        return cell("·")
    if not is_solved(row):
        return cell(f"✗ <small>{row['error']}</small>", "fail", describe(row))
    parts = f" <small>{milliseconds(float(row['build_min_ms']))} + {milliseconds(solve_ms(row))}</small>" if split else ""
    return cell(milliseconds(cost(row)) + parts, "best" if is_best else "", describe(row))


def spread_text(row):
    low, mid, high = (float(row[f"solve_{k}_ms"]) for k in ("min", "median", "max"))
    return f"{milliseconds(low)} – {milliseconds(mid)} – {milliseconds(high)}"


def figure(out, name, picture):
    """Keeps the chart as a file of its own beside the page, and returns it for the page."""
    if picture:
        (pathlib.Path(out) / f"{name}.svg").write_text(picture + "\n")
    return picture


def plain_table(rows, columns):
    """`columns`: {key in the CSV: heading}; numbers are shortened, nan is left out."""

    def shown(value):
        try:
            number = float(value)
        except ValueError:
            return html.escape(value)
        return "·" if math.isnan(number) else f"{number:.4g}"

    return table(list(columns.values()), [[cell(shown(r[k])) for k in columns] for r in rows])
