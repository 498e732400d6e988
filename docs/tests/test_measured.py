# SPDX-License-Identifier: BSD-3-Clause
"""What two pages say of ratios on masked fields, masks and categories is measured anew: generated fields of 512 x 512."""

import functools
import subprocess
import zlib

import numpy as np
import pytest

from test_tables import COMMAND, table

SIDE = 512


def smooth(seed, width):
    """Noise without short waves; mean 0, variance 1."""
    waves = np.fft.fftfreq(SIDE)
    noise = np.fft.fft2(np.random.default_rng(seed).normal(size=(SIDE, SIDE)))
    field = np.fft.ifft2(noise * np.exp(-width * (waves[:, None] ** 2 + waves ** 2))).real
    return field / field.std()


@functools.cache
def land():
    """30 % of the field, in patches."""
    height = smooth(4, 1000)
    return height > np.quantile(height, 0.7)


def ocean():
    return (285 + 8 * smooth(2, 2000) + 0.3 * smooth(3, 80)).astype("<f4")


def ratio(array, spec):
    if spec == "gzip":
        return array.nbytes / len(zlib.compress(array.tobytes(), 4))
    chunk = subprocess.run([COMMAND, "encode", "--spec", spec, "--type", {"f": "f32", "u": "i8"}[array.dtype.kind],
                            "--dims", f"{SIDE}x{SIDE}", "-", "-"], input=array.tobytes(), stdout=subprocess.PIPE, check=True)
    return array.nbytes / len(chunk.stdout)


@functools.cache
def masked_ratios():
    rows = {"no land": [ratio(ocean(), f"{codec}:abs=1e-2") for codec in ("sleek", "lattice")]}
    for mark in ("0", "-9999", "1e20", "nan"):
        field = np.where(land(), np.float32(mark), ocean())
        rows["NaN" if mark == "nan" else f"`{mark}`"] = [
            ratio(field, f"{codec}:abs=1e-2,fill={mark}") for codec in ("sleek", "lattice")]
    return rows


@functools.cache
def category_ratios():
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    pattern = np.sin(80 * x) + np.sin(60 * y)
    arrays = {"a mask in patches": land(),
              "a mask in few large patches": smooth(4, 60000) > 0.5,
              "eight categories in patches": np.digitize(smooth(6, 1000), [-1.5, -1, -.5, 0, .5, 1, 1.5]),
              "eight categories in few large patches": np.digitize(smooth(6, 60000), [-1.5, -1, -.5, 0, .5, 1, 1.5]),
              "eight categories in a pattern that repeats": np.digitize(pattern / pattern.std(), [-1.5, -1, -.5, 0, .5, 1, 1.5]),
              "eight categories at random": rng.integers(0, 8, (SIDE, SIDE)),
              "small counts at random, half of them 1": np.minimum(rng.geometric(.5, (SIDE, SIDE)), 20)}
    return {name: [ratio(array.astype("u1"), spec) for spec in ("gzip", "cascade", "e2mc")]
            for name, array in arrays.items()}


@pytest.mark.parametrize("path, head, measure", [
    ("docs/pages/missing.md", ("on land", "`sleek`", "`lattice`"), masked_ratios),
    ("docs/pages/codecs.md", ("one byte each", "gzip", "`cascade`", "`e2mc`"), category_ratios)])
def test_ratios_are_those_of_the_page(path, head, measure):
    said = {name: [float(cell) for cell in cells] for name, *cells in table(path, *head)}
    measured = measure()
    assert list(said) == list(measured)
    for name, ratios in measured.items():
        assert said[name] == pytest.approx(ratios, rel=0.03), name


if __name__ == "__main__":
    for measure in (masked_ratios, category_ratios):
        for name, ratios in measure().items():
            print("|", " | ".join([name, *(f"{ratio:.1f}" if ratio >= 5 else f"{ratio:.2f}" for ratio in ratios)]), "|")
