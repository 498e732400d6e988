/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_residuals.cuh: kernels of lattice_encode.cu: header and residuals, and what is not
 * coded. */
#ifndef H5TWIN_LATTICE_ENCODE_RESIDUALS_CUH
#define H5TWIN_LATTICE_ENCODE_RESIDUALS_CUH

#include "lattice_encode_search.cuh"

/* ---- residuals ---- */

/* Header and size of a payload whose stream will have this size; or it is verbatim. By a thread. */
static __device__ void
finish_payload(const struct lattice_encoding *all, uint64_t chunk, uint64_t stream_size)
{
    struct lattice_coding *const coding = &all->codings[chunk];
    const struct lattice_map *const map = &coding->header.map;
    const struct lattice_choice *const choice = &coding->finalists[coding->space];
    uint8_t *const dst = lattice_payload(all, chunk);
    if (coding->stream_at + stream_size >= 1 + all->value_count * map->word_size) {
        coding->form = LATTICE_VERBATIM;
        return;
    }
    const uint32_t flags =
        (map->wide ? LATTICE_FLAG_WIDE : 0u) | (map->relative ? LATTICE_FLAG_RELATIVE : 0u) |
        choice->predictor << LATTICE_PREDICTOR_SHIFT | (choice->cubic ? LATTICE_FLAG_CUBIC : 0u) |
        (coding->header.has_specials ? LATTICE_FLAG_SPECIALS : 0u) |
        (all->shape.axes - 1) << LATTICE_AXES_SHIFT;
    const uint32_t grid = (uint32_t)map->grid;
    const uint32_t extras = (map->has_limit[0] ? LATTICE_EXTRA_LOWER : 0u) |
                            (map->has_limit[1] ? LATTICE_EXTRA_UPPER : 0u);
    const uint8_t form = extras != 0 ? LATTICE_EXTENDED : LATTICE_CODED;
    const uint8_t fixed[LATTICE_FIXED_BYTES] = {form,
                                                (uint8_t)flags,
                                                (uint8_t)choice->arg,
                                                (uint8_t)grid,
                                                (uint8_t)(grid >> 8),
                                                (uint8_t)map->width,
                                                (uint8_t)(map->width >> 8)};
    uint64_t at = LATTICE_FIXED_BYTES;
    for (uint32_t i = 0; i < LATTICE_FIXED_BYTES; i++) {
        dst[i] = fixed[i];
    }
    for (uint32_t axis = LATTICE_AXES + 1 - all->shape.axes; axis < LATTICE_AXES; axis++) {
        at += lattice_put_varint(dst + at, (uint32_t)all->shape.extent[axis]);
    }
    if (extras != 0) {
        dst[at++] = (uint8_t)extras;
    }
    for (uint32_t upper = 0; upper < 2; upper++) {
        const uint64_t word = lattice_word_of_number(map->limit[upper], map->word_size);
        for (uint32_t byte = 0; map->has_limit[upper] && byte < map->word_size; byte++) {
            dst[at++] = (uint8_t)(word >> 8 * byte);
        }
    }
    all->batch.d_dst_sizes[chunk] = coding->stream_at + stream_size;
}

/* Does something with the codes of a chunk's finalist, of either width. */
#define WITH_CODES_OF(all, chunk, space, call)                                                     \
    do {                                                                                           \
        if ((all)->codings[chunk].header.map.wide) {                                               \
            const uint64_t *const codes = lattice_codes_of<uint64_t>(all, chunk, space);           \
            call;                                                                                  \
        } else {                                                                                   \
            const uint32_t *const codes = lattice_codes_of<uint32_t>(all, chunk, space);           \
            call;                                                                                  \
        }                                                                                          \
    } while (0)
#define WITH_CODES(all, chunk, call) WITH_CODES_OF(all, chunk, (all)->codings[chunk].space, call)

/* ---- two finalists that cost about the same ---- */

static __device__ __forceinline__ bool
is_compared(const struct lattice_encoding *all, uint64_t chunk)
{
    return is_searching(all, chunk) && all->codings[chunk].is_close != 0;
}

/* Counts the codes of a finalist. */
static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_compare_count_kernel(struct lattice_encoding all, uint32_t space)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (is_compared(&all, chunk)) {
        WITH_CODES_OF(&all, chunk, space,
                      h5twin_residuals_rans_count(lattice_rans_of(&all, chunk), codes,
                                                  all.value_count, part, all.parts));
    }
}

/* What its stream would take; after the second one, who goes on. */
static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_compare_kernel(struct lattice_encoding all, uint32_t space)
{
    const uint64_t chunk = blockIdx.x;
    struct lattice_coding *const coding = &all.codings[chunk];
    if (!is_compared(&all, chunk)) {
        return;
    }
    const uint64_t bits =
        h5twin_residuals_rans_estimate(lattice_rans_of(&all, chunk), all.value_count);
    lattice_clear_counts(all.rans.work + chunk); /* for the next one */
    if (threadIdx.x == 0) {
        const uint32_t best = coding->space;
        coding->final_costs[space] = bits;
        if (space == 1 && coding->final_costs[1 - best] < coding->final_costs[best]) {
            coding->space = 1 - best;
        }
    }
}

