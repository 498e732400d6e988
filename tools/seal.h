/* SPDX-License-Identifier: BSD-3-Clause
 * seal.h: the seal of a dataset: an attribute that says which chunk was stored in which place. A
 * chunk does not know its place, so that two chunks of a dataset that have changed places are
 * intact; with a seal `h5twin check` finds them. docs/pages/archives.md has the bytes.
 *
 * Places are numbered row by row in the grid of chunks. A word is the CRC-32C of the chunks in a
 * group of consecutive places: of each its place, size and the CRC-32C of its stored bytes. Groups
 * are of one place, but in grids of more than H5TWIN_SEAL_WORDS.
 *
 * Units   dims and extents in elements. */
#ifndef H5TWIN_TOOLS_SEAL_H
#define H5TWIN_TOOLS_SEAL_H

#include "hdf5_file.h"

/* HDF5's own limit of an attribute in files of its first format is 64 KiB. */
#define H5TWIN_SEAL_WORDS 15000
#define H5TWIN_SEAL_NAME  "h5twin_seal"

struct h5twin_seal {
    int rank;
    hsize_t dims[H5S_MAX_RANK], extents[H5S_MAX_RANK]; /* when it was sealed */
    uint32_t filters;                                  /* h5twin_seal_filters() */
    int64_t time;                                      /* seconds since 1970, UTC */
    uint64_t group;                                    /* places of a word, >= 1 */
    size_t word_count;
    uint32_t *words; /* 0: no chunk; freed by h5twin_seal_free() */
};

enum h5twin_seal_state {
    H5TWIN_SEAL_NONE,
    H5TWIN_SEAL_FOUND,
    H5TWIN_SEAL_DAMAGED,
    H5TWIN_SEAL_NEWER, /* of a version that is not known here */
};

/* An empty seal of these chunks, for now. False if there is no memory, or the grid has more places
 * than can be counted. */
bool h5twin_seal_begin(struct h5twin_seal *seal, int rank, const hsize_t *dims,
                       const hsize_t *extents, uint32_t filters);

/* The word of a group with one more chunk, in the order of places: its size and CRC in the file.
 * `word` is 0 for the first. */
uint32_t h5twin_seal_add(uint32_t word, uint64_t place, uint64_t size, uint32_t crc);

/* The place of a chunk; false if the sealed grid does not have it. */
bool h5twin_seal_place(const struct h5twin_seal *seal, const hsize_t *offset, uint64_t *place);

/* The way back: the offset of the chunk in a place. */
void h5twin_seal_offset(const struct h5twin_seal *seal, uint64_t place,
                        unsigned long long offset[H5S_MAX_RANK]);

/* A checksum of the list of filters and their parameters. */
uint32_t h5twin_seal_filters(hid_t dcpl);

/* The attribute. *seal is to be freed if it was found. */
enum h5twin_seal_state h5twin_seal_read(hid_t dataset, struct h5twin_seal *seal);
bool h5twin_seal_write(hid_t dataset, const struct h5twin_seal *seal);

/* "2026-11-24T20:00:00Z" */
#define H5TWIN_SEAL_TIME 32
const char *h5twin_seal_time(const struct h5twin_seal *seal, char text[H5TWIN_SEAL_TIME]);

void h5twin_seal_free(struct h5twin_seal *seal); /* all zeros are fine */

#endif
