/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_batch.cuh: a batch as the kernels of lattice.cu take it, and integers of both widths. */
#ifndef H5TWIN_LATTICE_BATCH_CUH
#define H5TWIN_LATTICE_BATCH_CUH

#include "../common/lines_tiles.cuh"
#include "../common/store_word.cuh"
#include "../gpu.h"
#include "../residuals/residuals.cuh"
#include "lattice_header_core.h"
#include "lattice_job.h"

#ifndef LATTICE_THREADS
#    define LATTICE_THREADS 256u
#endif
#define LATTICE_WARPS                 (LATTICE_THREADS / 32u)
#define LATTICE_TILE                  2048u /* values of which the number of specials before is noted */
#define LATTICE_MOST_DICTIONARY_WORDS 16u
#define LATTICE_MOST_LAG              3u

/* The passes of interpolation. */
struct lattice_passes {
    uint32_t levels;
    uint64_t anchors; /* the first codes */
    /* Where the codes of a pass begin: of a level, 0 the finest, and of a set of odd axes. */
    uint64_t codes[LATTICE_MOST_LEVELS][1u << LATTICE_AXES];
};

/* A step of running sums, of all values or of anchors; a launch lies between two. */
struct lattice_sum {
    struct h5twin_lines lines; /* of order 0: there is none */
    uint32_t is_of_corners;    /* anchors whose active coordinates are 0: lines tells how many */
};

/* What is known of a chunk once it is opened. */
struct lattice_chunk_plan {
    uint32_t form;                /* LATTICE_VERBATIM, ... */
    struct lattice_header header; /* its shape is that of the core, if axes are folded */
    struct lattice_shape shape;
    struct lattice_passes passes;
    /* specials */
    const uint8_t *words;                  /* stored */
    uint32_t word_count;                   /* of the dictionary; 0: each special's own */
    struct h5twin_residuals_stream stream; /* of the residuals */
    struct h5twin_residuals_tally tally;
    struct lattice_sum sums[LATTICE_AXES];
    uint32_t tickets[LATTICE_AXES]; /* of their tiles */
};

struct lattice_batch {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size, value_count;
    uint32_t word_size;
    uint32_t has_companion;
    uint32_t parts; /* blocks per chunk of kernels over values */
    uint64_t tile_count, note_capacity, line_tiles, mask_size; /* per chunk */
    struct lattice_chunk_plan *plans;
    struct h5twin_tile_state *line_states;
    uint64_t *codes, *integers; /* 8 bytes for each value */
    uint8_t *mask;              /* a byte for each value, of which bit 0 counts */
    uint32_t *indices;          /* in the dictionary, of specials */
    uint32_t *specials_before;  /* of each tile */
    uint32_t *companion_status; /* of chunks: H5TWIN_GPU_SKIP if they are not the companion's */
    uint32_t *companion_parameters;
    uint64_t *companion_sizes;
    struct h5twin_residuals_notes notes;
};

/* ---- integers: narrow ones are int32_t, their words uint32_t ---- */

static __device__ __forceinline__ int32_t
lattice_clamp(int32_t value, int32_t cap)
{
    return h5twin_lattice_clamp32(value, cap);
}

static __device__ __forceinline__ int64_t
lattice_clamp(int64_t value, int64_t cap)
{
    return h5twin_lattice_clamp64(value, cap);
}

static __device__ __forceinline__ int32_t
lattice_mean(uint32_t sum, uint32_t axes)
{
    return h5twin_lattice_mean32(sum, axes);
}

static __device__ __forceinline__ int64_t
lattice_mean(uint64_t sum, uint32_t axes)
{
    return h5twin_lattice_mean64(sum, axes);
}

static __device__ __forceinline__ int32_t
lattice_limit(int32_t)
{
    return LATTICE_LIMIT32;
}

static __device__ __forceinline__ int64_t
lattice_limit(int64_t)
{
    return LATTICE_LIMIT64;
}

static __device__ __forceinline__ int32_t
lattice_last_bin(int32_t width)
{
    return h5twin_lattice_last_bin32(width);
}

static __device__ __forceinline__ int64_t
lattice_last_bin(int64_t width)
{
    return h5twin_lattice_last_bin64(width);
}

#endif
