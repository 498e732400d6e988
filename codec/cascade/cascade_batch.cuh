/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_batch.cuh: a batch as the kernels of cascade.cu take it, and where a slab's memory is. */
#ifndef H5TWIN_CASCADE_BATCH_CUH
#define H5TWIN_CASCADE_BATCH_CUH

#include "../common/lines.cuh"
#include "../common/store_word.cuh"
#include "../gpu.h"
#include "../residuals/residuals.cuh"
#include "cascade_entry_core.h"
#include "cascade_header_core.h"

#ifndef CASCADE_THREADS
#    define CASCADE_THREADS 256u /* of a block, which decodes a slab at a time */
#endif
#define CASCADE_WARPS (CASCADE_THREADS / 32u)
#ifndef CASCADE_WORKER_BYTES
#    define CASCADE_WORKER_BYTES 32768u /* of a chunk: one block more */
#    define CASCADE_TEAM_VALUES  16384u /* of a slab that several blocks may share */
#endif
#define CASCADE_MOST_WORKERS 128u /* blocks that share a chunk's slabs */
#define CASCADE_NO_FAULT     (~0ull)

/* What is wrong with a slab: where, in the order in which the CPU's decoder finds it, and the
 * status. The least one counts. */
#define CASCADE_NO_SLAB_FAULT UINT32_MAX
#define CASCADE_FAULT_BITS    24u
enum cascade_stage {
    CASCADE_IN_SECTIONS,
    CASCADE_IN_WORDS,   /* of residuals */
    CASCADE_IN_PADDING, /* behind them */
    CASCADE_IN_VALUES,  /* with the number of a remainder segment */
    CASCADE_IN_END
};

static __device__ __forceinline__ uint32_t
cascade_fault(enum cascade_stage stage, uint32_t detail, uint32_t status)
{
    return status == H5TWIN_OK ? CASCADE_NO_SLAB_FAULT
                               : (uint32_t)stage << 21 | detail << 8 | status;
}

/* Of a chunk, for the kernels after the first one: zeros if it is refused. Blocks share slabs if
 * there are at least two of them for each. */
struct cascade_team_chunk {
    uint64_t plane, extent; /* values of an index of the slowest axis, and its extent */
    uint32_t slab_count;
    uint32_t parts; /* blocks of a slab */
};

/* Scratch; each part has the memory of all chunks, one behind the other. Slabs have their share of
 * it at the place of their values, as far as there is some for so small a slab; else (notes, index)
 * each worker has room for one item. */
struct cascade_batch {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size, value_count;
    uint32_t word_size;
    uint32_t workers;                       /* blocks per chunk */
    uint32_t right_size;                    /* 0: the job's array is no whole number of words */
    uint64_t note_capacity, index_capacity; /* per chunk */
    uint8_t *lanes, *residuals, *words;     /* a lane for each value */
    uint8_t *mask;                          /* a byte for each value, of which bit 0 counts */
    uint8_t *copies;                        /* a byte for each value: its number */
    uint32_t *index, *depths;               /* of blocks of 32 values, and of remainder segments */
    struct h5twin_residuals_notes notes;
    uint32_t *ranks; /* of blocks of 32 values: how many before it are not masked */
    struct cascade_team_chunk *teams; /* of chunks */
    uint8_t *open;                    /* slabs that blocks share, open_capacity for each chunk */
    uint64_t open_capacity;
    unsigned long long *faults; /* of a chunk: the first slab with one, and that */
};

/* Values of a slab for an item of notes, and of index: twice as many items as are needed. */
#define CASCADE_NOTE_VALUES  (RESIDUALS_BLOCK / 2u)
#define CASCADE_INDEX_VALUES (CASCADE_REFERENCE_BLOCK / 2u)

/* The axis whose lines several threads or blocks share: see cascade_axes.cuh. */
struct cascade_cut {
    uint32_t axis;
    uint32_t pieces; /* of a line; 0: no axis is cut */
    uint32_t values; /* of a piece on that axis */
    uint64_t ways[H5TWIN_LINES_MOST_ORDER];
};

