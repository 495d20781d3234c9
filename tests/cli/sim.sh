#!/usr/bin/env bash
# tribo sim and tribo scenes: what is refused, what scripts read, what is written, and the same bits every time.
. "$(dirname "$0")/common.bash"

cat >crate.xml <<'XML'
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="crate" pos="0 0 0.1"><freejoint name="float"/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body>
    <body name="arm" pos="1 0 1">
      <joint name="pivot" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="pivot"/></actuator>
  <keyframe><key name="lifted" qpos="0 0 0.5 1 0 0 0 0.3" ctrl="1"/></keyframe>
</mujoco>
XML
# What is not simulated is a warning, or an error when nothing may be left out.
sed 's|<option timestep="0.002"/>|<option timestep="0.002"><flag override="enable"/></option>|' crate.xml >overridden.xml
head -c 300 crate.xml >cut.xml
: >empty.xml
echo hello >note.txt
sed 's|mass="2"|mass="heavy"|' crate.xml >heavy.xml
cat >arm.urdf <<'XML'
<robot name="arm">
  <link name="base"/>
  <link name="rod"><inertial><mass value="1"/><origin xyz="0 0 -0.2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://parts/rod.stl"/></geometry></visual></link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
</robot>
XML
mkdir folder folder.csv

# What to simulate.
expect_error "give either a file" sim
expect_error "give either a file" sim crate.xml --scene slope
expect_error "did you mean 'slope'" sim --scene slop
expect_error "cradle" sim --scene castle
expect_error "missing.xml: there is no such file" sim missing.xml
expect_error "folder is a directory" sim folder
expect_error "cut.xml:" sim cut.xml
expect_error "empty.xml" sim empty.xml
expect_error "note.txt" sim note.txt
expect_error "heavy.xml:5" sim heavy.xml
expect_error "heavy" sim heavy.xml

# Parameters of scenes and of files.
expect_error "NAME=VALUE" sim --scene slope --set angle
expect_error "NAME=VALUE" sim --scene slope --set =3
expect_error "'steep' is not a number" sim --scene slope --set angle=steep
expect_error "there are: angle, mu" sim --scene slope --set tilt=3
expect_error "from 0 to 10" sim --scene slope --set mu=-1
expect_error "from 0 to 10" sim --scene slope --set mu=nan
expect_error "whole number" sim --scene stack --set boxes=2.5
expect_error "mu is given twice" sim --scene slope --set mu=1 --set mu=0.5
expect_error "more than 1e+12 steps: give --time or --dt" sim --scene slope --dt 1e-30
expect_error "--set belongs to --scene" sim crate.xml --set mu=1
for option in "--keyframe lifted" "--package parts=." --strict --allow-missing --exclude-initial-overlaps --floating; do
  expect_error "belong to a file" sim --scene slope $option
done
expect_error "did you mean 'lifted'" sim crate.xml --keyframe lifte
expect_error "has none" sim arm.urdf --keyframe home
expect_error "crate.xml has 1 keyframe, numbered from 0" sim crate.xml --keyframe 1
expect 0 sim crate.xml --time 0.02 --keyframe lifted --json
grep '"state_hash"' out >by_name
expect 0 sim crate.xml --time 0.02 --keyframe 0 --json
[ -s by_name ] && grep '"state_hash"' out | cmp -s - by_name || fail "keyframe 0 is not keyframe 'lifted'"

