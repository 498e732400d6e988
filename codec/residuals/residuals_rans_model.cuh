/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans_model.cuh: how a stream of rANS codes is written on a GPU: the decisions of
 * residuals_model.c that follow from what was counted, in integers that do not depend on the order
 * of sums. residuals_rans_encode.cuh tells the steps.
 * Source  RESIDUALS.md section 6. */
#ifndef H5TWIN_COMMON_RESIDUALS_RANS_MODEL_CUH
#define H5TWIN_COMMON_RESIDUALS_RANS_MODEL_CUH

#include "residuals_rans_work.cuh"

/* ---- model: tables, each by a warp ---- */

/* A number and where it stands. */
struct residuals_largest {
    int32_t value;
    uint32_t index;
};

/* The largest one of all lanes', of several the first. */
static __device__ __forceinline__ struct residuals_largest
residuals_warp_largest(struct residuals_largest own)
{
    for (int delta = 16; delta > 0; delta /= 2) {
        const int32_t value = __shfl_xor_sync(H5TWIN_ALL_LANES, own.value, delta);
        const uint32_t index = __shfl_xor_sync(H5TWIN_ALL_LANES, own.index, delta);
        if (value > own.value || (value == own.value && index < own.index)) {
            own.value = value;
            own.index = index;
        }
    }
    return own;
}

/* residuals_first_largest of residuals_tables_core.h, and its frequency. */
static __device__ __forceinline__ struct residuals_largest
residuals_largest_frequency(const struct h5twin_residuals_table *table, uint32_t top)
{
    struct residuals_largest own = {-1, RESIDUALS_TOKENS};
    for (uint32_t i = threadIdx.x % 32u; i < RESIDUALS_TOKENS; i += 32) {
        if (i != top && (int32_t)table->frequency[i] > own.value) {
            own.value = (int32_t)table->frequency[i];
            own.index = i;
        }
    }
    return residuals_warp_largest(own);
}

/* residuals_table_make of residuals_tables_core.h. */
static __device__ void
residuals_make_table(struct h5twin_residuals_table *table, const uint32_t *histogram)
{
    const uint32_t lane = threadIdx.x % 32u;
    struct residuals_largest most = {0, 0};
    uint64_t sum = 0;
    for (uint32_t i = lane; i < RESIDUALS_TOKENS; i += 32) {
        sum += histogram[i];
        if ((int32_t)histogram[i] > most.value) { /* at most as many as words of a stream */
            most.value = (int32_t)histogram[i];
            most.index = i;
        }
    }
    sum = h5twin_warp_sum(sum);
    const uint32_t top = residuals_warp_largest(most).index;
    uint64_t others = 0;
    for (uint32_t i = lane; i < RESIDUALS_TOKENS; i += 32) {
        const bool has_share = histogram[i] != 0 && i != top;
        const uint32_t frequency = has_share ? residuals_share(histogram[i], sum) : 0;
        table->frequency[i] = (uint16_t)frequency;
        others += frequency;
    }
    others = h5twin_warp_sum(others);
    while (others > RESIDUALS_PROB - 1) {
        __syncwarp(); /* frequencies have been written */
        const struct residuals_largest largest = residuals_largest_frequency(table, top);
        const uint32_t smaller = residuals_step_down((uint32_t)largest.value);
        others -= (uint32_t)largest.value - smaller;
        __syncwarp();
        if (lane == 0) {
            table->frequency[largest.index] = (uint16_t)smaller;
        }
    }
    __syncwarp();
    if (lane == 0) {
        table->frequency[top] = (uint16_t)(RESIDUALS_PROB - others);
        table->top = top;
    }
    __syncwarp();
    residuals_sum_up_table(table);
    __syncwarp();
}

/* residuals_last_symbol of residuals_tables_core.h. */
static __device__ __forceinline__ uint32_t
residuals_find_last_symbol(const struct h5twin_residuals_table *table)
{
    uint32_t last = 0;
    for (uint32_t base = 0; base < RESIDUALS_TOKENS; base += 32) {
        const uint32_t i = base + threadIdx.x % 32u;
        const uint32_t present =
            __ballot_sync(H5TWIN_ALL_LANES, i < RESIDUALS_TOKENS && table->frequency[i] != 0);
        last = present != 0 ? base + h5twin_bit_length32(present) - 1 : last;
    }
    return last;
}

