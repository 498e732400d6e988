# SPDX-License-Identifier: BSD-3-Clause
"""authors.py: our CPU codecs beside the programs of their authors, as ratios to memcpy.

    authors.py RESULTS

Theirs are in authors.tsv. Ours are from authors.csv (the generated field of 64 MiB) and codecs.csv
of a run (the generated field, or real arrays), with the best instruction set. Ratios to memcpy are
what two machines can be compared by, roughly: theirs is another one.
"""

import csv
import pathlib
import sys

import results

TARGET = 2.5


def read_theirs():
    path = pathlib.Path(__file__).with_name("authors.tsv")
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [{key: results.number(value) for key, value in row.items()}
            for row in csv.DictReader(lines, delimiter="\t")]


def read_ours(folder):
    """Rows on the generated field, and rows on real arrays."""
    alone, every = (results.best_variant(results.read(pathlib.Path(folder) / name))
                    for name in ("authors.csv", "codecs.csv"))
    generated = alone or [row for row in every if row["array"] == results.GENERATED]
    return generated, [row for row in every if row["array"] != results.GENERATED]


def cells(rows, theirs, column, suffix=""):
    """Our mean, and the factor to theirs, bold if on target."""
    values = [row[column] for row in rows if row["contender"] == theirs["contender"] + suffix
              and row["type"] == theirs["type"]]
    if not values:
        return ["-", "-"]
    ours = results.geometric_mean(values)
    factor = ours / theirs[column]
    return [f"{ours:.3f}", f"**{factor:.1f}**" if factor >= TARGET else f"{factor:.1f}"]


def table(folder):
    """Markdown; empty if there is nothing of ours."""
    generated, real = read_ours(folder)
    if not generated and not real:
        return ""
    lines = []
    for theirs in read_theirs():
        for direction in ("encode", "decode"):
            column = f"{direction}_to_memcpy"
            lines.append([f"{theirs['program']}: {theirs['contender']} {theirs['type']} {direction}",
                          f"{theirs[column]:.3f}", *cells(generated, theirs, column, " bare"),
                          *cells(generated, theirs, column), *cells(real, theirs, column)])
    return (f"Speed as a ratio to memcpy, one core; **bold** from {TARGET} times theirs on. Theirs: the "
            "published authors' programs, compiled with their flags, measured as ratio to memcpy on "
            "another machine, on smooth fields of 256 MiB. Their streams "
            "have no checksum; of ours, the bare ones have none and are the same bytes as theirs, "
            "chunks have a frame with a CRC-32C.\n\n"
            + results.table(["to memcpy", "theirs", "bare, field of 64 MiB", "factor",
                             "chunk, field of 64 MiB", "factor",
                             "chunks, real arrays", "factor"], lines))


if __name__ == "__main__":
    print(table(sys.argv[1]), end="")
