import os
import pathlib
import shutil
import signal

import numpy as np
import pytest

import tribo

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tool():
    """The command-line tool, whose answers the package must share bit for bit."""
    path = os.environ.get("TRIBO_TOOL") or ROOT / "build/release/bin/tribo"
    if not shutil.which(str(path)):
        pytest.skip(f"no command-line tool at {path}: run `make tool`, or set TRIBO_TOOL")
    return str(path)


@pytest.fixture
def ball():
    """A 2 kg ball hits the ground at 1 m/s while moving sideways at 0.5 m/s."""
    builder = tribo.ProblemBuilder()
    tree = builder.add_tree(2.0 * np.eye(3), [1.0, 0.0, -2.0])
    builder.add_contact(0.4, {tree: np.eye(3)})
    return builder.build()


def crate_world(friction=0.5, mass=10.0):
    builder = tribo.WorldBuilder("crate")
    shape = tribo.Shape.box([0.2, 0.2, 0.1])
    body = builder.add_body("crate", position=[0, 0, 0.1], shape=shape, mass=mass, free=True)
    builder.add_geom(tribo.Shape.plane(), name="floor")
    builder.add_geom(shape, body, name="crate", friction=friction)
    return builder.build()


@pytest.fixture
def crate():
    return crate_world()


PENDULUM = """
<mujoco model="pendulum">
  <compiler angle="radian"/>
  <option timestep="0.001"/>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="pivot" type="hinge" axis="0 1 0" range="-2 2" limited="true"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/>
      <site name="tip" pos="0 0 -0.5"/>
    </body>
  </worldbody>
  <actuator><motor name="torque" joint="pivot" ctrlrange="-3 3"/></actuator>
  <keyframe><key name="up" qpos="1.5" ctrl="0.25"/></keyframe>
</mujoco>
"""


@pytest.fixture
def pendulum():
    return tribo.load(PENDULUM)

# Started in the background, a program ignores Ctrl-C, and so do the programs that it starts: the tests of Ctrl-C need it.
signal.signal(signal.SIGINT, signal.default_int_handler)