# A start from a file: a whole state, joints by name, a frame of a recording; the run goes on from what was saved.
echo '{"joints": {"float": {"q": [0, 0, 0.5, 1, 0, 0, 0]}, "pivot": {"q": 0.3}}}' >lifted.json
expect 0 sim crate.xml --time 0.02 --keyframe lifted --zero-control --json
grep '"state_hash"' out >by_keyframe
expect 0 sim crate.xml --time 0.02 --state lifted.json --json --save-state end.json
[ -s by_keyframe ] && grep '"state_hash"' out | cmp -s - by_keyframe || fail "--state is not the keyframe of the same numbers"
expect 0 sim crate.xml --time 0.04 --state lifted.json --json --record whole.h5
grep '"state_hash"' out >whole
expect 0 sim crate.xml --time 0.02 --state end.json --json
grep '"state_hash"' out | cmp -s - whole || fail "a run from a saved state is not the run that went on"
expect 0 sim crate.xml --time 0.02 --state whole.h5 --state-frame 10 --json
grep '"state_hash"' out | cmp -s - whole || fail "a run from a frame of a recording is not the run that went on"
expect 0 sim --scene spin --time 0.01 --save-state spun.json
expect 0 sim --scene spin --time 0.01 --state spun.json
echo '{"v": [1, 2]}' >short.json
expect_error "short.json: v: has 2 numbers; this model needs 7" sim crate.xml --state short.json
expect_error "there is no such file" sim crate.xml --state none.json
head -c 3000 whole.h5 >cut.h5
expect_error "cut.h5: the file is cut short" sim crate.xml --state cut.h5
expect_error "--state-frame belongs to --state" sim crate.xml --state-frame 3
expect_error "only a recording (.h5) has frames" sim crate.xml --state end.json --state-frame 3
expect_error "numbered from 0 to 20" sim crate.xml --state whole.h5 --state-frame 21
expect_error "exclude each other" sim crate.xml --state end.json --keyframe 0
expect_error "are the same file" sim crate.xml --state end.json --save-state end.json

# Ground that cannot be read: an error, or a warning where that is allowed.
sed 's|<worldbody>|<asset><mesh name="rock" file="rock.obj"/></asset><worldbody><geom type="mesh" mesh="rock"/>|' \
  crate.xml >rocky.xml
# Bodies that overlap at the start are named; those of one mechanism may be left out.
sed 's|pos="1 0 1"|pos="1 0 0.42"|' crate.xml >sunk.xml
expect 0 sim sunk.xml --time 0.02
expect_in err "of body 'arm' overlap by 10 mm at the start"
expect 0 sim sunk.xml --time 0.02 --exclude-initial-overlaps
expect_in err "their contacts are left out"
expect_error "--allow-missing" sim rocky.xml --time 0.02
expect 0 sim rocky.xml --time 0.02 --allow-missing
expect_in err "warning: rocky.xml:3: <geom>: the file of mesh 'rock' is missing"
for package in parts =. parts=; do expect_error "NAME=FOLDER" sim arm.urdf --package $package; done

# Settings.
for value in 0 -1 nan inf x; do
  expect_error "--dt" sim --scene slope --dt $value
  expect_error "--time" sim --scene slope --time $value
  expect_error "--tol" sim --scene slope --tol $value
done
expect_error "more than 1e+12 steps" sim --scene slope --time 1e300
expect_error "more than 1e+12 steps" sim crate.xml --dt 1e-300
for value in 0 -1 nan; do expect_error "--time-limit" sim --scene slope --time-limit $value; done
for value in 0 -1 100000 two; do expect_error "--threads" sim --scene slope --threads $value; done
expect_error "did you mean 'auto'" sim --scene slope --solver autoo
expect_error "nonsense" sim --scene slope --solver nsgs:nonsense=1
expect_error "--law convex" sim --scene slope --solver sap
expect_error "exact, convex" sim --scene slope --law newton
expect_error "midpoint" sim --scene slope --scheme midpont
expect_error "--frob" sim --scene slope --frob

# Outputs: refused before the simulation begins.
for dump in 3 3: :x.hdf5; do expect_error "STEP:FILE" sim --scene stack --dump-problem $dump; done
expect_error "'x' is not a number" sim --scene stack --dump-problem x:x.hdf5
for step in 0 -1 1.5 nan 1e30; do
  expect_error "a whole number >= 1" sim --scene stack --dump-problem $step:x.hdf5
