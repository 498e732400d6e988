# SPDX-License-Identifier: BSD-3-Clause
"""results.py: what the report and README's table share: reading the CSV files of a run."""

import csv
import math
import pathlib

BASELINES = ("memcpy", "unfiltered")

GENERATED = "smooth"  # the name of the generated field


def read(path):
    """Rows as dictionaries, numbers as floats; none if there is no such file."""
    path = pathlib.Path(path)
    if not path.exists():
        return []
    with path.open(newline="") as source:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(source)]


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def relative_bound(row):
    """The bound as a share of the array's range; 0 for lossless."""
    if "relative_bound" in row:
        return float(row["relative_bound"])
    _, _, share = str(row["contender"]).partition(":range=")
    return float(share) if share else 0.0


def base_name(row):
    return str(row["contender"]).partition(":range=")[0]


def exceeds(row):
    return relative_bound(row) > 0 and row["max_error"] > row["bound"]


def exact(rows, path):
    """Lossless rows of hdf5.csv: path is "bare" (memory to memory) or "hdf5"."""
    return [row for row in rows if row["path"] == path and not relative_bound(row)]


def lossy(rows):
    return [row for row in rows if relative_bound(row)]


def by_contender(rows):
    """{contender: {(array, type): row}}"""
    made = {}
    for row in rows:
        made.setdefault(row["contender"], {})[row["array"], row["type"]] = row
    return made


def is_ours(name):
    return name.startswith("h5twin ")


def arrays_of(rows):
    return unique((row["array"], row["type"]) for row in rows)


def names_of(arrays):
    return ", ".join(f"{name} {kind}" for name, kind in sorted(arrays))


def arrays_of_all(rows):
    """Arrays on which every contender gave a result at every bound, and the contenders that did on all."""
    have = {}
    for row in rows:
        have.setdefault((row["array"], row["type"]), set()).add((row["contender"], relative_bound(row)))
    everything = set().union(*have.values()) if have else set()
    common = {key for key, what in have.items() if what == everything}
    complete = [name for name in unique(row["contender"] for row in rows)
                if all(what >= {pair for pair in everything if pair[0] == name} for what in have.values())]
    return common, complete


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def best_variant(rows):
    """The rows of the last variant that each contender has: the best of this processor."""
    order = ["-", "scalar", "sse4.2", "avx2", "avx512"]
    last = {}
    for row in rows:
        rank = order.index(row["variant"]) if row["variant"] in order else len(order)
        last[row["contender"]] = max(last.get(row["contender"], (0, "")), (rank, row["variant"]))
    return [row for row in rows if last[row["contender"]][1] == row["variant"]]


def kind_of_arrays(rows):
    """What a run measured, from its rows and not from what the last step was told."""
    real = {row["array"] for row in rows} - {GENERATED}
    return "real arrays" if real else "generated fields"


def unique(items):
    return list(dict.fromkeys(items))


def table(heads, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
