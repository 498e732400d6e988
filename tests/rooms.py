#!/usr/bin/env python3
"""Includes point downwards only: what each folder may know of, as docs/DESIGN.md says."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.M)
SOURCES = {".c", ".h", ".cu", ".cuh"}
HDF5 = re.compile(r"^(hdf5|H5)\w*\.h$")


# What codecs may know of the folder above them: not plans, frames or devices.
FOR_CODECS = {"codec/codec.h", "codec/gpu.h", "codec/isa.h"}


def room_of(path: pathlib.Path) -> str:
    """"include", "codec/common", "codec/run", "codec/<name>", "codec for codecs", "codec", "filter", ..."""
    parts = path.relative_to(ROOT).parts
    if "/".join(parts) in FOR_CODECS:
        return "codec for codecs"
    return "/".join(parts[:2]) if parts[0] == "codec" and len(parts) > 2 else parts[0]


def may_know(room: str) -> set[str]:
    if room == "include":
        return {"include"}
    primitives = {"codec/common", "codec for codecs", "include"}
    if room in ("codec/common", "codec for codecs"):
        return primitives
    if room == "codec/residuals" or room == "codec": # the frame
        return primitives | {room}
    if room == "codec/gpu":
        return primitives | {room, "codec"}
    if room == "codec/run":
        return primitives | {room, "codec", "codec/gpu"}
    if room.startswith("codec/"):
        return primitives | {room, "codec/residuals"}
    if room == "decoders":
        return {room}
    if room in ("checkpoint", "fortran"):
        return {room, "include"}
    below = {room, "codec", "codec for codecs", "codec/run", "codec/gpu", "codec/common", "include"}
    return below | {"io", "filter"} if room == "vol" else below


def find(path: pathlib.Path, name: str) -> pathlib.Path | None:
    for folder in (path.parent, *(ROOT / room for room in ("include", "codec", "filter", "io", "vol"))):
        found = (folder / name).resolve()
        if found.is_file() and ROOT in found.parents:
            return found
    return None


def main() -> int:
    wrong, seen = [], 0
    tops = ("include", "codec", "filter", "io", "vol", "checkpoint", "decoders", "fortran")
    for path in sorted(p for top in tops for p in (ROOT / top).rglob("*")):
        if path.suffix not in SOURCES:
            continue
        room = room_of(path)
        for name in INCLUDE.findall(path.read_text()):
            seen += 1
            found = find(path, name)
            if found is None and HDF5.match(name) and room not in ("include", "checkpoint", "fortran"):
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
            elif found is not None and room_of(found) not in may_know(room):
                wrong.append(f"{path.relative_to(ROOT)} ({room}) includes {name} ({room_of(found)})")
    print("\n".join(wrong) or f"{seen} includes point downwards")
    return 1 if wrong or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
