"""Proximal policy optimisation in numpy on an environment of tribo.gym: learns something visible in minutes on two cores.

    python ppo.py stand                        # a humanoid stays on its feet after a push
    python ppo.py hand --iterations 100

Schulman et al., "Proximal Policy Optimization Algorithms" (2017), with generalised advantages (Schulman et al. 2016): a policy
N(mean(o), exp(s)^2) and a value v(o), each a network of two layers of 64 tanh; gradients by hand, Adam. Prints return and
length of the episodes that ended in each iteration, and the worst certificate of their steps.
"""

from __future__ import annotations

import argparse
import os
import time

# The matrices are small: threads of their own would only wait for those of the simulation.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402


class Network:
    """Linear layers with tanh between, and its gradient. The numbers are one vector, so that Adam sees one."""

    def __init__(self, sizes: list[int], last_scale: float, generator: np.random.Generator) -> None:
        self.shapes = list(zip(sizes[:-1], sizes[1:]))
        parts = []
        for number, (inputs, outputs) in enumerate(self.shapes):
            scale = last_scale if number + 1 == len(self.shapes) else 1.0
            parts += [scale * generator.standard_normal((inputs, outputs)) / np.sqrt(inputs), np.zeros(outputs)]
        self.weights = np.concatenate([part.ravel() for part in parts])

    def _layers(self, flat: np.ndarray):
        at = 0
        for inputs, outputs in self.shapes:
            matrix = flat[at : at + inputs * outputs].reshape(inputs, outputs)
            at += inputs * outputs
            yield matrix, flat[at : at + outputs]
            at += outputs

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.inputs = []
        layers = list(self._layers(self.weights))
        for number, (matrix, offset) in enumerate(layers):
            self.inputs.append(x)
            x = x @ matrix + offset
            if number + 1 < len(layers):
                x = np.tanh(x)
        return x

    def gradient(self, output_gradient: np.ndarray) -> np.ndarray:
        """Of a sum over the rows of the last call, by the gradient with respect to its outputs."""
        gradient = np.empty_like(self.weights)
        slots, layers = list(self._layers(gradient)), list(self._layers(self.weights))
        back = output_gradient
        for number in reversed(range(len(layers))):
            slots[number][0][:] = self.inputs[number].T @ back
            slots[number][1][:] = back.sum(axis=0)
            if number > 0:
                back = (back @ layers[number][0].T) * (1.0 - self.inputs[number] ** 2)
        return gradient


class Adam:
    def __init__(self, size: int, rate: float) -> None:
        self.rate, self.step = rate, 0
        self.mean, self.square = np.zeros(size), np.zeros(size)

    def __call__(self, weights: np.ndarray, gradient: np.ndarray) -> None:
        norm = np.linalg.norm(gradient)
        if norm > 0.5:
            gradient = gradient * (0.5 / norm)
        self.step += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (gradient**2 - self.square)
        mean = self.mean / (1.0 - 0.9**self.step)
        square = self.square / (1.0 - 0.999**self.step)
        weights -= self.rate * mean / (np.sqrt(square) + 1e-8)


class Scaling:
    """Mean and spread of the observations so far."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.square = 1e-4, np.zeros(size), np.ones(size)

    def learn(self, rows: np.ndarray) -> None:
        total = self.count + len(rows)
        shift = rows.mean(axis=0) - self.mean
        self.square = (self.square * self.count + rows.var(axis=0) * len(rows)
                       + shift**2 * self.count * len(rows) / total) / total  # fmt: skip
        self.mean = self.mean + shift * len(rows) / total
        self.count = total

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return np.clip((rows - self.mean) / np.sqrt(self.square + 1e-8), -8.0, 8.0)


class Learner:
    def __init__(self, observations: int, actions: int, seed: int = 0, rate: float = 1e-3, spread: float = 0.4) -> None:
        self.generator = np.random.default_rng(seed)
        self.policy = Network([observations, 64, 64, actions], 0.01, self.generator)
        self.value = Network([observations, 64, 64, 1], 1.0, self.generator)
        self.log_spread = np.full(actions, np.log(spread))
        self.scaling = Scaling(observations)
        self.optimizers = [Adam(self.policy.weights.size, rate), Adam(actions, rate), Adam(self.value.weights.size, rate)]

    def act(self, observations: np.ndarray, explore: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Actions and their log densities."""
        mean = self.policy(self.scaling(observations))
        noise = self.generator.standard_normal(mean.shape) if explore else np.zeros(mean.shape)
        return mean + np.exp(self.log_spread) * noise, self._log_density(noise)

    def _log_density(self, noise: np.ndarray) -> np.ndarray:
        return -0.5 * (noise**2).sum(axis=1) - self.log_spread.sum()  # but for a constant

    def improve(self, o, a, log_density, advantages, returns, epochs: int = 6, share: int = 8, clip: float = 0.2) -> None:
        o = self.scaling(o)
        for _ in range(epochs):
            for rows in np.array_split(self.generator.permutation(len(o)), share):
                spread = np.exp(self.log_spread)
                noise = (a[rows] - self.policy(o[rows])) / spread
                ratio = np.exp(np.clip(self._log_density(noise) - log_density[rows], -20.0, 20.0))
                g = advantages[rows]
                g = (g - g.mean()) / (g.std() + 1e-8)
                # d(-min(ratio g, clipped ratio g)): zero where the clipped one is the smaller.
                active = np.where(g > 0.0, ratio < 1.0 + clip, ratio > 1.0 - clip)
                slope = -(g * ratio * active / len(rows))[:, None]
                self.optimizers[0](self.policy.weights, self.policy.gradient(slope * noise / spread))
                self.optimizers[1](self.log_spread, (slope * (noise**2 - 1.0)).sum(axis=0) - 1e-3)
                error = self.value(o[rows])[:, 0] - returns[rows]
                self.optimizers[2](self.value.weights, self.value.gradient(error[:, None] / len(rows)))


