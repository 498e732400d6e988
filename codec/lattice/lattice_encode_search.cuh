/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_search.cuh: kernels of lattice_encode.cu: candidates on samples or short arrays,
 * and the array by those that are left. */
#ifndef H5TWIN_LATTICE_ENCODE_SEARCH_CUH
#define H5TWIN_LATTICE_ENCODE_SEARCH_CUH

#include "lattice_encode_screen.cuh"

/* ---- search ---- */

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

/* Lorenzo looks at up to 27 bins for each value: those of a sample, made once, in shared memory,
 * which interpolation needs for other things. From then on, the field's integers are bins. */
template <typename integer>
static __device__ void
stage_bins(struct lattice_field<integer> *field, struct lattice_header *header, integer *bins)
{
    const integer width = (integer)header->map.width;
    const auto divisor = lattice_divisor_of(width);
    for (uint64_t i = threadIdx.x; i < header->shape.count; i += LATTICE_THREADS) {
        uint32_t coordinate[LATTICE_AXES];
        lattice_split(coordinate, i, header->shape.extent);
        bins[i] = lattice_bin(field->integers[lattice_place(field, coordinate)], width, divisor);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        header->map.width = 1;
    }
    __syncthreads();
    field->integers = bins;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        field->stride[axis] = header->shape.stride[axis];
    }
}

/* A candidate on a sample, as one thread finds out for all of a block. */
struct lattice_attempt {
    bool is_wanted, wide;
    struct lattice_choice choice;
};

