"""Line charts as SVG: performance profiles, log-log curves, medians with bands."""

import html
import math

COLOURS = [
    "#0b6bcb", "#d1495b", "#2a9d58", "#8e5bb5", "#e08e0b", "#3aa6a6", "#6b4f3a", "#c2489d", "#5b6b7b", "#94b81f",
    "#1f3a5f", "#e57a8a", "#7fc8a9",
]  # fmt: skip
WIDTH, HEIGHT = 560, 330
LEFT, RIGHT, TOP, BOTTOM = 52, 178, 34, 40


def colour_of(index, label):
    """tribo's curves solid, peers dashed."""
    dash = "" if label.startswith("tribo") or " " not in label else ' stroke-dasharray="5 3"'
    return f'stroke="{COLOURS[index % len(COLOURS)]}"{dash}'


class Frame:
    """Logarithmic x from x0 to x1; y linear in [0, 1] or logarithmic."""

    def __init__(self, x0, x1, y0, y1, log_y):
        self.x0, self.x1, self.log_y = math.log10(x0), math.log10(x1), log_y
        self.y0, self.y1 = (math.log10(y0), math.log10(y1)) if log_y else (y0, y1)

    def x(self, value):
        return LEFT + (math.log10(value) - self.x0) / (self.x1 - self.x0) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        value = math.log10(value) if self.log_y else value
        return HEIGHT - BOTTOM - (value - self.y0) / (self.y1 - self.y0) * (HEIGHT - TOP - BOTTOM)


