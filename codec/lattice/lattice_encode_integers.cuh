/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_integers.cuh: kernels of lattice_encode.cu: decisions, integers, specials; and
 * which chunk a block works on. */
#ifndef H5TWIN_LATTICE_ENCODE_INTEGERS_CUH
#define H5TWIN_LATTICE_ENCODE_INTEGERS_CUH

#include "lattice_decide.cuh"
#include "lattice_encode_specials.cuh"

/* The running block's chunk and part. */
static __device__ __forceinline__ uint64_t
find_part(const struct lattice_encoding *all, uint32_t *part)
{
    const uint64_t chunk = blockIdx.x / all->parts;
    *part = (uint32_t)(blockIdx.x - chunk * all->parts);
    return chunk;
}

/* The same of kernels that work on several rooms. */
static __device__ __forceinline__ uint64_t
find_space(const struct lattice_encoding *all, uint32_t blocks, uint32_t *space, uint32_t *part)
{
    const uint64_t chunk = blockIdx.x / (blocks * all->spaces);
    const uint32_t rest = (uint32_t)(blockIdx.x - chunk * blocks * all->spaces);
    *space = rest / blocks;
    *part = rest % blocks;
    return chunk;
}

static __device__ __forceinline__ bool
is_coded(const struct lattice_encoding *all, uint64_t chunk)
{
    return all->codings[chunk].form == LATTICE_CODED;
}

/* Whether a chunk searches in this round: the first, or a second one among predictors of bins. */
static __device__ __forceinline__ bool
is_searching(const struct lattice_encoding *all, uint64_t chunk)
{
    return is_coded(all, chunk) && all->codings[chunk].is_on != 0 &&
           all->codings[chunk].searches != 0;
}

/* Whether a finalist is coded in this room, in this round, by such predictors. */
static __device__ __forceinline__ bool
is_coded_by(const struct lattice_encoding *all, uint64_t chunk, uint32_t space, bool by_levels)
{
    const struct lattice_coding *const coding = &all->codings[chunk];
    return coding->form == LATTICE_CODED && coding->is_on != 0 && space < coding->finalist_count &&
           (coding->finalists[space].predictor != LATTICE_LORENZO) == by_levels;
}

template <typename integer>
static __device__ __forceinline__ struct lattice_field<integer>
field_of(const struct lattice_encoding *all, uint64_t chunk, const struct lattice_header *header) {
    struct lattice_field<integer> field = {
        header, lattice_integers_of<integer>(all, chunk),
            header->has_specials ? lattice_mask_of(all, chunk) : nullptr,
        {
        }
    };
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        field.stride[axis] = all->shape.stride[axis];
    }
    return field;
}

/* A chunk's header with this predictor, in shared memory: all threads look at it for each value.
 * Called by all threads. */
static __device__ struct lattice_header *
share_header(const struct lattice_coding *coding, const struct lattice_choice *choice)
{
    H5TWIN_SHARED(struct lattice_header, header, 1);
    __syncthreads(); /* nobody reads the last one any more */
    if (threadIdx.x == 0) {
        *header = coding->header;
        header->choice = *choice;
    }
    __syncthreads();
    return header;
}

/* ---- from words to integers ---- */

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_decide_kernel(struct lattice_encoding all)
{
    struct lattice_coding *const coding = &all.codings[blockIdx.x];
    struct lattice_trial trial = {};
    trial.all = &all;
    trial.chunk = blockIdx.x;
    trial.header.shape = all.shape;
    const uint32_t form = lattice_decide(&trial);
    if (threadIdx.x == 0) {
        coding->form = form;
        coding->header = trial.header;
        coding->searches = trial.searches;
        coding->stable = trial.stable;
        coding->is_on = 1;
        coding->special_count = 0;
        coding->meets_fill = 0;
        coding->finalist_count = 1;
        coding->space = 0;
        coding->finalists[0] = trial.header.choice;
    }
}

