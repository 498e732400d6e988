/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_cases.h: the four coders and kinds of input, for the tests of fpcompress. */
#ifndef H5TWIN_TEST_FPCOMPRESS_CASES_H
#define H5TWIN_TEST_FPCOMPRESS_CASES_H

#include "h5twin.h"

#include <string.h>

struct fpcompress_coder {
    const char *name;
    const char *option;
    uint32_t word_size;
};

static const struct fpcompress_coder fpcompress_coders[] = {
    {"SPspeed", "mode=speed", 4},
    {"SPratio", "mode=ratio", 4},
    {"DPspeed", "mode=speed", 8},
    {"DPratio", "mode=ratio", 8},
};

#define FPCOMPRESS_CODERS (sizeof fpcompress_coders / sizeof fpcompress_coders[0])

static inline struct h5twin_params
fpcompress_params(const struct fpcompress_coder *coder)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_FPCOMPRESS);
    h5twin_params_set_option(&params, coder->option);
    params.kind = H5TWIN_FLOAT;
    params.element_size = coder->word_size;
    return params;
}

enum fpcompress_input {
    INPUT_ZEROS,
    INPUT_ONES,      /* all bits */
    INPUT_RAMP,      /* slowly growing words */
    INPUT_ALTERNATE, /* differences that only MPLG's second reading shortens */
    INPUT_TIES,      /* differences whose largest is the same in both readings; then none */
    INPUT_LOWER,     /* differences that the second reading makes less, not shorter; then none */
    INPUT_SPARSE,    /* some bytes not 0 */
    INPUT_REPEATS,   /* few different words in a random order */
    INPUT_HIGH,      /* top bits stay, low bits are random */
    INPUT_RANDOM,
    INPUT_COUNT,
};

static inline uint64_t
fpcompress_word(enum fpcompress_input input, size_t i, uint64_t random)
{
    switch (input) {
    case INPUT_ZEROS:
        return 0;
    case INPUT_ONES:
        return UINT64_MAX;
    case INPUT_RAMP:
        return UINT64_C(0x3FF0000000000000) + i * 1234567 + random % 64;
    case INPUT_ALTERNATE:
        return (i % 2 == 0 ? 0 : UINT64_C(0x7FFFFFFF7FFFFFFF)) ^ (random % 1024 == 0);
    case INPUT_TIES:
        i = i < 100 ? i : 100;
        return (i + 1) / 2 * UINT64_C(0x6000000000000000) + i / 2 * UINT64_C(0x3000000000000000);
    case INPUT_LOWER:
        return (i < 100 ? i : 100) * UINT64_C(0x5800000000000000);
    case INPUT_SPARSE:
        return random % 5 == 0 ? UINT64_C(0xFF) << (8 * (random >> 8 & 7)) : 0;
    case INPUT_REPEATS:
        return random % 7 * UINT64_C(0x0102030405060708);
    case INPUT_HIGH:
        return UINT64_C(0x4009000000000000) ^ random >> 20;
    default:
        return random;
    }
}

/* Words of word_size bytes; the last one may be cut. */
static inline void
fpcompress_fill(uint8_t *dst, size_t size, uint32_t word_size, enum fpcompress_input input)
{
    uint64_t random = 88172645463325252u + size;
    for (size_t offset = 0, i = 0; offset < size; offset += word_size, i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const uint64_t word = fpcompress_word(input, i, random);
        for (size_t byte = 0; byte < word_size && offset + byte < size; byte++) {
            const size_t shift = word_size == 4 ? 32 + 8 * byte : 8 * byte;
            dst[offset + byte] = (uint8_t)(word >> shift);
        }
    }
}

#endif
