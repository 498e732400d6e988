/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_environment.c: a caller's rounding mode, and its wish to flush subnormal numbers to
 * zero, change no byte of SLEEK's chunks and none of the decoded values. */
#include "common/bits.h"
#include "h5twin.h"

#include "support.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#    include <immintrin.h>
#endif

#define COUNT    4200u /* more than one block of either type */
#define CAPACITY (COUNT * 8 + 4096)

/* One array and what it became in the ordinary environment. */
struct sample {
    const char *spec;
    unsigned word_size;
    uint8_t words[COUNT * 8];
    uint8_t chunk[CAPACITY];
    size_t chunk_size;
    uint8_t decoded[COUNT * 8];
};

static struct sample samples[210];
static size_t sample_count;

static size_t
encode_sample(const struct sample *sample, uint8_t *chunk)
{
    struct h5twin_params params;
    size_t chunk_size = 0;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    assert_int_equal(h5twin_params_parse(&params, sample->spec, NULL), H5TWIN_OK);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, sample->word_size, 0, NULL);
    assert_int_equal(h5twin_encode(&params, NULL, chunk, CAPACITY, sample->words,
                                   (size_t)COUNT * sample->word_size, &chunk_size),
                     H5TWIN_OK);
    return chunk_size;
}

static void
decode_sample(const struct sample *sample, uint8_t *decoded)
{
    size_t size;
    assert_int_equal(h5twin_decode(NULL, decoded, (size_t)COUNT * sample->word_size, sample->chunk,
                                   sample->chunk_size, &size),
                     H5TWIN_OK);
}

static void
finish_sample(struct sample *sample)
{
    sample->chunk_size = encode_sample(sample, sample->chunk);
    decode_sample(sample, sample->decoded);
}

/* Words whose magnitude lies in [lowest, lowest + span) of the type's magnitudes. */
static void
add_sample(const char *spec, unsigned word_size, uint64_t lowest, uint64_t span, uint64_t *seed)
{
    struct sample *const sample = &samples[sample_count++];
    assert_true(sample_count <= sizeof samples / sizeof samples[0]);
    sample->spec = spec;
    sample->word_size = word_size;
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t random = test_random(seed);
        const uint64_t magnitude = lowest + (random >> 1) % span;
        const uint32_t word32 = (uint32_t)magnitude | (uint32_t)(random & 1) << 31;
        const uint64_t word64 = magnitude | (random & 1) << 63;
        memcpy(sample->words + i * word_size,
               word_size == 4 ? (const void *)&word32 : (const void *)&word64, word_size);
    }
    finish_sample(sample);
}

/* Values from min to max, both of which occur. */
static void
add_range(const char *spec, unsigned word_size, double min, double max, uint64_t *seed)
{
    struct sample *const sample = &samples[sample_count++];
    assert_true(sample_count <= sizeof samples / sizeof samples[0]);
    sample->spec = spec;
    sample->word_size = word_size;
    for (size_t i = 0; i < COUNT; i++) {
        const double share = i < 2 ? (double)i : (double)(test_random(seed) >> 11) * 0x1p-53;
        const double value = i == 1 ? max : min + share * (max - min);
        const float value32 = (float)value;
        memcpy(sample->words + i * word_size,
               word_size == 4 ? (const void *)&value32 : (const void *)&value, word_size);
    }
    finish_sample(sample);
}

static int
make_samples(void **state)
{
    (void)state;
    static const char *const specs[] = {"sleek",          "sleek:abs=1e-3",   "sleek:abs=0.3",
                                        "sleek:abs=1e30", "sleek:abs=3e-308", "sleek:abs=1.2e-38",
                                        "sleek:noa=1e-3", "sleek:noa=0.7",    "sleek:noa=0.5"};
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        add_sample(specs[i], 4, 0x3F800000, 0x00800000, &seed); /* [1, 2) */
        add_sample(specs[i], 4, 0x3A800000, 0x08000000, &seed); /* about 1e-3 and above */
        add_sample(specs[i], 4, 0, 0x00000100, &seed);          /* subnormal */
        add_sample(specs[i], 4, 0, 0x02000000, &seed);          /* subnormal, and just above */
        add_sample(specs[i], 4, 0x00800000, 0x7E000000, &seed); /* all finite normal ones */
        add_sample(specs[i], 8, UINT64_C(0x3FF) << 52, UINT64_C(1) << 52, &seed);
        add_sample(specs[i], 8, UINT64_C(0x3F5) << 52, UINT64_C(0x10) << 52, &seed);
        add_sample(specs[i], 8, 0, 0x100, &seed);
        add_sample(specs[i], 8, 0, UINT64_C(4) << 52, &seed);
        add_sample(specs[i], 8, UINT64_C(1) << 52, UINT64_C(0x7FC) << 52, &seed);
        /* ranges whose halves, or one end, are subnormal, and one just below a power of two */
        add_range(specs[i], 8, -1.5 * DBL_MIN, 1.5 * DBL_MIN, &seed);
        add_range(specs[i], 8, 0.875 * DBL_MIN, 2 * DBL_MIN, &seed);
        add_range(specs[i], 8, -0.875 * DBL_MIN, 1.25 * DBL_MIN, &seed);
        add_range(specs[i], 4, -1.5 * FLT_MIN, 1.5 * FLT_MIN, &seed);
        add_range(specs[i], 4, 0.875 * FLT_MIN, 2 * FLT_MIN, &seed);
        add_range(specs[i], 4, -0.875 * FLT_MIN, 1.25 * FLT_MIN, &seed);
        add_range(specs[i], 8, 0x1p-60, 1, &seed);
        add_range(specs[i], 8, -0x1p-60, 1, &seed);
        add_range(specs[i], 8, -1, -0x1p-60, &seed);
        /* f32 subnormals as doubles: DAZ leaves them alone, in f32 they are gone */
        add_sample(specs[i], 8, UINT64_C(0x36A) << 52, UINT64_C(0x18) << 52, &seed);
    }
    return 0;
}

/* Asserts run outside: what they do with numbers is not the subject. */
static void
check_samples(void (*enter)(int), void (*leave)(void), int argument)
{
    static uint8_t chunk[CAPACITY], decoded[COUNT * 8];
    for (size_t i = 0; i < sample_count; i++) {
        const struct sample *const sample = &samples[i];
        enter(argument);
        const size_t chunk_size = encode_sample(sample, chunk);
        decode_sample(sample, decoded);
        leave();
        if (chunk_size != sample->chunk_size || memcmp(chunk, sample->chunk, chunk_size) != 0) {
            fail_msg("sample %zu, %s: other bytes in environment %d", i, sample->spec, argument);
        }
        assert_memory_equal(decoded, sample->decoded, (size_t)COUNT * sample->word_size);
    }
}

#ifdef __SSE2__
static const unsigned flushes[] = {0, 0x8000, 0x0040, 0x8040}; /* FTZ, DAZ */
#    define FLUSHES 4
#else
#    define FLUSHES 1
#endif

static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

static void
enter_environment(int number)
{
    fesetround(roundings[number % 4]);
#ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() | flushes[number / 4]);
#endif
}

static void
leave_environment(void)
{
    fesetenv(FE_DFL_ENV);
}

static void
test_the_callers_floating_point_environment_changes_nothing(void **state)
{
    (void)state;
    for (int number = 0; number < 4 * FLUSHES; number++) {
        check_samples(enter_environment, leave_environment, number);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_callers_floating_point_environment_changes_nothing),
    };
    return cmocka_run_group_tests(tests, make_samples, NULL);
}
