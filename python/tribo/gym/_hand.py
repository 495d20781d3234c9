"""In-hand reorientation: four fingers turn a cube on a palm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._simulation import load
from ._env import BatchEnv, Floats, turned_about

_FINGERS = 4


def _model() -> str:
    fingers = "".join(
        f"""<body euler="0 0 {360 * k / _FINGERS}"><body pos=".075 0 .01"><joint name="side{k}" axis="0 0 1" range="-40 40"/>
  <joint name="base{k}" axis="0 1 0" range="-60 30"/><geom type="capsule" fromto="0 0 0 0 0 .032" size=".008" mass=".03"/>
  <body pos="0 0 .032"><joint name="tip{k}" axis="0 1 0" range="-110 10"/>
    <geom type="capsule" fromto="0 0 0 0 0 .025" size=".009" mass=".02" contype="1"/></body></body></body>"""
        for k in range(_FINGERS)
    )
    drives = "".join(
        f'<position joint="{name}{k}" kp="1.5" kv=".03" forcerange="-.5 .5" ctrlrange="-2 2"/>'
        for k in range(_FINGERS)
        for name in ("side", "base", "tip")
    )
    return f"""<mujoco model="in-hand reorientation"><option timestep="0.005"/>
<default><joint damping=".005" armature="1e-4"/><geom friction=".8" contype="0" conaffinity="1"/></default>
<worldbody><body name="palm"><geom type="cylinder" size=".11 .01" contype="1" friction=".3"/>{fingers}</body>
<body name="cube" pos="0 0 .0385"><freejoint/><geom name="cube" type="box" size=".028 .028 .028" mass=".05" contype="1"/></body>
</worldbody><actuator>{drives}</actuator></mujoco>"""


class InHandReorientation(BatchEnv):
    """Four fingers of three joints turn a cube on a palm about the vertical to a wanted angle.

    Action: where the joints are driven to, in [-1, 1] for each of the twelve, around a grip. Observation (45): angles and
    velocities of the joints, place of the cube, cosine and sine of its angle, what is missing [rad], velocity of the cube, what
    the drives aim at. Reward per step: twenty times how much nearer the angle has come [rad], up to 1 more while it is near
    (within some 0.2 rad), less a little for large actions. An episode ends when the cube is off the palm.
    """

    GRIP = np.tile([0.0, -0.65, -1.2], _FINGERS)  # rad
    REACH = np.tile([0.6, 0.3, 0.3], _FINGERS)
    REACHED = 0.2

    def __init__(self, num_envs: int = 64, *, largest_turn: float = 0.8, **settings: Any) -> None:
        """largest_turn: rad, of what is asked for at the beginning of an episode."""
        self.largest_turn = largest_turn
        self._goal = np.zeros(num_envs)
        self._missing = np.zeros(num_envs)
        settings.setdefault("frame_skip", 8)
        settings.setdefault("max_episode_steps", 100)
        super().__init__(load(_model()), num_envs, observation_size=12 + 12 + 3 + 3 + 3 + 12, action_size=12, **settings)

    def begin(self, number: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        q = np.concatenate([self.GRIP + 0.02 * generator.standard_normal(12), np.zeros(7)])
        angle = generator.uniform(-0.3, 0.3)
        q[12:15] = 0.004 * generator.standard_normal(), 0.004 * generator.standard_normal(), 0.0385
        q[15:19] = turned_about(2, angle)
        self._goal[number] = angle + generator.uniform(-self.largest_turn, self.largest_turn)
        self._missing[number] = self._goal[number] - angle
        return q, np.zeros(12 + 6)

    def apply(self, actions: Floats) -> None:
        self.batch.control[:] = self.GRIP + self.REACH * actions

    def _angle(self) -> Floats:
        q = self.batch.q[:, 15:19]
        return np.arctan2(2.0 * (q[:, 0] * q[:, 3] + q[:, 1] * q[:, 2]), 1.0 - 2.0 * (q[:, 2] ** 2 + q[:, 3] ** 2))

    def missing(self) -> Floats:
        """What is missing to the wanted angle (n,), rad in [-pi, pi]."""
        return np.remainder(self._goal - self._angle() + np.pi, 2.0 * np.pi) - np.pi

    def observe(self) -> Floats:
        q, v, missing = self.batch.q, self.batch.v, self.missing()
        turns = np.stack([np.cos(self._angle()), np.sin(self._angle()), missing], axis=1)
        place = 20.0 * (q[:, 12:15] - np.array([0.0, 0.0, 0.0385]))
        return np.concatenate([q[:, :12], 0.1 * v[:, :12], place, turns, v[:, 12:15], self.batch.control], axis=1)

    def judge(self, actions: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        missing = np.abs(self.missing())
        nearer = np.abs(self._missing) - missing
        self._missing = missing
        reward = 20.0 * nearer + np.exp(-((missing / self.REACHED) ** 2)) - 0.02 * (actions**2).mean(axis=1)
        place = self.batch.q[:, 12:15]
        return reward, (np.hypot(place[:, 0], place[:, 1]) > 0.06) | (place[:, 2] < 0.02)
