#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gpu_report.py: Markdown tables, and a plot where matplotlib is there, of what bench_gpu printed.

    gpu_report.py FOLDER [PAGE]

Reads FOLDER/gpu.csv, and FOLDER/gpu_whole.csv if it is there; writes FOLDER/gpu.md, and FOLDER/gpu.png; with
PAGE, the summary between its two marker lines. Needs nothing but Python for the tables, since machines with a GPU often have no network.
"""

import csv
import pathlib
import sys

MIB = 1024 * 1024
DIRECTIONS = ("encode", "decode")
STREAMS = {"bare": "bare streams", "framed": "chunks with frame and checksum"}

# What the kernels are built for, on an H100 or H200, for bare streams at the best shape: spec, type
# (any if empty), and at least what, to encode and to decode. Numbers below 10 are quotients by a copy
# from device to device, the others GB/s.
GOALS = [
    ("sleek", "", 0.9, 1.0),
    ("sleek:abs=1e-3", "", 1.0, 1.4),
    ("fpcompress:mode=speed", "", 0.5, 0.5),
    ("fpcompress:mode=ratio", "f32", 0.25, 0.25),
    ("fpcompress:mode=ratio", "f64", 100, 100),
    ("ndzip", "", 0.5, 0.5),
    ("ndzip:layout=reference", "", 0.5, 0.5),
    ("gfc", "", 0.6, 0.6),
    ("e2mc", "", 100, 100),
]
START, END = "<!-- table: gpu -->", "<!-- end of gpu -->"
SUMMARY_SHAPE = (64, MIB)  # chunks, bytes of one

FRAMED_GOAL = 0.8  # of the bare stream's speed, at the same shape


def read(lines):
    """(title, rows): the comment with the device's name, and a dict for each measurement."""
    lines = list(lines)
    title = lines[0].lstrip("# ").strip() if lines and lines[0].startswith("#") else ""
    return title, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def shape(row):
    """(chunks, bytes of one): single chunks come first."""
    return int(row["chunks"]), int(row["chunk_bytes"])


def shape_name(chunks, chunk_bytes):
    size = f"{chunk_bytes // MIB} MiB"
    return size if chunks == 1 else f"{chunks} x {size}"


def unique(values):
    return list(dict.fromkeys(values))


def table(rows, direction, stream):
    """GB/s, and in brackets the quotient by a copy from device to device, by codec and shape."""
    mine = [row for row in rows if (row["direction"], row["stream"]) == (direction, stream)]
    shapes = sorted(unique(shape(row) for row in mine))
    cells = {(row["spec"], row["type"], shape(row)): row for row in mine}
    lines = ["| codec | type | " + " | ".join(shape_name(*key) for key in shapes) + " |",
             "|---|---|" + "--:|" * len(shapes)]
    for spec, kind in unique((row["spec"], row["type"]) for row in mine):
        found = [cells.get((spec, kind, key)) for key in shapes]
        lines.append(f"| {spec} | {kind} | " + " | ".join(
            f"{float(row['median']):.0f} ({float(row['to_copy']):.2f})" if row else "-"
            for row in found) + " |")
    return "\n".join(lines)


def best(rows, spec, kind, direction, goal):
    """The most that a bare stream reached, in the goal's unit; None if it was not measured."""
    column = "to_copy" if goal < 10 else "median"
    return max((float(row[column]) for row in rows
                if (row["spec"], row["type"], row["direction"], row["stream"])
                == (spec, kind, direction, "bare")), default=None)


def least_framed(rows, spec, kind, direction):
    """The least quotient of a framed chunk's speed by the bare stream's, over the shapes of both."""
    speeds = {(row["stream"], shape(row)): float(row["median"]) for row in rows
              if (row["spec"], row["type"], row["direction"]) == (spec, kind, direction)}
    return min((speed / speeds["bare", key] for (stream, key), speed in speeds.items()
                if stream == "framed" and ("bare", key) in speeds), default=None)


