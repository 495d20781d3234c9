"""The simulator on the page: beside MuJoCo and Drake, and on growing scenes."""

from report import charts
from report.page import cell, figure, plain_table, read_csv, table
from report.studies import section, series_of

PARTS = ["kinematics", "collision", "assembly", "solve", "integrate"]
SPEED_NOTE = (
    "Same file, same time step, same number of steps, one thread, CPU time, best of the counted runs. tribo: exact Coulomb "
    "law, rigid contacts, every step to a certificate of 1e-6. MuJoCo: Newton at its defaults, pyramidal and elliptic cones, "
    "sleeping off. Residual: the same scaled natural map for both, of rigid contacts with Coulomb's law; MuJoCo's contacts are "
    "soft and its law is convex by design, so its residual shows how far that model is from Coulomb's, not that its solver "
    "fails. The two make different contact points. Missed: steps whose certificate is above 1e-6."
)
DRAKE_NOTE = (
    "Clutter of Castro et al. (2022): 40 spheres and boxes in a bin, near-rigid (1e12 N/m, relaxation time dt), dt 0.01 s. "
    "Drake makes one contact point per pair of shapes, tribo a manifold."
)
SCALE_NOTE = (
    "Bodies dropped from a grid whose height does not grow, from flight to rest; one process per size. Flat curves are cost "
    "proportional to the bodies."
)


def speed_rows(rows):
    """{scene: {engine: row}} in the order of the file."""
    scenes = {}
    for row in rows:
        scenes.setdefault(row["scene"], {})[row["engine"]] = row
    return scenes


def rate(row):
    return float(row["steps_per_second"])


def ratio_cell(ours, theirs, aim):
    if not (ours and theirs):
        return cell("·")
    value = rate(ours) / rate(theirs)
    return cell(f"{value:.2f}", "best" if value >= aim else "fail")


def speed_section(out):
    scenes = speed_rows(read_csv(out / "sim_speed.csv"))
    body = []
    for name, engines in scenes.items():
        ours, pyramidal, elliptic = (engines.get(e) for e in ("tribo", "mujoco pyramidal", "mujoco elliptic"))
        if ours is None:
            continue
        theirs = [pyramidal, elliptic]
        shown = lambda r, key: cell(r[key] if r else "·")  # noqa: E731
        split = " · ".join(f"{100 * float(ours[p]):.0f}" for p in PARTS)
        error = lambda r: cell(f"{r['residual_mean']} / {r['residual_worst']}" if r else "·")  # noqa: E731
        body.append([
            cell(name), cell(ours["steps"]), *(cell(f"{rate(r):.0f}" if r else "·") for r in (ours, *theirs)),
            ratio_cell(ours, pyramidal, 1.0), ratio_cell(ours, elliptic, 2.0),
            *(shown(r, "contacts") for r in (ours, *theirs)), *(shown(r, "iterations") for r in (ours, *theirs)),
            cell(ours["residual_worst"]), *(error(r) for r in theirs),
            cell(ours["missed_steps"], "fail" if ours["missed_steps"] != "0" else ""), cell(split),
        ])  # fmt: skip
    engines = ["tribo", "pyramidal", "elliptic"]
    head = ["scene", "steps", *(f"{e} steps/s" for e in engines), "tribo / pyramidal", "tribo / elliptic",
            *(f"{e} contacts" for e in engines), *(f"{e} iterations" for e in engines), "tribo residual, worst",
            "pyramidal, mean / worst", "elliptic, mean / worst", "missed", f"tribo's time: {' · '.join(PARTS)}, %"]  # fmt: skip
    return section("Beside MuJoCo", SPEED_NOTE, table(head, body)) if body else ""


def drake_section(out):
    columns = {"engine": "engine", "bodies": "bodies", "dt": "dt, s", "steps": "steps", "steps_per_second": "steps/s",
               "contacts": "contacts", "iterations": "iterations", "highest": "highest body at the end, m",
               "escaped": "escaped", "missed_steps": "missed steps"}  # fmt: skip
    rows = read_csv(out / "sim_drake.csv")
    return section("Beside Drake's SAP", DRAKE_NOTE, plain_table(rows, columns) if rows else "")


def scale_section(out):
    rows = read_csv(out / "sim_scale.csv")
    if not rows:
        return ""
    label = lambda r: r["scene"]  # noqa: E731
    plain = [r for r in rows if " " not in r["scene"]]  # the others, ten times as dear, would press them flat
    time = charts.curves(series_of(plain, "bodies", "us_per_step_body", label), "CPU time per step and body, µs", "bodies", False)
    others = charts.curves(series_of(rows, "bodies", "us_per_step_body", label), "the same with friction, and by nsgs, µs", "bodies")
    memory = charts.curves(series_of(rows, "bodies", "kb_per_body", label), "Peak memory per body, kB", "bodies", False)
    clutter = [r for r in rows if r["scene"] == "clutter"]
    parts = {p: [(float(r["bodies"]), float(r[f"{p}_us"])) for r in clutter] for p in PARTS if clutter}
    split = charts.curves(parts, "clutter: parts of a step per body, µs", "bodies") if parts else ""
    named = {"sim_scale": time, "sim_scale_others": others, "sim_scale_memory": memory, "sim_scale_parts": split}
    pictures = "".join(figure(out, name, picture) for name, picture in named.items())
    columns = {"scene": "scene", "bodies": "bodies", "steps": "steps", "us_per_step_body": "µs per step and body",
               "us_per_step_contact": "µs per step and contact", "kb_per_body": "kB per body", "contacts": "contacts",
               "iterations": "iterations", "certificate_worst": "worst certificate", "missed_steps": "missed",
               **{f"{p}_us": f"{p}, µs" for p in PARTS}}  # fmt: skip
    return section("Growing scenes", SCALE_NOTE, f'<div class="charts">{pictures}</div>' + plain_table(rows, columns))


def sim_section(out):
    parts = "".join((speed_section(out), drake_section(out), scale_section(out)))
    return f"<h2>Simulator</h2>{parts}" if parts else ""
