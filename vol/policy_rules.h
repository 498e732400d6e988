/* SPDX-License-Identifier: BSD-3-Clause
 * policy_rules.h: what a policy is made of, for policy_parse.c that writes it and policy_choose.c
 * that reads it. */
#ifndef H5TWIN_POLICY_RULES_H
#define H5TWIN_POLICY_RULES_H

#include "policy.h"

/* Without a size in its conditions a rule is for datasets from here on. */
#define H5TWIN_POLICY_LEAST_SIZE ((uint64_t)16 << 10)

#define H5TWIN_POLICY_UNLIMITED UINT64_MAX

enum h5twin_policy_growth {
    H5TWIN_POLICY_ANY_GROWTH,
    H5TWIN_POLICY_EXTENDABLE, /* an axis may grow */
    H5TWIN_POLICY_FIXED,
};

enum h5twin_policy_chunks {
    H5TWIN_POLICY_CHUNKS_KEEP, /* the program's, or a good one where it gave none */
    H5TWIN_POLICY_CHUNKS_AUTO, /* a good one */
    H5TWIN_POLICY_CHUNKS_GIVEN,
};

struct h5twin_policy_shape {
    uint32_t rank;                       /* 0: none */
    uint64_t dims[H5TWIN_HDF5_MAX_RANK]; /* H5TWIN_POLICY_UNLIMITED: any, not of chunks */
};

struct h5twin_policy_rule {
    unsigned line; /* from 1 */
    char *pattern;
    /* conditions */
    uint32_t types;                  /* bit 1 << enum h5twin_policy_type */
    uint64_t least_size, most_size;  /* both included */
    uint32_t least_rank, most_rank;  /* both included */
    struct h5twin_policy_shape dims; /* rank 0: any */
    enum h5twin_policy_growth growth;
    /* action */
    bool is_none;                /* leave it alone */
    bool is_collective;          /* in MPI files, too */
    bool is_held;                /* rows are held until their chunks are full */
    struct h5twin_params params; /* unless is_none */
    enum h5twin_policy_chunks chunks;
    struct h5twin_policy_shape chunk; /* if GIVEN */
};

struct h5twin_policy {
    struct h5twin_policy_rule *rules; /* the first that fits decides */
    size_t rule_count;
};

/* A chunk shape of at most 1 MiB for a dataset, as h5twin_chunk_shape(). Where an axis can grow and
 * the chunk would be small, it is extended along that axis to about 64 KiB: one step of a long
 * series is a whole chunk, or many steps share one. policy_shape.c. */
void h5twin_policy_shape_choose(const struct h5twin_policy_dataset *dataset, uint64_t *chunk);

/* Whether a dataset of this name and rank tells where or when others are: lat, lon, time, x, *_bnds
 * and other names that the CF conventions and netCDF programs use. policy_coordinates.c. */
bool h5twin_policy_is_coordinate(const char *path, uint32_t rank);

/* The path as users know it: without the "_nc4_non_coord_" that netCDF-4 puts before the name of a
 * variable which only shares its name with a dimension. The path itself if there is none; else
 * text, which has room for the whole path. */
const char *h5twin_policy_plain_path(const char *path, char *text);

/* A line of the log that is about no dataset. policy_log.c. */
void h5twin_policy_log_sentence(const char *sentence);

#endif
