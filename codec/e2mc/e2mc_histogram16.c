/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_histogram16.c: see e2mc_histogram16.h.
 *
 * While counting, `low` counts modulo 255. How many symbols have each count comes from how often
 * some symbol reached that count, so that the table need not be read again; four such counters are
 * used in turn, because the same one would have to wait for its last increment. */
#include "e2mc_histogram16.h"

#include "../common/bytes.h"

/* ---- count ---- */

/* A symbol was seen 255 times more. */
static void
note_full(struct h5twin_e2mc_histogram *histogram, uint32_t symbol)
{
    histogram->low[symbol] = 0;
    if (histogram->counts[symbol] == 0) {
        histogram->distinct[histogram->distinct_count++] = symbol;
    }
    histogram->counts[symbol] += 255;
}

H5TWIN_FORCE_INLINE void
count_one(struct h5twin_e2mc_histogram *histogram, uint8_t *low, uint32_t *reached,
          const uint8_t *at)
{
    const uint32_t symbol = h5twin_load16(at);
    const uint8_t count = (uint8_t)(low[symbol] + 1u);
    low[symbol] = count;
    reached[count]++;
    if (count == 255) {
        note_full(histogram, symbol);
    }
}

/* Take those in `counts` out of `reached`, and put their counts where they belong. */
static void
move_high(struct h5twin_e2mc_histogram *histogram, uint32_t *reached)
{
    uint32_t full = 0, left[256] = {0};
    for (size_t i = 0; i < histogram->distinct_count; i++) {
        const uint32_t symbol = histogram->distinct[i];
        full += histogram->counts[symbol] / 255;
        left[histogram->low[symbol]]++;
        histogram->counts[symbol] += histogram->low[symbol];
        histogram->low[symbol] = H5TWIN_E2MC_COUNTED_HIGH;
        histogram->large[histogram->large_count++] = histogram->counts[symbol];
    }
    for (unsigned count = 255; count > 0; count--) {
        full += left[count];
        reached[count] -= full;
    }
}

void
h5twin_e2mc_count16(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols, size_t size,
                    size_t word_size)
{
    uint8_t *const low = histogram->low;
    uint32_t reached[4][256];
    size_t at = 0;
    memset(reached, 0, sizeof reached);
    for (; at + 4 * word_size <= size; at += 4 * word_size) {
        count_one(histogram, low, reached[0], symbols + at);
        count_one(histogram, low, reached[1], symbols + at + word_size);
        count_one(histogram, low, reached[2], symbols + at + 2 * word_size);
        count_one(histogram, low, reached[3], symbols + at + 3 * word_size);
    }
    for (; at < size; at += word_size) {
        count_one(histogram, low, reached[0], symbols + at);
    }
    for (unsigned count = 0; count < 256; count++) {
        reached[0][count] += reached[1][count] + reached[2][count] + reached[3][count];
    }
    move_high(histogram, reached[0]);
    for (unsigned count = 1; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        histogram->small[count] = reached[0][count] - reached[0][count + 1];
    }
}

/* ---- list ---- */

/* The top bit of each byte of bytes that is at least `least`, 1..255. */
H5TWIN_FORCE_INLINE uint64_t
at_least(uint64_t bytes, unsigned least)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t top = ones << 7;
    const uint64_t low = bytes & ~top;
    return least <= 128 ? (bytes | (low + ones * (128 - least))) & top
                        : bytes & (low + ones * (256 - least)) & top;
}

size_t
h5twin_e2mc_list16(const struct h5twin_e2mc_histogram *histogram, uint32_t least,
                   size_t ties_listed, uint64_t *listed)
{
    const unsigned low_least =
        least < H5TWIN_E2MC_COUNTED_HIGH ? (unsigned)least : H5TWIN_E2MC_COUNTED_HIGH;
    size_t listed_count = 0;
    for (size_t begin = 0; begin < H5TWIN_E2MC_LOW_COUNTS; begin += 8) {
        uint64_t found = at_least(h5twin_load64(histogram->low + begin), low_least);
        for (; found != 0; found &= found - 1) {
            const size_t symbol = begin + h5twin_trailing_zeros64(found) / 8;
            const uint32_t low = histogram->low[symbol];
            const uint32_t count =
                low == H5TWIN_E2MC_COUNTED_HIGH ? histogram->counts[symbol] : low;
            const bool is_tie = count == least && ties_listed > 0;
            listed[listed_count] = (uint64_t)count << 32 | symbol; /* room for one more */
            listed_count += count > least || is_tie;
            ties_listed -= is_tie;
        }
    }
    return listed_count;
}
