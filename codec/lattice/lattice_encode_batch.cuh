/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_batch.cuh: a batch as the kernels of lattice_encode.cu take it, a chunk being
 * coded, and reductions over a block of threads. */
#ifndef H5TWIN_LATTICE_ENCODE_BATCH_CUH
#define H5TWIN_LATTICE_ENCODE_BATCH_CUH

#include "../residuals/residuals_packed_encode.cuh"
#include "../residuals/residuals_rans_encode.cuh"
#include "lattice_cost_core.h"
#include "lattice_fold_core.h"
#include "lattice_loops.h"
#include "lattice_mask.cuh"
#include "lattice_passes.cuh"
#include "lattice_quantize_core.h"

#define LATTICE_LEFT       0xFFu /* form: the CPU's */
#define LATTICE_SPACES     2u    /* rooms to code an array in */
#define LATTICE_TRIES      4u    /* candidates at once that code a short array */
#define LATTICE_HEAD_BYTES 8192u /* more than what tables of a stream take */

/* What all blocks of a chunk find out of its words before one block decides. Zero at first. */
struct lattice_surveys {
    uint64_t fill, second_fill; /* which are left out; NaNs where there is none */
    uint64_t largest;           /* magnitude word of a finite value that is not the user's fill */
    uint64_t high, below; /* of keys of such values: the highest, how far the lowest lies below the
                             highest there is */
    uint32_t differs;     /* words are not all equal */
    uint32_t subnormal;   /* such a value is */
    uint64_t positives, negatives; /* words that are the largest magnitude, with either sign */
};

/* A chunk being coded. */
struct lattice_coding {
    uint32_t form;     /* LATTICE_CONSTANT, LATTICE_VERBATIM, LATTICE_LEFT, or, so far,
                          LATTICE_CODED */
    uint32_t searches; /* in this round: a predictor is to be found */
    uint32_t stable;   /* among those whose values lie on one lattice */
    uint32_t special_count;
    uint32_t meets_fill; /* by interpolation, a value decodes to missing data or padding */
    uint32_t is_on;      /* in this round: the array is to be coded */
    struct lattice_header header;
    uint64_t costs[LATTICE_MOST_CANDIDATES]; /* on samples, or on a short array */
    uint32_t finalist_count, space;          /* and which is it */
    struct lattice_choice finalists[LATTICE_SPACES];
    struct lattice_passes passes[LATTICE_SPACES];
    uint64_t final_costs[LATTICE_SPACES]; /* of finalists on the array */
    uint32_t is_close;                    /* these two; then they are estimates for the streams */
    uint64_t stream_at;                   /* bytes of the payload before the residuals */
    struct h5twin_residuals_packed_plan packed;
    struct h5twin_residuals_packed_tally tally;
};

/* A batch. Arrays of integers have integer_size bytes for each value, and rooms some more. */
struct lattice_encoding {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size, value_count, tile_count, note_capacity, mask_size;
    uint32_t integer_size, parts;
    uint32_t has_companion, samples; /* whether samples decide which candidates go on */
    uint32_t spaces;
    uint32_t candidate_count, first_interpolation;
    uint32_t screens; /* whether estimates decide which interpolations code a short array */
    uint64_t room_size;
    struct lattice_settings settings;
    struct lattice_shape shape, crop;
    size_t starts[LATTICE_SAMPLES][LATTICE_AXES];
    struct lattice_choice candidates[LATTICE_MOST_CANDIDATES];
    struct lattice_coding *codings;
    struct lattice_surveys *surveys; /* of each chunk; NULL: nobody has looked */
    uint8_t *integers, *mask;
    uint32_t *last_regular; /* of each tile: 1 + index of its last value that is not special */
    uint8_t *codes[LATTICE_SPACES], *values[LATTICE_SPACES], *tries;
    uint8_t *widths;
    struct h5twin_residuals_rans_memory rans;
};

static __device__ __forceinline__ const uint8_t *
lattice_source(const struct lattice_encoding *all, uint64_t chunk)
{
    return all->batch.d_src + chunk * all->batch.src_stride;
}

static __device__ __forceinline__ uint8_t *
lattice_payload(const struct lattice_encoding *all, uint64_t chunk)
{
    return all->batch.d_dst + chunk * all->batch.dst_stride;
}

static __device__ __forceinline__ uint8_t *
lattice_mask_of(const struct lattice_encoding *all, uint64_t chunk)
{
    return all->mask + chunk * all->mask_size;
}

