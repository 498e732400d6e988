/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_cases.h: random arrays and random parameters for the tests of e2mc. */
#ifndef E2MC_CASES_H
#define E2MC_CASES_H

#include "h5twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_KINDS 8u

static uint64_t random_state = UINT64_C(88172645463325252);

static inline uint64_t
next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static inline unsigned
random_below(unsigned limit)
{
    return (unsigned)(next_random() % limit);
}

/* From noise to constants: each kind leads the encoder elsewhere. */
static inline void
fill_data(uint8_t *data, size_t size, unsigned word_size, unsigned kind)
{
    for (size_t i = 0; i < size; i++) {
        const uint64_t noise = next_random();
        const size_t word = i / word_size, byte = i % word_size;
        switch (kind) {
        case 0: /* noise */
            data[i] = (uint8_t)noise;
            break;
        case 1: /* constant */
            data[i] = 7;
            break;
        case 2: /* noisy low bytes, few distinct high ones */
            data[i] = (uint8_t)(byte + 1 == word_size ? noise % 5 : byte == 0 ? noise : 0);
            break;
        case 3: /* slowly growing */
            data[i] = (uint8_t)((word * 3 + (noise % 64 == 0)) >> (8 * byte));
            break;
        case 4: /* rare ones */
            data[i] = noise % 100 == 0;
            break;
        case 5: /* half empty */
            data[i] = (uint8_t)(i < size / 2 ? 0 : noise % 3);
            break;
        case 6: /* geometric: long codes */
            data[i] = 0;
            for (uint64_t bits = noise; (bits & 1) != 0; bits >>= 1) {
                data[i]++;
            }
            break;
        default: /* many distinct values, some frequent */
            data[i] = (uint8_t)(byte < word_size / 2 ? noise & noise >> 8
                                                     : noise & noise >> 8 & noise >> 16);
            break;
        }
    }
}

/* Parameters that are accepted for word_size; spec has room for 300 characters. */
static inline void
random_params(struct h5twin_params *params, unsigned word_size, char *spec)
{
    static const unsigned word_bytes[] = {0, 1, 2, 4, 8};
    size_t ignored = 0;
    do {
        const unsigned symbol_bits = 4u << random_below(4), block_log2 = 7 + random_below(6);
        const unsigned least = symbol_bits == 4 ? 5 : 9;
        snprintf(spec, 300,
                 "e2mc:symbol_bits=%u,ways=%u,word_bytes=%u,block_log2=%u,gran_log2=%u,sampling=%u,"
                 "sample_log2=%u,max_len=%u,mfv=%u,policy=%u,pre=%u,stride=%u,seg_log2=%u",
                 symbol_bits, 1u << random_below(4), word_bytes[random_below(5)], block_log2,
                 random_below(2) ? 0 : random_below(block_log2), random_below(3), random_below(32),
                 random_below(2) ? 0 : least + random_below(21 - least),
                 random_below(2) ? 1024 : 1 + random_below(4096), random_below(2), random_below(3),
                 1 + random_below(random_below(2) ? 4 : 255), random_below(2) ? 14 : 0);
        h5twin_params_init(params, H5TWIN_E2MC);
        if (h5twin_params_parse(params, spec, NULL) != H5TWIN_OK) {
            continue;
        }
        h5twin_params_set_array(params, word_size < 4 ? H5TWIN_INTEGER : H5TWIN_FLOAT, word_size, 0,
                                NULL);
        ignored = h5twin_bound(params, 100);
    } while (ignored == 0);
}

#endif
