"""MJCF for the tests of tribo.mujoco."""

import os
import pathlib

SLOPE = """<mujoco><option timestep="0.002"/>
<worldbody><geom type="plane" size="5 5 .1" euler="0 15 0" friction="1 0.005 0.0001"/>
<body pos="{x} 0 {z}" euler="0 15 0"><freejoint/><geom type="box" size=".1 .1 .1" friction="1 0.005 0.0001" mass="1"/></body>
</worldbody></mujoco>"""

CONTACTS = """<mujoco><option timestep="0.002"/><default><geom friction="0.6 0.02 0.01" condim="{condim}"/></default>
<worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body></worldbody></mujoco>"""

PENDULUM = """<mujoco><option timestep="0.001" integrator="{integrator}"/>
<worldbody><body><joint name="a" type="hinge" axis="0 1 0" {joint}/><geom type="capsule" fromto="0 0 0 1 0 0" size=".03" mass="1"/>
<body pos="1 0 0"><joint name="b" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size=".03" mass="1"/></body>
</body></worldbody></mujoco>"""

BELT = """<mujoco><option timestep="0.002"/>
<worldbody><geom type="box" size="5 1 .1" pos="0 0 -.1" surfacevel="0.3 0 0 0 0 0"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>"""

STACK = """<mujoco><option timestep="0.002"/>
<worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
<body pos="0.02 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="100"/></body>
<body pos="-0.01 0.01 .5"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>"""

FOUR_BAR = """<mujoco><option timestep="0.002"/><worldbody>
<body><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".02" mass="1" contype="0" conaffinity="0"/>
<body pos="0 0 .4"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1" contype="0" conaffinity="0"/>
<body name="rod" pos=".5 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02" mass="1" contype="0" conaffinity="0"/></body>
</body></body></worldbody>
<equality><connect body1="rod" body2="world" anchor="0 0 -.4"/></equality></mujoco>"""

LIMITS = """<mujoco><option timestep="0.002"/><worldbody>
<body><joint type="hinge" axis="0 1 0" limited="true" range="-20 20" frictionloss="{loss}"/>
<geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1"/></body></worldbody></mujoco>"""


def models_folder():
    """Robots of others: the folder named in $TRIBO_MODELS; None."""
    folder = os.environ.get("TRIBO_MODELS")
    return pathlib.Path(folder) if folder and pathlib.Path(folder).is_dir() else None