/* A sample under a candidate: in shared memory. */
template <typename integer, typename word>
static __device__ void
try_sample(const struct lattice_encoding *all, uint64_t chunk, const struct lattice_choice *choice,
           uint32_t sample, uint64_t *memory, uint64_t *cost)
{
    H5TWIN_SHARED(struct lattice_passes, passes, 1);
    struct lattice_header *const header = share_header(&all->codings[chunk], choice);
    struct lattice_field<integer> field = field_of<integer>(all, chunk, header);
    uint64_t at = 0;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        at += all->starts[sample][axis] * all->shape.stride[axis];
    }
    if (threadIdx.x == 0) {
        header->shape = all->crop;
    }
    __syncthreads();
    field.integers += at;
    field.mask = field.mask == nullptr ? nullptr : field.mask + at;
    word *const codes = reinterpret_cast<word *>(memory);
    integer *const values = reinterpret_cast<integer *>(memory + LATTICE_BALANCED_BUDGET);
    if (choice->predictor == LATTICE_LORENZO) {
        stage_bins(&field, header, values);
    }
    lattice_encode_field(&field, passes, values, codes);
    lattice_add_cost(cost, codes, all->crop.count, all->settings.effort == LATTICE_FAST, 0, 1);
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_samples_kernel(struct lattice_encoding all)
{
    H5TWIN_SHARED(uint64_t, memory, 2 * LATTICE_BALANCED_BUDGET);
    H5TWIN_SHARED(struct lattice_attempt, attempt, 1);
    const uint32_t trials = all.candidate_count * LATTICE_SAMPLES;
    const uint64_t chunk = blockIdx.x / trials;
    const uint32_t trial = (uint32_t)(blockIdx.x - chunk * trials);
    const uint32_t number = trial / LATTICE_SAMPLES, sample = trial % LATTICE_SAMPLES;
    uint64_t *const cost = &all.codings[chunk].costs[number];
    if (threadIdx.x == 0) {
        attempt->is_wanted = is_searching(&all, chunk);
        attempt->wide = attempt->is_wanted && all.codings[chunk].header.map.wide;
        attempt->choice = candidate_of(&all, chunk, number);
    }
    __syncthreads();
    if (!attempt->is_wanted) {
        return;
    }
    if (attempt->wide) {
        try_sample<int64_t, uint64_t>(&all, chunk, &attempt->choice, sample, memory, cost);
    } else {
        try_sample<int32_t, uint32_t>(&all, chunk, &attempt->choice, sample, memory, cost);
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
        if (all->codings[chunk].costs[number] == UINT64_MAX) {
            continue; /* it has been dropped */
        }
        const struct lattice_choice choice = candidate_of(all, chunk, number);
        const struct lattice_field<integer> field =
            field_of<integer>(all, chunk, share_header(&all->codings[chunk], &choice));
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
        coding->finalist_count = 1;
        if (all.spaces > 1) {
            const uint32_t next = find_cheapest(&all, coding, best);
            coding->finalists[1] = candidate_of(&all, chunk, next);
            if (all.samples == 0 || !lattice_is_clear(coding->costs[best], coding->costs[next],
                                                      coding->special_count > 0)) {
                coding->finalist_count = 2;
            }
        }
    }
    coding->space = 0;
    for (uint32_t i = 0; i < coding->finalist_count; i++) {
        if (coding->finalists[i].predictor != LATTICE_LORENZO) {
            struct lattice_header header = coding->header;
            header.choice = coding->finalists[i];
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
    const struct lattice_field<integer> field =
        field_of<integer>(all, chunk, share_header(coding, &coding->finalists[space]));
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
encode_anchors(const struct lattice_encoding *all, uint64_t chunk, uint32_t space, uint32_t part,
               uint32_t parts)
{
    const struct lattice_coding *const coding = &all->codings[chunk];
    const struct lattice_field<integer> field =
        field_of<integer>(all, chunk, share_header(coding, &coding->finalists[space]));
    lattice_encode_anchors(&field, coding->passes[space].levels,
                           lattice_values_of<integer>(all, chunk, space),
                           lattice_codes_of<word>(all, chunk, space), part, parts);
}

static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_encode_anchors_kernel(struct lattice_encoding all, uint32_t parts)
{
    uint32_t space, part;
    const uint64_t chunk = find_space(&all, parts, &space, &part);
    if (!is_coded_by(&all, chunk, space, true)) {
        return;
    }
    if (all.codings[chunk].header.map.wide) {
        encode_anchors<int64_t, uint64_t>(&all, chunk, space, part, parts);
    } else {
        encode_anchors<int32_t, uint32_t>(&all, chunk, space, part, parts);
    }
}

/* What all threads look at while a chunk's finalist is coded at a level. */
struct lattice_finalist {
    struct lattice_header header;
    uint64_t codes[1u << LATTICE_AXES]; /* where those of the level's passes begin */
    uint32_t level;
};

/* That of a chunk's level number `step` from the coarsest on, in shared memory; NULL if there is
 * none. Called by all threads: one thread's loads are far fewer than all threads'. */
static __device__ const struct lattice_finalist *
share_finalist(const struct lattice_encoding *all, uint64_t chunk, uint32_t space, uint32_t step)
{
    H5TWIN_SHARED(struct lattice_finalist, finalist, 1);
    const struct lattice_coding *const coding = &all->codings[chunk];
    bool has_level = false;
    if (threadIdx.x == 0 && is_coded_by(all, chunk, space, true)) {
        const uint32_t levels = coding->passes[space].levels;
        has_level = step < levels;
        finalist->header = coding->header;
        finalist->header.choice = coding->finalists[space];
        finalist->level = levels - 1 - step;
    }
    if (__syncthreads_or(has_level) == 0) {
        return nullptr;
    }
    if (threadIdx.x < 1u << LATTICE_AXES) {
        finalist->codes[threadIdx.x] = coding->passes[space].codes[finalist->level][threadIdx.x];
    }
    __syncthreads();
    return finalist;
}

/* The passes with `group` odd axes. */
template <typename integer, typename word>
static __device__ void
encode_passes(const struct lattice_encoding *all, uint64_t chunk, uint32_t space,
              const struct lattice_finalist *finalist, uint32_t group, uint64_t thread,
              uint64_t threads)
{
    const struct lattice_field<integer> field = field_of<integer>(all, chunk, &finalist->header);
    for (uint32_t odd = 1; odd < 1u << LATTICE_AXES; odd++) {
        if ((odd & ~field.header->choice.arg) == 0 && h5twin_popcount32(odd) == group) {
            lattice_encode_pass(
                &field, finalist->level, odd, lattice_values_of<integer>(all, chunk, space),
                lattice_codes_of<word>(all, chunk, space) + finalist->codes[odd], thread, threads);
        }
    }
}

/* The passes at a chunk's level number `step` from the coarsest on, by `parts` blocks: of those
 * with as many odd axes, none reads what another one writes. */
static __global__ void
__launch_bounds__(LATTICE_THREADS)
    lattice_encode_passes_kernel(struct lattice_encoding all, uint32_t parts, uint32_t step,
                                 uint32_t group)
{
    uint32_t space, part;
    const uint64_t chunk = find_space(&all, parts, &space, &part);
    const struct lattice_finalist *const finalist = share_finalist(&all, chunk, space, step);
    const uint64_t thread = (uint64_t)part * LATTICE_THREADS + threadIdx.x;
    const uint64_t threads = (uint64_t)parts * LATTICE_THREADS;
    if (finalist == nullptr) {
        return;
    }
    if (finalist->header.map.wide) {
        encode_passes<int64_t, uint64_t>(&all, chunk, space, finalist, group, thread, threads);
    } else {
        encode_passes<int32_t, uint32_t>(&all, chunk, space, finalist, group, thread, threads);
    }
}

static __global__ void
__launch_bounds__(LATTICE_THREADS) lattice_cost_kernel(struct lattice_encoding all)
{
    uint32_t space, part;
    const uint64_t chunk = find_space(&all, all.parts, &space, &part);
    struct lattice_coding *const coding = &all.codings[chunk];
    if (!is_searching(&all, chunk) || space >= coding->finalist_count) {
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

/* One thread per chunk: the cheaper finalist, and whether their streams must tell. */
static __global__ void
lattice_pick_kernel(struct lattice_encoding all)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < all.batch.chunk_count && is_searching(&all, chunk)) {
        struct lattice_coding *const coding = &all.codings[chunk];
        const bool has_two = coding->finalist_count > 1;
        const uint32_t best = has_two && coding->final_costs[1] < coding->final_costs[0];
        coding->space = best;
        coding->is_close = has_two && all.settings.effort == LATTICE_BALANCED &&
                           lattice_is_close(coding->final_costs[best],
                                            coding->final_costs[1 - best], all.value_count);
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
        meets = meets || (mask[i] == 0 &&
                          (word == map.skip[0] || word == map.skip[2] || word == map.skip[3]));
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

#endif