/* residuals_table_bits of residuals_tables_core.h. */
static __device__ __forceinline__ uint64_t
residuals_count_table_bits(const struct h5twin_residuals_table *table)
{
    const uint32_t last = residuals_find_last_symbol(table);
    uint64_t bits = 0;
    for (uint32_t i = threadIdx.x % 32u; i <= last; i += 32) {
        bits += i != table->top ? residuals_field_of_symbol(table, i).width_bits : 0;
    }
    return 16 + h5twin_warp_sum(bits);
}

/* ---- model: groups ---- */

/* h5twin_residuals_histogram_cost of a sum of histograms, by a warp; b may be a's. */
static __device__ uint64_t
residuals_cost(const uint32_t *a, const uint32_t *b)
{
    uint64_t sum = 0, entropy = 0;
    uint32_t used = 0, end = 0;
    for (uint32_t base = 0; base < RESIDUALS_TOKENS; base += 32) {
        const uint32_t i = base + threadIdx.x % 32u;
        const uint32_t count = i < RESIDUALS_TOKENS ? a[i] + (b != nullptr ? b[i] : 0u) : 0;
        const uint32_t present = __ballot_sync(H5TWIN_ALL_LANES, count != 0);
        if (count != 0) {
            sum += count;
            entropy += (uint64_t)count * h5twin_residual_log2(count);
        }
        used += h5twin_popcount32(present);
        end = present != 0 ? base + h5twin_bit_length32(present) : end;
    }
    return residuals_cost_of(h5twin_warp_sum(sum), h5twin_warp_sum(entropy), used, end);
}

static __device__ __forceinline__ void
residuals_set_joined_cost(struct h5twin_residuals_rans_work *work, uint32_t index)
{
    if (index + 1 < work->group_count) {
        const uint64_t cost = residuals_cost(work->group_tokens[work->first_class[index]],
                                             work->group_tokens[work->first_class[index + 1]]);
        if (threadIdx.x % 32u == 0) {
            work->joined_cost[index] = cost;
        }
    }
}

/* A group for each class that has blocks, but all zero. */
static __device__ void
residuals_make_groups(struct h5twin_residuals_rans_work *work)
{
    if (threadIdx.x == 0) {
        work->group_count = 0;
        for (uint32_t c = 1; c < RESIDUALS_CLASSES; c++) {
            if (work->blocks[c] != 0) {
                work->first_class[work->group_count] = (uint8_t)c;
                work->end_class[work->group_count++] = (uint8_t)(c + 1);
            }
        }
    }
    for (uint32_t i = threadIdx.x; i < RESIDUALS_CLASSES * RESIDUALS_TOKENS; i += blockDim.x) {
        work->group_tokens[i / RESIDUALS_TOKENS][i % RESIDUALS_TOKENS] =
            work->tokens[i / RESIDUALS_TOKENS][i % RESIDUALS_TOKENS];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x / 32u; i < work->group_count; i += residuals_warps()) {
        const uint64_t cost = residuals_cost(work->group_tokens[work->first_class[i]], nullptr);
        if (threadIdx.x % 32u == 0) {
            work->cost[i] = cost;
        }
        residuals_set_joined_cost(work, i);
    }
    __syncthreads();
}

/* The pair to join, or group_count. By one thread. */
static __device__ uint32_t
residuals_best_pair(const struct h5twin_residuals_rans_work *work)
{
    int64_t best_saving = 0;
    uint32_t best = work->group_count;
    for (uint32_t i = 0; i + 1 < work->group_count; i++) {
        const int64_t saving = (int64_t)(work->cost[i] + work->cost[i + 1] - work->joined_cost[i]);
        if (saving > best_saving ||
            (best == work->group_count && work->group_count > RESIDUALS_TABLES)) {
            best_saving = saving;
            best = i;
        }
    }
    return best;
}

