"""What 100 random cases of the bolt and of the dishes come to: median curves with bands, and times to a residual.

Raw rows (solver, scene, seed, iteration, seconds, residual) come from `tribo_bench_second_order rings`.
"""

import csv
import math
import statistics

from report.page import read_csv

TARGET = 1e-8  # m/s, Lee's residual
FLOOR = 1e-17  # what a residual of exactly zero is drawn as
POINTS_PER_DECADE = 10


def read_cases(path):
    """{(scene, solver): {seed: [(iteration, seconds, residual)]}}"""
    cases = {}
    for r in read_csv(path):
        case = cases.setdefault((r["scene"], r["solver"]), {}).setdefault(r["seed"], [])
        case.append((int(r["iteration"]), float(r["seconds"]), max(float(r["residual"]), FLOOR)))
    return cases


def percentile(values, share):
    """Of sorted values, the nearest one."""
    return values[min(len(values) - 1, max(0, round(share * (len(values) - 1))))]


def grid(low, high):
    first, last = math.floor(POINTS_PER_DECADE * math.log10(low)), math.ceil(POINTS_PER_DECADE * math.log10(high))
    return [10.0 ** (k / POINTS_PER_DECADE) for k in range(first, last + 1)]


def curve(cases, axis, xs):
    """(x, 10 %, median, 90 %) of the least residual reached by x; axis 0: iterations, 1: seconds."""
    result = []
    for x in xs:
        reached = [[p[2] for p in case if p[axis] <= x * (1.0 + 1e-9)] for case in cases.values()]
        if not all(reached):  # some case has not ended its first iteration
            continue
        values = sorted(min(r) for r in reached)
        result.append((x, percentile(values, 0.1), percentile(values, 0.5), percentile(values, 0.9)))
    return result


def summarize(cases):
    """(cases, share that reach the target, median and worst ms, median and worst iterations, median end residual)"""
    seconds, iterations = [], []
    for case in cases.values():
        hits = [(p[1], p[0]) for p in case if p[2] <= TARGET]
        seconds.append(min((s for s, _ in hits), default=math.inf))
        iterations.append(min((k for _, k in hits), default=math.inf))
    share = sum(math.isfinite(s) for s in seconds) / len(seconds)
    ends = [min(p[2] for p in case) for case in cases.values()]
    return [len(seconds), share, 1e3 * statistics.median(seconds), 1e3 * max(seconds), statistics.median(iterations),
            max(iterations), statistics.median(ends), max(ends)]  # fmt: skip


def aggregate(raw, out):
    """Writes rings_curves.csv and rings_summary.csv."""
    all_cases = read_cases(raw)
    points = [p for cases in all_cases.values() for case in cases.values() for p in case]
    if not points:
        return
    iterations = sorted({p[0] for p in points})
    seconds = grid(min(p[1] for p in points), max(p[1] for p in points))
    with open(out / "rings_curves.csv", "w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(["scene", "solver", "axis", "x", "low", "median", "high"])
        for (scene, solver), cases in all_cases.items():
            last = max(p[0] for case in cases.values() for p in case)
            slowest = max(p[1] for case in cases.values() for p in case)
            by_iteration = curve(cases, 0, [k for k in iterations if k <= last])
            by_time = curve(cases, 1, [t for t in seconds if t <= 1.3 * slowest])
            for axis, values in (("iteration", by_iteration), ("seconds", by_time)):
                writer.writerows([scene, solver, axis, *(f"{v:.4g}" for v in point)] for point in values)
    with open(out / "rings_summary.csv", "w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(["scene", "solver", "cases", "share", "median_ms", "worst_ms", "median_iterations",
                         "worst_iterations", "median_residual", "worst_residual"])  # fmt: skip
        for (scene, solver), cases in all_cases.items():
            writer.writerow([scene, solver, *(f"{v:.4g}" for v in summarize(cases))])
