# SPDX-License-Identifier: BSD-3-Clause
"""report.py: plots and Markdown tables of a run, into its results folder.

    report.py RESULTS

Reads codecs.csv, peers.csv, hdf5.csv, threads.csv, hdf5_cost.csv, hdf5_cost_h5py.csv and machine.txt, whichever are
there.
"""

import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.transforms import Bbox

import peers
import speed_table
import results

LARGE = 16 << 20  # bytes; of the step threads: larger arrays are in memory, smaller ones in a cache
OURS, PEER = "#c0392b", "#2c6fbb"
LOSSY_COLOURS = {"h5twin sleek": "#e59866", "h5twin lattice": "#c0392b", "h5twin lattice fast": "#d98880",
                 "h5twin lattice stable=no": "#7b241c",
                 "Zfp": "#2c6fbb", "SZ3": "#2e8b57", "Sperr": "#8e5ea2"}
LOSSY_MARKERS = {"h5twin sleek": "o", "h5twin lattice": "*", "h5twin lattice fast": "P",
                  "h5twin lattice stable=no": "X", "Zfp": "s", "SZ3": "^", "Sperr": "D"}

plt.rcParams.update({"figure.dpi": 110, "font.size": 9, "axes.grid": True, "grid.alpha": 0.25,
                     "axes.spines.top": False, "axes.spines.right": False})


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


# ---- ratio against throughput ----

def lossless_points(data, path, kinds, column):
    """(label, ratio, speed, ours): geometric means over the arrays of some precisions; only of those
    who take all of them: a mean over fewer arrays is no match for the others'."""
    rows = [row for row in results.exact(data["hdf5"], path) if row["type"] in kinds]
    count = len(results.arrays_of(rows))
    return [point(name, mine.values(), column) for name, mine in results.by_contender(rows).items()
            if name not in results.BASELINES and len(mine) == count]


def lossy_points(data, bound, column):
    rows = [row for row in lossy_rows(data) if row["relative_bound"] == bound]
    _, complete = results.arrays_of_all(rows)
    return [point(name, mine.values(), column) for name, mine in results.by_contender(rows).items()
            if name in complete]


def point(name, rows, column):
    return (name.removeprefix("h5twin "), results.geometric_mean(row["ratio"] for row in rows),
            results.geometric_mean(row[column] for row in rows), results.is_ours(name))


def pareto_front(points):
    front = []
    for point in sorted(points, key=lambda point: (-point[2], -point[1])):
        if not front or point[1] > front[-1][1]:
            front.append(point)
    return front


def place_labels(axes, points):
    """Labels beside their points, moved up or down until they do not overlap."""
    figure = axes.figure
    figure.canvas.draw()
    renderer, placed = figure.canvas.get_renderer(), []
    for _, x, y, _ in points:
        at_x, at_y = axes.transData.transform((x, y))
        placed.append(Bbox.from_extents(at_x - 4, at_y - 4, at_x + 4, at_y + 4))
    for label, x, y, ours in sorted(points, key=lambda point: point[2]):
        for offset in (0, 9, -9, 18, -18, 27, -27, 36, -36, 45, -45):
            for side, align in ((6, "left"), (-6, "right")):
                text = axes.annotate(label, (x, y), (side, offset), textcoords="offset points",
                                     ha=align, va="center", fontsize=7.5,
                                     color=OURS if ours else "#333333")
                box = text.get_window_extent(renderer).expanded(1.0, 0.85)
                inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 + 40
                if inside and not any(box.overlaps(other) for other in placed):
                    break
                text.remove()
                text = None
            if text is not None:
                placed.append(box)
                break


