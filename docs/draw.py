#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw the pictures of the documentation into docs/pages/pictures.

    draw.py [FOLDER]

Needs the installed package h5twin, and matplotlib. Data are generated here, or by the scripts of docs/experiments."""

import csv
import pathlib
import sys

import matplotlib
import numpy as np

import h5twin

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INK, PALE, RED, BLUE, GREEN = "#1b2a41", "#8d99ae", "#d1495b", "#30638e", "#3c896d"
COLORS = {"abs": RED, "noa": BLUE, "rel": GREEN}
STYLE = {"font.size": 10, "axes.titlesize": 11, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK,
         "ytick.color": INK, "axes.edgecolor": PALE, "axes.spines.top": False, "axes.spines.right": False}


def fields():
    """Four arrays of 4 MiB: smooth, turbulent, noisy, and with few values."""
    rng = np.random.default_rng(1)
    at = np.indices((64, 128, 128)).astype("f4")
    smooth = np.sin(0.05 * at[0]) * np.cos(0.07 * at[1] + 0.03 * at[2])
    turbulent = sum(np.sin(k * 0.05 * at[(k + 1) % 3] + k * k) * np.cos(k * 0.04 * at[k % 3] + k) / k ** 1.7
                    for k in range(1, 30))
    noisy = smooth + rng.normal(size=smooth.shape).astype("f4") * 1e-3
    few = np.round(turbulent * 8)
    return [field.astype("f4") for field in (smooth, turbulent, noisy, few)]


def sample(chosen, arrays):
    """Geometric mean of ratio and of the speed of encoding, the best of three tries each."""
    ratios, speeds = [], []
    for array in arrays:
        tries = [h5twin.suggest(array, specs=[chosen])[0] for _ in range(3)]
        ratios.append(tries[0].ratio)
        speeds.append(max(row.encode_speed for row in tries))
    return np.exp(np.mean(np.log(ratios))), np.exp(np.mean(np.log(speeds)))


def draw_codecs(path):
    arrays = fields()
    groups = {"without loss": (["sleek", "ndzip", "fpcompress:mode=ratio", "fpcompress:mode=speed", "gfc", "e2mc",
                                "cascade", "cascade:effort=fast"], BLUE, "s"),
              "within 1e-3 of the range": (["sleek:noa=1e-3", "lattice:noa=1e-3", "lattice:noa=1e-3,effort=fast"], RED, "o")}
    figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    for label, (specs, color, marker) in groups.items():
        points = [sample(spec, arrays) for spec in specs]
        axes.scatter(*zip(*points), color=color, marker=marker, label=label, zorder=3)
        for spec, point in zip(specs, points):
            name = spec.replace("noa=1e-3", "").replace("mode=", "").replace("effort=", "")
            left = name in ("sleek:", "sleek", "gfc") and "noa" not in spec  # where they would lie upon each other
            axes.annotate(" ".join(name.replace(":", " ").replace(",", " ").split()), point,
                          xytext=(-6, -12 if name == "gfc" else -3) if left else (6, 3), ha="right" if left else "left",
                          textcoords="offset points", fontsize=9)
    axes.set(xscale="log", yscale="log", xlabel="ratio: raw bytes / stored bytes", ylabel="encoding, GB/s on one core",
             title="Up and right is better")
    axes.set_xlim(axes.get_xlim()[0] * 0.85, axes.get_xlim()[1] * 1.6)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(color=PALE, alpha=0.25)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)


def decoded(values, spec):
    return h5twin.decode(h5twin.encode(values, spec), values.dtype, values.shape)


def draw_bounds(path):
    """One curve over four powers of ten, and what the bounds allow around it."""
    x = np.linspace(0, 4, 400)
    values = 10.0 ** x * (1 + 0.3 * np.sin(9 * x))
    specs = {"abs": ("lattice:abs=50", "abs=50"), "noa": ("lattice:noa=0.01", "noa=0.01"), "rel": ("lattice:rel=0.2", "rel=0.2")}
    limits = {"abs": 50 + 0 * values, "noa": 0.01 * np.ptp(values) + 0 * values, "rel": 0.2 * values}
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True, layout="constrained")
    for side, (kind, (spec, title)) in zip(axes, specs.items()):
        back = decoded(values, spec)
        assert np.all(np.abs(back - values) <= limits[kind] * (1 + 1e-12))
        side.fill_between(x, np.maximum(values - limits[kind], 1e-3), values + limits[kind], color=COLORS[kind], alpha=0.2,
                          label="allowed", linewidth=0)
        side.plot(x, values, color=INK, linewidth=1, label="written")
        side.plot(x, np.where(back > 0, back, np.nan), ".", color=COLORS[kind], markersize=3, label="read back")
        side.set(yscale="log", ylim=(0.5, 3e4), title=title, xlabel="place")
        side.legend(frameon=False, loc="upper left")
    axes[0].set_ylabel("value")
    figure.savefig(path, dpi=110)


def draw_errors(path):
    """Histograms of errors in units of the bound."""
    values = fields()[2]
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), sharey=True, layout="constrained")
    cases = (("sleek", 1e-3), ("sleek", 1.9e-3), ("lattice", 1.9e-3))
    for side, (codec, bound) in zip(axes, cases):
        errors = (decoded(values, f"{codec}:abs={bound}").astype("f8") - values).ravel() / bound
        assert np.abs(errors).max() <= 1
        side.hist(errors, bins=np.linspace(-1.2, 1.2, 121), color=RED if codec == "lattice" else BLUE)
        for edge in (-1, 1):
            side.axvline(edge, color=INK, linewidth=1.2)
        side.set(title=f"{codec}:abs={bound:g}\nlargest error {np.abs(errors).max():.2f} of the bound",
                 xlabel="error, in units of the bound (lines: the bound)", yticks=[])
        side.spines["left"].set_visible(False)
    axes[0].set_ylabel("number of values")
    figure.savefig(path, dpi=110)


def draw_restart(path):
    """What restarts from values within a bound do to three simulations: experiments/restart.csv."""
    with open(pathlib.Path(__file__).parent / "experiments/restart.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    bounds = sorted({float(row["bound"]) for row in rows})
    shades = dict(zip(bounds, plt.get_cmap("plasma")(np.linspace(0.1, 0.8, len(bounds)))))
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
    for side, system in zip(axes, ("Gray-Scott", "Lorenz-96", "Kuramoto-Sivashinsky")):
        for bound in bounds:
            for how, line in ("once", "-"), ("every", ":"):
                picked = [row for row in rows if row["system"] == system and row["how"] == how and float(row["bound"]) == bound]
                times, differences = (np.array([float(row[name]) for row in picked]) for name in ("time", "difference"))
                # No bound is exceeded at the restart but by what the first step makes of it.
                assert len(picked) > 10 and differences[0] <= 1.2 * bound
                side.plot(times, differences, line, color=shades[bound], linewidth=1.5,
                          label=f"bound {bound:g}" if how == "once" else None)
        change, spread = (float(picked[0][name]) for name in ("change", "spread"))
        for value, text in (change, "largest change in one step"), (spread, "standard deviation of the state"):
            side.axhline(value, color=PALE, linewidth=1)
            side.annotate(text, (1, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8, color=INK)
        side.set(yscale="log", title=system, xlabel="time since the restart")
    axes[0].set_ylabel("largest difference from the exact run")
    handles, labels = axes[0].get_legend_handles_labels()
    axes[2].legend(handles, labels, frameon=False, loc="lower right", title="dotted: a restart again and again")
    figure.savefig(path, dpi=110)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "pages/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update(STYLE)
    for name, draw in (("bounds", draw_bounds), ("errors", draw_errors), ("codecs", draw_codecs),
                       ("restart", draw_restart)):
        draw(folder / f"{name}.png")
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