/* Take out group index + 1, of which group index has become a part. By one thread. */
static __device__ void
residuals_drop_group(struct h5twin_residuals_rans_work *work, uint32_t index)
{
    work->end_class[index] = work->end_class[index + 1];
    work->cost[index] = work->joined_cost[index];
    for (uint32_t i = index + 1; i + 1 < work->group_count; i++) {
        work->first_class[i] = work->first_class[i + 1];
        work->end_class[i] = work->end_class[i + 1];
        work->cost[i] = work->cost[i + 1];
        work->joined_cost[i] = work->joined_cost[i + 1];
    }
    work->group_count--;
}

static __device__ void
residuals_join_groups(struct h5twin_residuals_rans_work *work)
{
    H5TWIN_SHARED(uint32_t, chosen, 1);
    for (;;) {
        if (threadIdx.x == 0) {
            chosen[0] = residuals_best_pair(work);
        }
        __syncthreads();
        const uint32_t pair = chosen[0];
        if (pair == work->group_count) {
            return;
        }
        uint32_t *const into = work->group_tokens[work->first_class[pair]];
        const uint32_t *const from = work->group_tokens[work->first_class[pair + 1]];
        for (uint32_t i = threadIdx.x; i < RESIDUALS_TOKENS; i += blockDim.x) {
            into[i] += from[i];
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            residuals_drop_group(work, pair);
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            residuals_set_joined_cost(work, pair);
            if (pair != 0) {
                residuals_set_joined_cost(work, pair - 1);
            }
        }
        __syncthreads();
    }
}

/* ---- model: kinds ---- */

/* Bits, times 4096, of the words of each class, by warps. */
static __device__ void
residuals_cost_classes(struct h5twin_residuals_rans_work *work)
{
    for (uint32_t group = 0; group < work->group_count; group++) {
        for (uint32_t c = work->first_class[group] + threadIdx.x / 32u; c < work->end_class[group];
             c += residuals_warps()) {
            const uint32_t shift = h5twin_residual_class_shift(c);
            uint64_t cost = 0;
            for (uint32_t i = threadIdx.x % 32u; i < RESIDUALS_TOKENS; i += 32) {
                if (work->tokens[c][i] != 0) {
                    cost += (uint64_t)work->tokens[c][i] *
                            h5twin_residual_token_cost(i, work->tables[group].frequency[i], shift);
                }
            }
            cost = h5twin_warp_sum(cost);
            if (threadIdx.x % 32u == 0) {
                work->class_cost[c] = cost;
            }
        }
    }
    __syncthreads();
}

/* Kinds in the order of classes, by one thread. */
static __device__ void
residuals_make_kinds(struct h5twin_residuals_rans_work *work)
{
    uint64_t kind_cost = 0, kind_blocks = 0, total = 0;
    uint32_t kind = 0;
    work->has_shifts = 0;
    work->kind_of_class[0] = 0;
    for (uint32_t group = 0; group < work->group_count; group++) {
        for (uint32_t c = work->first_class[group]; c < work->end_class[group]; c++) {
            if (work->blocks[c] == 0) {
                continue;
            }
            const uint32_t shift = h5twin_residual_class_shift(c);
            if (kind == 0 || work->table_of[kind] != group || work->shift_of[kind] != shift) {
                kind++;
                work->table_of[kind] = (uint8_t)group;
                work->shift_of[kind] = (uint8_t)shift;
                work->has_shifts |= shift != 0;
                kind_cost = 0;
                kind_blocks = 0;
            }
            work->kind_of_class[c] = (uint8_t)kind;
            kind_cost += work->class_cost[c];
            kind_blocks += work->blocks[c];
            total += work->class_cost[c];
            work->block_bits[kind] = (uint32_t)((kind_cost / kind_blocks) >> 12);
        }
    }
    work->kind_count = kind;
    work->total_bits = total >> 12;
}

static __device__ __forceinline__ void
residuals_make_symbols(struct h5twin_residuals_rans_work *work, uint32_t table)
{
    for (uint32_t i = threadIdx.x; i < RESIDUALS_TOKENS; i += blockDim.x) {
        const uint16_t frequency = work->tables[table].frequency[i];
        struct residuals_rans_symbol *const symbol = &work->symbols[table][i];
        symbol->frequency = frequency;
        symbol->start = work->tables[table].start[i];
        symbol->reciprocal = frequency == 0 ? 0 : h5twin_residual_reciprocal(frequency);
    }
}

