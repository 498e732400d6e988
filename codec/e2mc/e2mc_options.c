/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_options.c: the 64 option bits of h5twin_params, and what they mean for an array.
 *
 * profile is a field of its own: it changes what the other fields' value 0 stands for, so
 * "profile=paper,symbol_bits=8" means the same in any order and explicit fields override it.
 * Layout (lowest bit first): symbol_bits 3, ways 3, word_bytes 3, block_log2 3, gran_log2 4,
 * sampling 2, sample_log2 6, max_len 5, mfv 13, policy 2, pre 2, stride 8, seg_log2 5, profile 2:
 * 61 bits. Files hold them, so they stay. */
#include "e2mc.h"

enum field {
    SYMBOL_BITS,
    WAYS,
    WORD_BYTES,
    BLOCK_LOG2,
    GRAN_LOG2,
    SAMPLING,
    SAMPLE_LOG2,
    MAX_LEN,
    MFV,
    POLICY,
    PRE,
    STRIDE,
    SEG_LOG2,
    PROFILE,
    FIELD_COUNT
};

static const char *const symbol_bits_names[] = {"4", "8", "16", "32", NULL};
static const char *const ways_names[] = {"1", "2", "4", "8", NULL};
static const char *const word_bytes_names[] = {"0", "1", "2", "4", "8", NULL};
static const char *const profile_names[] = {"tuned", "paper", NULL};

const struct h5twin_option_info h5twin_e2mc_options[FIELD_COUNT] = {
    [SYMBOL_BITS] = {"symbol_bits", "4|8|16|32", "bits coded by one codeword (16)", .shift = 0,
                     .width_bits = 3, .names = symbol_bits_names, .default_value = 2},
    [WAYS] = {"ways", "1|2|4|8", "strings of bits per block, decoded side by side (4)", .shift = 3,
              .width_bits = 3, .names = ways_names, .default_value = 2},
    [WORD_BYTES] = {"word_bytes", "0|1|2|4|8",
                    "one codebook per symbol of such a word (0: the element)", .shift = 6,
                    .width_bits = 3, .names = word_bytes_names, .default_value = 0},
    [BLOCK_LOG2] = {"block_log2", "7..12", "log2 of the bytes in a block (10)", .shift = 9,
                    .width_bits = 3, .minimum = 7, .maximum = 12, .default_value = 10},
    [GRAN_LOG2] = {"gran_log2", "0..11",
                   "log2 of the bytes that a block's size is a multiple of, 5 = memory access of "
                   "32 bytes (0)",
                   .shift = 12, .width_bits = 4, .minimum = 0, .maximum = 11, .default_value = 0},
    [SAMPLING] = {"sampling", "0..2",
                  "what codebooks are made from: 0 all data, 1 spread samples, 2 the beginning (0)",
                  .shift = 16, .width_bits = 2, .minimum = 0, .maximum = 2, .default_value = 0},
    [SAMPLE_LOG2] = {"sample_log2", "0..31", "sampling 1, 2: sees about 1/2^N, at least 16 KiB (4)",
                     .shift = 18, .width_bits = 6, .minimum = 0, .maximum = 31, .default_value = 4},
    [MAX_LEN] = {"max_len", "0..20",
                 "bits of the longest codeword (0: 8 for 4-bit symbols, else 12)", .shift = 24,
                 .width_bits = 5, .minimum = 0, .maximum = 20, .default_value = 0},
    [MFV] = {"mfv", "1..4096", "most symbols in a codebook (1024)", .shift = 29, .width_bits = 13,
             .minimum = 1, .maximum = 4096, .default_value = 1024},
    [POLICY] = {"policy", "0..1", "symbols listed: 0 by cost, 1 the mfv most frequent (0)",
                .shift = 42, .width_bits = 2, .minimum = 0, .maximum = 1, .default_value = 0},
    [PRE] = {"pre", "0..2",
             "difference to an earlier word first: 0 never, 1 always, 2 where it pays (2)",
             .shift = 44, .width_bits = 2, .minimum = 0, .maximum = 2, .default_value = 2},
    [STRIDE] = {"stride", "1..255", "how many words back that word is (1)", .shift = 46,
                .width_bits = 8, .minimum = 1, .maximum = 255, .default_value = 1},
    [SEG_LOG2] = {"seg_log2", "0, 14..30", "log2 of the bytes that share codebooks, 0 = all (16)",
                  .shift = 54, .width_bits = 5, .minimum = 0, .maximum = 30, .default_value = 16},
    [PROFILE] = {"profile", "tuned|paper",
                 "paper: defaults of the publication (128-byte blocks, 32-byte accesses) (tuned)",
                 .shift = 59, .width_bits = 2, .names = profile_names, .default_value = 0},
};