def goals(rows):
    """Goals beside what was reached."""
    def cell(goal, reached):
        return f"{goal:g}: " + ("-" if reached is None else f"{reached:.3g}")
    lines = ["| codec | type | encode, bare | framed / bare | decode, bare | framed / bare |",
             "|---|---|--:|--:|--:|--:|"]
    for spec, only, *least in GOALS:
        for kind in [only] if only else unique(row["type"] for row in rows):
            cells = []
            for direction, goal in zip(DIRECTIONS, least):
                cells += [cell(goal, best(rows, spec, kind, direction, goal)),
                          cell(FRAMED_GOAL, least_framed(rows, spec, kind, direction))]
            if any(not text.endswith("-") for text in cells):
                lines.append(f"| {spec} | {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(title, rows):
    parts = [f"# {title}",
             "From device memory to device memory; medians; in brackets the quotient by a copy of "
             "the same bytes from device to device in the same run. A dash: it did not fit."]
    for stream in unique(row["stream"] for row in rows):
        for direction in DIRECTIONS:
            if not any((row["direction"], row["stream"]) == (direction, stream) for row in rows):
                continue
            parts += [f"## {direction.capitalize()}, {STREAMS[stream]}, GB/s",
                      table(rows, direction, stream)]
    parts += ["## Goals on an H100 or H200, and what was reached",
              "At least, and the most of all shapes (framed / bare: the least); below 10 a quotient "
              "by the copy, else GB/s.", goals(rows)]
    return "\n\n".join(parts) + "\n"


def fragment(title, rows):
    """The summary for a page: one shape, both kinds of streams."""
    mine = {(row["spec"], row["type"], row["stream"], row["direction"]): row for row in rows
            if shape(row) == SUMMARY_SHAPE}
    ways = [(stream, direction) for stream in STREAMS for direction in DIRECTIONS]
    lines = ["| codec | type | ratio | " + " | ".join(f"{direction}, {stream}" for stream, direction in ways)
             + " |", "|---|---|" + "--:|" * (1 + len(ways))]
    for spec, kind in unique(key[:2] for key in mine):
        found = [mine.get((spec, kind, *way)) for way in ways]
        ratio = next(row["ratio"] for row in found if row)
        lines.append(f"| {spec} | {kind} | {float(ratio):.2f} | " + " | ".join(
            f"{float(row['median']):.0f}" if row else "-" for row in found) + " |")
    device = title.partition(",")[0]
    return (f"On one {device}, {shape_name(*SUMMARY_SHAPE)} of a generated smooth field, GB/s of uncompressed bytes from "
            "and to device memory; *bare* is the codec's stream alone, *framed* a chunk as files have it, with frame and "
            "checksum.\n\n" + "\n".join(lines))


def whole_fragment(rows):
    """What gpu_whole measured, for a page: a row for each spec, a column for each way."""
    ways = unique(row["way"] for row in rows)
    cells = {(row["spec"], row["way"]): row for row in rows}
    lines = ["| codec | file MB | " + " | ".join(f"{direction}, {way}" for direction in ("write", "read") for way in ways)
             + " |", "|---|" + "--:|" * (1 + 2 * len(ways))]
    for spec in unique(row["spec"] for row in rows):
        lines.append(f"| {spec} | {float(cells[spec, ways[-1]]['file_mb']):.0f} | " + " | ".join(
            f"{float(cells[spec, way][column]):.1f}" for column in ("write_gbps", "read_gbps") for way in ways) + " |")
    size = max(float(row["file_mb"]) for row in rows if row["way"] == "unfiltered")
    return (f"The same GPU, an array of {size:.0f} MB of f32 in its memory, to a file on tmpfs and back, chunks of 1 MiB, GB/s: "
            "*unfiltered* is a copy to the host and H5Dwrite, *host* `h5twin_write`, which compresses there on 16 cores, *gpu* the "
            "same with `H5TWIN_DEVICE=gpu`.\n\n" + "\n".join(lines))


def page_fragment(folder):
    """All between the marker lines of a page."""
    title, rows = read((folder / "gpu.csv").read_text(encoding="utf-8").splitlines())
    text, whole = fragment(title, rows), folder / "gpu_whole.csv"
    if whole.exists():
        text += "\n\n" + whole_fragment(read(whole.read_text(encoding="utf-8").splitlines())[1])
    return text


def plot(title, rows, path):
    """Single chunks with a frame: the quotient by the copy against the chunk's size."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    kinds = unique(row["type"] for row in rows)
    figure, axes = plt.subplots(len(kinds), 2, figsize=(11, 4 * len(kinds)), squeeze=False,
                                sharex=True, sharey=True)
    for line, kind in zip(axes, kinds):
        for axis, direction in zip(line, DIRECTIONS):
            for spec in unique(row["spec"] for row in rows):
                points = sorted((int(row["chunk_bytes"]) / MIB, float(row["to_copy"]))
                                for row in rows
                                if (row["spec"], row["type"], row["direction"], row["chunks"],
                                    row["stream"])
                                == (spec, kind, direction, "1", "framed"))
                if points:
                    axis.plot(*zip(*points), marker="o", markersize=3, linewidth=1, label=spec)
            axis.set_title(f"{direction}, {kind}")
            axis.set_xscale("log", base=2)
            axis.axhline(1, color="grey", linewidth=0.6)
            axis.grid(alpha=0.25)
    for axis in axes[-1]:
        axis.set_xlabel("MiB of one chunk")
    for line in axes:
        line[0].set_ylabel("speed / copy on the device")
    axes[0][0].legend(fontsize=7)
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    title, rows = read((folder / "gpu.csv").read_text(encoding="utf-8").splitlines())
    if not rows:
        sys.exit(f"{folder}/gpu.csv holds no measurement: run bench_gpu on a machine with a GPU")
    (folder / "gpu.md").write_text(report(title, rows), encoding="utf-8")
    if len(sys.argv) == 3:
        page = pathlib.Path(sys.argv[2])
        before, _, rest = page.read_text(encoding="utf-8").partition(START)
        page.write_text(f"{before}{START}\n\n{page_fragment(folder)}\n\n{END}{rest.partition(END)[2]}",
                        encoding="utf-8")
    try:
        plot(title, rows, folder / "gpu.png")
    except ImportError:
        print("no plot: this Python has no matplotlib", file=sys.stderr)


if __name__ == "__main__":
    main()
