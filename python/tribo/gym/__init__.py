"""Learning environments over tribo.Batch, for gymnasium (extra: pip install tribo[gym]).

Example::

    from tribo.gym import HumanoidStand
    env = HumanoidStand(num_envs=64, threads=2)
    observations, infos = env.reset(seed=1)
    observations, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
"""

from ._env import BatchEnv
from ._hand import InHandReorientation
from ._stand import HumanoidStand

__all__ = ["BatchEnv", "HumanoidStand", "InHandReorientation"]
