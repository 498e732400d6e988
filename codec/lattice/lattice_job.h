/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_job.h: what a job is to lattice and to its companion, on a CPU and on a GPU. */
#ifndef H5TWIN_LATTICE_JOB_H
#define H5TWIN_LATTICE_JOB_H

#include "../codec.h"

#define LATTICE_MOST_VALUES ((uint64_t)1 << 31) /* of a chunk */

/* The frame's parameter: 0 where a word is cut off or there are too many: then payloads are
 * lossless ones only. */
static inline uint32_t
h5twin_lattice_value_count(size_t raw_size, unsigned word_size)
{
    const size_t count = raw_size / word_size;
    return raw_size % word_size == 0 && count <= LATTICE_MOST_VALUES ? (uint32_t)count : 0;
}

/* The companion's view of a chunk. */
static inline struct h5twin_job
h5twin_lattice_companion_job(const struct h5twin_job *job)
{
    struct h5twin_job other = *job;
    other.mode = H5TWIN_LOSSLESS;
    other.options = 0;
    other.parameter = 0;
    if (job->raw_size % job->word_size != 0) { /* bytes */
        other.word_size = job->companion->min_word_size;
        other.kind = H5TWIN_OTHER;
        other.rank = 0;
    }
    other.has_fill = other.has_second_fill = false;
    other.crc = NULL; /* its payload is a part of ours */
    other.companion = NULL;
    return other;
}

#endif
