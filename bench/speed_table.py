# SPDX-License-Identifier: BSD-3-Clause
"""speed_table.py: the tables of ratio and single-core speed, from the hdf5.csv of a run.

    speed_table.py RESULTS [PAGE]

Prints the Markdown; with PAGE, and if that file has the two marker lines, it replaces what is
between them. All figures of a table come from one process and one set of arrays; means are geometric.
"""

import pathlib
import sys

import results

START, END = "<!-- table: codecs -->", "<!-- end -->"
# Peers in the summary; the results folder has all.
PEERS = ("Blosc2 shuffle lz4", "Blosc2 shuffle zstd-1", "Blosc2 shuffle zstd-5", "Blosc2 shuffle zstd-9",
         "pcodec", "fpzip", "shuffle + gzip -6", "Zfp reversible", "szip")
LOSSY_BOUNDS = (1e-2, 1e-3, 1e-4, 1e-5)


def mean(rows, column, kind=None):
    values = [row[column] for key, row in rows.items() if kind in (None, key[1])]
    return f"{results.geometric_mean(values):.2f}" if values else "-"


def label(name):
    return f"**{name.removeprefix('h5twin ')}**" if results.is_ours(name) else name


def contenders(bare, hdf5):
    names = results.unique(list(bare) + list(hdf5))
    return [name for name in names if results.is_ours(name)] + [name for name in PEERS if name in names]


def summary_table(rows):
    bare, hdf5 = (results.by_contender(results.exact(rows, path)) for path in ("bare", "hdf5"))
    count = len(results.arrays_of(rows))
    lines = []
    for name in contenders(bare, hdf5):
        either = bare.get(name) or hdf5[name]
        note = "" if len(either) == count else f" ({len(either)} arrays)"
        lines.append([label(name) + note, mean(either, "ratio", "f32"), mean(either, "ratio", "f64"),
                      mean(either, "ratio")]
                     + [mean(source.get(name, {}), column) for source in (bare, hdf5)
                        for column in ("encode_gbps", "decode_gbps")])
    return results.table(["lossless", "ratio f32", "ratio f64", "ratio all", "encode GB/s", "decode GB/s",
                          "H5Dwrite GB/s", "H5Dread GB/s"], lines)


def per_array_table(rows):
    """A row per array; the best of a row is bold."""
    bare, hdf5 = (results.by_contender(results.exact(rows, path)) for path in ("bare", "hdf5"))
    columns = [(name.removeprefix("h5twin "), bare.get(name) or hdf5[name]) for name in contenders(bare, hdf5)]
    lines = []
    for key in results.arrays_of(rows):
        cells = [mine[key]["ratio"] if key in mine else 0 for _, mine in columns]
        lines.append([" ".join(key)] + [
            "-" if not cell else f"**{cell:.2f}**" if cell == max(cells) else f"{cell:.2f}" for cell in cells])
    return results.table(["ratio"] + [name for name, _ in columns], lines)


def dominated(rows):
    """Which of ours a peer beats in all three means, memory to memory, over the same arrays."""
    bare = results.by_contender(results.exact(rows, "bare"))
    sentences = []
    for ours in filter(results.is_ours, bare):
        for peer in bare:
            if results.is_ours(peer) or peer in results.BASELINES or bare[peer].keys() != bare[ours].keys():
                continue
            columns = ("ratio", "encode_gbps", "decode_gbps")
            if all(float(mean(bare[peer], column)) >= float(mean(bare[ours], column)) for column in columns):
                sentences.append(f"`{ours.removeprefix('h5twin ')}` by {peer} (" + " / ".join(
                    mean(bare[peer], column) for column in columns) + ")")
                break
    if not sentences:
        return "No peer is better than one of ours in mean ratio and in both speeds at once.\n"
    return ("Better in mean ratio and both speeds than one of ours, so take them instead unless your data "
            "tell otherwise: " + "; ".join(sentences) + ".\n")


