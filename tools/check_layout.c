/* SPDX-License-Identifier: BSD-3-Clause
 * check_layout.c: `h5twin check`: the size of an element, as the layout message of a dataset's
 * header has it. HDF5 shows it to no caller: 1.10 believes it, later releases refuse the dataset if
 * it is not that of the type. (HDF5 File Format Specification, IV.A.) */
#include "check.h"

#include "posix.h"

#include <string.h>

#define MOST_MESSAGES 4096
#define LAYOUT        8
#define CONTINUATION  16
#define MOST_BLOCKS   64
#define LAYOUT_BYTES  (2 + 3 + 8 + 8 * (H5S_MAX_RANK + 1)) /* as much of it as is read */

/* A run of messages in the file. */
struct block {
    uint64_t start, end;
};

struct header {
    const struct h5twin_check *check;
    unsigned version, flags;
    struct block blocks[MOST_BLOCKS];
    unsigned block_count;
};

static uint64_t
load(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    while (size-- > 0) {
        value = value << 8 | bytes[size];
    }
    return value;
}

static bool
read_bytes(const struct h5twin_check *check, uint8_t *bytes, size_t size, uint64_t place)
{
    return place < check->file_size && size <= check->file_size - place &&
           pread(check->file, bytes, size, (off_t)place) == (ssize_t)size;
}

static bool
begin(struct header *header, const struct h5twin_check *check, uint64_t address)
{
    uint8_t start[48] = {0};
    *header = (struct header){.check = check, .block_count = 1};
    if (!read_bytes(check, start, 16, address)) {
        return false;
    }
    if (memcmp(start, "OHDR", 4) != 0) {
        header->version = 1;
        header->blocks[0].start = address + 16;
        header->blocks[0].end = address + 16 + load(start + 8, 4);
        return start[0] == 1;
    }
    header->version = 2;
    header->flags = start[5];
    uint64_t place = address + 6 + ((start[5] & 32) != 0 ? 16 : 0) + ((start[5] & 16) != 0 ? 4 : 0);
    const unsigned width = 1u << (start[5] & 3);
    if (!read_bytes(check, start, width, place)) {
        return false;
    }
    header->blocks[0].start = place + width;
    header->blocks[0].end = place + width + load(start, width);
    return true;
}

/* From the data of a layout message; 0 if it tells of no chunks, or not in a form known here. */
static uint64_t
element_size_of(const uint8_t *data, size_t size)
{
    const unsigned version = data[0];
    if (version == 3 && data[1] == 2) { /* class, dims, address, extents of 4 bytes */
        const unsigned count = data[2];
        const size_t place = 3 + 8 + 4 * ((size_t)count - 1);
        return count >= 1 && place + 4 <= size ? load(data + place, 4) : 0;
    }
    if ((version == 4 || version == 5) && data[1] == 2) { /* class, flags, dims, width, extents */
        const unsigned count = data[3], width = data[4];
        const size_t place = 5 + width * ((size_t)count - 1);
        return count >= 1 && width >= 1 && width <= 8 && place + width <= size
                   ? load(data + place, width)
                   : 0;
    }
    return 0;
}

/* All messages of a block: the layout's element size if it is there, else 0. */
static uint64_t
search_block(struct header *header, struct block block)
{
    const unsigned head = header->version == 1 ? 8 : (header->flags & 4) != 0 ? 6 : 4;
    for (unsigned i = 0; i < MOST_MESSAGES && block.start + head <= block.end; i++) {
        uint8_t start[8], data[LAYOUT_BYTES] = {0};
        if (!read_bytes(header->check, start, head, block.start)) {
            return 0;
        }
        const unsigned type = header->version == 1 ? (unsigned)load(start, 2) : start[0];
        const uint64_t size = load(start + (header->version == 1 ? 2 : 1), 2);
        const size_t kept = size < sizeof data ? (size_t)size : sizeof data;
        if ((type == LAYOUT || type == CONTINUATION) &&
            !read_bytes(header->check, data, kept, block.start + head)) {
            return 0;
        }
        if (type == LAYOUT) {
            return element_size_of(data, kept);
        }
        if (type == CONTINUATION && header->block_count < MOST_BLOCKS) {
            const uint64_t cut = header->version == 1 ? 0 : 4; /* a signature; a checksum */
            const uint64_t place = load(data, 8) + header->check->base, length = load(data + 8, 8);
            if (length >= 2 * cut && length <= header->check->file_size) {
                header->blocks[header->block_count++] =
                    (struct block){place + cut, place + length - cut};
            }
        }
        block.start += head + size;
    }
    return 0;
}

uint64_t
h5twin_check_element_size(const struct h5twin_check *check, hid_t dataset)
{
    H5O_info_t info;
    struct header header;
    if (H5Oget_info2(dataset, &info, H5O_INFO_BASIC) < 0 ||
        !begin(&header, check, info.addr + check->base)) {
        return 0;
    }
    uint64_t size = 0;
    for (unsigned i = 0; i < header.block_count && size == 0; i++) {
        size = search_block(&header, header.blocks[i]);
    }
    return size;
}
