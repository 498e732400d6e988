# SPDX-License-Identifier: BSD-3-Clause
"""peers.py: our codecs beside those compressors of other people that the user brought (peer.h).

    peers.py RESULTS

Both were timed in one process, on the same buffers; the factor is ours by theirs."""

import pathlib
import sys

import results

TARGET = 2.5


def pairs(rows):
    """(their name, our contender) of each peer."""
    return results.unique((row["contender"], row["beside"]) for row in rows if row.get("beside"))


def cell(ours, theirs, column):
    """Both means over the arrays that both have, and the factor, bold if on target."""
    common = ours.keys() & theirs.keys()
    mine, other = (results.geometric_mean(rows[key][column] for key in common)
                   for rows in (ours, theirs))
    factor = mine / other
    return [f"{other:.2f}", f"{mine:.2f}", f"**{factor:.1f}**" if factor >= TARGET else f"{factor:.1f}"]


def table(folder):
    """Markdown; empty if no peer was brought."""
    rows = results.best_variant(results.read(pathlib.Path(folder) / "peers.csv"))

    def of(name, kind):
        return {row["array"]: row for row in rows
                if row["contender"] == name and row["type"] == kind}

    lines = []
    for peer, beside in pairs(rows):
        for ours_name in (f"{beside} bare", beside):
            for kind in ("f32", "f64"):
                theirs, ours = of(peer, kind), of(ours_name, kind)
                if theirs.keys() & ours.keys():
                    lines.append([f"{peer} {kind}, {ours_name}"]
                                 + cell(ours, theirs, "encode_gbps") + cell(ours, theirs, "decode_gbps")
                                 + cell(ours, theirs, "ratio")[:2])
    if not lines:
        return ""
    return ("GB/s of one core, geometric means over the arrays, one process, the same buffers; **bold** from "
            f"{TARGET} times theirs on. Bare streams have no frame and no checksum, as theirs.\n\n"
            + results.table(["theirs, ours", "encode, theirs", "ours", "factor", "decode, theirs",
                             "ours", "factor", "ratio, theirs", "ours"], lines))


if __name__ == "__main__":
    print(table(sys.argv[1]), end="")
