/* SPDX-License-Identifier: BSD-3-Clause
 * check_layout.c: `h5twin check`: what the file says and HDF5 shows to no caller: the size of an
 * element in the layout message of a dataset's header, and the keys of the index that HDF5 had
 * before 1.10. HDF5 1.10 believes them, later releases refuse what contradicts itself. (HDF5 File
 * Format Specification, III.A and IV.A; addresses of 8 bytes.) */
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

/* From the data of a layout message; no element size if it tells of no chunks, or not in a form
 * known here. */
static struct h5twin_check_layout
read_layout(const uint8_t *data, size_t size)
{
    struct h5twin_check_layout layout = {.tree = HADDR_UNDEF};
    const unsigned version = data[0];
    const unsigned count = data[version == 3 ? 2 : 3], width = version == 3 ? 4 : data[4];
    const size_t first = version == 3 ? 3 + 8 : 5;
    const size_t last = first + width * ((size_t)count - 1);
    if (version >= 3 && version <= 5 && data[1] == 2 && count >= 1 && width >= 1 && width <= 8 &&
        last + width <= size) {
        layout.element_size = load(data + last, width);
        layout.tree = version == 3 ? load(data + 3, 8) : HADDR_UNDEF;
    }
    return layout;
}

/* All messages of a block: the layout if it is there. */
static struct h5twin_check_layout
search_block(struct header *header, struct block block)
{
    const struct h5twin_check_layout none = {.tree = HADDR_UNDEF};
    const unsigned head = header->version == 1 ? 8 : (header->flags & 4) != 0 ? 6 : 4;
    for (unsigned i = 0; i < MOST_MESSAGES && block.start + head <= block.end; i++) {
        uint8_t start[8], data[LAYOUT_BYTES] = {0};
        if (!read_bytes(header->check, start, head, block.start)) {
            return none;
        }
        const unsigned type = header->version == 1 ? (unsigned)load(start, 2) : start[0];
        const uint64_t size = load(start + (header->version == 1 ? 2 : 1), 2);
        const size_t kept = size < sizeof data ? (size_t)size : sizeof data;
        if ((type == LAYOUT || type == CONTINUATION) &&
            !read_bytes(header->check, data, kept, block.start + head)) {
            return none;
        }
        if (type == LAYOUT) {
            return read_layout(data, kept);
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
    return none;
}

struct h5twin_check_layout
h5twin_check_layout_read(const struct h5twin_check *check, hid_t dataset)
{
    H5O_info_t info;
    struct header header;
    struct h5twin_check_layout layout = {.tree = HADDR_UNDEF};
    if (H5Oget_info2(dataset, &info, H5O_INFO_BASIC) < 0 ||
        !begin(&header, check, info.addr + check->base)) {
        return layout;
    }
    for (unsigned i = 0; i < header.block_count && layout.element_size == 0; i++) {
        layout = search_block(&header, header.blocks[i]);
    }
    return layout;
}

/* ---- the index ---- */

#define NODE_HEAD  24 /* signature, type, level, count, addresses of its neighbours */
#define MOST_LEVEL 32

struct tree {
    const struct h5twin_check *check;
    const struct h5twin_check_dataset *dataset;
    uint64_t nodes_left; /* a damaged one may have loops */
};

/* A key: size and mask, the offset of a chunk, and that of a byte in an element. */
static bool
is_key(const struct tree *tree, const uint8_t *key)
{
    const int rank = tree->dataset->rank;
    bool right = load(key + 8 + 8 * (size_t)rank, 8) % H5Tget_size(tree->dataset->type) == 0;
    for (int axis = 0; axis < rank; axis++) {
        right = right && load(key + 8 + 8 * (size_t)axis, 8) % tree->dataset->extents[axis] == 0;
    }
    return right;
}

static bool
is_node(struct tree *tree, uint64_t address, unsigned most_level)
{
    uint8_t head[NODE_HEAD], key[8 + 8 * (H5S_MAX_RANK + 1) + 8];
    const size_t key_size = 8 + 8 * ((size_t)tree->dataset->rank + 1);
    uint64_t place = address + tree->check->base;
    if (tree->nodes_left == 0 || !read_bytes(tree->check, head, sizeof head, place) ||
        memcmp(head, "TREE\1", 5) != 0 || head[5] > most_level) {
        return false;
    }
    tree->nodes_left--;
    tree->check->state->beats++;
    const unsigned count = (unsigned)load(head + 6, 2);
    bool right = true;
    place += NODE_HEAD;
    for (unsigned i = 0; i < count && right; i++, place += key_size + 8) {
        right = read_bytes(tree->check, key, key_size + 8, place) && is_key(tree, key) &&
                (head[5] == 0 || is_node(tree, load(key + key_size, 8), head[5] - 1u));
    }
    /* One more key says where the last child ends. */
    return right && read_bytes(tree->check, key, key_size, place) && is_key(tree, key);
}

bool
h5twin_check_tree(const struct h5twin_check *check, const struct h5twin_check_dataset *dataset,
                  haddr_t tree_address)
{
    struct tree tree = {
        .check = check, .dataset = dataset, .nodes_left = check->file_size / NODE_HEAD};
    return tree_address == HADDR_UNDEF || is_node(&tree, tree_address, MOST_LEVEL);
}
