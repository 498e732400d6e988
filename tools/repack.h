/* SPDX-License-Identifier: BSD-3-Clause
 * repack.h: what `h5twin repack` is asked for. */
#ifndef H5TWIN_TOOLS_REPACK_H
#define H5TWIN_TOOLS_REPACK_H

#include "h5twin.h"

#define H5TWIN_MAX_PATTERNS 64

enum h5twin_repack_chunks {
    H5TWIN_CHUNKS_KEEP, /* of datasets that have chunks; the others get the advised ones */
    H5TWIN_CHUNKS_AUTO,
    H5TWIN_CHUNKS_GIVEN,
};

/* What is to be done with a dataset. */
struct h5twin_repack_choice {
    struct h5twin_params params; /* codec, bound, options */
    enum h5twin_repack_chunks chunks;
    struct h5twin_params chunk_shape; /* rank and dims, if chunks are given */
};

/* --set PATTERN=SPEC */
struct h5twin_repack_rule {
    char *pattern;
    struct h5twin_params params;
    bool is_kept; /* SPEC is "keep": as it is */
};

struct h5twin_policy;

struct h5twin_repack_args {
    struct h5twin_repack_choice choice; /* by --codec and --chunks */
    struct h5twin_exec exec;
    bool has_codec, force, quiet, help;
    bool noa_of_dataset; /* a bound noa=E is of the range of the whole dataset */
    bool replace, verify, json, leave_attributes, seal;
    int deflate_level; /* 0: no deflate behind the codec */
    struct h5twin_repack_rule rules[H5TWIN_MAX_PATTERNS];
    size_t rule_count;
    const struct h5twin_policy *policy; /* NULL: none */
    const char *patterns[H5TWIN_MAX_PATTERNS];
    size_t pattern_count; /* 0: all datasets */
    const char *src_path, *dst_path;
};

/* The first of what decides: --set, --policy, --codec with --only. Whether a dataset of this full
 * name, open as `dataset`, is asked for, and for what. *named: by a pattern whose last name has no
 * wildcards; else it stays as it was. *why gets why not, constant or in `text`. */
#define H5TWIN_REPACK_WHY 512
bool h5twin_repack_choose(const struct h5twin_repack_args *args, const char *name, int64_t dataset,
                          struct h5twin_repack_choice *choice, bool *named,
                          char why[H5TWIN_REPACK_WHY]);

/* Write the new file. The exit code. */
int h5twin_repack_hdf5(const struct h5twin_repack_args *args);

#endif
