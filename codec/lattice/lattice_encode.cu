/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode.cu: lattice on a GPU: encoding. The payloads are lattice_encode.c's.
 *
 * What a chunk is coded by, only its values say, so all launches are made, and a chunk sits out
 * those that are not for it. Left to the CPU (H5TWIN_ERR_OPTION in the chunk's status) is what the
 * companion codes, without loss, and whatever effort=max would try. Passes, and bytes of global
 * memory that each reads + writes for n values of w bytes, integers of l = 4 or 8; the last columns
 * tell how many launches there are, and by how many blocks for each chunk (parts: one per 16 KiB of
 * the array):
 *
 *     decide        w n for each survey, 4 of them as a rule; data that were      1     one
 *                   decoded before are quantized and predicted here
 *     quantize      w n + (l + 1) n                                               1     parts
 *     fill          specials: n + l n                                             1     parts
 *     specials      n for each form of the mask, and its numbers; their words     1     one
 *     samples       8 samples for each candidate, in shared memory; or, of short  1     8 for each
 *                   arrays, each candidate on all                                       candidate
 *     choose        costs                                                         1     one
 *     lorenzo       l n + l n, neighbours in caches                               1     parts
 *     anchors       interpolation: 3 l n / 16^axes                                1     one
 *     passes        up to 4 levels, 1 to 4 odd axes; all together about           16    parts
 *                   l n of integers, l n of codes, 2 to 8 l n of neighbours, l n
 *     cost          balanced: l n                                                 1     parts
 *     residuals     packed or rANS, see common/                                   3, 5
 *     end           what is verbatim: 2 w n                                       1     parts
 *
 * From lorenzo to cost balanced works on two candidates. Where missing data have a word, all from
 * samples to cost are launched once more, for chunks in which a prediction met it.
 *
 * Source  FORMAT.md. */
#include "lattice_decide.cuh"
#include "lattice_encode_specials.cuh"
#include "lattice_gpu.h"

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

/* A chunk's header with another predictor. */
static __device__ __forceinline__ struct lattice_header
header_with(const struct lattice_coding *coding, const struct lattice_choice *choice)
{
    struct lattice_header header = coding->header;
    header.choice = *choice;
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
quantize_tile(const struct lattice_encoding *all, uint64_t chunk, uint64_t tile)
{
    const struct lattice_map map = all->codings[chunk].header.map;
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
    for (uint64_t tile = part; tile < all.tile_count; tile += all.parts) {
        if (all.codings[chunk].header.map.wide) {
            quantize_tile<int64_t>(&all, chunk, tile);
        } else {
            quantize_tile<int32_t>(&all, chunk, tile);
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
header_size_of(const struct lattice_encoding *all)
{
    uint64_t size = LATTICE_FIXED_BYTES;
    for (uint32_t axis = LATTICE_AXES + 1 - all->shape.axes; axis < LATTICE_AXES; axis++) {
        size += lattice_varint_size((uint32_t)all->shape.extent[axis]);
    }
    return size;
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
    uint64_t end = header_size_of(&all);
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
    lattice_clear_counts(all.rans.work + chunk); /* for the residuals */
    if (threadIdx.x == 0) {
        coding->form = end == 0 ? LATTICE_VERBATIM : LATTICE_CODED;
        coding->header.has_specials = specials > 0;
        coding->stream_at = lattice_even(end);
        if (end % 2 != 0) {
            lattice_payload(&all, chunk)[end] = 0;
        }
    }
}

/* ---- search ---- */

/* Whether a chunk searches in this round: the first, or a second one among predictors of bins. */
static __device__ __forceinline__ bool
is_searching(const struct lattice_encoding *all, uint64_t chunk)
{
    return is_coded(all, chunk) && all->codings[chunk].is_on != 0 &&
           all->codings[chunk].searches != 0;
}

static __device__ __forceinline__ struct lattice_choice
candidate_of(const struct lattice_encoding *all, uint64_t chunk, uint32_t number)
{
    struct lattice_choice choice = all->candidates[number];
    if (choice.predictor == LATTICE_INTERPOLATE && all->codings[chunk].stable != 0) {
        choice.predictor = LATTICE_BINS;
    }
    return choice;
}

static __global__ void
lattice_begin_round_kernel(struct lattice_encoding all, bool again)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= all.batch.chunk_count) {
        return;
    }
    struct lattice_coding *const coding = &all.codings[chunk];
    for (uint32_t i = 0; i < LATTICE_MOST_CANDIDATES; i++) {
        coding->costs[i] = 0;
    }
    for (uint32_t i = 0; i < LATTICE_SPACES; i++) {
        coding->final_costs[i] = 0;
    }
    if (again) {
        coding->is_on = coding->meets_fill;
        coding->stable = 1;
    }
}

/* A sample under a candidate: in shared memory. */
template <typename integer, typename word>
static __device__ void
try_sample(const struct lattice_encoding *all, uint64_t chunk, uint32_t number, uint32_t sample,
           uint64_t *memory)
{
    H5TWIN_SHARED(struct lattice_passes, passes, 1);
    const struct lattice_choice choice = candidate_of(all, chunk, number);
    struct lattice_header header = header_with(&all->codings[chunk], &choice);
    struct lattice_field<integer> field = field_of<integer>(all, chunk, &header);
    uint64_t at = 0;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        at += all->starts[sample][axis] * all->shape.stride[axis];
    }
    header.shape = all->crop;
    field.integers += at;
    field.mask = field.mask == nullptr ? nullptr : field.mask + at;
    word *const codes = reinterpret_cast<word *>(memory);
    integer *const values = reinterpret_cast<integer *>(memory + LATTICE_BALANCED_BUDGET);
    lattice_encode_field(&field, passes, values, codes);
    lattice_add_cost(&all->codings[chunk].costs[number], codes, all->crop.count,
                     all->settings.effort == LATTICE_FAST, 0, 1);
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_samples_kernel(struct lattice_encoding all)
{
    H5TWIN_SHARED(uint64_t, memory, 2 * LATTICE_BALANCED_BUDGET);
    const uint32_t trials = all.candidate_count * LATTICE_SAMPLES;
    const uint64_t chunk = blockIdx.x / trials;
    const uint32_t trial = (uint32_t)(blockIdx.x - chunk * trials);
    if (!is_searching(&all, chunk)) {
        return;
    }
    if (all.codings[chunk].header.map.wide) {
        try_sample<int64_t, uint64_t>(&all, chunk, trial / LATTICE_SAMPLES, trial % LATTICE_SAMPLES,
                                      memory);
    } else {
        try_sample<int32_t, uint32_t>(&all, chunk, trial / LATTICE_SAMPLES, trial % LATTICE_SAMPLES,
                                      memory);
    }
}

/* A short array under some of the candidates. */
template <typename integer, typename word>
static __device__ void
try_array(const struct lattice_encoding *all, uint64_t chunk, uint32_t first)
{
    H5TWIN_SHARED(struct lattice_passes, passes, 1);
    const uint64_t size = all->value_count * all->integer_size;
    uint8_t *const room = all->tries + (chunk * LATTICE_TRIES + first) * 2 * size;
    word *const codes = reinterpret_cast<word *>(room);
    integer *const values = reinterpret_cast<integer *>(room + size);
    for (uint32_t number = first; number < all->candidate_count; number += LATTICE_TRIES) {
        const struct lattice_choice choice = candidate_of(all, chunk, number);
        const struct lattice_header header = header_with(&all->codings[chunk], &choice);
        const struct lattice_field<integer> field = field_of<integer>(all, chunk, &header);
        lattice_encode_field(&field, passes, values, codes);
        lattice_add_cost(&all->codings[chunk].costs[number], codes, all->value_count,
                         all->settings.effort == LATTICE_FAST, 0, 1);
        __syncthreads();
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_tries_kernel(struct lattice_encoding all)
{
    const uint64_t chunk = blockIdx.x / LATTICE_TRIES;
    const uint32_t first = blockIdx.x % LATTICE_TRIES;
    if (!is_searching(&all, chunk)) {
        return;
    }
    if (all.codings[chunk].header.map.wide) {
        try_array<int64_t, uint64_t>(&all, chunk, first);
    } else {
        try_array<int32_t, uint32_t>(&all, chunk, first);
    }
}

/* The cheapest candidate, the earlier one where costs are equal, but not this one. */
static __device__ __forceinline__ uint32_t
find_cheapest(const struct lattice_encoding *all, const struct lattice_coding *coding,
              uint32_t without)
{
    uint32_t best = without == 0 ? 1 : 0;
    for (uint32_t i = best + 1; i < all->candidate_count; i++) {
        best = i != without && coding->costs[i] < coding->costs[best] ? i : best;
    }
    return best;
}

/* One thread per chunk: who codes the array. */
static __global__ void
lattice_choose_kernel(struct lattice_encoding all)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= all.batch.chunk_count || !is_coded(&all, chunk) || all.codings[chunk].is_on == 0) {
        return;
    }
    struct lattice_coding *const coding = &all.codings[chunk];
    if (coding->searches != 0) {
        const uint32_t best = find_cheapest(&all, coding, UINT32_MAX);
        coding->finalists[0] = candidate_of(&all, chunk, best);
        coding->finalist_count = all.spaces;
        if (all.spaces > 1) {
            coding->finalists[1] = candidate_of(&all, chunk, find_cheapest(&all, coding, best));
        }
    }
    coding->space = 0;
    for (uint32_t i = 0; i < coding->finalist_count; i++) {
        if (coding->finalists[i].predictor != LATTICE_LORENZO) {
            const struct lattice_header header = header_with(coding, &coding->finalists[i]);
            lattice_plan_passes(&coding->passes[i], &header);
        }
    }
}

/* ---- the whole array ---- */

template <typename integer, typename word>
static __device__ void
encode_lorenzo(const struct lattice_encoding *all, uint64_t chunk, uint32_t space, uint32_t part)
{
    const struct lattice_coding *const coding = &all->codings[chunk];
    const struct lattice_header header = header_with(coding, &coding->finalists[space]);
    const struct lattice_field<integer> field = field_of<integer>(all, chunk, &header);
    lattice_encode_lorenzo(&field, lattice_codes_of<word>(all, chunk, space),
                           (uint64_t)part * LATTICE_THREADS + threadIdx.x,
                           (uint64_t)all->parts * LATTICE_THREADS);
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_lorenzo_kernel(struct lattice_encoding all)
{
    uint32_t space, part;
    const uint64_t chunk = find_space(&all, all.parts, &space, &part);
    if (!is_coded_by(&all, chunk, space, false)) {
        return;
    }
    if (all.codings[chunk].header.map.wide) {
        encode_lorenzo<int64_t, uint64_t>(&all, chunk, space, part);
    } else {
        encode_lorenzo<int32_t, uint32_t>(&all, chunk, space, part);
    }
}

template <typename integer, typename word>
static __device__ void
encode_anchors(const struct lattice_encoding *all, uint64_t chunk, uint32_t space)
{
    const struct lattice_coding *const coding = &all->codings[chunk];
    const struct lattice_header header = header_with(coding, &coding->finalists[space]);
    const struct lattice_field<integer> field = field_of<integer>(all, chunk, &header);
    lattice_encode_anchors(&field, &coding->passes[space],
                           lattice_values_of<integer>(all, chunk, space),
                           lattice_codes_of<word>(all, chunk, space));
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_encode_anchors_kernel(struct lattice_encoding all)
{
    uint32_t space, part;
    const uint64_t chunk = find_space(&all, 1, &space, &part);
    if (!is_coded_by(&all, chunk, space, true)) {
        return;
    }
    if (all.codings[chunk].header.map.wide) {
        encode_anchors<int64_t, uint64_t>(&all, chunk, space);
    } else {
        encode_anchors<int32_t, uint32_t>(&all, chunk, space);
    }
}

template <typename integer, typename word>
static __device__ void
encode_pass(const struct lattice_encoding *all, uint64_t chunk, uint32_t space, uint32_t part,
            uint32_t level, uint32_t odd)
{
    const struct lattice_coding *const coding = &all->codings[chunk];
    const struct lattice_header header = header_with(coding, &coding->finalists[space]);
    const struct lattice_field<integer> field = field_of<integer>(all, chunk, &header);
    lattice_encode_pass(
        &field, &coding->passes[space], level, odd, lattice_values_of<integer>(all, chunk, space),
        lattice_codes_of<word>(all, chunk, space), (uint64_t)part * LATTICE_THREADS + threadIdx.x,
        (uint64_t)all->parts * LATTICE_THREADS);
}

/* The passes with `group` odd axes, at a chunk's level number `step` from the coarsest on: none
 * reads what another one writes. */
static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_encode_passes_kernel(struct lattice_encoding all, uint32_t step, uint32_t group)
{
    uint32_t space, part;
    const uint64_t chunk = find_space(&all, all.parts, &space, &part);
    const struct lattice_coding *const coding = &all.codings[chunk];
    if (!is_coded_by(&all, chunk, space, true) || step >= coding->passes[space].levels) {
        return;
    }
    const uint32_t level = coding->passes[space].levels - 1 - step;
    for (uint32_t odd = 1; odd < 1u << LATTICE_AXES; odd++) {
        if ((odd & ~coding->finalists[space].arg) != 0 || h5twin_popcount32(odd) != group) {
            continue;
        }
        if (coding->header.map.wide) {
            encode_pass<int64_t, uint64_t>(&all, chunk, space, part, level, odd);
        } else {
            encode_pass<int32_t, uint32_t>(&all, chunk, space, part, level, odd);
        }
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_cost_kernel(struct lattice_encoding all)
{
    uint32_t space, part;
    const uint64_t chunk = find_space(&all, all.parts, &space, &part);
    struct lattice_coding *const coding = &all.codings[chunk];
    if (!is_searching(&all, chunk)) {
        return;
    }
    const bool is_packed = all.settings.effort == LATTICE_FAST;
    if (coding->header.map.wide) {
        lattice_add_cost(&coding->final_costs[space],
                         lattice_codes_of<uint64_t>(&all, chunk, space), all.value_count, is_packed,
                         part, all.parts);
    } else {
        lattice_add_cost(&coding->final_costs[space],
                         lattice_codes_of<uint32_t>(&all, chunk, space), all.value_count, is_packed,
                         part, all.parts);
    }
}

/* One thread per chunk: the cheaper finalist. */
static __global__ void
lattice_pick_kernel(struct lattice_encoding all)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < all.batch.chunk_count && is_searching(&all, chunk)) {
        struct lattice_coding *const coding = &all.codings[chunk];
        coding->space = coding->final_costs[1] < coding->final_costs[0];
    }
}

/* Whether a value that is coded decodes to the word of missing data or of padding. Only
 * interpolation needs to know: its second coding would take the value for missing, and could not
 * predict the others as before. */
template <typename integer>
static __device__ bool
meets_fill(const struct lattice_encoding *all, uint64_t chunk, uint32_t part)
{
    const struct lattice_coding *const coding = &all->codings[chunk];
    const integer *const values = lattice_values_of<integer>(all, chunk, coding->space);
    const uint8_t *const mask = lattice_mask_of(all, chunk);
    const struct lattice_map map = coding->header.map;
    bool meets = false;
    for (uint64_t i = (uint64_t)part * LATTICE_THREADS + threadIdx.x; i < all->value_count;
         i += (uint64_t)all->parts * LATTICE_THREADS) {
        const uint64_t word = lattice_restore_word(&map, values[i]);
        meets = meets || (mask[i] == 0 && (word == map.skip[0] || word == map.skip[2]));
    }
    return meets;
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_meets_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    struct lattice_coding *const coding = &all.codings[chunk];
    if (!is_searching(&all, chunk) ||
        coding->finalists[coding->space].predictor != LATTICE_INTERPOLATE ||
        (!all.settings.has_fill && coding->header.map.skip[2] != 0)) {
        return;
    }
    const bool meets = coding->header.map.wide ? meets_fill<int64_t>(&all, chunk, part)
                                               : meets_fill<int32_t>(&all, chunk, part);
    if (meets) {
        atomicOr(&coding->meets_fill, 1u);
    }
}

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
    const uint8_t fixed[LATTICE_FIXED_BYTES] = {
        LATTICE_CODED,        (uint8_t)flags,      (uint8_t)choice->arg,      (uint8_t)grid,
        (uint8_t)(grid >> 8), (uint8_t)map->width, (uint8_t)(map->width >> 8)};
    uint64_t at = LATTICE_FIXED_BYTES;
    for (uint32_t i = 0; i < LATTICE_FIXED_BYTES; i++) {
        dst[i] = fixed[i];
    }
    for (uint32_t axis = LATTICE_AXES + 1 - all->shape.axes; axis < LATTICE_AXES; axis++) {
        at += lattice_put_varint(dst + at, (uint32_t)all->shape.extent[axis]);
    }
    all->batch.d_dst_sizes[chunk] = coding->stream_at + stream_size;
}

/* Does something with the codes of a chunk, of either width. */
#define WITH_CODES(all, chunk, call)                                                               \
    do {                                                                                           \
        const uint32_t own_space = (all)->codings[chunk].space;                                    \
        if ((all)->codings[chunk].header.map.wide) {                                               \
            const uint64_t *const codes = lattice_codes_of<uint64_t>(all, chunk, own_space);       \
            call;                                                                                  \
        } else {                                                                                   \
            const uint32_t *const codes = lattice_codes_of<uint32_t>(all, chunk, own_space);       \
            call;                                                                                  \
        }                                                                                          \
    } while (0)

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_packed_widths_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (is_coded(&all, chunk)) {
        WITH_CODES(&all, chunk,
                   h5twin_residuals_packed_widths(lattice_widths_of(&all, chunk), codes,
                                                  all.value_count, part, all.parts));
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_packed_plan_kernel(struct lattice_encoding all)
{
    const uint64_t chunk = blockIdx.x;
    if (!is_coded(&all, chunk)) {
        return;
    }
    const uint64_t size =
        h5twin_residuals_packed_plan(&all.codings[chunk].packed, lattice_rans_of(&all, chunk).notes,
                                     lattice_widths_of(&all, chunk), all.value_count);
    if (threadIdx.x == 0) {
        finish_payload(&all, chunk, size);
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_packed_write_kernel(struct lattice_encoding all)
{
    uint32_t part;
    const uint64_t chunk = find_part(&all, &part);
    if (is_coded(&all, chunk)) {
        uint8_t *const dst = lattice_payload(&all, chunk) + all.codings[chunk].stream_at;
        WITH_CODES(&all, chunk,
                   h5twin_residuals_packed_write(&all.codings[chunk].packed,
                                                 lattice_rans_of(&all, chunk).notes,
                                                 lattice_widths_of(&all, chunk), dst, codes,
                                                 all.value_count, part, all.parts));
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

/* ---- launchers ---- */

struct scratch_layout {
    size_t codings, integers, mask, last_regular, widths, tries, codes[LATTICE_SPACES],
        values[LATTICE_SPACES];
    size_t notes[5], work, classes, extra_bits, coded_words, low_sizes, states, units, kinds_room;
    size_t size;
};

/* Whether values decide anything, or all is the companion's. */
static bool
searches(const struct lattice_encoding *all)
{
    return all->value_count > 0 && all->settings.word_size >= 4 &&
           all->settings.mode != H5TWIN_LOSSLESS && all->settings.effort != LATTICE_MAX;
}

static struct lattice_encoding
describe_batch(const struct h5twin_job *job)
{
    struct lattice_encoding all = {};
    h5twin_lattice_settings(&all.settings, job);
    all.raw_size = job->raw_size;
    all.value_count = h5twin_lattice_value_count(job->raw_size, job->word_size);
    all.has_companion = job->companion != nullptr;
    all.parts = (uint32_t)(job->raw_size / 16384) + 1;
    all.tile_count = (all.value_count + LATTICE_TILE - 1) / LATTICE_TILE;
    all.note_capacity = all.value_count / RESIDUALS_BLOCK + 2; /* a run more than values */
    all.integer_size = job->word_size == 4 && job->mode != H5TWIN_REL ? 4 : 8;
    all.room_size = (all.value_count * all.integer_size + LATTICE_HEAD_BYTES + 255) / 256 * 256;
    all.spaces = 1;
    if (!searches(&all)) {
        return all;
    }
    h5twin_lattice_shape(&all.shape, job->dims, job->rank, all.value_count);
    all.candidate_count = h5twin_lattice_candidates(all.candidates, &all.shape, false);
    const bool is_fast = all.settings.effort == LATTICE_FAST;
    const size_t budget = is_fast ? LATTICE_FAST_BUDGET : LATTICE_BALANCED_BUDGET;
    all.samples = all.value_count > LATTICE_SAMPLES * budget;
    if (all.samples != 0) {
        all.spaces = is_fast ? 1 : LATTICE_FINALISTS;
        h5twin_lattice_crop(&all.crop, &all.shape, budget);
        for (unsigned i = 0; i < LATTICE_SAMPLES; i++) {
            h5twin_lattice_crop_start(all.starts[i], &all.shape, &all.crop, i);
        }
    }
    return all;
}

static struct scratch_layout
lay_out_scratch(const struct lattice_encoding *all, size_t chunk_count)
{
    struct scratch_layout scratch = {};
    size_t *const size = &scratch.size;
    scratch.codings = h5twin_gpu_part(size, chunk_count, sizeof(struct lattice_coding));
    if (!searches(all)) {
        return scratch;
    }
    const size_t integers = all->value_count * all->integer_size, blocks = all->note_capacity;
    scratch.integers = h5twin_gpu_part(size, chunk_count, integers);
    scratch.mask = h5twin_gpu_part(size, chunk_count, all->value_count);
    scratch.last_regular = h5twin_gpu_part(size, chunk_count, all->tile_count * sizeof(uint32_t));
    scratch.widths = h5twin_gpu_part(size, chunk_count, blocks * RESIDUALS_GROUPS);
    scratch.tries =
        h5twin_gpu_part(size, all->samples != 0 ? 0 : chunk_count, LATTICE_TRIES * 2 * integers);
    for (unsigned i = 0; i < all->spaces; i++) {
        scratch.codes[i] = h5twin_gpu_part(size, chunk_count, all->room_size);
        scratch.values[i] = h5twin_gpu_part(size, chunk_count, all->room_size);
    }
    h5twin_residuals_notes_parts(scratch.notes, size, chunk_count, blocks);
    scratch.work = h5twin_gpu_part(size, chunk_count, sizeof(struct h5twin_residuals_rans_work));
    scratch.classes = h5twin_gpu_part(size, chunk_count, blocks);
    scratch.extra_bits = h5twin_gpu_part(size, chunk_count, blocks * sizeof(uint16_t));
    scratch.coded_words = h5twin_gpu_part(size, chunk_count, blocks * sizeof(uint32_t));
    scratch.low_sizes = h5twin_gpu_part(size, chunk_count, blocks * sizeof(uint32_t));
    scratch.states =
        h5twin_gpu_part(size, chunk_count, blocks * RESIDUALS_LANES * sizeof(uint32_t));
    scratch.units = h5twin_gpu_part(size, chunk_count, blocks * 2 * RESIDUALS_BLOCK);
    scratch.kinds_room = h5twin_gpu_part(size, chunk_count, blocks * 2);
    return scratch;
}

static void
take_scratch(struct lattice_encoding *all, const struct scratch_layout *scratch)
{
    uint8_t *const memory = all->batch.d_scratch;
    all->codings = reinterpret_cast<struct lattice_coding *>(memory + scratch->codings);
    all->integers = memory + scratch->integers;
    all->mask = memory + scratch->mask;
    all->last_regular = reinterpret_cast<uint32_t *>(memory + scratch->last_regular);
    all->widths = memory + scratch->widths;
    all->tries = memory + scratch->tries;
    for (unsigned i = 0; i < all->spaces; i++) {
        all->codes[i] = memory + scratch->codes[i];
        all->values[i] = memory + scratch->values[i];
    }
    all->rans.work = reinterpret_cast<struct h5twin_residuals_rans_work *>(memory + scratch->work);
    all->rans.notes = h5twin_residuals_notes_make(memory, scratch->notes);
    all->rans.classes = memory + scratch->classes;
    all->rans.extra_bits = reinterpret_cast<uint16_t *>(memory + scratch->extra_bits);
    all->rans.coded_words = reinterpret_cast<uint32_t *>(memory + scratch->coded_words);
    all->rans.low_sizes = reinterpret_cast<uint32_t *>(memory + scratch->low_sizes);
    all->rans.states = reinterpret_cast<uint32_t *>(memory + scratch->states);
    all->rans.units = memory + scratch->units;
    all->rans.kinds_room = memory + scratch->kinds_room;
}

/* Axes that have an extent, and levels of interpolation over all of them. */
static unsigned
count_axes(const struct lattice_shape *shape)
{
    unsigned axes = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        axes += shape->extent[axis] > 1;
    }
    return axes;
}

/* Whether a launch was accepted; each relies on what those before it wrote. */
#define LAUNCH(kernel, blocks, threads, ...)                                                       \
    (H5TWIN_LAUNCH(kernel, blocks, threads, 0, stream)(__VA_ARGS__), h5twin_gpu_accepted())

static bool
launch_passes(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)all->batch.chunk_count * all->spaces * all->parts;
    const unsigned levels = lattice_level_number(&all->shape, 15), axes = count_axes(&all->shape);
    for (uint32_t step = 0; step < levels; step++) {
        for (uint32_t group = 1; group <= axes; group++) {
            if (!LAUNCH(lattice_encode_passes_kernel, blocks, LATTICE_THREADS, *all, step, group)) {
                return false;
            }
        }
    }
    return true;
}

static bool
launch_trials(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    return all->samples != 0
               ? LAUNCH(lattice_samples_kernel,
                        chunk_count * all->candidate_count * LATTICE_SAMPLES, LATTICE_THREADS, *all)
               : LAUNCH(lattice_tries_kernel, chunk_count * LATTICE_TRIES, LATTICE_THREADS, *all);
}

/* One round of the search, and its codes. */
static bool
launch_round(const struct lattice_encoding *all, bool again, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned groups = (chunk_count + 63) / 64, spaces = chunk_count * all->spaces;
    return LAUNCH(lattice_begin_round_kernel, groups, 64, *all, again) &&
           launch_trials(all, stream) && LAUNCH(lattice_choose_kernel, groups, 64, *all) &&
           LAUNCH(lattice_lorenzo_kernel, spaces * all->parts, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_encode_anchors_kernel, spaces, LATTICE_THREADS, *all) &&
           launch_passes(all, stream) &&
           (all->spaces == 1 ||
            (LAUNCH(lattice_cost_kernel, spaces * all->parts, LATTICE_THREADS, *all) &&
             LAUNCH(lattice_pick_kernel, groups, 64, *all)));
}

static bool
launch_residuals(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned blocks = chunk_count * all->parts;
    if (all->settings.effort == LATTICE_FAST) {
        return LAUNCH(lattice_packed_widths_kernel, blocks, LATTICE_THREADS, *all) &&
               LAUNCH(lattice_packed_plan_kernel, chunk_count, LATTICE_THREADS, *all) &&
               LAUNCH(lattice_packed_write_kernel, blocks, LATTICE_THREADS, *all);
    }
    return LAUNCH(lattice_rans_count_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_model_kernel, chunk_count, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_put_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_head_kernel, chunk_count, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_rans_write_kernel, blocks, LATTICE_THREADS, *all);
}

static bool
launch_search(const struct lattice_encoding *all, cudaStream_t stream)
{
    const unsigned chunk_count = (unsigned)all->batch.chunk_count;
    const unsigned blocks = chunk_count * all->parts;
    return LAUNCH(lattice_quantize_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_fill_kernel, blocks, LATTICE_THREADS, *all) &&
           LAUNCH(lattice_specials_kernel, chunk_count, LATTICE_THREADS, *all) &&
           launch_round(all, false, stream) &&
           ((!all->settings.has_fill && !all->settings.zeros_are_padding) ||
            (LAUNCH(lattice_meets_kernel, blocks, LATTICE_THREADS, *all) &&
             launch_round(all, true, stream)));
}

size_t
h5twin_lattice_gpu_encode_scratch(const struct h5twin_job *job, size_t chunk_count)
{
    const struct lattice_encoding all = describe_batch(job);
    const size_t size = lay_out_scratch(&all, chunk_count).size;
    return size == SIZE_MAX ? 0 : size;
}

enum h5twin_status
h5twin_lattice_gpu_encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                          cudaStream_t stream)
{
    struct lattice_encoding all = describe_batch(job);
    const struct scratch_layout scratch = lay_out_scratch(&all, batch->chunk_count);
    const unsigned chunk_count = (unsigned)batch->chunk_count;
    all.batch = *batch;
    take_scratch(&all, &scratch);
    const bool ok =
        LAUNCH(lattice_decide_kernel, chunk_count, LATTICE_THREADS, all) &&
        (!searches(&all) || (launch_search(&all, stream) && launch_residuals(&all, stream))) &&
        LAUNCH(lattice_encode_end_kernel, chunk_count * all.parts, LATTICE_THREADS, all);
    return ok ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}