def losses(rows):
    """Where each peer's ratio beats all of our lossless codecs."""
    best = {}
    for row in results.exact(rows, "bare"):
        if results.is_ours(row["contender"]):
            key = row["array"], row["type"]
            best[key] = max(best.get(key, 0), row["ratio"])
    sentences = []
    bare, hdf5 = (results.by_contender(results.exact(rows, path)) for path in ("bare", "hdf5"))
    for peer in results.unique(list(bare) + list(hdf5)):
        mine = bare.get(peer) or hdf5[peer]
        won = [key for key, row in mine.items() if not results.is_ours(peer) and row["ratio"] > best[key]]
        if won:
            gain = max(mine[key]["ratio"] / best[key] - 1 for key in won)
            sentences.append(f"{peer} on {len(won)} of {len(mine)} (by up to {100 * gain:.0f} %)")
    if not sentences:
        return "On no array has a peer a better ratio than the best of ours.\n"
    return "Arrays on which a peer has a better ratio than the best of ours: " + "; ".join(sentences) + ".\n"


def lossy_cells(name, rows):
    ratios = [results.geometric_mean(row["ratio"] for row in rows if results.relative_bound(row) == bound)
              for bound in LOSSY_BOUNDS]
    middle = [row for row in rows if results.relative_bound(row) == 1e-3]
    return [label(name)] + [f"{ratio:.1f}" for ratio in ratios] + [
        f"{results.geometric_mean(row[column] for row in middle):.2f}"
        for column in ("encode_gbps", "decode_gbps")] + [
        f"{sum(map(results.exceeds, rows))} of {len(rows)}"]


def lossy_table(rows, names):
    """names over the arrays of rows."""
    return results.table(
        ["ratio within a share of the range"] + [f"{bound:.0e}".replace("e-0", "e-") for bound in LOSSY_BOUNDS]
        + ["H5Dwrite GB/s at 1e-3", "H5Dread GB/s", "over the bound"],
        [lossy_cells(name, [row for row in rows if row["contender"] == name]) for name in names])


def lossy_tables(rows):
    """A table over all arrays, of the compressors that accept all; then one of all compressors, over the arrays that all accept."""
    rows = [row for row in results.lossy(rows) if results.relative_bound(row) in LOSSY_BOUNDS]
    if not rows:
        return ""
    common, complete = results.arrays_of_all(rows)
    arrays, names = results.arrays_of(rows), results.unique(row["contender"] for row in rows)
    text = [f"Absolute bound, through HDF5, all {len(arrays)} arrays:\n", lossy_table(rows, complete)]
    if len(complete) < len(names) and common:
        text += [f"The arrays that every compressor accepts ({results.names_of(common)}):\n",
                 lossy_table([row for row in rows if (row["array"], row["type"]) in common], names)]
    marked = {(row["array"], row["type"]) for row in rows if row.get("marks")}
    if marked:
        text.append(f"Marks of missing data (1e30 and beyond) in {results.names_of(marked)} are no part of "
                    "the range.\n")
    return "\n".join(text)


def fragment(folder, details=False):
    rows = results.read(folder / "hdf5.csv")
    machine = (folder / "machine.txt").read_text() if (folder / "machine.txt").exists() else ""
    facts = dict(line.split(": ", 1) for line in machine.splitlines() if ": " in line)
    count = len(results.arrays_of(rows))
    parts = [f"One core ({facts.get('processor', 'unknown processor')}), {count} {results.kind_of_arrays(rows)}, one "
             "chunk per array, one process; geometric means. Speeds of the first two columns are from memory to memory.\n",
             summary_table(rows)]
    if details:
        parts.append(per_array_table(rows))
    return "\n".join(parts + [dominated(rows), losses(rows), lossy_tables(rows)]).rstrip() + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    text = fragment(folder)
    print(text, end="")
    page = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if page is None or not page.exists():
        return
    before, start, rest = page.read_text().partition(START)
    _, end, after = rest.partition(END)
    if start and end:
        page.write_text(before + START + "\n\n" + text + "\n" + END + after)
    else:
        print(f"{page}: no lines {START} and {END}", file=sys.stderr)


if __name__ == "__main__":
    main()