def collect(env, learner: Learner, observations: np.ndarray, steps: int, discount: float, smoothing: float):
    """`steps` steps of all environments (autoreset mode SAME_STEP): data for improve(), and what the episodes came to."""
    n = env.num_envs
    kept = {name: [] for name in ("o", "a", "log_density", "value", "reward", "go_on", "next_value")}
    worst = 0.0
    for _ in range(steps):
        actions, log_density = learner.act(observations)
        value = learner.value(learner.scaling(observations))[:, 0]
        following, reward, terminated, truncated, infos = env.step(actions)
        last = following
        if "final_obs" in infos:
            last = following.copy()
            for number in np.flatnonzero(infos["_final_obs"]):
                last[number] = infos["final_obs"][number]
        next_value = learner.value(learner.scaling(last))[:, 0] * ~terminated
        for name, entry in zip(kept, (observations, actions, log_density, value, reward, ~(terminated | truncated), next_value)):
            kept[name].append(entry)
        worst = max(worst, float(infos["error"].max()))
        env.returns += reward
        env.lengths += 1
        for number in np.flatnonzero(terminated | truncated):
            env.finished.append((env.returns[number], env.lengths[number]))
            env.returns[number] = env.lengths[number] = 0.0
        observations = following
    data = {name: np.array(entries) for name, entries in kept.items()}
    advantage, advantages = np.zeros(n), np.zeros((steps, n))
    for t in reversed(range(steps)):
        surprise = data["reward"][t] + discount * data["next_value"][t] - data["value"][t]
        advantage = surprise + discount * smoothing * data["go_on"][t] * advantage
        advantages[t] = advantage
    flat = lambda x: x.reshape(steps * n, *x.shape[2:])  # noqa: E731
    batch = [flat(data[name]) for name in ("o", "a", "log_density")] + [flat(advantages), flat(advantages + data["value"])]
    return observations, batch, worst


def train(env, iterations: int = 60, steps: int = 32, seed: int = 0, discount: float = 0.98, smoothing: float = 0.95,
          quiet: bool = False):  # fmt: skip
    """The learner, and mean return and length of the episodes that ended in each iteration (NaN: none did)."""
    learner = Learner(env.single_observation_space.shape[0], env.single_action_space.shape[0], seed)
    env.returns, env.lengths, env.finished = np.zeros(env.num_envs), np.zeros(env.num_envs), []
    observations, _ = env.reset(seed=seed)
    history, recent, begin = [], [], time.perf_counter()
    for iteration in range(iterations):
        env.finished.clear()
        observations, batch, worst = collect(env, learner, observations, steps, discount, smoothing)
        learner.scaling.learn(batch[0])
        learner.improve(*batch)
        history.append(np.mean(env.finished, axis=0) if env.finished else np.full(2, np.nan))
        recent += env.finished
        if not quiet and recent and (iteration % 10 == 9 or iteration + 1 == iterations):
            mean = np.mean(recent, axis=0)
            print(f"{iteration + 1:4d}  {time.perf_counter() - begin:6.1f} s  episodes {len(recent):4d}  return {mean[0]:8.2f}  "
                  f"length {mean[1]:6.1f}  certificate {worst:.1e}", flush=True)  # fmt: skip
            recent.clear()
    return learner, np.array(history)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", choices=["stand", "hand"])
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    from tribo.gym import HumanoidStand, InHandReorientation

    task = HumanoidStand if arguments.task == "stand" else InHandReorientation
    env = task(arguments.envs, threads=arguments.threads, autoreset_mode="SameStep")
    train(env, arguments.iterations, seed=arguments.seed)


if __name__ == "__main__":
    main()