/* ---- model: segments ---- */

static __device__ __forceinline__ uint64_t
residuals_block_cost(const struct h5twin_residuals_rans_work *work, uint32_t kind)
{
    return kind == 0 ? 0 : work->block_bits[kind] + RESIDUALS_BLOCK_COST;
}

#define RESIDUALS_CUT 8u /* blocks that a thread has at a time */

/* Kinds of blocks, and the blocks at which segments begin: the first one, and where another
 * multiple of RESIDUALS_SEGMENT_COST has been passed. Four lanes have one segment. */
static __device__ void
residuals_cut_segments(struct h5twin_residuals_rans_memory memory, uint64_t blocks)
{
    struct h5twin_residuals_rans_work *const work = memory.work;
    const bool is_cut = work->lanes != 4;
    uint64_t cost = 0;
    uint32_t segments = 0;
    for (uint64_t base = 0; base < blocks; base += RESIDUALS_CUT * blockDim.x) {
        const uint64_t first = base + RESIDUALS_CUT * threadIdx.x;
        uint64_t costs[RESIDUALS_CUT], own = 0, step_cost;
        uint32_t begins = 0, step_count;
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < RESIDUALS_CUT; i++) {
            costs[i] = 0;
            if (first + i < blocks) {
                const uint32_t kind = work->kind_of_class[memory.classes[first + i]];
                memory.notes.kinds[first + i] = (uint8_t)kind;
                costs[i] = residuals_block_cost(work, kind);
            }
            own += costs[i];
        }
        uint64_t at = cost + h5twin_block_exclusive_sum(own, residuals_warps(), &step_cost);
        uint64_t last = 0; /* of the block before */
        if (first != 0 && first < blocks) {
            last = residuals_block_cost(work, work->kind_of_class[memory.classes[first - 1]]);
        }
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < RESIDUALS_CUT; i++) {
            const bool passes =
                is_cut && at / RESIDUALS_SEGMENT_COST != (at - last) / RESIDUALS_SEGMENT_COST;
            begins |= (uint32_t)(first + i < blocks && (first + i == 0 || passes)) << i;
            last = costs[i];
            at += last;
        }
        uint32_t number = segments + h5twin_block_exclusive_sum(h5twin_popcount32(begins),
                                                                residuals_warps(), &step_count);
        for (; begins != 0; begins &= begins - 1) {
            memory.notes.first_block[number++] = (uint32_t)first + (uint32_t)__ffs((int)begins) - 1;
        }
        cost += step_cost;
        segments += step_count;
    }
    if (threadIdx.x == 0) {
        work->segment_count = segments;
    }
    __syncthreads();
}

static __device__ __forceinline__ uint32_t
residuals_segment_end(struct h5twin_residuals_rans_memory memory, uint64_t segment, uint64_t blocks)
{
    return segment + 1 < memory.work->segment_count ? memory.notes.first_block[segment + 1]
                                                    : (uint32_t)blocks;
}

/* ---- all ---- */

