"""coverage.py ROOT UNCOVERED: branches and lines by room, from llvm-cov's JSON; for coverage.sh.

Code that is compiled more than once is one branch here, taken if any of its copies takes it."""

import collections
import json
import os
import sys

root, uncovered = sys.argv[1] + os.sep, sys.argv[2]
ROOMS = ("codec/common", "codec", "filter", "tools")


def room_of(path):
    folder = os.path.dirname(path)
    return folder if folder.split(os.sep)[0] in ROOMS else None


rooms = collections.defaultdict(lambda: [0, 0, 0, 0])  # branches taken, all, lines run, all
with open(uncovered, "w", encoding="utf-8") as out:
    for file in sorted(json.load(sys.stdin)["data"][0]["files"], key=lambda file: file["filename"]):
        path = os.path.normpath(file["filename"]).removeprefix(root)
        room = room_of(path)
        if room is None or os.path.isabs(path):
            continue
        counts = collections.defaultdict(lambda: [0, 0])
        for line, column, line_end, column_end, taken, not_taken, *_ in file["branches"]:
            counts[line, column, line_end, column_end][0] += taken
            counts[line, column, line_end, column_end][1] += not_taken
        with open(root + path, encoding="utf-8") as source:
            text = source.read().split("\n")
        for (line, column, line_end, column_end), ways in sorted(counts.items()):
            for count, way in zip(ways, ("true", "false")):
                rooms[room][0] += count > 0
                rooms[room][1] += 1
                if count == 0:
                    condition = text[line - 1][column - 1: column_end - 1 if line == line_end else None]
                    out.write(f"{path}:{line}: never {way}: {condition.strip()}\n")
        rooms[room][2] += file["summary"]["lines"]["covered"]
        rooms[room][3] += file["summary"]["lines"]["count"]

if not rooms:
    sys.exit("no file of this tree was counted")
print(f"{'room':20} {'branches':>9} {'not taken':>9} {'taken':>7} {'lines':>7}")
for room, (taken, branches, run, lines) in sorted(rooms.items()):
    print(f"{room:20} {branches:9} {branches - taken:9} {100 * taken / max(branches, 1):6.1f}% {100 * run / max(lines, 1):6.1f}%")
