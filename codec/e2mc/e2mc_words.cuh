/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_words.cuh: deltas of a segment's words, and which bits words and deltas have; FORMAT.md 5
 * and 8.3. One thread block per segment. */
#ifndef H5TWIN_E2MC_WORDS_CUH
#define H5TWIN_E2MC_WORDS_CUH

#include "e2mc_encode_plan.cuh"

/* Add a thread's OR of words and of their complements to *seen. All lanes of a warp call. */
static __device__ __forceinline__ void
e2mc_merge(struct e2mc_or_and *seen, uint64_t any, uint64_t none)
{
    const uint32_t halves[4] = {
        __reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)any),
        __reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)(any >> 32)),
        __reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)none),
        __reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)(none >> 32)),
    };
    if (threadIdx.x % 32u == 0) {
        atomicOr(&seen->any[0], halves[0]);
        atomicOr(&seen->any[1], halves[1]);
        atomicOr(&seen->none[0], halves[2]);
        atomicOr(&seen->none[1], halves[3]);
    }
}

/* The word `stride` words before this lane's, which is at `at`: a lane's below or in memory; 0 if
 * there is none. All lanes call. */
static __device__ __forceinline__ uint64_t
e2mc_word_before(const struct e2mc_span *span, uint64_t word, uint64_t at, unsigned stride,
                 unsigned word_log2)
{
    const uint64_t before = __shfl_up_sync(H5TWIN_ALL_LANES, word, stride < 32 ? stride : 0);
    const uint64_t back = (uint64_t)stride << word_log2;
    if (threadIdx.x % 32u >= stride) {
        return before;
    }
    return back <= at && at < span->size
               ? h5twin_gpu_load_word(span->src + at - back, 0, 1u << word_log2)
               : 0;
}

/* What a thread has seen: OR of words and of their complements; of words, of deltas. */
struct e2mc_own_bits {
    uint64_t any[2], none[2];
};

/* Deltas of the word before, 16 bytes of words per thread at a time; the last bytes are left.
 * Returns where they begin. */
template <typename word>
static __device__ __forceinline__ uint64_t
e2mc_map_neighbours(const struct e2mc_span *span, uint64_t block_mask, struct e2mc_own_bits *own)
{
    constexpr unsigned count = 16u / sizeof(word);
    const uint64_t end = span->size / 16 * 16;
    word any[2] = {0, 0}, all[2] = {(word) ~(word)0, (word) ~(word)0};
    for (uint64_t base = 0; base < end; base += 16 * E2MC_THREADS) {
        const uint64_t at = base + 16 * threadIdx.x;
        const bool inside = at < end;
        union {
            uint4 whole;
            word words[count];
        } raw, codes;
        raw.whole = inside ? h5twin_gpu_load128(span->src + at) : make_uint4(0, 0, 0, 0);
        word before = __shfl_up_sync(H5TWIN_ALL_LANES, raw.words[count - 1], 1);
        if (!inside) {
            continue;
        }
        if (threadIdx.x % 32u == 0 && at != 0) {
            before = *(reinterpret_cast<const word *>(span->src + at) - 1);
        }
        before = (at & block_mask) == 0 ? raw.words[0] : before; /* its delta is 0 */
        H5TWIN_UNROLL
        for (unsigned i = 0; i < count; i++) {
            codes.words[i] = (word)h5twin_e2mc_delta(raw.words[i], before, sizeof(word));
            before = raw.words[i];
            any[0] |= raw.words[i];
            all[0] &= raw.words[i];
            any[1] |= codes.words[i];
            all[1] &= codes.words[i];
        }
        h5twin_gpu_store128(span->codes + at, codes.whole);
    }
    for (unsigned form = 0; form < 2; form++) {
        own->any[form] |= any[form];
        own->none[form] |= (word)~all[form];
    }
    return end;
}

static __global__ void
__launch_bounds__(E2MC_THREADS) e2mc_words_kernel(const struct e2mc_plan plan)
{
    const struct h5twin_e2mc_geometry *const geometry = &plan.params.geometry;
    const struct e2mc_span span = e2mc_span_of(&plan, blockIdx.x);
    if (plan.batch.d_status[span.chunk] != 0) {
        return;
    }
    const unsigned word_log2 = geometry->word_log2, word_size = 1u << word_log2;
    const uint64_t mask = h5twin_e2mc_word_mask(word_size);
    const uint64_t stride = (uint64_t)plan.params.stride << word_log2; /* bytes */
    const bool deltas = plan.params.pre != H5TWIN_E2MC_PRE_NONE;
    struct e2mc_own_bits own = {};
    uint64_t mapped = 0;
    if (deltas && plan.params.stride == 1 && word_log2 >= 2) {
        const uint64_t block_mask = h5twin_e2mc_block_size(geometry) - 1;
        mapped = word_log2 == 2 ? e2mc_map_neighbours<uint32_t>(&span, block_mask, &own)
                                : e2mc_map_neighbours<uint64_t>(&span, block_mask, &own);
    }
    for (uint64_t base = mapped; base < span.size; base += E2MC_THREADS << word_log2) {
        const uint64_t at = base + ((uint64_t)threadIdx.x << word_log2);
        const bool inside = at < span.size;
        const uint64_t word = inside ? h5twin_gpu_load_word(span.src + at, 0, word_size) : 0;
        const uint64_t before =
            deltas ? e2mc_word_before(&span, word, at, plan.params.stride, word_log2) : 0;
        if (!inside) {
            continue;
        }
        own.any[0] |= word;
        own.none[0] |= ~word & mask;
        if (deltas) {
            const uint64_t in_block = at & (h5twin_e2mc_block_size(geometry) - 1);
            const uint64_t code =
                in_block < stride ? 0 : h5twin_e2mc_delta(word, before, word_size);
            h5twin_gpu_store_word(span.codes + at, 0, code, word_size);
            own.any[1] |= code;
            own.none[1] |= ~code & mask;
        }
    }
    e2mc_merge(&span.state->seen[0], own.any[0], own.none[0]);
    e2mc_merge(&span.state->seen[1], own.any[1], own.none[1]);
    e2mc_merge(&plan.chunks[span.chunk].seen, own.any[0], own.none[0]);
}

#endif