def draw_pareto(axes, points, top=None):
    """Points, their front and their names; `top` is a line that no speed is above."""
    for ours, colour, marker in ((False, PEER, "s"), (True, OURS, "o")):
        mine = [point for point in points if point[3] == ours]
        axes.scatter([p[1] for p in mine], [p[2] for p in mine], color=colour, marker=marker,
                     s=30, zorder=3, label="h5twin" if ours else "peers")
    front = pareto_front(points)
    axes.plot([p[1] for p in front], [p[2] for p in front], color="#555555", linestyle="--",
              linewidth=1, label="Pareto front", zorder=1)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    low, high = min(p[1] for p in points), max(p[1] for p in points)
    axes.set_xlim(low - 0.12 * (high - low), high + 0.25 * (high - low))
    highest = max([p[2] for p in points] + ([top] if top else []))
    axes.set_ylim(min(p[2] for p in points) / 1.5, highest * 1.5)
    if top:
        axes.axhline(top, color="#888888", linewidth=1)
    axes.set_xlabel("compression ratio (geometric mean)")


def baseline(data, path, kinds, column):
    name = "memcpy" if path == "bare" else "unfiltered"
    return name, results.geometric_mean(row[column] for row in results.exact(data["hdf5"], path)
                                        if row["contender"] == name and row["type"] in kinds)


def plot_pareto(data, folder, kind, path, direction):
    column = f"{direction}_gbps"
    points = lossless_points(data, path, (kind,), column)
    if not points:
        return None
    figure, axes = plt.subplots(figsize=(8, 5.2))
    name, top = baseline(data, path, (kind,), column)
    draw_pareto(axes, points, top)
    axes.annotate(name, (axes.get_xlim()[1], top), (-2, 4), textcoords="offset points",
                  ha="right", color="#666666", fontsize=7.5)
    how = "memory to memory" if path == "bare" else "through HDF5"
    axes.set_ylabel(f"{direction}, {how}, GB/s of one core")
    axes.set_title(f"{kind}, lossless, {direction}, {how}: up and right is better")
    axes.legend(loc="lower left", frameon=False)
    place_labels(axes, points)
    picture = f"pareto-{path}-{kind}-{direction}.png"
    save(figure, folder / picture)
    return picture


OVERVIEW_BOUND = 1e-3


def plot_overview(data, folder):
    """Writing through HDF5, ratio against speed: lossless, and within a bound."""
    kinds = ("f32", "f64")
    panels = [(lossless_points(data, "hdf5", kinds, "encode_gbps"), "lossless"),
              (lossy_points(data, OVERVIEW_BOUND, "encode_gbps"),
               f"absolute bound of {OVERVIEW_BOUND:g} of each array's range")]
    panels = [panel for panel in panels if panel[0]]
    if not panels:
        return None
    figure, all_axes = plt.subplots(1, len(panels), figsize=(6.2 * len(panels), 4.8), squeeze=False)
    for axes, (points, title) in zip(all_axes[0], panels):
        draw_pareto(axes, points)
        axes.set_ylabel("H5Dwrite, GB/s of one core")
        axes.set_title(title)
    all_axes[0][0].legend(loc="lower left", frameon=False)
    figure.suptitle("Up and right is better")
    figure.tight_layout()
    for axes, (points, _) in zip(all_axes[0], panels):
        place_labels(axes, points)
    save(figure, folder / "overview.png")
    return "overview.png"


# ---- lossy ----

def lossy_rows(data):
    return results.lossy(data["hdf5"])


def plot_lossy_ratio(data, folder):
    rows = lossy_rows(data)
    common, _ = results.arrays_of_all(rows)
    figure, all_axes = plt.subplots(1, 3, figsize=(11.5, 4.2))
    for axes, (column, label) in zip(all_axes, (("ratio", "compression ratio"),
                                                ("encode_gbps", "H5Dwrite, GB/s"),
                                                ("decode_gbps", "H5Dread, GB/s"))):
        for name in LOSSY_COLOURS:
            mine = [row for row in rows if row["contender"] == name
                    and (row["array"], row["type"]) in common]
            bounds = sorted({row["relative_bound"] for row in mine}, reverse=True)
            axes.plot(bounds, [results.geometric_mean(row[column] for row in mine
                                                      if row["relative_bound"] == bound)
                               for bound in bounds],
                      color=LOSSY_COLOURS[name], marker=LOSSY_MARKERS[name], label=name)
        axes.set(xscale="log", yscale="log", xlabel="bound / range of the array", ylabel=label)
        axes.invert_xaxis()
    all_axes[0].legend(frameon=False)
    figure.suptitle(f"Absolute bound, through HDF5, one core: geometric means over the {len(common)}"
                    " arrays that all take")
    save(figure, folder / "lossy-ratio.png")
    return "lossy-ratio.png"


