/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_chunk_counts.c: see hdf5_chunk_counts.h. */
#include "hdf5_chunk_counts.h"

#include "frame.h"
#include "hdf5_chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLETCHER_END 4 /* bytes that the fletcher32 filter appends */

static void
count_line(struct h5twin_chunk_counts *counts, const char *line)
{
    for (int i = 0; i < H5TWIN_CHUNK_LINES; i++) {
        if (counts->line_counts[i] == 0) {
            snprintf(counts->lines[i], sizeof counts->lines[i], "%s", line);
        }
        if (strcmp(counts->lines[i], line) == 0) {
            counts->line_counts[i]++;
            return;
        }
    }
    counts->other_lines++;
}

static void
count_wrong(struct h5twin_chunk_counts *counts, enum h5twin_status status)
{
    counts->first_wrong = counts->wrong == 0 ? status : counts->first_wrong;
    counts->wrong++;
}

static void
count_chunk(struct h5twin_chunk_counts *counts, const uint8_t *chunk, size_t chunk_size)
{
    struct h5twin_info info;
    enum h5twin_status status = h5twin_inspect(chunk, chunk_size, &info);
    if (chunk_size >= H5TWIN_FRAME_BYTES && (status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT) &&
        h5twin_frame_verify(chunk, chunk_size) != H5TWIN_OK) {
        status = H5TWIN_ERR_CHECKSUM;
    }
    if (status != H5TWIN_OK) {
        count_wrong(counts, status);
        return;
    }
    char line[256];
    if (info.stored_raw) {
        counts->raw++;
    } else if (h5twin_describe(chunk, chunk_size, line, sizeof line) > 0) {
        count_line(counts, line);
    }
}

bool
h5twin_chunks_count(struct h5twin_chunk_counts *counts, hid_t dataset, hid_t space, int ours,
                    bool fletcher_after)
{
    struct h5twin_chunk_walk walk;
    uint8_t *chunk = NULL;
    size_t capacity = 0;
    const uint64_t file_size = h5twin_hdf5_file_size(dataset);
    int more = h5twin_chunk_walk_begin(&walk, dataset, space) ? 1 : -1;
    *counts = (struct h5twin_chunk_counts){.written = walk.chunk_count};
    while (more > 0 && (more = h5twin_chunk_walk_next(&walk)) > 0) {
        uint32_t mask;
        if (walk.stored_size > file_size) { /* what a file claims is not asked memory for */
            count_wrong(counts, H5TWIN_ERR_SRC_SHORT);
            continue;
        }
        const size_t stored_size = (size_t)walk.stored_size;
        if (stored_size > capacity) {
            free(chunk);
            capacity = stored_size;
            chunk = malloc(capacity);
        }
        if (chunk == NULL || H5Dread_chunk(dataset, H5P_DEFAULT, walk.offset, &mask, chunk) < 0) {
            more = -1;
        } else if ((mask & (1u << ours)) != 0) {
            counts->skipped++;
        } else {
            const size_t end = fletcher_after && stored_size >= FLETCHER_END ? FLETCHER_END : 0;
            count_chunk(counts, chunk, stored_size - end);
        }
    }
    free(chunk);
    return more == 0;
}
