#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_counts.py: no count of any kernel has grown by more than 3 percent since counts.tsv was made.

    check_counts.py BUILD           exit status 1: one has grown, or the table lacks a kernel
    check_counts.py BUILD renew     makes counts.tsv: to be committed with the change that moves it

BUILD has bin/gpu_counts (-DH5TWIN_PTX=ON). Another nvcc makes other PTX: then nothing is compared, and the exit
status is 77. A count that has fallen by more than 3 percent is told, so that the table is renewed.
"""

import csv
import pathlib
import subprocess
import sys

TABLE = pathlib.Path(__file__).parent / "counts.tsv"
CASE = ("spec", "type", "stream", "direction", "kernel")
COUNTS = ("launches", "blocks", "shared", "warp_instructions", "load_sectors", "store_sectors", "shared_wavefronts")
# What a small kernel may gain beside the 3 percent: of these it runs only a few.
SLACK = {"launches": 0, "blocks": 0, "shared": 0, "warp_instructions": 400, "load_sectors": 32, "store_sectors": 32,
         "shared_wavefronts": 64}


def parse(text):
    """(what made it, {case: counts})."""
    comment, _, rest = text.partition("\n")
    rows = csv.DictReader(rest.splitlines(), delimiter="\t")
    return comment, {tuple(row[name] for name in CASE): {name: int(row[name]) for name in COUNTS} for row in rows}


def main():
    """The command."""
    command = [f"{sys.argv[1]}/bin/gpu_counts"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    if sys.argv[2:] == ["renew"]:
        TABLE.write_text(text, encoding="utf-8")
        return 0
    made_by, before = parse(TABLE.read_text(encoding="utf-8"))
    here, now = parse(text)
    if made_by != here:
        print(f"SKIP: {TABLE.name} was made with {made_by.lstrip('# ')}, this build with {here.lstrip('# ')}")
        return 77
    grown = 0
    for case, counts in now.items():
        if case not in before:
            print("not in the table:", *case)
            grown += 1
            continue
        for name in COUNTS:
            was, count = before[case][name], counts[name]
            if count > was * 1.03 + SLACK[name]:
                print(f"grown: {' '.join(case)}: {name} {was} -> {count}")
                grown += 1
            elif count < was * 0.97 - SLACK[name]:
                print(f"fallen: {' '.join(case)}: {name} {was} -> {count}")
    for case in before:
        if case not in now:
            print("no longer run:", *case)
    print(f"{len(now)} kernels of cases compared, {grown} counts grown; renew the table by: {sys.argv[0]} BUILD renew")
    return 1 if grown or not now else 0


if __name__ == "__main__":
    sys.exit(main())