done
expect_error "there are only 10 steps" sim --scene stack --time 0.02 --dt 0.002 --dump-problem 11:x.hdf5 --record x.csv
expect_error ".hdf5" sim --scene stack --dump-problem 3:x.txt
expect_error "nowhere" sim --scene stack --dump-problem 3:nowhere/x.hdf5
expect_error "same file" sim --scene stack --dump-problem 3:x.hdf5 --dump-problem 4:./x.hdf5
expect_error "same file" sim --scene stack --dump-problem 3:x.hdf5 --record x.hdf5
expect_error "a recording ends in" sim --scene stack --record x.txt
expect_error "nowhere" sim --scene stack --record nowhere/x.csv
expect_error "directory" sim --scene stack --record folder.csv
expect_error "--record-every" sim --scene stack --record x.csv --record-every 0
# A simulation that blows up leaves no recording, neither whole nor half.
sed 's|ctrl="1"|ctrl="1e308"|' crate.xml >wild.xml
expect_error "no longer finite" sim wild.xml --keyframe lifted --quiet --record x.csv
left=$(find . -name 'x.*' -o -name '*.part' -o -name '*.tmp')
[ -z "$left" ] || fail "refused or failed runs left $left"

# What a file asks for and is not there: named with its line; or refused.
expect 0 sim overridden.xml --time 0.01 --json
expect_in err "warning: overridden.xml:2: "
check_python "a warning does not get into the JSON" 'import json; json.load(open("out"))'
expect 0 sim overridden.xml --time 0.01 --quiet
[ -s err ] && fail "--quiet printed warnings"
expect_error "overridden.xml:2" sim overridden.xml --strict

# The summary for scripts: names, order, types.
check_summary='
import json, sys
def refuse(name): raise ValueError(name + " is not JSON")
r = json.load(open("out"), parse_constant=refuse)
contract = ["scene", "solver", "law", "dt", "steps", "steps_per_second", "real_time_factor", "contacts_mean",
            "iterations_mean", "certificate", "missed_steps", "time_split", "energy", "observables", "state_hash"]
assert [key for key in r if key in contract] == contract, list(r)
assert {"worst", "mean"} <= set(r["certificate"]), r
assert list(r["time_split"]) == ["kinematics", "collision", "assembly", "solve", "integrate"], r
assert all(t >= 0 for t in r["time_split"].values()), r
assert type(r["steps"]) is int and type(r["missed_steps"]) is int, r
assert len(r["state_hash"]) == 16 and int(r["state_hash"], 16) >= 0, r
for name, value in r["observables"].items(): assert isinstance(value, (int, float)), (name, value)
for key in ["steps_per_second", "real_time_factor"]: assert r[key] > 0, r
'
expect 0 sim --scene stack --set boxes=3 --time 0.05 --dt 0.005 --json
[ -s err ] && fail "sim --json wrote to stderr"
check_python "summary of a stack" "$check_summary"'
assert (r["scene"], r["solver"], r["law"], r["dt"], r["steps"]) == ("stack", "auto", "exact", 0.005, 10), r
assert r["contacts_mean"] == 12 and r["missed_steps"] == 0, r
assert 0 <= r["certificate"]["mean"] <= r["certificate"]["worst"] <= 1e-6, r
o = r["observables"]
assert abs(o["top_height"] - o["top_height_exact"]) < 1e-6, o
'
expect 0 sim crate.xml --time 0.02 --keyframe lifted --law convex --solver alnewton --scheme midpoint --json
check_python "summary of a file" "$check_summary"'
assert (r["scene"], r["solver"], r["law"], r["scheme"], r["dt"]) == ("crate", "alnewton", "convex", "midpoint", 0.002), r
assert r["steps"] == 10 and r["contacts_mean"] == 0, r
'
expect 0 sim arm.urdf --time 0.01 --package parts=. --json
check_python "summary of a URDF" "$check_summary"'assert r["scene"] == "arm" and r["steps"] == 5, r'

# A step that misses its tolerance: counted, exit code 3.
expect 3 sim --scene slope --time 0.02 --dt 0.002 --tol 1e-300 --solver pgs --json
check_python "missed steps" "$check_summary"'assert r["missed_steps"] == 10 and r["certificate"]["worst"] > 0, r'
expect 3 sim --scene slope --time 0.02 --tol 1e-300 --solver pgs --quiet