def plot_lossy_error(data, folder):
    rows = lossy_rows(data)
    figure, axes = plt.subplots(figsize=(8.5, 4.6))
    axes.axhline(1, color="#555555", linewidth=1)
    names = list(LOSSY_COLOURS)
    top = 8.0
    for name in names:
        mine = [row for row in rows if row["contender"] == name]
        shift = 10 ** (0.13 * (names.index(name) - (len(names) - 1) / 2))
        x = [row["relative_bound"] * shift for row in mine]
        y = [min(max(row["max_error"] / row["bound"], 0.02), top) for row in mine]
        axes.scatter(x, y, color=LOSSY_COLOURS[name], marker=LOSSY_MARKERS[name], s=16, alpha=0.6,
                     label=f"{name}: {sum(map(results.exceeds, mine))} of {len(mine)} exceed")
        over = [(a, b) for a, b, row in zip(x, y, mine) if results.exceeds(row)]
        axes.scatter([a for a, _ in over], [b for _, b in over], s=90, facecolors="none",
                     edgecolors="black", linewidths=1.1, zorder=4)
    axes.scatter([], [], s=90, facecolors="none", edgecolors="black", label="exceeds")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xscale="log", yscale="log", xlabel="bound / range of the array",
             ylabel="largest error / bound", ylim=(0.015, 14),
             title="Largest error of every array (top edge: 8 times or more; bottom edge: 0.02 or less)")
    axes.invert_xaxis()
    axes.legend(frameon=False, fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=5,
                handletextpad=0.2, columnspacing=1.2)
    save(figure, folder / "lossy-error.png")
    return "lossy-error.png"


# ---- threads ----

def plot_threads(data, folder):
    rows = [row for row in data["threads"] if row["bytes"] > LARGE]
    kinds = [kind for kind in ("f32", "f64") if any(row["type"] == kind for row in rows)]
    figure, all_axes = plt.subplots(1, len(kinds), figsize=(5.5 * len(kinds), 4.6), squeeze=False)
    for axes, kind in zip(all_axes[0], kinds):
        names = list(results.unique(row["contender"] for row in rows))
        for i, name in enumerate(names):
            mine = [row for row in rows if row["contender"] == name and row["type"] == kind]
            one = next(row for row in mine if row["threads"] == 1)
            most = max(mine, key=lambda row: row["threads"])
            for direction, colour, shift in (("encode", OURS, -0.18), ("decode", PEER, 0.18)):
                column = f"{direction}_best_gbps"
                axes.barh(i + shift, most[column] / one[column], 0.34, color=colour,
                          label=f"{direction}" if i == 0 else None)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set(title=kind, xlabel=f"speed with {most['threads']:.0f} threads / with 1")
        axes.axvline(1, color="#555555", linewidth=1)
        axes.set_xlim(0, 1.08 * max(row["threads"] for row in rows))
    figure.legend(*all_axes[0][0].get_legend_handles_labels(), frameon=False, loc="upper right", ncol=2)
    figure.suptitle("One array of 64 MiB, best time by the clock on the wall")
    save(figure, folder / "threads.png")
    return "threads.png"


# ---- tables ----

def variants_table(data):
    """Speed of each instruction set; geometric means. Marked where one is slower than a lesser."""
    rows = [row for row in data["codecs"] if row["variant"] != "-"]
    variants = results.unique(row["variant"] for row in rows)
    lines = []
    for kind in ("f32", "f64"):
        for name in results.unique(row["contender"] for row in rows):
            for direction in ("encode", "decode"):
                column = f"{direction}_gbps"
                speeds = [results.geometric_mean(
                    row[column] for row in rows if row["contender"] == name
                    and row["variant"] == variant and row["type"] == kind) for variant in variants]
                slower = [speed < 0.95 * max(speeds[:i + 1]) for i, speed in enumerate(speeds)]
                lines.append([f"{name} {kind} {direction}"] + [
                    f"{speed:.2f}" + (" (slower)" if bad else "")
                    for speed, bad in zip(speeds, slower)])
    return results.table(["GB/s, one core"] + variants, lines)


