/* SPDX-License-Identifier: BSD-3-Clause
 * check.h: the parts of `h5twin check`: a file system check for chunked data. Nothing here prints
 * but check_findings.c and check.c.
 * Units   sizes and addresses in bytes, chunk offsets in elements. */
#ifndef H5TWIN_TOOLS_CHECK_H
#define H5TWIN_TOOLS_CHECK_H

#include "cd_values.h"
#include "check_findings.h"
#include "hdf5_file.h"
#include "progress.h"
#include "seal.h"

#include <sys/stat.h>

struct h5twin_check_args {
    struct h5twin_exec exec;
    bool quick, complete, json, quiet, help;
    bool seal;      /* seal the datasets of sound files */
    bool seal_anew; /* without a look at the seals that are there */
};

/* Where a chunk lies in the file. */
struct h5twin_check_extent {
    haddr_t address; /* from the start of the file */
    hsize_t size;
    size_t dataset; /* index in the grids */
    hsize_t place;  /* in the grid, row by row */
};

struct h5twin_check_grid {
    char *name;
    int rank;
    hsize_t grid[H5S_MAX_RANK], extents[H5S_MAX_RANK];
};

/* A new one. */
struct h5twin_check_seal {
    char *name; /* of the dataset */
    struct h5twin_seal seal;
    struct h5twin_check_seal *next;
};

/* One file, while it is looked at. */
struct h5twin_check {
    const struct h5twin_check_args *args;
    const char *path;
    struct h5twin_check_state *state;
    struct h5twin_progress progress;
    int file; /* for reading chunks where they lie */
    uint64_t file_size;
    uint64_t base;      /* what HDF5's addresses count from */
    bool base_is_known; /* else chunks are read by HDF5 */
    struct h5twin_check_extent *extents;
    size_t extent_count, extent_capacity;
    struct h5twin_check_grid *grids; /* of the datasets with chunks */
    size_t grid_count;
    struct h5twin_check_seal *seals; /* if they are asked for */
    uint64_t skipped;                /* datasets before this one were checked by another process */
    bool out_of_memory;
};

/* ---- check_file.c: all objects of a file, and what concerns several datasets ---- */

/* Look at the file: findings are told as they come, counts go to check->state. Exit code: 2 if it
 * cannot be looked at, after a message; else 0, whatever was found. */
int h5twin_check_file(struct h5twin_check *check);

/* ---- check_seal.c ---- */

struct h5twin_check_dataset;

/* Read the seal, before the chunks are read, and compare them afterwards, or make a new one. */
void h5twin_check_seal_begin(struct h5twin_check *check, struct h5twin_check_dataset *dataset);
void h5twin_check_seal_end(struct h5twin_check *check, struct h5twin_check_dataset *dataset);

/* Write the new seals into the file that HDF5 opens by this name. False after a message. */
bool h5twin_check_write_seals(struct h5twin_check *check, const char *name);

/* Write them into a copy of the file, which then replaces it. *before is of
 * h5twin_replace_check(). Exit code. */
int h5twin_check_seal_file(struct h5twin_check *check, const struct stat *before);

void h5twin_check_free_seals(struct h5twin_check *check);

/* ---- check_dataset.c: header, parameters and index of a dataset ---- */

/* A chunk, as the index has it. */
struct h5twin_check_chunk {
    hsize_t place; /* in the grid, row by row; unused where it is in no place */
    hsize_t offset[H5S_MAX_RANK];
    haddr_t address; /* as HDF5 counts; HADDR_UNDEF: unknown */
    hsize_t size;
    unsigned mask;
    bool is_summed; /* nothing is wrong with it, and sum is the CRC-32C of its stored bytes */
    uint32_t sum;
};

#define H5TWIN_CHECK_FILTERS 32

/* What is known of a dataset when its chunks are read. */
struct h5twin_check_dataset {
    hid_t dataset, dcpl, type, space;
    const char *name;
    int rank;
    hsize_t dims[H5S_MAX_RANK], extents[H5S_MAX_RANK], grid[H5S_MAX_RANK];
    uint64_t chunk_size;    /* of one chunk, decoded */
    int filter_count, ours; /* ours < 0: no filter of ours */
    H5Z_filter_t filters[H5TWIN_CHECK_FILTERS];
    bool are_optional[H5TWIN_CHECK_FILTERS];
    const struct h5twin_codec_info *codec;
    struct h5twin_cd cd; /* of our filter */
    bool has_words;      /* they can be believed */
    bool edges_are_raw;  /* chunks at the end of an axis go through no filter */
    bool has_addresses;
    bool is_index_damaged; /* chunks may be missing in the list below */
    bool is_summed;        /* the chunks are */
    enum h5twin_seal_state seal_state;
    struct h5twin_seal seal;
    struct h5twin_check_chunk *chunks;
    size_t chunk_count;
};

void h5twin_check_dataset(struct h5twin_check *check, hid_t id, const char *name);

/* The place of a chunk for a finding. */
void h5twin_check_place_of(const struct h5twin_check *check,
                           const struct h5twin_check_dataset *dataset,
                           const struct h5twin_check_chunk *chunk,
                           struct h5twin_check_place *place);

/* ---- check_layout.c: what HDF5 does not show ---- */

/* What the layout in a dataset's header says. */
struct h5twin_check_layout {
    uint64_t element_size; /* 0: it is not found */
    haddr_t tree;          /* of the index, if it is a version 1 B-tree; else HADDR_UNDEF */
};

/* check->base must be known. */
struct h5twin_check_layout h5twin_check_layout_read(const struct h5twin_check *check,
                                                    hid_t dataset);

/* Whether the keys of that index are offsets of chunks. */
bool h5twin_check_tree(const struct h5twin_check *check, const struct h5twin_check_dataset *dataset,
                       haddr_t tree_address);

/* ---- check_index.c: the list of a dataset's chunks ---- */

/* Fill in chunks, chunk_count and has_addresses; tell what is wrong with them, and leave out those
 * that cannot be read. False if there is no list. The caller frees chunks. */
bool h5twin_check_index(struct h5twin_check *check, struct h5twin_check_dataset *dataset);

/* ---- check_chunks.c: what is in the chunks ---- */

/* Read and, unless --quick is given, decode each chunk, on all cores. */
void h5twin_check_chunks(struct h5twin_check *check, struct h5twin_check_dataset *dataset);

#endif