/* Kinds of blocks as symbols, by the first warp; whether that is smaller. */
static __device__ void
residuals_put_kinds(struct h5twin_residuals_rans_memory memory, uint64_t blocks)
{
    struct h5twin_residuals_rans_work *const work = memory.work;
    H5TWIN_SHARED(uint32_t, histogram, RESIDUALS_TOKENS);
    for (uint32_t i = threadIdx.x; i < RESIDUALS_TOKENS; i += blockDim.x) {
        histogram[i] = 0;
    }
    __syncthreads();
    for (uint64_t block = threadIdx.x; block < blocks; block += blockDim.x) {
        atomicAdd(&histogram[memory.notes.kinds[block]], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        residuals_make_table(&work->tables[RESIDUALS_TABLES], histogram);
    }
    __syncthreads();
    residuals_make_symbols(work, RESIDUALS_TABLES);
    __syncthreads();
    if (threadIdx.x < 32) {
        uint32_t state = RESIDUALS_LEAST_STATE, used = 0;
        for (uint64_t left = blocks; left != 0;) {
            const uint64_t begin = (left - 1) / work->lanes * work->lanes;
            const bool active = begin + threadIdx.x < left;
            const uint8_t kind = active ? memory.notes.kinds[begin + threadIdx.x] : 0;
            residuals_put(&state, active,
                          residuals_load_symbol(&work->symbols[RESIDUALS_TABLES][kind]),
                          memory.kinds_room + 2 * blocks, &used);
            left = begin;
        }
        work->kinds_states[threadIdx.x] = state;
        const uint64_t coded_bits = 8 * (4 * (uint64_t)work->lanes + 2 * (uint64_t)used) +
                                    residuals_count_table_bits(&work->tables[RESIDUALS_TABLES]) +
                                    RESIDUALS_KINDS_FIELD;
        if (threadIdx.x == 0) {
            work->kinds_units = used;
            work->kinds_are_coded =
                coded_bits < (uint64_t)h5twin_bit_length32(work->kind_count) * blocks;
        }
    }
    __syncthreads();
}

/* Tables, kinds and lanes, by one block of threads; false, for all, if all words are zero. */
static __device__ bool
residuals_make_model(struct h5twin_residuals_rans_memory memory, uint64_t word_count)
{
    struct h5twin_residuals_rans_work *const work = memory.work;
    const uint64_t blocks = residuals_block_count(word_count);
    const uint64_t coded_blocks = blocks - work->blocks[0];
    if (coded_blocks == 0) {
        return false;
    }
    residuals_make_groups(work);
    residuals_join_groups(work);
    for (uint32_t i = threadIdx.x / 32u; i < work->group_count; i += residuals_warps()) {
        residuals_make_table(&work->tables[i], work->group_tokens[work->first_class[i]]);
    }
    __syncthreads();
    residuals_cost_classes(work);
    if (threadIdx.x == 0) {
        const uint64_t pads =
            memory.classes[blocks - 1] != 0 ? blocks * RESIDUALS_BLOCK - word_count : 0;
        residuals_make_kinds(work);
        work->lanes = coded_blocks * RESIDUALS_BLOCK - pads <= RESIDUALS_SMALL_WORDS &&
                              work->total_bits <= RESIDUALS_SMALL_BITS
                          ? 4
                          : RESIDUALS_LANES;
    }
    __syncthreads();
    return true;
}

/* What h5twin_residuals_rans_estimate of residuals.h says of the words that were counted: bits, for
 * all threads of a block. */
static __device__ __forceinline__ uint64_t
h5twin_residuals_rans_estimate(struct h5twin_residuals_rans_memory memory, uint64_t word_count)
{
    const struct h5twin_residuals_rans_work *const work = memory.work;
    uint64_t table_bits = 0;
    if (!residuals_make_model(memory, word_count)) {
        return 0;
    }
    for (uint32_t i = threadIdx.x / 32u; i < work->group_count; i += residuals_warps()) {
        const uint64_t its = residuals_count_table_bits(&work->tables[i]);
        table_bits += threadIdx.x % 32u == 0 ? its : 0;
    }
    return residuals_stream_bits(work->total_bits, residuals_block_sum(table_bits),
                                 work->kind_count, residuals_block_count(word_count), work->lanes);
}

/* All decisions, by one block of threads. False, for all, if all words are zero: then the stream is
 * that one byte, and is written by h5twin_residuals_rans_head. */
static __device__ bool
h5twin_residuals_rans_model(struct h5twin_residuals_rans_memory memory, uint64_t word_count)
{
    struct h5twin_residuals_rans_work *const work = memory.work;
    const uint64_t blocks = residuals_block_count(word_count);
    if (!residuals_make_model(memory, word_count)) {
        if (threadIdx.x == 0) {
            work->segment_count = 0;
            work->kind_count = 0;
        }
        __syncthreads();
        return false;
    }
    for (uint32_t i = 0; i < work->group_count; i++) {
        residuals_make_symbols(work, i);
    }
    residuals_cut_segments(memory, blocks);
    residuals_put_kinds(memory, blocks);
    return true;
}

#endif
