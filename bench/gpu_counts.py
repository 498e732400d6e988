#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gpu_counts.py: what the CUDA back ends cost by counts, and what a model makes of that.

    gpu_counts.py run BUILD [-o FILE] [--shape CHUNK_BYTES CHUNKS] [SPEC...]
                                    counts as rows, from BUILD/bin/gpu_counts (-DH5TWIN_PTX=ON)
    gpu_counts.py table FILE [BEFORE]     a Markdown table of them, with those of an earlier FILE that differ
    gpu_counts.py kernels FILE [TEXT...]  a row for each kernel of cases that have these texts
    gpu_counts.py lines BUILD SPEC [f32|f64 [bare|framed [encode|decode]]]
                                    the source lines that cost most

Nothing is measured: the model is a number to compare kernels by. It takes an H100 for one that issues 0.7 of
898 G warp instructions a second and moves 0.87 of 3.35 TB/s; a kernel takes as long as the slower of the two.
Multiprocessors without a block do nothing; those with fewer than eight warps issue in proportion.
Launches cost nothing in it. `of copy` compares with a copy in device memory, 1.40 TB/s.
"""

import argparse
import collections
import csv
import pathlib
import subprocess
import sys

ISSUE_RATE = 898e9 * 0.7  # warp instructions a second
MEMORY_RATE = 3.35e12 * 0.87  # bytes a second
COPY_RATE = 1.40e12  # bytes a second, of an array that is copied
MULTIPROCESSORS, MOST_THREADS, MOST_BLOCKS = 132, 2048, 32
SHARED_BYTES, SHARED_OF_BLOCK, REGISTERS = 227 * 1024, 1024, 65536
BUSY_WARPS = 8  # of a multiprocessor: two for each of its schedulers
CASE = ("spec", "type", "chunk_bytes", "chunks", "stream", "direction")
COUNTS = ("launches", "blocks", "threads", "shared", "warp_instructions", "load_sectors", "store_sectors")


def read(path):
    """{case: [row of each kernel]}, in the file's order."""
    cases = collections.OrderedDict()
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"):
            row.update({name: int(row[name]) for name in COUNTS})
            cases.setdefault(tuple(row[name] for name in CASE), []).append(row)
    return cases