template <typename item>
static __device__ __forceinline__ item *
lattice_integers_of(const struct lattice_encoding *all, uint64_t chunk)
{
    return reinterpret_cast<item *>(all->integers + chunk * all->value_count * all->integer_size);
}

template <typename item>
static __device__ __forceinline__ item *
lattice_codes_of(const struct lattice_encoding *all, uint64_t chunk, uint32_t space)
{
    return reinterpret_cast<item *>(all->codes[space] + chunk * all->room_size);
}

template <typename item>
static __device__ __forceinline__ item *
lattice_values_of(const struct lattice_encoding *all, uint64_t chunk, uint32_t space)
{
    return reinterpret_cast<item *>(all->values[space] + chunk * all->room_size);
}

static __device__ __forceinline__ uint8_t *
lattice_widths_of(const struct lattice_encoding *all, uint64_t chunk)
{
    return all->widths + chunk * all->note_capacity * RESIDUALS_GROUPS;
}

static __device__ __forceinline__ struct h5twin_residuals_rans_memory
lattice_rans_of(const struct lattice_encoding *all, uint64_t chunk)
{
    struct h5twin_residuals_rans_memory memory = all->rans;
    const uint64_t block = chunk * all->note_capacity;
    memory.work += chunk;
    memory.notes = h5twin_residuals_notes_from(memory.notes, block);
    memory.classes += block;
    memory.extra_bits += block;
    memory.coded_words += block;
    memory.low_sizes += block;
    memory.states += RESIDUALS_LANES * block;
    memory.units += 2 * RESIDUALS_BLOCK * block;
    memory.kinds_room += 2 * block;
    return memory;
}

/* Word number `index` of an array that lies on a multiple of 16 bytes. */
static __device__ __forceinline__ uint64_t
lattice_word_at(const uint8_t *words, uint64_t index, uint32_t word_size)
{
    return word_size == 4 ? reinterpret_cast<const uint32_t *>(words)[index]
                          : reinterpret_cast<const uint64_t *>(words)[index];
}

static __device__ __forceinline__ void
lattice_add(uint64_t *sum, uint64_t value)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(sum), (unsigned long long)value);
}

static __device__ __forceinline__ void
lattice_raise(uint64_t *largest, uint64_t value)
{
    atomicMax(reinterpret_cast<unsigned long long *>(largest), (unsigned long long)value);
}

/* ---- reductions: called by all threads of the block, the result is for all ---- */

enum lattice_reduction { LATTICE_LARGEST, LATTICE_DIVISOR };

/* The greatest common divisor; 0 is divided by all. */
static __device__ __forceinline__ uint64_t
lattice_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static __device__ __forceinline__ uint64_t
lattice_reduce_two(uint64_t a, uint64_t b, enum lattice_reduction how)
{
    return how == LATTICE_DIVISOR ? lattice_common_divisor(a, b) : a > b ? a : b;
}

static __device__ uint64_t
lattice_reduce(uint64_t value, enum lattice_reduction how)
{
    H5TWIN_SHARED(uint64_t, found, 32);
    for (int delta = 16; delta > 0; delta /= 2) {
        value = lattice_reduce_two(value, __shfl_xor_sync(H5TWIN_ALL_LANES, value, delta), how);
    }
    __syncthreads(); /* what was found last has been read */
    if (threadIdx.x % 32u == 0) {
        found[threadIdx.x / 32u] = value;
    }
    __syncthreads();
    uint64_t all = 0;
    for (uint32_t warp = 0; warp < LATTICE_WARPS; warp++) {
        all = lattice_reduce_two(all, found[warp], how);
    }
    return all;
}

/* The largest key of this thread and those below it; *all: of all threads. */
static __device__ uint32_t
lattice_largest_so_far(uint32_t key, uint32_t *all)
{
    H5TWIN_SHARED(uint32_t, found, 32);
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    for (uint32_t delta = 1; delta < 32; delta *= 2) {
        const uint32_t below = __shfl_up_sync(H5TWIN_ALL_LANES, key, delta);
        key = lane >= delta && below > key ? below : key;
    }
    __syncthreads();
    if (lane == 31) {
        found[warp] = key;
    }
    __syncthreads();
    uint32_t largest = 0;
    for (uint32_t i = 0; i < LATTICE_WARPS; i++) {
        key = i < warp && found[i] > key ? found[i] : key;
        largest = found[i] > largest ? found[i] : largest;
    }
    *all = largest;
    return key;
}

#endif