def decode_limit_table(data):
    """How much faster than plain loops the codecs of one stage decode, and how near to a copy."""
    variants = results.unique(row["variant"] for row in data["codecs"] if row["variant"] != "-")
    if "sse4.2" not in variants:
        return ""

    def speed(contender, variant, kind):
        return results.geometric_mean(
            row["decode_gbps"] for row in data["codecs"] if row["type"] == kind
            and row["contender"] == contender and row["variant"] == variant)

    lines = []
    for kind in ("f32", "f64"):
        for name in ("sleek", "fpcompress:mode=speed"):
            plain, best, copy = speed(name, "sse4.2", kind), speed(name, variants[-1], kind), speed("memcpy", "-", kind)
            lines.append([f"{name} {kind}", f"{plain:.2f}", f"{best:.2f}", f"{best / plain:.2f}",
                          f"{copy:.2f}", f"{best / copy:.2f}"])
    return results.table(["decode, GB/s", "plain loops (sse4.2)", variants[-1], "factor", "memcpy",
                          f"{variants[-1]} / memcpy"], lines)


def range_limit_table(data):
    """What encoding takes longer if the bound is relative to a range that has to be found first."""
    rows = results.best_variant([row for row in data["codecs"] if row["contender"] in (
        "sleek:range=1e-4", "sleek:noa=1e-4", "memcpy")])
    if "sleek:noa=1e-4" not in {row["contender"] for row in rows}:
        return ""
    lines = []
    for kind in ("f32", "f64"):
        absolute, relative, copy = (results.geometric_mean(
            row["encode_gbps"] for row in rows if row["type"] == kind and row["contender"] == name)
            for name in ("sleek:range=1e-4", "sleek:noa=1e-4", "memcpy"))
        lines.append([kind, f"{absolute:.2f}", f"{relative:.2f}", f"{relative / absolute:.2f}",
                      f"{1 / (1 / relative - 1 / absolute):.1f}", f"{copy:.2f}"])
    return results.table(["encode, GB/s", "sleek, absolute bound", "sleek:noa=1e-4, the same bound", "quotient",
                          "the range alone (difference)", "memcpy"], lines)


def slower_table(data):
    """Arrays on which the best variant is slower than a lesser one by more than a tenth."""
    rows = [row for row in data["codecs"] if row["variant"] != "-"]
    best = {(row["array"], row["type"], row["contender"]): row for row in results.best_variant(rows)}
    lines = []
    for row in rows:
        key = (row["array"], row["type"], row["contender"])
        for direction in ("encode", "decode"):
            column = f"{direction}_gbps"
            if best[key][column] < 0.9 * row[column]:
                lines.append([f"{key[2]} on {key[0]} {key[1]}, {direction}", row["variant"],
                              f"{row[column]:.2f}", best[key]["variant"],
                              f"{best[key][column]:.2f}"])
    return results.table(["slower than a lesser instruction set", "of", "GB/s", "best", "GB/s"],
                         lines) if lines else "No codec is slower than with lesser instructions.\n"


def exact_table(data, path):
    rows = results.exact(data["hdf5"], path)
    count = len(results.arrays_of(rows))
    first, second = ("encode", "decode") if path == "bare" else ("H5Dwrite", "H5Dread")
    return results.table(
        ["lossless", "ratio", f"{first} GB/s", f"{second} GB/s", f"{first} / memcpy", f"{second} / memcpy"],
        [[name + ("" if len(mine) == count else f" ({len(mine)} of {count} arrays)")] + [
            f"{results.geometric_mean(row[column] for row in mine.values()):.3g}"
            for column in ("ratio", "encode_gbps", "decode_gbps", "encode_to_memcpy", "decode_to_memcpy")]
         for name, mine in results.by_contender(rows).items()])


def cost_table(data):
    return results.table(
        ["one chunk, microseconds", "KiB", "codec", "unfiltered", "filtered", "cost", "callback's own",
         "HDF5 and file", "page faults"],
        [cost_cells(row) + [f"{row[column]:.0f}" for column in (
            "callback_extra_us", "hdf5_us", "filtered_faults")] for row in data["hdf5_cost"]])


