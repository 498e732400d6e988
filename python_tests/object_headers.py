# SPDX-License-Identifier: BSD-3-Clause
"""Where the messages of an object lie in a file's bytes, and headers with their checksum made anew.

Of the HDF5 File Format Specification, IV.A and its appendix on checksums: versions 1 and 2, continuations too."""

import struct

import h5py

DATASPACE, TYPE, FILL, LAYOUT, FILTERS = 1, 3, 5, 8, 11
CONTINUATION = 16


def address_of(path, name):
    with h5py.File(path) as file:
        return h5py.h5o.get_info(file[name].id).addr


def blocks(content, address):
    """(first byte, end) of each piece of the header that has messages, its checksum left out, and its version."""
    if content[address:address + 4] == b"OHDR":
        flags = content[address + 5]
        start = address + 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
        size = int.from_bytes(content[start:start + (1 << (flags & 3))], "little")
        start += 1 << (flags & 3)
        return 2, flags, [(start, start + size)]
    size = struct.unpack_from("<I", content, address + 8)[0]
    return 1, 0, [(address + 16, address + 16 + size)]


def messages(content, address):
    """{type: range of its bytes in the file}; the last one of each type."""
    version, flags, todo = blocks(content, address)
    found = {}
    head = 8 if version == 1 else 6 if flags & 4 else 4
    while todo:
        at, end = todo.pop()
        while at + head <= end:
            kind, size = struct.unpack_from("<HH" if version == 1 else "<BH", content, at)
            data = range(at + head, at + head + size)
            if kind == CONTINUATION:
                place, length = struct.unpack_from("<QQ", content, data[0])
                todo.append((place, place + length) if version == 1 else (place + 4, place + length - 4))
            elif size:
                found[kind] = data
            at = data.stop
    return found


WORD = 0xFFFFFFFF


def rotated(value, bits):
    return (value << bits | value >> 32 - bits) & WORD


def checksum(data):
    """Bob Jenkins's lookup3, as HDF5 sums metadata."""
    x = y = z = 0xDEADBEEF + len(data) & WORD  # lookup3's a, c, b
    padded = data.ljust(-(-len(data) // 12) * 12, b"\0")
    for at in range(0, len(padded), 12):
        a, b, c = struct.unpack_from("<III", padded, at)
        x, y, z = x + a & WORD, y + c & WORD, z + b & WORD
        if at + 12 < len(padded):
            for bits in (4, 6, 8, 16, 19, 4):
                x, y, z = z, (x - y & WORD) ^ rotated(y, bits), y + z & WORD
    x, y, z = y, z, x
    for bits in (14, 11, 25, 16, 4, 14, 24):
        x, y, z = z, (x ^ y) - rotated(y, bits) & WORD, y
    return y


def sealed(content, address):
    """The file with a right checksum of the first piece of the header, if it is of version 2."""
    version, _, [(_, end)] = blocks(content, address)
    if version == 1:
        return bytes(content)
    return bytes(content[:end]) + struct.pack("<I", checksum(bytes(content[address:end]))) + bytes(content[end + 4:])