/* One slab at work, by all threads of a block: all of them have the same here. */
template <typename lane> struct cascade_slab_work {
    struct h5twin_residuals_stream *stream; /* shared memory */
    const uint8_t *src, *at, *end;          /* of the body */
    uint8_t *dst;
    uint32_t version; /* of the payload */
    uint32_t word_size;
    struct h5twin_cascade_shape shape;
    struct h5twin_cascade_slab slab;
    uint64_t value_count, unmasked;
    lane *lanes, *residuals, *words;
    uint8_t *mask; /* nullptr: none */
    uint64_t fill;
    uint8_t *copies;             /* numbers of entries */
    const uint8_t *copy_entries; /* as they are sent */
    uint32_t copy_count, copy_rounds;
    uint64_t word_count; /* of the dictionary */
    uint32_t *index, *depths, *ranks;
    uint32_t entry_count, rounds; /* of references; 0: none */
    struct cascade_cut cut;
    struct h5twin_residuals_notes notes;
};

/* A slab whose sections are read, all but the words of residuals. */
template <typename lane> struct cascade_opened {
    struct cascade_slab_work<lane> work;
    uint32_t is_open; /* else it is not right */
    uint32_t entries[CASCADE_MAX_LAGS];
    struct h5twin_residuals_stream stream;
};

/* The memory of a slab whose values begin at `begin` in its chunk. */
template <typename lane>
static __device__ __forceinline__ void
cascade_slab_memory(struct cascade_slab_work<lane> *work, const struct cascade_batch *all,
                    uint64_t chunk, uint32_t worker, uint64_t begin)
{
    const uint64_t value = chunk * all->value_count + begin;
    const uint64_t note = work->value_count < CASCADE_NOTE_VALUES
                              ? all->note_capacity - all->workers + worker
                              : begin / CASCADE_NOTE_VALUES;
    const uint64_t index = work->value_count < CASCADE_INDEX_VALUES
                               ? all->index_capacity - all->workers + worker
                               : begin / CASCADE_INDEX_VALUES;
    work->lanes = reinterpret_cast<lane *>(all->lanes) + value;
    work->residuals = reinterpret_cast<lane *>(all->residuals) + value;
    work->words = reinterpret_cast<lane *>(all->words) + value;
    work->mask = all->mask + value;
    work->copies = all->copies + value;
    work->index = all->index + chunk * all->index_capacity + index;
    work->depths = all->depths + chunk * all->index_capacity + index;
    work->ranks = all->ranks + chunk * all->index_capacity + index;
    work->notes = h5twin_residuals_notes_from(all->notes, chunk * all->note_capacity + note);
}

/* ---- words ---- */

static __device__ __forceinline__ uint32_t
cascade_word_of(uint32_t code, const struct h5twin_cascade_map *map)
{
    return map->map == CASCADE_IDENTITY
               ? h5twin_cascade_identity_back32(code, map->trailing)
               : h5twin_cascade_monotone_back32(code, map->word_bits, map->trailing);
}

static __device__ __forceinline__ uint64_t
cascade_word_of(uint64_t code, const struct h5twin_cascade_map *map)
{
    return map->map == CASCADE_IDENTITY
               ? h5twin_cascade_identity_back64(code, map->trailing)
               : h5twin_cascade_monotone_back64(code, map->word_bits, map->trailing);
}

static __device__ __forceinline__ uint32_t
cascade_key_word(uint32_t key, const struct h5twin_cascade_map *map)
{
    return h5twin_cascade_key_back32(key, map);
}

static __device__ __forceinline__ uint64_t
cascade_key_word(uint64_t key, const struct h5twin_cascade_map *map)
{
    return h5twin_cascade_key_back64(key, map);
}

static __device__ __forceinline__ uint32_t
cascade_soft_bits(uint32_t code, uint32_t fraction)
{
    return h5twin_cascade_soft_bits32(code, fraction);
}

static __device__ __forceinline__ uint32_t
cascade_soft_bits(uint64_t code, uint32_t fraction)
{
    return h5twin_cascade_soft_bits64(code, fraction);
}

static __device__ __forceinline__ uint32_t
cascade_soft_word(uint32_t code, uint32_t remainder, const struct h5twin_cascade_map *map)
{
    return h5twin_cascade_soft_back32(code, remainder, h5twin_cascade_fraction(map), map->trailing,
                                      map->exponent);
}

static __device__ __forceinline__ uint64_t
cascade_soft_word(uint64_t code, uint64_t remainder, const struct h5twin_cascade_map *map)
{
    return h5twin_cascade_soft_back64(code, remainder, h5twin_cascade_fraction(map), map->trailing,
                                      map->exponent);
}

#endif