def cost_cells(row):
    return [f"{row['contender']} {row['type']} {row['direction']}", f"{row['chunk_bytes'] / 1024:.0f}"] + [
        f"{row[column]:.0f}" for column in ("codec_us", "unfiltered_us", "filtered_us")] + [f"{row['cost']:.2f}"]


def h5py_cost_table(data):
    return results.table(
        ["one chunk, microseconds", "KiB", "codec", "unfiltered", "filtered", "cost", "page faults"],
        [cost_cells(row) + [f"{row['filtered_faults']:.0f}"] for row in data["hdf5_cost_h5py"]])


def cost_summary(rows):
    """By size of chunks and direction: the median cost, the largest, and how many are within a tenth."""
    lines = []
    for size in results.unique(row["chunk_bytes"] for row in rows):
        for direction in ("write", "read"):
            costs = sorted(row["cost"] for row in rows
                           if row["chunk_bytes"] == size and row["direction"] == direction)
            if costs:
                lines.append([f"{size / 1024:.0f} KiB, {direction}", f"{costs[len(costs) // 2]:.2f}", f"{costs[-1]:.2f}",
                              f"{sum(cost <= 1.1 for cost in costs)} of {len(costs)}"])
    return results.table(["filtered / (codec + unfiltered)", "median", "largest", "at most 1.1"], lines)


def threads_table(data):
    rows = data["threads"]
    lines = []
    for key in results.unique((row["bytes"] > LARGE, row["type"], row["contender"]) for row in rows):
        mine = {row["threads"]: row for row in rows
                if (row["bytes"] > LARGE, row["type"], row["contender"]) == key}
        most = mine[max(mine)]
        lines.append([f"{key[2]} {key[1]}, {'64' if key[0] else '4'} MiB"] + [
            f"{value:.2f}" for direction in ("encode", "decode") for value in (
                mine[1][f"{direction}_best_gbps"], most[f"{direction}_best_gbps"],
                most[f"{direction}_best_gbps"] / mine[1][f"{direction}_best_gbps"])])
    most = f"{max(row['threads'] for row in rows):.0f}"
    return results.table(["best GB/s by the wall", "encode, 1", f"encode, {most}", "gain",
                          "decode, 1", f"decode, {most}", "gain"], lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    data = {name: results.read(folder / f"{name}.csv")
            for name in ("codecs", "hdf5", "threads", "hdf5_cost", "hdf5_cost_h5py")}
    text = ["# Measured\n"]
    if (folder / "machine.txt").exists():
        text.append("```\n" + (folder / "machine.txt").read_text() + "```\n")
    text.append("bench/README.md says what is measured and how.\n")

    def section(title, *parts):
        text.append(f"## {title}\n")
        text.extend(f"![{part[:-4]}]({part})\n" if part.endswith(".png") else part
                    for part in parts if part)

    if data["hdf5"]:
        section("Ratio and speed", plot_overview(data, folder), speed_table.fragment(folder, details=True))
        for path, title in (("bare", "Memory to memory"), ("hdf5", "Through HDF5")):
            section(title, exact_table(data, path), *[
                plot_pareto(data, folder, kind, path, direction)
                for kind in ("f32", "f64") for direction in ("encode", "decode")])
    if lossy_rows(data):
        section("Lossy", plot_lossy_ratio(data, folder), plot_lossy_error(data, folder))
    if data["codecs"]:
        section("Instruction sets", variants_table(data), slower_table(data),
                decode_limit_table(data), range_limit_table(data))
    beside = peers.table(folder)
    if beside:
        section("Beside compressors that were brought", beside)
    if data["threads"]:
        section("Threads", plot_threads(data, folder), threads_table(data))
    if data["hdf5_cost"]:
        section("Cost of the way through HDF5", cost_summary(data["hdf5_cost"]), cost_table(data))
    if data["hdf5_cost_h5py"]:
        section("Cost of the way through h5py", cost_summary(data["hdf5_cost_h5py"]), h5py_cost_table(data))
    (folder / "README.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()
