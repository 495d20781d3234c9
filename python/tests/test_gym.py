"""Vector environments over Batch."""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")
from gymnasium.vector import AutoresetMode  # noqa: E402

from tribo.gym import HumanoidStand, InHandReorientation  # noqa: E402

TASKS = [HumanoidStand, InHandReorientation]


@pytest.mark.parametrize("task", TASKS)
def test_spaces_and_shapes(task):
    env = task(num_envs=3, threads=2)
    observations, infos = env.reset(seed=5)
    assert env.observation_space.contains(observations) and observations.shape == (3, *env.single_observation_space.shape)
    actions = env.action_space.sample()
    observations, rewards, terminated, truncated, infos = env.step(actions)
    assert env.observation_space.contains(observations)
    assert rewards.shape == terminated.shape == truncated.shape == (3,)
    assert terminated.dtype == truncated.dtype == bool
    assert infos["error"].max() <= 1e-6 and infos["missed"].sum() == 0
    env.close()


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(task):
    results = []
    for threads in (1, 2):
        env = task(num_envs=4, threads=threads)
        env.reset(seed=3)
        generator = np.random.default_rng(0)
        for _ in range(4):
            out = env.step(generator.uniform(-1, 1, env.action_space.shape))
        results.append(out[0].tobytes() + out[1].tobytes())
    assert results[0] == results[1]
    env.reset(seed=4)
    assert env.step(np.zeros(env.action_space.shape))[0].tobytes() not in results[0]


def ended(mode):
    env = HumanoidStand(num_envs=2, autoreset_mode=mode, max_episode_steps=3)
    env.reset(seed=1)
    for _ in range(2):
        _, _, terminated, truncated, _ = env.step(np.zeros((2, 12)))
        assert not (terminated | truncated).any()
    return env, env.step(np.zeros((2, 12)))


def test_next_step_resets_at_the_following_step():
    env, (last, _, _, truncated, _) = ended(AutoresetMode.NEXT_STEP)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP and truncated.all()
    first, rewards, terminated, truncated, _ = env.step(np.ones((2, 12)))  # the action is not used
    assert (rewards == 0).all() and not (terminated | truncated).any()
    assert (env.batch.time == 0).all() and not np.array_equal(first, last)
    env.step(np.zeros((2, 12)))
    assert (env.batch.time > 0).all()


def test_same_step_gives_the_last_observation_in_infos():
    env, (first, rewards, _, truncated, infos) = ended(AutoresetMode.SAME_STEP)
    assert truncated.all() and infos["_final_obs"].all() and (rewards > 0).all()
    assert (env.batch.time == 0).all()
    assert infos["final_obs"][0].shape == first[0].shape and not np.array_equal(infos["final_obs"][0], first[0])


def test_disabled_waits_for_a_reset_with_a_mask():
    env, (_, _, _, truncated, _) = ended("Disabled")
    with pytest.raises(RuntimeError, match="reset_mask"):
        env.step(np.zeros((2, 12)))
    env.reset(options={"reset_mask": truncated})
    env.step(np.zeros((2, 12)))
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": [True]})


def test_a_world_that_fails_ends_its_episode():
    env = HumanoidStand(num_envs=2)
    env.reset(seed=0)
    env.batch.force[1, 0] = 1e308
    observations, rewards, terminated, _, _ = env.step(np.zeros((2, 12)))
    assert list(terminated) == [False, True] and rewards[1] == 0 and np.isfinite(observations).all()
    env.step(np.zeros((2, 12)))
    assert not env.batch.status.any()


def test_bad_actions_are_named():
    env = HumanoidStand(num_envs=2)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="shape"):
        env.step(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="finite"):
        env.step(np.full((2, 12), np.nan))


def test_gradients_of_the_example_are_finite_differences():
    example = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "ppo.py"))
    generator = np.random.default_rng(0)
    network = example["Network"]([3, 4, 2], 1.0, generator)
    inputs, weight = generator.standard_normal((5, 3)), generator.standard_normal((5, 2))
    network(inputs)
    gradient = network.gradient(weight)
    for k in range(network.weights.size):
        network.weights[k] += 1e-6
        above = (weight * network(inputs)).sum()
        network.weights[k] -= 2e-6
        below = (weight * network(inputs)).sum()
        network.weights[k] += 1e-6
        assert gradient[k] == pytest.approx((above - below) / 2e-6, abs=1e-7)