# For people.
expect 0 sim --scene sliding-block --time 0.1
for text in "sliding-block: 50 steps of 0.002 s" "steps/s" "time split" "certificate" "missed steps" "deepest penetration" \
  "energy" "state hash" "stop_distance_exact"; do
  expect_in out "$text"
done
expect_in err "100 %"

# Simulated once before: neither counted nor recorded, and the same afterwards.
expect 0 sim --scene slope --set angle=60 --time 0.1 --json --record plain.csv
cp out plain.json
expect 0 sim --scene slope --set angle=60 --time 0.1 --json --record warmed.csv --warm-up
check_python "a warm-up leaves no trace" '
import json
a, b = (json.load(open(f)) for f in ("plain.json", "out"))
keys = ["steps", "contacts_mean", "iterations_mean", "certificate", "missed_steps", "observables", "energy", "state_hash"]
assert all(a[k] == b[k] for k in keys), (a, b)
'
cmp plain.csv warmed.csv || fail "a warm-up changed the recording"

# Keyframes by number, and what drives do there: nothing, what the keyframe says, or hold the pose.
cat >servo.xml <<'XML'
<mujoco>
  <option timestep="0.002" gravity="0 0 0"/>
  <worldbody>
    <body name="arm"><joint name="pivot" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1"/></body>
  </worldbody>
  <actuator><position name="servo" joint="pivot" gear="2" kp="50" kv="2" ctrlrange="-3 3"/></actuator>
  <keyframe><key qpos="0.7"/><key name="pulled" qpos="0.7" ctrl="-1"/></keyframe>
</mujoco>
XML
check_energy='
import json
r = json.load(open("out"))
e = r["energy"]
assert {"maximum", "drive_work", "created", "largest_rise"} <= set(e), e
assert r["model"]["dofs"] == 1 and r["model"]["keyframes"] == ["", "pulled"] and abs(r["model"]["mass"] - 1) < 1e-12, r
assert r["planned_steps"] == r["steps"] and r["warnings"] == [], r
# Without gravity and contacts, and with one joint: all energy comes from the drive, none is created.
assert abs(e["end"]["kinetic"] - e["drive_work"]) < 1e-12 + 1e-9 * e["maximum"] and e["created"] < 1e-9 * e["maximum"] + 1e-15, e
'
expect 0 sim servo.xml --keyframe 0 --hold --time 0.1 --energy --json
check_python "a held pose rests" "$check_energy"'assert e["maximum"] < 1e-20 and r["max_speed_end"] < 1e-10, r'
expect 0 sim servo.xml --keyframe 0 --time 0.1 --energy --json
cp out zeros.json
check_python "a keyframe without controls pulls to zero" "$check_energy"'assert e["maximum"] > 1, e'
expect 0 sim servo.xml --keyframe 1 --zero-control --time 0.1 --energy --json
check_python "controls of a keyframe switched off" "$check_energy"'
assert r["state_hash"] == json.load(open("zeros.json"))["state_hash"], r'
expect 0 sim servo.xml --keyframe 1 --time 0.1 --json
cp out pulled.json
expect 0 sim servo.xml --keyframe pulled --hold --time 0.1 --energy --json
check_python "controls of a keyframe held" "$check_energy"'
assert r["state_hash"] == json.load(open("pulled.json"))["state_hash"] != json.load(open("zeros.json"))["state_hash"], r'
expect 0 sim servo.xml --keyframe 1 --time 0.02 --energy --quiet
expect_in out "energy balance"
expect_error "has 2 keyframes, numbered from 0" sim servo.xml --keyframe 2
expect_error "unknown keyframe" sim servo.xml --keyframe 1.5
for option in --hold --zero-control; do expect_error "belong to a file" sim --scene slope $option; done
expect_error "exclude each other" sim servo.xml --hold --zero-control

