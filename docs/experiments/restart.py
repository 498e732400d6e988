#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What restarts from values within a bound do to three simulations; writes restart.csv beside this file.

    restart.py [FILE [SYSTEM...]]

Gray-Scott (128 x 128 cells, patterns that grow and settle), Lorenz-96 (40 places, chaos) and Kuramoto-Sivashinsky (a partial
differential equation whose chaos is in space, too; 512 places), all in double; of SYSTEMs only these are run. A run goes on an exact state and from the same one through `lattice:abs=BOUND`; the largest difference of the two runs is followed.
With "every" the lossy run restarts again and again, from its own values. Needs the package h5twin and numpy.

Columns: system, bound, how (once or every), time since the restart, difference (largest), and of the state at the restart
its largest change per step (change), its standard deviation (spread) and the ratio of the chunk."""

import csv
import pathlib
import sys

import numpy as np

import h5twin

BOUNDS = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]


class GrayScott:
    name, step_time, warm_up, steps, often, again = "Gray-Scott", 1.0, 4000, 8000, 400, 400
    feed, kill, diffusion_u, diffusion_v = 0.035, 0.062, 0.16, 0.08

    def start(self):
        side = 128
        rng = np.random.default_rng(3)
        state = np.zeros((2, side, side))
        state[0] = 1
        for x, y in rng.integers(10, side - 20, (12, 2)):
            state[0, x:x + 8, y:y + 8], state[1, x:x + 8, y:y + 8] = 0.5, 0.25
        return state + 0.01 * rng.random(state.shape)

    def advance(self, state):
        u, v = state
        around = [sum(np.roll(field, shift, axis) for shift in (1, -1) for axis in (0, 1)) - 4 * field for field in state]
        reaction = u * v * v
        return np.stack([u + self.diffusion_u * around[0] - reaction + self.feed * (1 - u),
                         v + self.diffusion_v * around[1] + reaction - (self.feed + self.kill) * v])


class Lorenz96:
    name, step_time, warm_up, steps, often, again = "Lorenz-96", 0.01, 2000, 2500, 50, 100

    def start(self):
        state = np.full(40, 8.0)
        state[7] += 0.01
        return state

    @staticmethod
    def slope(state):
        return (np.roll(state, -1) - np.roll(state, 2)) * np.roll(state, 1) - state + 8

    def advance(self, state):
        h = self.step_time
        k1 = self.slope(state)
        k2 = self.slope(state + h / 2 * k1)
        k3 = self.slope(state + h / 2 * k2)
        k4 = self.slope(state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


class KuramotoSivashinsky:
    """u_t = -u u_x - u_xx - u_xxxx, periodic: Fourier modes, the linear part exactly (ETDRK4 of Cox and Matthews, with the
    contour integrals of Kassam and Trefethen), products without aliasing."""

    name, step_time, warm_up, steps, often, again = "Kuramoto-Sivashinsky", 0.25, 2000, 1600, 40, 100
    places, length = 512, 128 * np.pi

    def __init__(self):
        h, waves = self.step_time, 2 * np.pi / self.length * np.arange(self.places // 2 + 1)
        linear = waves**2 - waves**4
        around = h * linear[:, None] + np.exp(1j * np.pi * (np.arange(1, 33) - 0.5) / 32)
        self.whole, self.half = np.exp(h * linear), np.exp(h / 2 * linear)
        self.middle = h * ((np.exp(around / 2) - 1) / around).mean(1).real
        self.first = h * ((-4 - around + np.exp(around) * (4 - 3 * around + around**2)) / around**3).mean(1).real
        self.second = h * ((2 + around + np.exp(around) * (around - 2)) / around**3).mean(1).real
        self.third = h * ((-4 - 3 * around - around**2 + np.exp(around) * (4 - around)) / around**3).mean(1).real
        self.product = -0.5j * waves * (np.arange(len(waves)) < self.places // 3)

    def start(self):
        x = self.length * np.arange(self.places) / self.places
        return np.cos(x / 16) * (1 + np.sin(x / 16)) + 0.01 * np.random.default_rng(5).standard_normal(self.places)

    def slope(self, modes):
        return self.product * np.fft.rfft(np.fft.irfft(modes)**2)

    def advance(self, state):
        modes = np.fft.rfft(state)
        at_start = self.slope(modes)
        a = self.half * modes + self.middle * at_start
        at_a = self.slope(a)
        at_b = self.slope(self.half * modes + self.middle * at_a)
        at_c = self.slope(self.half * a + self.middle * (2 * at_b - at_start))
        return np.fft.irfft(self.whole * modes + self.first * at_start + 2 * self.second * (at_a + at_b) + self.third * at_c)


def through(state, bound):
    """What a checkpoint gives back, and how much smaller it was."""
    chunk = h5twin.encode(state, f"lattice:abs={bound}")
    back = h5twin.decode(chunk, state.dtype, state.shape)
    assert np.abs(back - state).max() <= bound
    return back, state.nbytes / len(chunk)


def experiment(system):
    begin = system.start()
    for _ in range(system.warm_up):
        begin = system.advance(begin)
    change = np.abs(system.advance(begin) - begin).max()
    exact = [begin]
    for _ in range(system.steps):
        exact.append(system.advance(exact[-1]))
    for bound in BOUNDS:
        for how in "once", "every":
            state, ratio = through(begin, bound)
            for step in range(1, system.steps + 1):
                state = system.advance(state)
                if how == "every" and step % system.again == 0:
                    state, _ = through(state, bound)
                if step % system.often == 0 or step == 1:
                    yield [system.name, f"{bound:g}", how, f"{step * system.step_time:g}",
                           f"{np.abs(state - exact[step]).max():.3e}", f"{change:.3e}", f"{begin.std():.3e}", f"{ratio:.2f}"]


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_suffix(".csv"))
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["system", "bound", "how", "time", "difference", "change", "spread", "ratio"])
        for system in GrayScott(), Lorenz96(), KuramotoSivashinsky():
            if len(sys.argv) < 3 or system.name in sys.argv[2:]:
                rows.writerows(experiment(system))


if __name__ == "__main__":
    main()
