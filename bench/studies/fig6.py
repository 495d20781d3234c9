#!/usr/bin/env python3
"""Carpentier et al. (2024), Fig. 6: steps per second of an arm, a biped and a humanoid beside MuJoCo, Drake and Bullet.

    fig6.py --bin build/release/bin [--models DIR] [--mujoco PYTHON] [--drake PYTHON] [--bullet PYTHON] [-o fig6.csv]

As theirs: two seconds without actuation and damping of joints, joint limits off, all pairs of bodies but neighbours collide,
one thread. The arm has the lengths and masses of a UR5, its links are capsules (theirs: meshes), and falls on the ground
that its foot stands on; the humanoid is `humanoid-fall` of 36 dofs. With --models: MuJoCo's humanoid
(DIR/humanoid/humanoid.xml) and Cassie (DIR/agility_cassie/cassie.xml), whichever is there, without their actuators. Time step 1 ms.
tribo solves the exact law to its certificate of 1e-6 in every step. CPU time of the steps, best of three after one not counted.
CSV: model,engine,dofs,steps,cpu_seconds,steps_per_second,contacts (mean per step),missed
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

HERE = pathlib.Path(__file__).resolve().parent.parent
SECONDS, DT = 2.0, 0.001

# (length along the link, radius, mass, joint axis, offset of the joint) of a UR5.
ARM = [((0, 0.05, 0), 0.06, 3.7, "0 0 1", (0, 0, 0.089)), ((0, 0, 0.425), 0.05, 8.393, "0 1 0", (0, 0.136, 0)),
       ((0, 0, 0.392), 0.04, 2.275, "0 1 0", (0, -0.12, 0.425)), ((0, 0, 0.03), 0.035, 1.219, "0 1 0", (0, 0.093, 0.392)),
       ((0, 0, 0.035), 0.035, 1.219, "0 0 1", (0, 0, 0.06)), ((0, 0, 0.05), 0.035, 0.188, "0 1 0", (0, 0, 0.095))]  # fmt: skip


def arm():
    text = ""
    for k, (end, radius, mass, axis, at) in enumerate(ARM):
        lean = ' euler="0 30 0"' if k == 1 else ""  # so that it falls
        text += (f'<body name="link{k}" pos="{at[0]} {at[1]} {at[2]}"{lean}><joint name="joint{k}" axis="{axis}" armature="0.1"/>'
                 f'<geom type="capsule" fromto="0 0 0 {end[0]} {end[1]} {end[2]}" size="{radius}" mass="{mass}"/>')
    return (f'<mujoco model="arm"><option timestep="{DT}"/><worldbody><geom type="plane" size="5 5 0.1"/>{text}'
            + "</body>" * len(ARM) + "</worldbody></mujoco>")


def stripped(source, target):
    """Without actuators, limits, damping; with a floor. Meshes are found where they lie."""
    tree = ET.parse(source)
    root = tree.getroot()
    for name in ("actuator", "sensor", "keyframe", "tendon", "visual", "custom", "statistic"):
        for section in root.findall(name):
            root.remove(section)
    for joint in [*root.iter("joint"), *root.iter("freejoint")]:
        if joint.tag == "joint" and "range" in joint.attrib:
            del joint.attrib["range"]
        for name in ("limited", "damping", "frictionloss", "actuatorfrclimited", "actuatorfrcrange"):
            joint.attrib.pop(name, None)
    compiler = root.find("compiler")
    if compiler is None:
        compiler = ET.SubElement(root, "compiler")
    folder = pathlib.Path(source).resolve().parent
    for name in ("meshdir", "texturedir"):
        compiler.set(name, str(folder / compiler.get(name, "")))
    option = root.find("option")
    if option is None:
        option = ET.SubElement(root, "option")
    option.set("timestep", str(DT))
    world = root.find("worldbody")
    if not any(geom.get("type") == "plane" for geom in world.findall("geom")):
        world.insert(0, ET.Element("geom", {"type": "plane", "size": "5 5 0.1", "contype": "1", "conaffinity": "1"}))
    tree.write(target)
    return target


def models(given, folder):
    files = {"arm (UR5)": folder / "arm.xml", "humanoid (36 dofs)": folder / "humanoid36.xml"}
    files["arm (UR5)"].write_text(arm())
    subprocess.run([given.bin / "tribo", "sim", "--scene", "humanoid-fall", "--write-mjcf", folder / "made.xml"], check=True)
    stripped(folder / "made.xml", files["humanoid (36 dofs)"])
    wanted = {"MuJoCo's humanoid": "humanoid/humanoid.xml", "Cassie": "agility_cassie/cassie.xml"}
    for name, path in wanted.items() if given.models else ():
        found = [base / path for base in (given.models, given.models / "menagerie", given.models / "mujoco/model")
                 if (base / path).exists()]  # fmt: skip
        if found:
            files[name] = stripped(found[0], folder / (name.replace("'", "").replace(" ", "") + ".xml"))
    return files


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode not in (0, 3) or "}" not in done.stdout:
        print(f"{command[0]} {command[1]}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])  # Bullet says more around it


def tribo(given, file, repeat=3):
    command = [given.bin / "tribo", "sim", file, "--time", SECONDS, "--dt", DT, "--json", "--quiet", "--warm-up",
               "--zero-control", "--exclude-initial-overlaps"]  # fmt: skip
    results = [r for r in (run(command) for _ in range(repeat)) if r]
    return min(results, key=lambda r: r["cpu_seconds"]) if results else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--mujoco", help="python of an environment that has it")
    parser.add_argument("--drake", help="python of an environment that has it")
    parser.add_argument("--bullet", help="python of an environment that has pybullet")
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("fig6.csv"))
    given = parser.parse_args()
    steps = round(SECONDS / DT)
    rows = []

    def add(model, engine, dofs, seconds, contacts="", missed=""):
        rows.append([model, engine, dofs, steps, f"{seconds:.5g}", f"{steps / seconds:.5g}", contacts, missed])
        print(*rows[-1], sep=",", flush=True)

    with tempfile.TemporaryDirectory() as name:
        for model, file in models(given, pathlib.Path(name)).items():
            result = tribo(given, file)
            if result:
                add(model, "tribo", "", result["cpu_seconds"], f"{result['contacts_mean']:.3g}", result["missed_steps"])
            for cone in ("pyramidal", "elliptic") if given.mujoco else ():
                result = run([given.mujoco, HERE / "peers/sim_mujoco.py", file, "--cone", cone, "--steps", steps, "--samples", 1])
                if result:
                    add(model, f"MuJoCo {result['version']} {cone}", result["dofs"], min(result["cpu_seconds"]), f"{result['contacts_mean']:.3g}")
            for python, peer, engine in ((given.drake, "model_drake.py", "Drake SAP"), (given.bullet, "model_bullet.py", "Bullet")):
                result = run([python, HERE / "peers" / peer, file, "--dt", DT, "--steps", steps]) if python else None
                known = [row[2] for row in rows if row[0] == model and row[2]]
                if result and known and result["dofs"] != known[0]:  # its reader has left joints out
                    print(f"{engine}: {model} has {result['dofs']} dofs there, not {known[0]}: left out", file=sys.stderr)
                elif result:
                    add(model, engine, result["dofs"], result["cpu_seconds"])
    for row in rows:  # tribo's summary does not say
        row[2] = row[2] or next((other[2] for other in rows if other[0] == row[0] and other[2]), "")
    with given.out.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["model", "engine", "dofs", "steps", "cpu_seconds", "steps_per_second", "contacts", "missed"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
