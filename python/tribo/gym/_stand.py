"""Humanoid stand: a humanoid with motors stays upright after a push."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._simulation import load
from ._env import BatchEnv, Floats, rotate, turned_about

_LEG = """
<body name="thigh_{side}" pos="0 {y} -0.08">
  <joint name="hip_x_{side}" axis="1 0 0" range="-20 20"/><joint name="hip_y_{side}" axis="0 1 0" range="-70 30"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.32" size=".06" mass="4"/>
  <body name="shin_{side}" pos="0 0 -.36"><joint name="knee_{side}" axis="0 1 0" range="-2 100"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".045" mass="2.5"/>
    <body name="foot_{side}" pos="0 0 -.36"><joint name="ankle_y_{side}" axis="0 1 0" range="-40 40"/>
      <joint name="ankle_x_{side}" axis="1 0 0" range="-20 20"/>
      <geom type="box" size=".11 .05 .02" pos=".04 0 -.03" mass="1" contype="1"/></body></body></body>"""

_ARM = """
<body name="arm_{side}" pos="0 {y} .32"><joint name="shoulder_{side}" axis="0 1 0" range="-90 60"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.45" size=".035" mass="2.5"/></body>"""

_MOTORS = {"hip_x": 80, "hip_y": 100, "knee": 80, "ankle_y": 60, "ankle_x": 40, "shoulder": 20}  # N m


def _model() -> str:
    limbs = "".join(_LEG.format(side=side, y=y) + _ARM.format(side=side, y=2.2 * y) for side, y in (("r", -0.1), ("l", 0.1)))
    motors = "".join(
        f'<motor joint="{name}_{side}" gear="{torque}" ctrlrange="-1 1"/>' for side in "rl" for name, torque in _MOTORS.items()
    )
    return f"""<mujoco model="humanoid stand"><option timestep="0.005"/>
<default><joint damping="3" armature=".02"/><geom friction=".9" contype="0"/></default>
<worldbody><geom name="floor" type="plane" size="20 20 .1" contype="1" conaffinity="1"/>
<body name="torso" pos="0 0 {HumanoidStand.HEIGHT}"><freejoint/>
  <geom type="capsule" fromto="0 -.08 .3 0 .08 .3" size=".09" mass="10"/><geom type="capsule" fromto="0 -.07 0 0 .07 0" size=".1" mass="10"/>
  <geom type="sphere" pos="0 0 .52" size=".1" mass="4" contype="1"/>{limbs}</body></worldbody>
<actuator>{motors}</actuator></mujoco>"""


class HumanoidStand(BatchEnv):
    """A humanoid of 48 kg with twelve motors stays on its feet after a push.

    Action: the pose that the joints are led to by springs and dampers, around the standing one: in [-1, 1] for each of the
    twelve joints, times 0.5 rad. Observation (37): height, up and forward of the torso in its own axes, joint angles,
    velocities of the torso and of the joints. Reward per step, at most 1: upright and at height. An episode ends when the
    torso is lower than 0.6 m.
    """

    HEIGHT = 0.86  # m, of the torso when it stands
    LOWEST = 0.6
    STIFFNESS, DAMPING, REACH = 1.2, 0.08, 0.5  # share of the motor per rad and per rad/s; rad

    def __init__(self, num_envs: int = 64, *, push: float = 0.4, **settings: Any) -> None:
        """push: m/s, standard deviation of the velocity with which an episode begins, forwards and sideways."""
        self.push = push
        settings.setdefault("frame_skip", 4)
        super().__init__(load(_model()), num_envs, observation_size=1 + 6 + 12 + 6 + 12, action_size=12, **settings)

    def begin(self, number: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        q, v = np.zeros(7 + 12), np.zeros(6 + 12)
        q[:3] = 0.0, 0.0, self.HEIGHT
        q[3:7] = turned_about(1, 0.05 * generator.standard_normal())
        q[7:] = 0.05 * generator.standard_normal(12)
        v[:2] = self.push * generator.standard_normal(2)
        return q, v

    def apply(self, actions: Floats) -> None:
        q, v = self.batch.q[:, 7:], self.batch.v[:, 6:]
        self.batch.control[:] = np.clip(self.STIFFNESS * (self.REACH * actions - q) - self.DAMPING * v, -1.0, 1.0)

    def _up(self) -> Floats:
        return rotate(self.batch.q[:, 3:7], np.array([0.0, 0.0, 1.0]))

    def observe(self) -> Floats:
        q, v = self.batch.q, self.batch.v
        forward = rotate(q[:, 3:7], np.array([1.0, 0.0, 0.0]))
        return np.concatenate([q[:, 2:3], self._up(), forward, q[:, 7:], v[:, :6], 0.2 * v[:, 6:]], axis=1)

    def judge(self, actions: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        height = self.batch.q[:, 2]
        upright = np.clip(self._up()[:, 2], 0.0, 1.0)
        high = np.clip((height - self.LOWEST) / (self.HEIGHT - self.LOWEST), 0.0, 1.0)
        return upright * high - 0.02 * (actions**2).mean(axis=1), height < self.LOWEST
