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

struct h5twin_repack_args {
    struct h5twin_params params;      /* codec, bound, options */
    struct h5twin_params chunk_shape; /* rank and dims, if chunks are given */
    struct h5twin_exec exec;
    bool has_codec, force, quiet, help;
    enum h5twin_repack_chunks chunks;
    int deflate_level; /* 0: no deflate behind the codec */
    const char *patterns[H5TWIN_MAX_PATTERNS];
    size_t pattern_count; /* 0: all datasets */
    const char *src_path, *dst_path;
};

/* Whether a dataset of this full name is asked for. *named: by a pattern that is a name, without
 * wildcards; else it stays as it was. */
bool h5twin_repack_matches(const struct h5twin_repack_args *args, const char *name, bool *named);

/* Write the new file. The exit code. */
int h5twin_repack_hdf5(const struct h5twin_repack_args *args);

#endif