def registers():
    """{kernel: registers of a thread on sm_90}, of the table that ptxas made."""
    table = pathlib.Path(__file__).parent / "results" / "kernels.tsv"
    with open(table, encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return {row["kernel"]: int(row["registers"]) for row in rows if row["sm"] == "90"}


REGISTERS_OF = registers()


def blocks_in_flight(row):
    """Blocks of a launch that are on the device together."""
    if row["threads"] == 0:
        return 0
    warps = (row["threads"] + 31) // 32
    used = (REGISTERS_OF.get(row["kernel"], 32) + 7) // 8 * 8 * 32 * warps
    each = min(MOST_BLOCKS, MOST_THREADS // row["threads"], REGISTERS // used,
               SHARED_BYTES // (row["shared"] + SHARED_OF_BLOCK))
    return min(row["blocks"] // row["launches"], each * MULTIPROCESSORS)


def seconds(row):
    """What the model says of a kernel's launches."""
    moved = 32 * (row["load_sectors"] + row["store_sectors"])
    if row["threads"] == 0:
        return moved / MEMORY_RATE
    warps = blocks_in_flight(row) * ((row["threads"] + 31) // 32)
    busy = min(1.0, warps / (MULTIPROCESSORS * BUSY_WARPS))
    share = min(1.0, blocks_in_flight(row) / MULTIPROCESSORS)
    return max(row["warp_instructions"] / ISSUE_RATE / busy, moved / MEMORY_RATE / share)


def summary(case, rows):
    """Instructions and bytes read and written per byte, launches, most blocks in flight, GB/s."""
    size = int(case[2]) * int(case[3])
    time = sum(seconds(row) for row in rows)
    return {
        "instr/B": sum(row["warp_instructions"] for row in rows) / size,
        "read": 32 * sum(row["load_sectors"] for row in rows) / size,
        "written": 32 * sum(row["store_sectors"] for row in rows) / size,
        "launches": sum(row["launches"] for row in rows),
        "blocks": max(blocks_in_flight(row) for row in rows),
        "GB/s": size / time / 1e9,
    }


def cell(now, before, form):
    """One number, or with an earlier one that differs by more than a fiftieth."""
    if before is None or abs(now - before) <= abs(before) / 50:
        return format(now, form)
    return f"{before:{form}} → {now:{form}}"


FORMS = (("instr/B", ".2f"), ("read", ".2f"), ("written", ".2f"), ("launches", "d"), ("blocks", "d"), ("GB/s", ".0f"))


def table(cases, earlier):
    """Lines of Markdown, a table for each shape."""
    shapes = list(dict.fromkeys(case[3] for case in cases))
    for shape in shapes:
        yield f"{shape} chunk{'s' if shape != '1' else ''} of 1 MiB:"
        yield ""
        yield "| | way | " + " | ".join(name for name, _ in FORMS) + " | of copy |"
        yield "|---|---|" + "--:|" * (len(FORMS) + 1)
        for case, rows in cases.items():
            if case[3] != shape:
                continue
            now = summary(case, rows)
            before = summary(case, earlier[case]) if case in earlier else {}
            cells = [cell(now[name], before.get(name), form) for name, form in FORMS]
            share = now["GB/s"] * 1e9 / COPY_RATE
            yield f"| {case[0]} {case[1]} | {case[4]} {case[5]} | " + " | ".join(cells) + f" | {share:.2f} |"
        yield ""


def run(build, output, arguments):
    """Counts of the tool, to a file or standard output."""
    text = subprocess.run([f"{build}/bin/gpu_counts", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
    if output:
        pathlib.Path(output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def kernels(cases, texts):
    """A line for each kernel."""
    for case, rows in cases.items():
        if all(text in case for text in texts):
            size = int(case[2]) * int(case[3])
            for row in sorted(rows, key=seconds, reverse=True):
                yield (f"{' '.join(case[:2] + case[4:]):40} {row['kernel']:45} {row['launches']:4} launches "
                       f"{row['warp_instructions'] / size:8.4f} instr/B {32 * row['load_sectors'] / size:6.3f} read "
                       f"{32 * row['store_sectors'] / size:6.3f} written {blocks_in_flight(row):6} blocks "
                       f"{1e9 * seconds(row) / size:8.5f} ns/B")


def lines(build, spec, texts):
    """The lines that cost most, of one spec."""
    text = subprocess.run([f"{build}/bin/gpu_counts", "--lines", spec], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = csv.DictReader((line for line in text.splitlines() if not line.startswith("#")), delimiter="\t")
    rows = [row for row in rows if all(text in (row["type"], row["stream"], row["direction"]) for text in texts)]
    rows.sort(key=lambda row: int(row["warp_instructions"]), reverse=True)
    for row in rows[:60]:
        size = int(row["chunk_bytes"]) * int(row["chunks"])
        yield (f"{int(row['warp_instructions']) / size:8.4f} instr/B {32 * int(row['load_sectors']) / size:6.3f} read "
               f"{32 * int(row['store_sectors']) / size:6.3f} written  {row['kernel']}  {row['line']}")


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table", "kernels", "lines"))
    parser.add_argument("path")
    parser.add_argument("-o", "--output")
    parser.add_argument("--shape", nargs=2)
    parser.add_argument("rest", nargs="*")
    given = parser.parse_args()
    if given.what == "run":
        run(given.path, given.output, (["--shape", *given.shape] if given.shape else []) + given.rest)
        return
    if given.what == "table":
        result = table(read(given.path), read(given.rest[0]) if given.rest else {})
    elif given.what == "kernels":
        result = kernels(read(given.path), given.rest)
    else:
        result = lines(given.path, given.rest[0], given.rest[1:])
    try:
        print("\n".join(result))
    except BrokenPipeError:
        sys.stderr.close()


if __name__ == "__main__":
    main()