/* The number in a field, the index of a name, or fallback if the field is 0. */
static unsigned
get(uint64_t options, enum field field, unsigned fallback)
{
    const struct h5twin_option_info *const option = &h5twin_e2mc_options[field];
    const unsigned value = (unsigned)(options >> option->shift) & ((1u << option->width_bits) - 1u);
    if (value == 0) {
        return fallback;
    }
    return option->names != NULL ? value - 1 : option->minimum + value - 1;
}

static unsigned
default_of(enum field field)
{
    return h5twin_e2mc_options[field].default_value;
}

/* word_bytes as log2. */
static unsigned
word_log2_of(uint64_t options, bool paper, unsigned symbol_log2, unsigned element_size)
{
    const unsigned paper_index = symbol_log2 == 4 ? 2 : 3; /* "2" or "4" */
    const unsigned index = get(options, WORD_BYTES, paper ? paper_index : 0);
    const unsigned log2 = index != 0 ? index - 1 : h5twin_bit_length32(element_size) - 1;
    return symbol_log2 > log2 + 3 ? symbol_log2 - 3 : log2;
}

static unsigned
max_length_of(uint64_t options, bool paper, unsigned symbol_log2)
{
    static const unsigned paper_lengths[] = {8, 16, 20, 20};
    const unsigned length = get(options, MAX_LEN, paper ? paper_lengths[symbol_log2 - 2] : 0);
    return length != 0 ? length : symbol_log2 == 2 ? 8 : 12;
}

/* The parameters, which may not go together. */
static struct h5twin_e2mc_params
params_of(uint64_t options, unsigned element_size)
{
    const bool paper = get(options, PROFILE, 0) == 1;
    const unsigned symbol_log2 = get(options, SYMBOL_BITS, default_of(SYMBOL_BITS)) + 2;
    struct h5twin_e2mc_params params = {
        .geometry =
            {
                .word_log2 = word_log2_of(options, paper, symbol_log2, element_size),
                .symbol_log2 = symbol_log2,
                .way_log2 = get(options, WAYS, default_of(WAYS)),
                .block_log2 = get(options, BLOCK_LOG2, paper ? 7 : default_of(BLOCK_LOG2)),
                .granule_log2 = get(options, GRAN_LOG2, paper ? 5 : default_of(GRAN_LOG2)),
            },
        .sampling = (enum h5twin_e2mc_sampling)get(options, SAMPLING, default_of(SAMPLING)),
        .sample_log2 = get(options, SAMPLE_LOG2, default_of(SAMPLE_LOG2)),
        .max_length = max_length_of(options, paper, symbol_log2),
        .max_listed = get(options, MFV, default_of(MFV)),
        .list_all = get(options, POLICY, paper ? 1 : default_of(POLICY)) == 1,
        .pre = (enum h5twin_e2mc_pre)get(options, PRE, paper ? 0 : default_of(PRE)),
        .stride = get(options, STRIDE, default_of(STRIDE)),
        .segment_log2 = get(options, SEG_LOG2, paper ? 0 : default_of(SEG_LOG2)),
    };
    const unsigned codes = (1u << params.max_length) - 1u;
    params.max_listed = params.max_listed < codes ? params.max_listed : codes;
    return params;
}

/* The field that does not go with the others, or FIELD_COUNT. */
static enum field
find_bad_field(const struct h5twin_e2mc_params *params)
{
    const struct h5twin_e2mc_geometry *const geometry = &params->geometry;
    if (geometry->granule_log2 >= geometry->block_log2) {
        return GRAN_LOG2;
    }
    if (params->max_length < (geometry->symbol_log2 == 2 ? 5u : 9u)) {
        return MAX_LEN;
    }
    if (params->segment_log2 != 0 && params->segment_log2 < 14) {
        return SEG_LOG2;
    }
    if (params->stride > 1u << (geometry->block_log2 - geometry->word_log2)) {
        return STRIDE;
    }
    return FIELD_COUNT;
}

enum h5twin_status
h5twin_e2mc_params_from_options(struct h5twin_e2mc_params *params, uint64_t options,
                                unsigned element_size)
{
    *params = params_of(options, element_size);
    return find_bad_field(params) == FIELD_COUNT ? H5TWIN_OK : H5TWIN_ERR_OPTION;
}

enum h5twin_status
h5twin_e2mc_check_options(uint64_t options, unsigned element_size, uint32_t *index)
{
    const struct h5twin_e2mc_params params = params_of(options, element_size);
    *index = find_bad_field(&params);
    return *index == FIELD_COUNT ? H5TWIN_OK : H5TWIN_ERR_OPTION;
}
