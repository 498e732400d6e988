# SPDX-License-Identifier: BSD-3-Clause
"""readme_table.py: the documentation's table of ratio and single-core speed, from the CSV files of a run.

    readme_table.py RESULTS [PAGE]

Prints the Markdown; with PAGE, and if that file has the two marker lines, it replaces what is
between them. Speeds are geometric means over the arrays, as the ratios are.
"""

import pathlib
import sys

import results

START, END = "<!-- table: codecs -->", "<!-- end -->"

# (label, CSV file, name of the contender there)
ROWS = (
    ("**sleek**", "codecs", "sleek"),
    ("**fpcompress** mode=speed", "codecs", "fpcompress:mode=speed"),
    ("**fpcompress** mode=ratio", "codecs", "fpcompress:mode=ratio"),
    ("**ndzip**", "codecs", "ndzip"),
    ("**gfc**", "codecs", "gfc"),
    ("**e2mc**", "codecs", "e2mc"),
    ("zstd -3", "codecs", "zstd -3"),
    ("gzip -6", "codecs", "gzip -6"),
    ("shuffle + gzip -6, HDF5", "hdf5", "shuffle + gzip -6"),
)
# The best peers, for the sentence on what we lose.
PEERS = ("Blosc2 zstd", "szip", "fpzip (bare)", "pcodec (bare)", "Zfp reversible",
         "zfp reversible", "zstd -3", "zstd -1", "gzip -6", "shuffle + gzip -6")


def arrays_of(rows):
    return results.unique((row["array"], row["type"]) for row in rows)


def select(data, source, name):
    return {(row["array"], row["type"]): row for row in data[source] if row["contender"] == name
            and not results.relative_bound(row)}


def mean(rows, column, kind=None):
    values = [row[column] for key, row in rows.items() if kind in (None, key[1])]
    return f"{results.geometric_mean(values):.2f}" if values else "-"


def summary_table(data):
    lines = []
    for label, source, name in ROWS:
        rows = select(data, source, name)
        if rows:
            lines.append([label, mean(rows, "ratio", "f32"), mean(rows, "ratio", "f64"),
                          mean(rows, "ratio"), mean(rows, "encode_gbps"),
                          mean(rows, "decode_gbps"), mean(rows, "encode_to_memcpy"),
                          mean(rows, "decode_to_memcpy")])
    return results.table(["", "ratio f32", "ratio f64", "ratio all", "encode GB/s", "decode GB/s",
                          "encode / memcpy", "decode / memcpy"], lines)


def per_array_table(data):
    """A row per array; the best of a row is bold."""
    columns = [(label.replace("**", "").replace("mode=", ""), select(data, source, name))
               for label, source, name in ROWS]
    columns = [(label, rows) for label, rows in columns if rows]
    lines = []
    for key in arrays_of(data["codecs"]):
        cells = [rows[key]["ratio"] if key in rows else 0 for _, rows in columns]
        lines.append([f"{key[0]} {key[1]}"] + [
            "-" if not cell else f"**{cell:.2f}**" if cell == max(cells) else f"{cell:.2f}"
            for cell in cells])
    return results.table(["ratio"] + [label for label, _ in columns], lines)


def losses(data):
    """Where each peer's ratio beats all of our lossless codecs."""
    ours = {}
    for label, source, name in ROWS:
        if label.startswith("**"):
            for key, row in select(data, source, name).items():
                ours[key] = max(ours.get(key, 0), row["ratio"])
    sentences = []
    for source, peer in [(source, peer) for source in ("codecs", "hdf5") for peer in PEERS]:
        rows = select(data, source, peer)
        if source == "hdf5" and peer in ("gzip -6", "Zfp reversible"):
            continue  # the library itself is in the other file
        won = [key for key, row in rows.items() if row["ratio"] > ours.get(key, 0)]
        if won:
            gain = max(rows[key]["ratio"] / ours[key] - 1 for key in won)
            sentences.append(
                f"{peer} on {len(won)} of {len(rows)} arrays (by up to {100 * gain:.0f} %, at "
                f"{mean(rows, 'encode_gbps')} / {mean(rows, 'decode_gbps')} GB/s)")
    if not sentences:
        return ""
    return "Better ratios than the best of ours: " + "; ".join(sentences) + ".\n"


def fragment(folder):
    data = {name: results.read(folder / f"{name}.csv") for name in ("codecs", "hdf5")}
    data["codecs"] = results.best_variant(data["codecs"])
    machine = (folder / "machine.txt").read_text() if (folder / "machine.txt").exists() else ""
    facts = dict(line.split(": ", 1) for line in machine.splitlines() if ": " in line)
    count = len(arrays_of(data["codecs"]))
    return (f"Lossless, one core ({facts.get('processor', 'unknown processor')}), "
            f"{count} {results.kind_of_arrays(data['codecs'])}; geometric means; one chunk per array.\n\n"
            + summary_table(data) + "\n" + per_array_table(data) + "\n" + losses(data))


def main():
    folder = pathlib.Path(sys.argv[1])
    text = fragment(folder)
    print(text, end="")
    readme = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if readme is None or not readme.exists():
        return
    before, start, rest = readme.read_text().partition(START)
    _, end, after = rest.partition(END)
    if start and end:
        readme.write_text(before + START + "\n\n" + text + "\n" + END + after)
    else:
        print(f"{readme}: no lines {START} and {END}", file=sys.stderr)


if __name__ == "__main__":
    main()
