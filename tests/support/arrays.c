/* SPDX-License-Identifier: BSD-3-Clause
 * arrays.c: arrays to code and buffers to code into; see support.h. */
#include "support.h"

#include "common/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES 64u
#define GUARD_VALUE 0xA5u

#if defined(__SANITIZE_ADDRESS__)
#    define UNDER_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define UNDER_ASAN 1
#    endif
#endif

uint64_t
test_random(uint64_t *state) /* SplitMix64 */
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

static uint64_t
smooth_word(size_t index, unsigned word_size, uint64_t *state)
{
    const double at = (double)index;
    const double noise = (double)(test_random(state) >> 40) * 0x1p-24;
    const double value = 100 * sin(at * 0.003) + 7 * cos(at * 0.05) + 0.01 * noise;
    switch (word_size) {
    case 8:
        return h5twin_bits_of_double(value);
    case 4:
        return h5twin_bits_of_float((float)value);
    default: /* integers */
        return (uint64_t)(int64_t)value;
    }
}

static const uint64_t special64[] = {
    0,
    UINT64_C(0x8000000000000000), /* -0 */
    UINT64_C(0x7FF0000000000000), /* infinities */
    UINT64_C(0xFFF0000000000000),
    UINT64_C(0x7FF8000000000000), /* NaNs: quiet, signalling, with payload */
    UINT64_C(0x7FF0000000000001),
    UINT64_C(0xFFF8000012345678),
    UINT64_C(0xFFFFFFFFFFFFFFFF),
    1, /* subnormals */
    UINT64_C(0x800FFFFFFFFFFFFF),
    UINT64_C(0x0010000000000000), /* smallest normal, largest finite */
    UINT64_C(0x7FEFFFFFFFFFFFFF),
    UINT64_C(0xFFEFFFFFFFFFFFFF),
    UINT64_C(0x46293E5939A08CEA), /* 1e30 */
};

static const uint32_t special32[] = {
    0,          0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345,
    0xFFFFFFFF, 1,          0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7149F2CA,
};

static uint64_t
special_word(size_t index, unsigned word_size, uint64_t *state)
{
    const uint64_t pick = test_random(state);
    if (pick % 4 != 0) {
        return smooth_word(index, word_size, state);
    }
    return word_size == 8 ? special64[(pick >> 8) % TEST_LENGTH(special64)]
                          : special32[(pick >> 8) % TEST_LENGTH(special32)];
}

static uint64_t
pattern_word(enum test_pattern pattern, size_t index, unsigned word_size, uint64_t *state)
{
    switch (pattern) {
    case TEST_SMOOTH:
        return smooth_word(index, word_size, state);
    case TEST_RANDOM:
        return test_random(state);
    case TEST_SPECIAL:
        return special_word(index, word_size, state);
    case TEST_STEPS:
        return smooth_word(index / 500 * 500 % 2000, word_size, &(uint64_t){*state});
    default:
        return 0;
    }
}

void
test_fill(uint8_t *dst, size_t size, unsigned word_size, enum test_pattern pattern, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < size; i++) {
        if (i % word_size != 0) {
            continue;
        }
        const uint64_t word = pattern_word(pattern, i / word_size, word_size, &state);
        for (size_t byte = 0; byte < word_size && i + byte < size; byte++) {
            dst[i + byte] = (uint8_t)(word >> (8 * byte));
        }
    }
}

struct test_guarded
test_guarded_new(size_t size, unsigned misalignment)
{
    /* aligned_alloc wants multiples of the alignment; the sanitizer wants exact ends. */
    struct test_guarded buffer = {.size = size};
#ifdef UNDER_ASAN
    const size_t tail = 0;
#else
    const size_t tail = GUARD_BYTES;
#endif
    void *block = NULL;
    if (posix_memalign(&block, 64, GUARD_BYTES + misalignment + size + tail) != 0) {
        fail_msg("cannot allocate %zu bytes", size);
    }
    buffer.block = block;
    buffer.at = buffer.block + GUARD_BYTES + misalignment;
    memset(buffer.block, GUARD_VALUE, GUARD_BYTES + misalignment + size + tail);
    return buffer;
}

void
test_guarded_check(const struct test_guarded *buffer)
{
    for (const uint8_t *at = buffer->block; at < buffer->at; at++) {
        assert_int_equal(*at, GUARD_VALUE);
    }
#ifndef UNDER_ASAN
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        assert_int_equal(buffer->at[buffer->size + i], GUARD_VALUE);
    }
#endif
}

void
test_guarded_free(struct test_guarded *buffer)
{
    free(buffer->block);
    *buffer = (struct test_guarded){.size = 0};
}