/* Integers and specials of a tile, and its last value that is none. */
template <typename integer>
static __device__ void
quantize_tile(const struct lattice_encoding *all, uint64_t chunk, uint64_t tile,
              const struct lattice_map *shared)
{
    const struct lattice_map map = *shared;
    const uint8_t *const words = lattice_source(all, chunk);
    integer *const integers = lattice_integers_of<integer>(all, chunk);
    uint8_t *const mask = lattice_mask_of(all, chunk);
    uint64_t last = 0;
    uint32_t specials = 0;
    for (uint64_t i = tile * LATTICE_TILE + threadIdx.x;
         i < (tile + 1) * LATTICE_TILE && i < all->value_count; i += LATTICE_THREADS) {
        int64_t found;
        const bool regular =
            lattice_quantize_word(&map, lattice_word_at(words, i, map.word_size), &found);
        integers[i] = (integer)found;
        mask[i] = !regular;
        last = regular ? i + 1 : last;
        specials += !regular;
    }
    last = lattice_reduce(last, LATTICE_LARGEST);
    specials = (uint32_t)residuals_block_sum(specials);
    if (threadIdx.x == 0) {
        all->last_regular[chunk * all->tile_count + tile] = (uint32_t)last;
        if (specials != 0) {
            atomicAdd(&all->codings[chunk].special_count, specials);
        }
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_quantize_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (!is_coded(&all, chunk)) {
        return;
    }
    const struct lattice_coding *const coding = &all.codings[chunk];
    const struct lattice_map *const map = &share_header(coding, &coding->finalists[0])->map;
    for (uint64_t tile = part; tile < all.tile_count; tile += all.parts) {
        if (map->wide) {
            quantize_tile<int64_t>(&all, chunk, tile, map);
        } else {
            quantize_tile<int32_t>(&all, chunk, tile, map);
        }
    }
}

/* Specials of a tile take the integer of the last value before them that is none. */
template <typename integer>
static __device__ void
fill_tile(const struct lattice_encoding *all, uint64_t chunk, uint64_t tile)
{
    const uint32_t *const tiles = all->last_regular + chunk * all->tile_count;
    integer *const integers = lattice_integers_of<integer>(all, chunk);
    const uint8_t *const mask = lattice_mask_of(all, chunk);
    uint32_t last = 0;
    for (uint64_t before = tile; before > 0 && last == 0;) {
        const uint64_t step = before < LATTICE_THREADS ? before : LATTICE_THREADS;
        before -= step;
        last = (uint32_t)lattice_reduce(threadIdx.x < step ? tiles[before + threadIdx.x] : 0,
                                        LATTICE_LARGEST);
    }
    const uint64_t end = (tile + 1) * LATTICE_TILE;
    for (uint64_t base = tile * LATTICE_TILE; base < end && base < all->value_count;
         base += LATTICE_THREADS) {
        const uint64_t i = base + threadIdx.x;
        const bool is_special = i >= all->value_count || mask[i] != 0;
        uint32_t step_last;
        const uint32_t found = lattice_largest_so_far(is_special ? 0 : (uint32_t)i + 1, &step_last);
        const uint32_t from = found > last ? found : last;
        if (i < all->value_count && is_special) {
            integers[i] = from == 0 ? 0 : integers[from - 1];
        }
        last = step_last > last ? step_last : last;
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_fill_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (!is_coded(&all, chunk) || all.codings[chunk].special_count == 0) {
        return;
    }
    for (uint64_t tile = part; tile < all.tile_count; tile += all.parts) {
        if (all.codings[chunk].header.map.wide) {
            fill_tile<int64_t>(&all, chunk, tile);
        } else {
            fill_tile<int32_t>(&all, chunk, tile);
        }
    }
}

static __device__ __forceinline__ uint64_t
header_size_of(const struct lattice_encoding *all, const struct lattice_map *map)
{
    uint64_t size = LATTICE_FIXED_BYTES;
    for (uint32_t axis = LATTICE_AXES + 1 - all->shape.axes; axis < LATTICE_AXES; axis++) {
        size += lattice_varint_size((uint32_t)all->shape.extent[axis]);
    }
    const uint32_t limits = (map->has_limit[0] ? 1u : 0u) + (map->has_limit[1] ? 1u : 0u);
    return size + (limits != 0 ? 1 + limits * map->word_size : 0);
}

template <typename integer>
static __device__ __forceinline__ void
lattice_look_at_pair(struct lattice_mirrors *mirrors, const struct lattice_shape *shape,
                     unsigned axis, uint32_t number, const integer *integers, const uint8_t *mask,
                     uint32_t width)
{
    const struct lattice_pair pair = lattice_pair_of(shape, axis, number);
    if (mask != nullptr && (mask[pair.at] | mask[pair.away]) != 0) {
        return;
    }
    const int64_t own = integers[pair.at], away = integers[pair.away];
    H5TWIN_UNROLL
    for (unsigned kind = 1; kind <= LATTICE_FOLD_KINDS; kind++) {
        const uint64_t mirror = pair.mirror[kind - 1];
        const int64_t sign = lattice_mirror_sign(kind);
        if (mask == nullptr || mask[mirror] == 0) {
            lattice_note_pair(mirrors, kind, number,
                              lattice_is_apart(own, sign * integers[mirror], width),
                              lattice_is_apart(own, sign * away, width));
        }
    }
}

/* What all threads have seen of a kind: four sums in one, of at most LATTICE_MIRROR_PAIRS each. */
static __device__ __forceinline__ void
lattice_sum_mirrors(struct lattice_mirrors *mirrors, unsigned kind)
{
    static_assert(LATTICE_MIRROR_PAIRS < 1u << 16, "a sum has 16 bits");
    const uint64_t sums = residuals_block_sum(
        mirrors->seen[kind] | (uint64_t)mirrors->differ[kind] << 16 |
        (uint64_t)mirrors->others[kind] << 32 | (uint64_t)mirrors->first[kind] << 48);
    mirrors->seen[kind] = (uint32_t)sums & 0xFFFFu;
    mirrors->differ[kind] = (uint32_t)(sums >> 16) & 0xFFFFu;
    mirrors->others[kind] = (uint32_t)(sums >> 32) & 0xFFFFu;
    mirrors->first[kind] = (uint32_t)(sums >> 48);
}

/* Whether an axis mirrors itself, so that the CPU tries folds. Called by all threads. */
template <typename integer>
static __device__ bool
lattice_has_mirror(const struct lattice_encoding *all, uint64_t chunk, uint32_t width,
                   bool has_specials)
{
    const integer *const integers = lattice_integers_of<integer>(all, chunk);
    const uint8_t *const mask = has_specials ? lattice_mask_of(all, chunk) : nullptr;
    bool found = false;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        struct lattice_mirrors mirrors = {};
        if (all->shape.extent[axis] < LATTICE_MIRROR_AXIS) {
            continue;
        }
        for (uint32_t pair = threadIdx.x; pair < LATTICE_MIRROR_PAIRS; pair += LATTICE_THREADS) {
            lattice_look_at_pair(&mirrors, &all->shape, axis, pair, integers, mask, width);
        }
        for (unsigned i = 0; i < LATTICE_FOLD_KINDS; i++) {
            lattice_sum_mirrors(&mirrors, i);
        }
        found = found || lattice_mirror_kind(&mirrors) != 0;
    }
    return found;
}

/* The section of specials, to its place in the payload. */
static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_specials_kernel(struct lattice_encoding all)
{
    const uint64_t chunk = blockIdx.x;
    struct lattice_coding *const coding = &all.codings[chunk];
    if (!is_coded(&all, chunk)) {
        return;
    }
    const uint32_t specials = coding->special_count;
    const bool is_left =
        coding->searches != 0 && specials < all.value_count &&
        (coding->header.map.wide
             ? lattice_has_mirror<int64_t>(&all, chunk, coding->header.map.width, specials > 0)
             : lattice_has_mirror<int32_t>(&all, chunk, coding->header.map.width, specials > 0));
    uint64_t end = header_size_of(&all, &coding->header.map);
    if (specials == all.value_count) {
        end = 0;
    } else if (specials > 0) {
        struct lattice_writer writer = {};
        writer.all = &all;
        writer.chunk = chunk;
        writer.words = lattice_source(&all, chunk);
        writer.mask = lattice_mask_of(&all, chunk);
        writer.dst = lattice_payload(&all, chunk);
        writer.rans = lattice_rans_of(&all, chunk);
        writer.packed = &coding->packed;
        writer.widths = lattice_widths_of(&all, chunk);
        writer.numbers = lattice_codes_of<uint32_t>(&all, chunk, 0);
        writer.positions = lattice_values_of<uint32_t>(&all, chunk, 0);
        writer.head = lattice_values_of<uint8_t>(&all, chunk, 0);
        end = lattice_write_specials(&writer, end, specials);
    }
    const struct h5twin_residuals_packed_tally none = {};
    lattice_clear_counts(all.rans.work + chunk); /* for the residuals */
    if (threadIdx.x == 0) {
        coding->tally = none;
        coding->form = end == 0 ? LATTICE_VERBATIM : is_left ? LATTICE_LEFT : LATTICE_CODED;
        coding->header.has_specials = specials > 0;
        coding->stream_at = lattice_even(end);
        if (end % 2 != 0) {
            lattice_payload(&all, chunk)[end] = 0;
        }
    }
}

#endif