/* A tile of super-blocks by each block; whichever is the last one plans the payload. */
static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_packed_measure_kernel(struct lattice_encoding all, uint32_t tiles)
{
    const uint64_t chunk = blockIdx.x / tiles, tile = blockIdx.x - chunk * tiles;
    struct lattice_coding *const coding = &all.codings[chunk];
    bool is_last = false;
    if (!is_coded(&all, chunk)) {
        return;
    }
    WITH_CODES(&all, chunk,
               is_last = h5twin_residuals_packed_measure(
                   &coding->packed, &coding->tally, lattice_rans_of(&all, chunk).notes,
                   lattice_widths_of(&all, chunk), codes, all.value_count, tile));
    if (is_last && threadIdx.x == 0) {
        finish_payload(&all, chunk, coding->packed.size);
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_packed_write_kernel(struct lattice_encoding all, uint32_t tiles)
{
    const uint64_t chunk = blockIdx.x / tiles;
    struct lattice_coding *const coding = &all.codings[chunk];
    if (is_coded(&all, chunk)) {
        uint8_t *const dst = lattice_payload(&all, chunk) + coding->stream_at;
        WITH_CODES(&all, chunk,
                   h5twin_residuals_packed_write_tile(
                       &coding->packed, &coding->tally, lattice_rans_of(&all, chunk).notes,
                       lattice_widths_of(&all, chunk), dst, codes, all.value_count));
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_rans_count_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (is_coded(&all, chunk)) {
        WITH_CODES(&all, chunk,
                   h5twin_residuals_rans_count(lattice_rans_of(&all, chunk), codes, all.value_count,
                                               part, all.parts));
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_rans_model_kernel(struct lattice_encoding all)
{
    const uint64_t chunk = blockIdx.x;
    if (is_coded(&all, chunk)) {
        (void)h5twin_residuals_rans_model(lattice_rans_of(&all, chunk), all.value_count);
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_rans_put_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (is_coded(&all, chunk)) {
        WITH_CODES(&all, chunk,
                   h5twin_residuals_rans_put(lattice_rans_of(&all, chunk), codes, all.value_count,
                                             part, all.parts));
    }
}

/* The head waits in a room for values until it is known that the stream fits. */
static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_rans_head_kernel(struct lattice_encoding all)
{
    const uint64_t chunk = blockIdx.x;
    if (!is_coded(&all, chunk)) {
        return;
    }
    const struct h5twin_residuals_rans_memory memory = lattice_rans_of(&all, chunk);
    uint8_t *const head = lattice_values_of<uint8_t>(&all, chunk, 0);
    const uint64_t size = h5twin_residuals_rans_head(memory, head, all.value_count);
    if (threadIdx.x == 0) {
        finish_payload(&all, chunk, size);
    }
    __syncthreads();
    if (is_coded(&all, chunk)) {
        uint8_t *const dst = lattice_payload(&all, chunk) + all.codings[chunk].stream_at;
        for (uint64_t i = threadIdx.x; i < lattice_head_size(memory); i += blockDim.x) {
            dst[i] = head[i];
        }
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_rans_write_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (is_coded(&all, chunk)) {
        uint8_t *const dst = lattice_payload(&all, chunk) + all.codings[chunk].stream_at;
        WITH_CODES(&all, chunk,
                   h5twin_residuals_rans_write(lattice_rans_of(&all, chunk), dst, codes,
                                               all.value_count, part, all.parts));
    }
}

/* ---- what is not coded ---- */

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_encode_end_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    const uint32_t form = all.codings[chunk].form;
    const uint8_t *const src = lattice_source(&all, chunk);
    uint8_t *const dst = lattice_payload(&all, chunk);
    const bool is_left = form == LATTICE_LEFT ||
                         (form == LATTICE_VERBATIM && all.has_companion != 0 && all.raw_size > 0);
    const uint64_t size = form == LATTICE_CONSTANT ? all.settings.word_size
                          : is_left                ? 0
                                                   : all.raw_size;
    if (form == LATTICE_CODED) {
        return;
    }
    for (uint64_t i = (uint64_t)part * LATTICE_THREADS + threadIdx.x; i < size;
         i += (uint64_t)all.parts * LATTICE_THREADS) {
        dst[1 + i] = src[i];
    }
    if (part == 0 && threadIdx.x == 0) {
        all.batch.d_dst_sizes[chunk] = is_left ? 0 : 1 + size;
        if (is_left) {
            all.batch.d_status[chunk] = H5TWIN_ERR_OPTION;
        } else {
            dst[0] = (uint8_t)form;
        }
    }
}

#endif
