/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_forms.cuh: the code of each symbol of a tree, looked up once for the kernels that measure
 * and write; for symbols of 16 bits, and codes of at most 15. One thread block per tree.
 *
 * A bitmap says which symbols are listed; how many are listed before a symbol is its place in a
 * table of codes. */
#ifndef H5TWIN_E2MC_FORMS_CUH
#define H5TWIN_E2MC_FORMS_CUH

#include "e2mc_marks.cuh"

/* Arenas up to this size leave room for the table behind them; beyond, it takes the place of `top`.
 */
#define E2MC_FORMS_OFFSET (24u << 10)

struct e2mc_form_table {
    uint32_t *listed; /* bitmap */
    uint16_t *places; /* listed symbols before each of its words */
    uint16_t *forms;  /* by symbol: the code behind a 1 */
};

/* 0 for symbols that are not listed. */
static __device__ __forceinline__ uint32_t
e2mc_form_of(const struct e2mc_form_table *table, uint32_t symbol)
{
    const uint32_t bit = 1u << symbol % 32u, word = table->listed[symbol / 32u];
    return (word & bit) == 0
               ? 0u
               : table->forms[table->places[symbol / 32u] + h5twin_popcount32(word & (bit - 1))];
}

/* Forms of all words: 16 bytes of words at a time. */
template <unsigned word_log2>
static __device__ __forceinline__ void
e2mc_store_forms(uint16_t *forms, const struct e2mc_form_table *table, const uint8_t *words,
                 uint32_t size, unsigned tree)
{
    constexpr unsigned count = 16u >> word_log2;
    const unsigned shift = word_log2 == 1 ? 0 : tree % 2u * 16u;
    uint32_t at = 16 * threadIdx.x;
    for (; at + 16 <= size; at += 16 * E2MC_THREADS) {
        const uint4 loaded = h5twin_gpu_load128(words + at);
        const uint32_t parts[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
        uint32_t found[count];
        H5TWIN_UNROLL
        for (unsigned i = 0; i < count; i++) {
            const uint32_t part = word_log2 == 1   ? parts[i / 2] >> i % 2 * 16
                                  : word_log2 == 2 ? parts[i % 4]
                                  : tree < 2       ? parts[2 * i % 4]
                                                   : parts[(2 * i + 1) % 4];
            found[i] = e2mc_form_of(table, part >> shift & 0xFFFFu);
        }
        uint16_t *const to = forms + (at >> word_log2);
        if (count == 2) {
            h5twin_gpu_store32(reinterpret_cast<uint8_t *>(to), found[0] | found[1] << 16);
        } else {
            H5TWIN_UNROLL
            for (unsigned i = 0; i + 4 <= count; i += 4) {
                *reinterpret_cast<uint2 *>(to + i) =
                    make_uint2(found[i] | found[i + 1] << 16,
                               found[(i + 2) % count] | found[(i + 3) % count] << 16);
            }
        }
    }
    for (; at < size; at += 1u << word_log2) { /* the last, incomplete 16 bytes, by one thread */
        forms[at >> word_log2] =
            (uint16_t)e2mc_form_of(table, e2mc_load_symbol(words + at, tree, 16));
    }
}

/* symbols: the `listed` ones in canonical order, as from e2mc_make_codes. */
static __device__ __forceinline__ void
e2mc_write_forms(uint16_t *forms, const struct e2mc_plan *plan, const struct e2mc_worker *worker,
                 const struct e2mc_lengths *lengths, const uint64_t *symbols, uint32_t listed,
                 const uint8_t *words, uint64_t size, unsigned tree)
{
    const uint32_t first = threadIdx.x * E2MC_MARK_OWN;
    struct e2mc_form_table table;
    table.listed = worker->table->word;
    table.places = plan->arena_size <= E2MC_FORMS_OFFSET
                       ? reinterpret_cast<uint16_t *>(worker->counters) + E2MC_FORMS_OFFSET / 2
                       : reinterpret_cast<uint16_t *>(worker->top);
    table.forms = table.places + E2MC_MARK_WORDS;
    for (uint32_t i = threadIdx.x; i < E2MC_MARK_WORDS; i += E2MC_THREADS) {
        table.listed[i] = 0;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < listed; i += E2MC_THREADS) {
        const uint32_t symbol = (uint32_t)symbols[i];
        atomicOr(&table.listed[symbol / 32u], 1u << symbol % 32u);
    }
    __syncthreads();
    uint64_t own = 0, total;
    H5TWIN_UNROLL
    for (unsigned i = 0; i < E2MC_MARK_OWN; i++) {
        own += h5twin_popcount32(table.listed[first + i]);
    }
    uint32_t place = (uint32_t)e2mc_exclusive_sum(own, &total);
    H5TWIN_UNROLL
    for (unsigned i = 0; i < E2MC_MARK_OWN; i++) {
        table.places[first + i] = (uint16_t)place;
        place += h5twin_popcount32(table.listed[first + i]);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < listed; i += E2MC_THREADS) {
        const uint32_t symbol = (uint32_t)symbols[i], length = (uint32_t)(symbols[i] >> 32);
        const uint32_t before = table.listed[symbol / 32u] & ((1u << symbol % 32u) - 1u);
        table.forms[table.places[symbol / 32u] + h5twin_popcount32(before)] =
            (uint16_t)(1u << length | (lengths->firsts[length] + (i - lengths->places[length])));
    }
    __syncthreads();
    if (plan->params.geometry.word_log2 == 1) {
        e2mc_store_forms<1>(forms, &table, words, (uint32_t)size, tree);
    } else if (plan->params.geometry.word_log2 == 2) {
        e2mc_store_forms<2>(forms, &table, words, (uint32_t)size, tree);
    } else {
        e2mc_store_forms<3>(forms, &table, words, (uint32_t)size, tree);
    }
}

#endif
