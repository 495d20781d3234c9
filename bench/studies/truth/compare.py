#!/usr/bin/env python3
"""Compares tribo with MuJoCo on every model of a folder and writes a table.

    compare.py --models DIR --dump build/native/bin/tribo_model_dump [--out model_truth.csv] [--samples 3]

Both load the same file. At the same random coordinates and velocities, body poses, mass matrix, bias forces and
Jacobians of random points on all bodies, lengths and moment arms of tendons are compared, and with random controls and
activations the forces of actuators, gravity compensation and drag; then masses, joints (ranges, damping, armature,
springs, friction), actuators and the places of the geoms that can touch. Differences are relative to the largest entry of MuJoCo's
array, or to 1 where that is smaller. A file that one of the two does not load is listed with the reason.

Runs in an environment with `mujoco` and `numpy`; bench/run.py --suite truth makes one.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys

import mujoco
import numpy as np

COLUMNS = ["model", "nq", "nv", "bodies", "geoms", "poses", "inertias", "mass", "bias", "jacobians", "tendons", "forces", "joints",
           "actuators", "geom_places", "warnings", "status"]  # fmt: skip


def difference(ours, theirs):
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if ours.shape != theirs.shape:
        return float("inf")
    if ours.size == 0:
        return 0.0
    with np.errstate(invalid="ignore"):
        gap = np.where(ours == theirs, 0.0, np.abs(ours - theirs))
    finite = np.abs(theirs[np.isfinite(theirs)])
    return float(gap.max() / max(1.0, finite.max() if finite.size else 0.0))


def mass_matrix(model, data):
    dense = np.zeros((model.nv, model.nv))
    if model.nv == 0:
        return dense
    try:
        mujoco.mj_fullM(model, dense, data.qM)
    except (AttributeError, TypeError):
        mujoco.mj_fullM(model, data, dense)
    return dense


def passive_dofs(model):
    """1 where gravity compensation is a passive force, 0 where MuJoCo counts it as one of actuators."""
    return np.array([0.0 if model.jnt_actgravcomp[j] else 1.0 for j in model.dof_jntid])


def tendon_gradients(model, data):
    dense = np.zeros((model.ntendon, model.nv))
    if model.ntendon == 0 or model.nv == 0:
        return dense
    if data.ten_J.size == dense.size and not hasattr(model, "ten_J_rownnz"):
        return np.reshape(data.ten_J, dense.shape)
    rows = model if hasattr(model, "ten_J_rownnz") else data  # where the pattern is depends on MuJoCo's version
    values, columns = np.ravel(data.ten_J), np.ravel(rows.ten_J_colind)
    for t in range(model.ntendon):
        entries = slice(rows.ten_J_rowadr[t], rows.ten_J_rowadr[t] + rows.ten_J_rownnz[t])
        dense[t, columns[entries]] = values[entries]
    return dense


def compare_sample(model, data, sample, worst):
    data.qpos[:] = sample["q"]
    data.qvel[:] = sample["v"]
    mujoco.mj_forward(model, data)
    note = lambda key, value: worst.__setitem__(key, max(worst.get(key, 0.0), value))
    bodies = sample["bodies"]
    note("poses", difference([b["position"] for b in bodies], data.xpos))
    rotations = np.array([np.reshape(b["rotation"], (3, 3)).T.ravel() for b in bodies])
    note("poses", difference(rotations, data.xmat))
    dense = mass_matrix(model, data)
    for block in sample["mass"]:
        rows = slice(block["dof"], block["dof"] + block["size"])
        ours = np.reshape(block["values"], (block["size"], block["size"]))
        note("mass", difference(ours, dense[rows, rows]))
        dense[rows, rows] = 0.0
    note("mass", float(np.abs(dense).max()) if dense.size else 0.0)  # nothing outside the trees' blocks
    note("bias", difference(sample["bias"], data.qfrc_bias))
    linear = np.zeros((3, model.nv))
    for index, body in enumerate(bodies):
        if "point" not in body:
            continue
        mujoco.mj_jac(model, data, linear, None, np.array(body["point"]), index)
        ours = np.zeros((3, model.nv))
        columns = np.reshape(body["jacobian"], (-1, 3)).T
        ours[:, body["dof"] : body["dof"] + columns.shape[1]] = columns
        note("jacobians", difference(ours, linear))
    if len(sample["control"]) == model.nu and len(sample["activation"]) == model.na:
        data.ctrl[:] = sample["control"]
        data.act[:] = sample["activation"]
        mujoco.mj_forward(model, data)
        adhesive = np.isin(model.actuator_trntype, [int(mujoco.mjtTrn.mjTRN_BODY)])
        if not adhesive.any():
            note("forces", difference(sample["forces"], data.qfrc_actuator + data.qfrc_gravcomp * passive_dofs(model)
                                      + data.qfrc_fluid))  # fmt: skip
    else:
        note("forces", float("inf"))
    if len(sample["tendons"]) == model.ntendon:
        note("tendons", difference([t["length"] for t in sample["tendons"]], data.ten_length))
        gradients = np.reshape([t["gradient"] for t in sample["tendons"]], (model.ntendon, model.nv))
        note("tendons", difference(gradients, tendon_gradients(model, data)))
    else:
        note("tendons", float("inf"))
    paired = {*model.pair_geom1, *model.pair_geom2}
    touching = [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g] or g in paired]
    touching = [g for g in touching if model.geom_type[g] != int(mujoco.mjtGeom.mjGEOM_SDF)]
    if len(touching) == len(sample["geoms"]):
        note("geom_places", difference([g["position"] for g in sample["geoms"]], data.geom_xpos[touching]))
        note("geom_places", difference([g["friction"] for g in sample["geoms"]], model.geom_friction[touching, 0]))
        note("geom_places", difference([g["body"] for g in sample["geoms"]], model.geom_bodyid[touching]))
    else:
        note("geom_places", float("inf"))


def compare_joints(model, joints):
    theirs = []
    for j in range(model.njnt):
        dof, limited = model.jnt_dofadr[j], bool(model.jnt_limited[j])
        scalar = model.jnt_type[j] >= int(mujoco.mjtJoint.mjJNT_SLIDE)
        coordinate = model.jnt_qposadr[j]
        lower, upper = model.jnt_range[j] if limited else (0.0, 0.0)
        stiffness = np.ravel(model.jnt_stiffness[j])[0]
        damping = np.ravel(model.dof_damping[dof])[0]
        theirs.append([limited, lower, upper, damping, model.dof_armature[dof], stiffness,
                       model.qpos_spring[coordinate] if scalar else 0.0, model.dof_frictionloss[dof],
                       model.qpos0[coordinate] if scalar else 0.0])  # fmt: skip
    return difference([j["values"] for j in joints], theirs)


def compare_actuators(model, actuators):
    if len(actuators) != model.nu:
        return float("inf")
    theirs = []
    for a in range(model.nu):
        kind = model.actuator_trntype[a]
        tendon = kind == int(mujoco.mjtTrn.mjTRN_TENDON)
        kinds = (mujoco.mjtTrn.mjTRN_SITE, mujoco.mjtTrn.mjTRN_BODY)
        joint = not tendon and kind not in [int(k) for k in kinds]
        target = model.actuator_trnid[a, 0]
        affine = model.actuator_biastype[a] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        gear = model.actuator_gear[a]
        force = model.actuator_forcerange[a, 1] if model.actuator_forcelimited[a] else np.inf
        if joint and model.jnt_actfrclimited[target] and not model.jnt_actgravcomp[target]:
            limits = model.jnt_actfrcrange[target] / gear[0]
            force = min(force, limits.max())
        control = model.actuator_ctrlrange[a, 1] if model.actuator_ctrllimited[a] else np.inf
        theirs.append([target if joint else -1, target if tendon else -1,
                       *[target if kind == int(k) else -1 for k in kinds], model.actuator_gainprm[a, 0],
                       *(model.actuator_biasprm[a, :3] * affine), *gear, force, control])  # fmt: skip
    return difference([a["values"] for a in actuators], theirs)


def without_visuals(file):
    """The model without meshes that are only looked at: some files of them may be missing."""
    spec = mujoco.MjSpec.from_file(str(file))
    used = set()
    for geom in list(spec.geoms):
        if geom.type != mujoco.mjtGeom.mjGEOM_MESH:
            continue
        if geom.contype or geom.conaffinity:
            used.add(geom.meshname)
        else:
            spec.delete(geom)
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)
    return spec.compile()


def load_mujoco(file):
    if file.suffix != ".urdf":
        try:
            return mujoco.MjModel.from_xml_path(str(file)), ""
        except ValueError as error:
            try:
                return without_visuals(file), " (MuJoCo without visual meshes)"
            except ValueError:
                raise error from None
    spec = mujoco.MjSpec.from_file(str(file))
    spec.compiler.fusestatic = False  # MuJoCo's default for URDF; the bodies would not be the same
    return spec.compile(), ""


def compare(file, arguments):
    row = dict.fromkeys(COLUMNS, "")
    done = subprocess.run([arguments.dump, file, "--samples", str(arguments.samples)], capture_output=True, text=True)
    reasons = []
    if done.returncode != 0:
        reasons.append(f"tribo: {done.stderr.strip() or f'exit code {done.returncode}'}")
    try:
        model, remark = load_mujoco(file)
    except ValueError as error:
        reasons.append(f"MuJoCo: {' '.join(str(error).split())}")
    ours = json.loads(done.stdout) if done.returncode == 0 else {}
    if ours:
        row |= {"nq": ours["nq"], "nv": ours["nv"], "bodies": len(ours["names"]), "geoms": ours["counts"]["geoms"],
                "warnings": len(ours["warnings"])}  # fmt: skip
    if reasons:
        return row | {"status": "; ".join(reasons)}, ours
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, b) or "" for b in range(model.nbody)]
    if (ours["nq"], ours["nv"]) != (model.nq, model.nv) or len(ours["names"]) != model.nbody:
        return row | {"status": f"sizes differ: MuJoCo has nq {model.nq}, nv {model.nv}, {model.nbody} bodies"}, ours
    worst = {}
    data = mujoco.MjData(model)
    for sample in ours["samples"]:
        compare_sample(model, data, sample, worst)
    if model.nv == 0:  # no point of any body moves
        worst["jacobians"] = 0.0
    moving = model.body_weldid != 0
    theirs = np.column_stack([model.body_mass, model.body_ipos])[moving]
    worst["inertias"] = difference(np.array(ours["inertias"])[moving], theirs)
    worst["joints"] = compare_joints(model, ours["joints"])
    worst["actuators"] = compare_actuators(model, ours["actuators"])
    row |= {key: f"{value:.1e}" for key, value in worst.items()}
    agree = all(worst[key] <= arguments.tolerance for key in ("poses", "mass", "bias", "jacobians", "tendons"))
    # Infinite where an actuator was left out, which a warning says.
    forces = worst.get("forces", 0.0)
    agree = agree and (forces <= arguments.tolerance or forces == float("inf"))
    status = ("agrees" if agree else "DIFFERS") + remark
    if ours["names"] != names:
        status += ", names of bodies differ"
    return row | {"status": status}, ours


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True, help="folder, searched for .xml and .urdf")
    parser.add_argument("--dump", type=pathlib.Path, required=True, help="the program tribo_model_dump")
    parser.add_argument("--out", type=pathlib.Path, help="CSV file")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    parser.add_argument("--verbose", action="store_true", help="print the warnings of tribo's loader")
    arguments = parser.parse_args()
    mujoco.set_mju_user_warning(lambda text: None)
    files = sorted(f for f in arguments.models.rglob("*") if f.suffix in (".xml", ".urdf"))
    if not files:
        sys.exit(f"no model files in {arguments.models}")
    rows = []
    for file in files:
        row, ours = compare(file, arguments)
        row["model"] = str(file.relative_to(arguments.models))
        row["status"] = row["status"].replace(f"{arguments.models}/", "")
        rows.append(row)
        figures = " ".join(f"{key} {row[key]}" for key in COLUMNS[5:14] if row[key])
        print(f"{row['model']}: {row['status']} {figures} ({row['warnings'] or 0} warnings)", flush=True)
        if arguments.verbose:
            for warning in ours.get("warnings", []):
                print(f"    {warning}")
    if arguments.out:
        with open(arguments.out, "w", newline="") as output:
            writer = csv.DictWriter(output, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    different = [row["model"] for row in rows if "DIFFERS" in row["status"] or "sizes differ" in row["status"]]
    loaded = [row for row in rows if "agrees" in row["status"]]
    print(f"{len(loaded)} of {len(rows)} files agree to {arguments.tolerance:g}; {len(different)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