# A limit on the whole run: fewer steps, said in both summaries.
expect_error "--stop-after" sim --scene slope --stop-after 0
expect 0 sim --scene slope --time 1000 --stop-after 0.05 --json
check_python "a run that was stopped" '
import json
r = json.load(open("out"))
assert 0 < r["steps"] < r["planned_steps"], r'
expect 0 sim --scene slope --time 1000 --stop-after 0.05 --quiet
expect_in out "stopped early"

# A simulation that blows up: exit code 2; with --json scripts learn how far it came.
expect 2 sim wild.xml --keyframe lifted --quiet --json
expect_in err "no longer finite"
check_python "the summary of what blew up" '
import json
r = json.load(open("out"))
assert "no longer finite" in r["failure"] and r["steps"] >= 1, r'

# The same bits again, on two threads, and not by accident.
hash_of() {
  expect 0 sim --scene clutter --set bodies=20 --set walls=0 --time 0.3 --json "$@"
  python3 -c 'import json; print(json.load(open("out"))["state_hash"])'
}
once=$(hash_of)
[ "$(hash_of)" = "$once" ] || fail "a second run gave other bits"
[ "$(hash_of --threads 2)" = "$once" ] || fail "two threads gave other bits"
[ "$(hash_of --set seed=2)" = "$once" ] && fail "another seed gave the same bits"

# The problem of a step, for the solvers.
expect 0 sim --scene stack --set boxes=3 --time 0.02 --dt 0.002 --dump-problem 3:third.hdf5 --dump-problem 10:last.hdf5 --quiet
for file in third.hdf5 last.hdf5; do
  expect 0 solve $file --json
  check_python "solving the dumped $file" '
import json
r = json.load(open("out"))
assert (r["contacts"], r["rows"], r["dofs"], r["status"]) == (12, 36, 18, "converged"), r
'
done

# Impulses its solve began with: those of a stack at rest are near the solution.
expect 0 info last.hdf5 --json
check_python "the guess in last.hdf5" '
import json
r = json.load(open("out"))
assert 0 < r["guess_error"] < 1e-3, r["guess_error"]
'

# Recordings.
expect 0 sim crate.xml --keyframe lifted --time 0.02 --record fall.csv --quiet
check_python "fall.csv" '
import csv
rows = list(csv.DictReader(open("fall.csv")))
assert list(rows[0])[:9] == ["time", "step", "contacts", "error", "iterations", "penetration", "kinetic_energy",
                             "weight_energy", "spring_energy"], list(rows[0])
assert len(rows) == 11 and [r["step"] for r in rows] == [str(k) for k in range(11)], len(rows)
last = rows[-1]
assert abs(float(last["time"]) - 0.02) < 1e-12
assert abs(float(last["float.vz"]) + 9.81 * 0.02) < 1e-9, last
assert abs(float(last["float.z"]) - 0.5 + 9.81 * 0.002**2 * 55) < 1e-9, last
assert float(rows[0]["pivot"]) == 0.3 and float(last["pivot.rate"]) != 0, last
'
expect 0 sim crate.xml --time 0.02 --record rest.h5 --record-every 5 --quiet
head -c 8 rest.h5 | cmp -s - <(printf '\211HDF\r\n\032\n') || fail "rest.h5 is not HDF5"
[ -z "$(find . -name '*.part')" ] || fail "a temporary file was left beside a recording"

# A run that is ended by a signal keeps what it recorded, and whoever waits for it learns that it was ended.
"$tribo" sim --scene stack --time 1000000 --record stopped.h5 --save-state stopped.json >stopped.out 2>stopped.err &
pid=$!
for _ in $(seq 100); do
  [ -e stopped.h5.part ] && break
  sleep 0.1
done
sleep 0.3
kill -TERM $pid
wait $pid
[ $? -eq 143 ] || fail "a run that was ended by SIGTERM does not say so"
[ -s stopped.h5 ] && [ -s stopped.json ] || fail "a run that was ended by a signal wrote nothing"
grep -q "stopped early.*by a signal" stopped.out || fail "its summary does not say that it was ended"
expect 0 sim --scene stack --time 0.01 --quiet --state stopped.h5
[ -z "$(find . -name '*.part')" ] || fail "a run that was ended by a signal left a temporary file"

