#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""checkpoint_table.py CSV NOTE >TABLE.md: what bench/run.sh checkpoint measured, as a table."""

import csv
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = list(dict.fromkeys(row["place"] for row in rows))
    found = {(row["place"], row["way"]): row for row in rows}
    ways = list(dict.fromkeys(row["way"] for row in rows))
    assert len(found) == len(rows) == len(places) * len(ways), "a way was not measured everywhere"
    print("# Checkpoints\n\nSeconds of wall time, medians: until the simulation may go on, and until all is synced.", sys.argv[2], end="\n\n")
    print("| way |", " | ".join(f"{place}: stands still | done" for place in places), "| MB | ratio |")
    print("|---" + "|--:" * (2 * len(places) + 2) + "|")
    for way in ways:
        here = [found[place, way] for place in places]
        times = [f"{float(row[column]):.2f}" for row in here for column in ("still_s", "done_s")]
        print("|", " | ".join([way, *times, f"{int(here[0]['bytes']) / 1e6:.0f}", f"{float(here[0]['ratio']):.2f}"]), "|")


if __name__ == "__main__":
    main()
