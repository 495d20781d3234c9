"""A gymnasium.vector.VectorEnv whose environments are the worlds of one tribo.Batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:  # named by the extra
    raise ImportError("tribo.gym needs gymnasium: pip install tribo[gym]") from error

from .._core import Batch, World

Floats = NDArray[np.float64]


class BatchEnv(VectorEnv):
    """n environments in one Batch. A task derives from it and says how episodes begin, what is seen, what is rewarded.

    world: what is simulated in each. frame_skip: time steps per step of the environment. max_episode_steps: after so many the
    episode is truncated. autoreset_mode: as in gymnasium (NEXT_STEP, SAME_STEP, DISABLED; with DISABLED call
    reset(options={"reset_mask": mask})). threads and settings: of the Batch.

    Actions are in [-1, 1] and mean what apply() makes of them. A world that fails (its state is no longer finite) ends its
    episode as terminated with reward 0. infos hold "error", the worst certificate of the step, and "missed".

    Every environment draws from a random generator of its own, so that what happens in one does not depend on the others.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        world: World,
        num_envs: int,
        observation_size: int,
        action_size: int,
        *,
        frame_skip: int = 5,
        max_episode_steps: int = 200,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        **settings: Any,
    ) -> None:
        if frame_skip < 1 or max_episode_steps < 1:
            raise ValueError("frame_skip and max_episode_steps: expected numbers >= 1")
        self.num_envs = num_envs
        self.frame_skip = frame_skip
        self.max_episode_steps = max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.batch = Batch(world, num_envs, threads=threads, **settings)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (observation_size,), np.float64)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (action_size,), np.float64)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episode_steps = np.zeros(num_envs, dtype=np.int64)
        self._ended = np.ones(num_envs, dtype=bool)  # to be reset before the next step
        self._generators: list[np.random.Generator] = []
        self._seed(None)

    # What a task defines -----------------------------------------------------------------------------------------------

    def begin(self, number: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Coordinates and velocities with which an episode of environment `number` begins."""
        raise NotImplementedError

    def apply(self, actions: Floats) -> None:
        """Actions (n, action_size) in [-1, 1] -> self.batch.control."""
        self.batch.control[:] = actions

    def observe(self) -> Floats:
        """Observations (n, observation_size)."""
        raise NotImplementedError

    def judge(self, actions: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Rewards (n,) of the step that was made, and which episodes it has ended."""
        raise NotImplementedError

    # gymnasium ---------------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins new episodes, of all environments or of options["reset_mask"]. seed: of all, or one for each."""
        mask = np.ones(self.num_envs, dtype=bool)
        if options is not None and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"], dtype=bool)
            if mask.shape != (self.num_envs,):
                raise ValueError(f"reset_mask: expected {self.num_envs} booleans, not shape {mask.shape}")
        if seed is not None:
            self._seed(seed)
        self._begin(mask)
        return self.observe(), self._infos()

    def step(
        self, actions: Any
    ) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One step of all environments; those whose episode has ended are reset as the autoreset mode says."""
        actions = np.asarray(actions, dtype=np.float64)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions: expected shape {self.action_space.shape}, not {actions.shape}")
        if not np.isfinite(actions).all():
            raise ValueError("actions: there is a number that is not finite")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            raise RuntimeError("an episode has ended: call reset(options={'reset_mask': ...}) first")
        actions = np.clip(actions, -1.0, 1.0)
        fresh = self._ended.copy() if self.autoreset_mode is AutoresetMode.NEXT_STEP else np.zeros_like(self._ended)
        self.apply(actions)
        self.batch.step(self.frame_skip, ~fresh)
        self._episode_steps += ~fresh
        rewards, terminated = self.judge(actions)
        failed = self.batch.status != 0
        if fresh.any():
            self._begin(fresh)
        rewards = np.where(fresh | failed, 0.0, rewards)
        terminated = (terminated | failed) & ~fresh
        truncated = (self._episode_steps >= self.max_episode_steps) & ~terminated & ~fresh
        self._ended = terminated | truncated
        observations, infos = self.observe(), self._infos()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            ended = self._ended.copy()
            infos = {"final_obs": _objects(observations, ended), "_final_obs": ended,
                     "final_info": {key: value.copy() for key, value in infos.items()}, "_final_info": ended}  # fmt: skip
            self._begin(ended)
            observations = self.observe()
            infos.update(self._infos())
        return observations, rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        pass

    # -------------------------------------------------------------------------------------------------------------------

    def _seed(self, seed: int | list[int | None] | None) -> None:
        if isinstance(seed, (list, tuple)):
            if len(seed) != self.num_envs:
                raise ValueError(f"seed: expected {self.num_envs} numbers, not {len(seed)}")
            self._generators = [np.random.default_rng(s) for s in seed]
        else:
            self._np_random, self._np_random_seed = seeding.np_random(seed)
            children = np.random.SeedSequence(self._np_random_seed).spawn(self.num_envs)
            self._generators = [np.random.default_rng(child) for child in children]

    def _begin(self, mask: NDArray[np.bool_]) -> None:
        q, v = self.batch.q.copy(), self.batch.v.copy()
        for number in np.flatnonzero(mask):
            q[number], v[number] = self.begin(int(number), self._generators[number])
        self.batch.reset(mask, q, v)
        self._episode_steps[mask] = 0
        self._ended[mask] = False

    def _infos(self) -> dict[str, Any]:
        return {"error": self.batch.error.copy(), "missed": self.batch.missed.copy()}


def _objects(rows: Floats, mask: NDArray[np.bool_]) -> NDArray[np.object_]:
    """The rows of the mask as objects, None elsewhere: what gymnasium's own vector environments give."""
    result = np.full(len(rows), None, dtype=object)
    for number in np.flatnonzero(mask):
        result[number] = rows[number].copy()
    return result


def turned_about(axis: int, angle: float) -> Floats:
    """Unit quaternion (w, x, y, z) of a turn about x, y or z (0, 1, 2), rad."""
    q = np.zeros(4)
    q[0], q[1 + axis] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    return q


def rotate(q: Floats, vector: Floats) -> Floats:
    """Vectors (3,) of body axes in the world, by unit quaternions (n, 4)."""
    w, u = q[:, :1], q[:, 1:]
    t = 2.0 * np.cross(u, vector)
    return vector + w * t + np.cross(u, t)