def text(x, y, content, anchor="middle", size=11, colour="#44515e"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{html.escape(content)}</text>'


def line(x1, y1, x2, y2, style='stroke="#dde4ea"'):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def decades(low, high):
    return [10.0**e for e in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]


def label_of(value):
    return f"{value:g}" if value == 0.0 or 1e-3 <= value < 1e5 else f"1e{round(math.log10(value))}"


def axes(frame, title, x_label, y_ticks):
    parts = [text((LEFT + WIDTH - RIGHT) / 2, 18, title, size=13, colour="#1c2733")]
    for tick in decades(frame.x0, frame.x1):
        parts.append(line(frame.x(tick), TOP, frame.x(tick), HEIGHT - BOTTOM))
        parts.append(text(frame.x(tick), HEIGHT - BOTTOM + 15, label_of(tick)))
    for tick in y_ticks:
        parts.append(line(LEFT, frame.y(tick), WIDTH - RIGHT, frame.y(tick)))
        parts.append(text(LEFT - 6, frame.y(tick) + 4, label_of(tick), "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_label))
    return parts


def legend(labels):
    parts = []
    for i, label in enumerate(labels):
        y = TOP + 8 + 17 * i
        parts.append(line(WIDTH - RIGHT + 12, y, WIDTH - RIGHT + 34, y, colour_of(i, label) + ' stroke-width="2"'))
        parts.append(text(WIDTH - RIGHT + 40, y + 4, label if len(label) < 24 else label[:22] + "…", "start"))
    return parts


def svg(parts, height=HEIGHT):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return head + ' font-family="system-ui, sans-serif" role="img">' + "".join(parts) + "</svg>"


def polyline(points, style):
    return f'<polyline fill="none" stroke-width="2" {style} points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def profile(times, title):
    """Dolan–Moré: for each solver the share of problems it solves within tau times the best solver's time.

    `times`: {solver: [time per problem, inf where not solved]}, the same problems in the same order for all.
    """
    count = len(next(iter(times.values()), []))
    best = [min((t[i] for t in times.values()), default=math.inf) for i in range(count)]
    usable = [i for i in range(count) if 0.0 < best[i] < math.inf]
    if not usable:
        return ""
    quotients = {s: sorted(t[i] / best[i] for i in usable if math.isfinite(t[i])) for s, t in times.items()}
    furthest = max((q[-1] for q in quotients.values() if q), default=10.0)
    frame = Frame(1.0, 10.0 ** max(1, math.ceil(math.log10(furthest) + 1e-9)), 0.0, 1.0, False)
    parts = axes(frame, title, "time / best time", [0.0, 0.25, 0.5, 0.75, 1.0])
    order = sorted(quotients, key=lambda s: not s.startswith("tribo"))
    for i, solver in enumerate(order):
        level, points = 0.0, [(frame.x(1.0), frame.y(0.0))]
        for k, q in enumerate(quotients[solver]):
            points.append((frame.x(q), frame.y(level)))
            level = (k + 1) / count
            points.append((frame.x(q), frame.y(level)))
        points.append((WIDTH - RIGHT, frame.y(level)))
        parts.append(polyline(points, colour_of(i, solver)))
    return svg(parts + legend(order))


def log_log(series, title, x_label, unit):
    """`series`: {label: [(x, y)]}; a dashed line of slope 1 for orientation."""
    points = [p for line_points in series.values() for p in line_points if p[1] > 0.0]
    if len(points) < 2:
        return ""
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    low_y, high_y = 10.0 ** math.floor(math.log10(min(ys))), 10.0 ** math.ceil(math.log10(max(ys)) + 1e-9)
    frame = Frame(min(xs) * 0.8, max(xs) * 1.25, low_y, high_y, True)
    parts = axes(frame, f"{title} ({unit})", x_label, decades(frame.y0, frame.y1))
    start = max(low_y, ys[0])
    slope = [(x, start * x / xs[0]) for x in (min(xs), min(max(xs), xs[0] * high_y / start))]
    parts.append(polyline([(frame.x(x), frame.y(y)) for x, y in slope], 'stroke="#a9b6c2" stroke-dasharray="3 4"'))
    for i, (label, values) in enumerate(series.items()):
        kept = [(frame.x(x), frame.y(y)) for x, y in values if y > 0.0]
        colour = COLOURS[i % len(COLOURS)]
        parts.append(polyline(kept, f'stroke="{colour}"'))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in kept]
        parts.append(line(WIDTH - RIGHT + 12, TOP + 8 + 17 * i, WIDTH - RIGHT + 34, TOP + 8 + 17 * i, f'stroke="{colour}" stroke-width="2"'))
        parts.append(text(WIDTH - RIGHT + 40, TOP + 12 + 17 * i, label, "start"))
    return svg(parts)


def linear_ticks(high):
    """A handful of round values from 0 to at least `high`."""
    raw = high / 4.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * (1.0 - 1e-9))
    return [step * i for i in range(math.ceil(high / step - 1e-9) + 1)]


def curves(series, title, x_label, log_y=True, y_range=None, mark=None):
    """Curves over a logarithmic x, with bands where given.

    `series`: {label: [(x, y)] or [(x, low, y, high)]}; y logarithmic in `y_range`, or linear from zero; `mark`: a
    horizontal dashed line.
    """
    points = [p for values in series.values() for p in values]
    if len(points) < 2:
        return ""
    xs = [p[0] for p in points]
    middle = [p[2] if len(p) == 4 else p[1] for p in points]
    if log_y:
        around = 10.0 ** math.floor(math.log10(min(middle))), 10.0 ** math.ceil(math.log10(max(middle)) + 1e-9)
        low, high = y_range or around
        ticks = decades(math.log10(low), math.log10(high))
        ticks = ticks[:: 2 if len(ticks) > 9 else 1]
    else:
        ticks = linear_ticks(max(middle))
        low, high = 0.0, ticks[-1]
    frame = Frame(min(xs) / 1.1, max(xs) * 1.1, low, high, log_y)
    inside = lambda y: frame.y(min(max(y, low), high))  # noqa: E731
    parts = axes(frame, title, x_label, ticks)
    if mark:
        parts.append(line(LEFT, inside(mark), WIDTH - RIGHT, inside(mark), 'stroke="#5b6b7b" stroke-dasharray="2 3"'))
    bands, lines, names = [], [], []
    for i, (label, values) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        if len(values[0]) == 4:
            upper = [f"{frame.x(x):.1f},{inside(high_y):.1f}" for x, _, _, high_y in values]
            lower = [f"{frame.x(x):.1f},{inside(low_y):.1f}" for x, low_y, _, _ in reversed(values)]
            bands.append(f'<polygon points="{" ".join(upper + lower)}" fill="{colour}" fill-opacity="0.13"/>')
        curve = [(frame.x(p[0]), inside(p[2] if len(p) == 4 else p[1])) for p in values]
        lines.append(polyline(curve, f'stroke="{colour}"'))
        if len(values[0]) == 2:
            lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in curve]
        y = TOP + 8 + 17 * i
        names.append(line(WIDTH - RIGHT + 12, y, WIDTH - RIGHT + 34, y, f'stroke="{colour}" stroke-width="2"'))
        names.append(text(WIDTH - RIGHT + 40, y + 4, label if len(label) < 24 else label[:22] + "…", "start"))
    return svg(parts + bands + lines + names)