# A scene as MJCF: the same file again gives the same motion; what MJCF cannot say is refused.
expect 0 sim --scene pyramid --write-mjcf pyramid.xml
[ -s out ] && fail "--write-mjcf simulated the scene"
expect 0 sim --scene pyramid --time 0.02 --json --quiet
mv out scene.json
expect 0 sim pyramid.xml --time 0.02 --json --quiet
mv out file.json
check_python "pyramid.xml moves as the scene" '
import json
a, b = json.load(open("scene.json")), json.load(open("file.json"))
assert a["steps"] == b["steps"] and a["contacts_mean"] == b["contacts_mean"] > 0, (a, b)
assert abs(a["energy"]["end"]["total"] - b["energy"]["end"]["total"]) < 1e-9
'
expect_error "finite stiffness" sim --scene clutter --write-mjcf clutter.xml
expect_error "same file" sim pyramid.xml --write-mjcf pyramid.xml

# A budget that no solve can keep: what was left is reported, and it is no failure.
expect 0 sim --scene clutter --set bodies=10 --time 0.3 --no-warm-start --budget 1e-6 --json
check_python "budget that cannot be kept" '
import json
d = json.load(open("out"))
b = d["budget"]
assert abs(b["milliseconds"] - 1e-6) < 1e-15 and 0 < b["reached"] == d["missed_steps"] <= d["steps"], (b, d["missed_steps"])
assert b["worst_error"] >= b["mean_error"] > d["certificate"]["tolerance"], b
'
expect 0 sim --scene slope --time 0.01 --budget 1000 --json
check_python "budget that is kept" '
import json
b = json.load(open("out"))["budget"]
assert b["reached"] == 0 and b["worst_error"] == 0, b
'
expect_error "budget" sim --scene slope --budget 0

# A robot of the user's in the place of one of primitives.
mkdir -p models/pal_talos
cat >models/pal_talos/talos_motor.xml <<'XML'
<mujoco><worldbody><body name="doll" pos="0 0 5"><freejoint/><geom type="sphere" size="0.1" mass="3"/></body></worldbody></mujoco>
XML
expect 0 sim --scene humanoid-fall --set height=0.95 --models models --time 0.05 --json
check_python "a model in the place of the humanoid" '
import json
o = json.load(open("out"))["observables"]
assert abs(o["pelvis_height"] - (0.95 - 9.81 * 0.05 ** 2 / 2)) < 1e-3, o
'
expect_error "no robot that a model could replace; these have: humanoid-fall" sim --scene stack --models models
expect_error "models/wonik_allegro/right_hand.xml, which is not there" sim --scene hand-cubes --models models
expect_error "there is no such folder" sim --scene hand-cubes --models nowhere
expect_error "scene assembly looks for its arm in models/kuka_iiwa_14/iiwa14.xml, which is not there" \
  sim --scene assembly --models models
mkdir -p models/pal_tiago_dual
cp models/pal_talos/talos_motor.xml models/pal_tiago_dual/tiago_dual_motor.xml
expect_error "0 grippers of two slides at the end of seven hinges; the scene needs two" \
  sim --scene pouring --models models
expect_error "--models belongs to --scene" sim crate.xml --models models
expect 0 scenes
expect_in out "--models DIR: the quadruped from DIR/unitree_a1/a1.xml"

# The list of scenes.
expect 0 scenes
for name in stack pyramid wall slope sliding-block spring-cylinder clutter balls-in-box pile216 dominos cradle \
  cylinder-stand quadrupeds arm-press; do
  grep -q "^$name  " out || fail "tribo scenes does not list $name"
done
expect_in out "mass-ratio"

for command in sim scenes; do
  expect 0 $command --help
  expect_in out "Example"
done

finish
