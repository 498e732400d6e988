#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""size_table.py: time per byte over sizes of chunks, as a Markdown table, from the CSV file of

    bench_codecs --size 0.0625,0.25,1,4,16,64,256 --csv FILE SPEC...

    size_table.py FILE

Each cell is nanoseconds for a byte, encoding / decoding; the last columns are the largest by the smallest."""

import csv
import sys


def size_name(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def near_power(size):
    """The power of 4 times 64 KiB that a field of about this size was asked for as."""
    wanted = 1 << 16
    while wanted * 2 < size:
        wanted *= 4
    return wanted


def main():
    with open(sys.argv[1], newline="", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if row["contender"] != "streaming copy"]
    sizes = sorted({near_power(int(row["bytes"])) for row in rows})
    found = {}
    for row in rows:
        times = [1 / float(row[column]) for column in ("encode_gbps", "decode_gbps")]
        found.setdefault((row["contender"], row["type"]), {})[near_power(int(row["bytes"]))] = times
    print("| | " + " | ".join(map(size_name, sizes)) + " | encoding | decoding |")
    print("|---|" + "--:|" * (len(sizes) + 2))
    for (name, kind), times in found.items():
        cells = [f"{times[size][0]:.2f} / {times[size][1]:.2f}" if size in times else "-" for size in sizes]
        spans = [max(each) / min(each) for each in zip(*times.values())]
        print(f"| {name} {kind} | " + " | ".join(cells) + f" | {spans[0]:.1f} | {spans[1]:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
