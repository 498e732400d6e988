/* SPDX-License-Identifier: BSD-3-Clause
 * test_environment.c: whatever the caller's floating-point environment is, every codec makes the
 * same bytes, no trap springs in any thread, and the environment afterwards is the one before.
 *
 * Each environment has a process of its own, as a pool of threads is started once. What must come
 * out was coded before, on one thread, in the default environment. */
#define _GNU_SOURCE /* feenableexcept */
#include "h5twin.h"

#include "support.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SSE2__
#    include <immintrin.h>
#endif

#define SMALL_BYTES 24576u
#define LARGE_BYTES (1024u * 1024u) /* goes to two threads */
#define MAX_SAMPLES 200u
#define CHILD_LIMIT 120u /* seconds */

/* An array and what it became in the default environment. */
struct sample {
    struct h5twin_params params;
    size_t size;
    uint8_t *words, *chunk, *decoded;
    size_t capacity, chunk_size;
    char said[256], written[256];
};

static struct sample samples[MAX_SAMPLES];
static size_t sample_count;

/* ---- environments ---- */

struct environment {
    const char *name;
    int rounding;
    bool flushes, traps;
};

static const struct environment environments[] = {
    {"traps", FE_TONEAREST, false, true},    {"flushing", FE_TONEAREST, true, false},
    {"upwards", FE_UPWARD, false, false},    {"downwards", FE_DOWNWARD, false, false},
    {"to zero", FE_TOWARDZERO, true, false}, {"traps, upwards", FE_UPWARD, true, true},
};

/* Flags are raised where they do not trap: they must be there afterwards, and no others. */
static void
enter(const struct environment *environment)
{
    fesetround(environment->rounding);
#ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() | (environment->flushes ? 0x8040u : 0u));
#endif
    if (environment->traps) {
#ifdef __GLIBC__
        feenableexcept(FE_ALL_EXCEPT); /* -1 where the processor has no traps */
#endif
    } else {
        feraiseexcept(FE_UNDERFLOW);
    }
}

struct state {
    int rounding, flags, traps;
    unsigned mxcsr;
};

static struct state
state_now(void)
{
    struct state state = {.rounding = fegetround(), .flags = fetestexcept(FE_ALL_EXCEPT)};
#ifdef __GLIBC__
    state.traps = fegetexcept();
#endif
#ifdef __SSE2__
    state.mxcsr = _mm_getcsr();
#endif
    return state;
}

/* ---- samples ---- */

/* A quarter each: smooth, special, random bits, and numbers so large that sums overflow. */
static void
fill(uint8_t *words, size_t size, unsigned word_size)
{
    const size_t quarter = size / 4;
    test_fill(words, quarter, word_size, TEST_SMOOTH, 1);
    test_fill(words + quarter, quarter, word_size, TEST_SPECIAL, 2);
    test_fill(words + 2 * quarter, quarter, word_size, TEST_RANDOM, 3);
    uint8_t *const huge = words + 3 * quarter;
    test_fill(huge, quarter, word_size, TEST_SMOOTH, 4);
    for (size_t at = word_size - 1; at < quarter; at += word_size) { /* exponents near the end */
        huge[at] = (uint8_t)(0x7F | (huge[at] & 0x80));
        huge[at - 1] = (uint8_t)(word_size == 4 ? huge[at - 1] & 0x7F : huge[at - 1] & 0xEF);
    }
}

static void
add_sample(const char *spec, const char *type, size_t first, size_t size)
{
    static uint8_t all[LARGE_BYTES];
    struct sample *const sample = &samples[sample_count++];
    const struct h5twin_exec alone = {.threads = 1};
    assert_true(sample_count <= MAX_SAMPLES);
    assert_int_equal(test_params(&sample->params, spec, type, "-"), H5TWIN_OK);
    fill(all, sizeof all, sample->params.element_size);
    sample->size = size;
    sample->words = test_alloc(size);
    memcpy(sample->words, all + first, size);
    sample->decoded = test_alloc(size);
    sample->capacity = h5twin_bound(&sample->params, size);
    sample->chunk = test_alloc(sample->capacity);
    size_t decoded_size = 0;
    assert_int_equal(h5twin_encode(&sample->params, &alone, sample->chunk, sample->capacity,
                                   sample->words, size, &sample->chunk_size),
                     H5TWIN_OK);
    assert_int_equal(h5twin_decode(&alone, sample->decoded, size, sample->chunk, sample->chunk_size,
                                   &decoded_size),
                     H5TWIN_OK);
    h5twin_describe(sample->chunk, sample->chunk_size, sample->said, sizeof sample->said);
    h5twin_params_format(&sample->params, sample->written, sizeof sample->written);
}

/* Samples[0]: what is stored raw, which threads only copy. */
static void
add_noise(void)
{
    struct h5twin_info info;
    add_sample(test_spec_at(0), "f32", 0, 0);
    struct sample *const noise = &samples[0];
    free(noise->words);
    free(noise->decoded);
    free(noise->chunk);
    noise->size = LARGE_BYTES;
    noise->words = test_alloc(LARGE_BYTES);
    noise->decoded = test_alloc(LARGE_BYTES);
    test_fill(noise->words, LARGE_BYTES, 4, TEST_RANDOM, 9);
    memcpy(noise->decoded, noise->words, LARGE_BYTES);
    noise->capacity = h5twin_bound(&noise->params, LARGE_BYTES);
    noise->chunk = test_alloc(noise->capacity);
    assert_int_equal(h5twin_encode(&noise->params, &(struct h5twin_exec){.threads = 1},
                                   noise->chunk, noise->capacity, noise->words, LARGE_BYTES,
                                   &noise->chunk_size),
                     H5TWIN_OK);
    assert_int_equal(h5twin_inspect(noise->chunk, noise->chunk_size, &info), H5TWIN_OK);
    assert_true(info.stored_raw);
}

/* Every codec, option and precision, a part of each kind; and all kinds on two threads. */
static int
make_samples(void **state)
{
    (void)state;
    static const char *const more[] = {"lattice:abs=1e30", "lattice:abs=3e-308",
                                       "lattice:rel=1e-7", "sleek:noa=0.7",
                                       "lattice:noa=0.3",  "sleek:abs=1e-3,fill=-9999.9"};
    unsigned spec_count = 0;
    add_noise();
    while (test_spec_at(spec_count) != NULL) {
        spec_count++;
    }
    for (unsigned i = 0; i < spec_count + TEST_LENGTH(more); i++) {
        const char *const spec = i < spec_count ? test_spec_at(i) : more[i - spec_count];
        if (!test_spec_is_wanted(spec)) {
            continue;
        }
        for (unsigned kind = 0; kind < 4; kind++) {
            add_sample(spec, kind % 2 == 0 ? "f32" : "f64", kind * (LARGE_BYTES / 4), SMALL_BYTES);
        }
        if (i % TEST_SLOWNESS == 0) {
            add_sample(spec, i % 2 == 0 ? "f32" : "f64", 0, LARGE_BYTES);
        }
    }
    return 0;
}

/* ---- the check ---- */

static uint8_t chunk[2 * LARGE_BYTES + 65536], decoded[LARGE_BYTES];

/* NULL, or what differs. Computes nothing itself. */
static const char *
check_sample(const struct sample *sample, const struct h5twin_exec *exec)
{
    struct h5twin_params params = sample->params;
    char text[256], said[256];
    size_t chunk_size = 0, decoded_size = 0;
    if (h5twin_params_format(&sample->params, text, sizeof text) == 0 ||
        strcmp(text, sample->written) != 0) {
        return "its spec";
    }
    if (h5twin_params_parse(&params, text, NULL) != H5TWIN_OK ||
        memcmp(&params.error_bound, &sample->params.error_bound, sizeof params.error_bound) != 0 ||
        memcmp(&params.fill, &sample->params.fill, sizeof params.fill) != 0) {
        return "its parameters";
    }
    if (h5twin_encode(&params, exec, chunk, sample->capacity, sample->words, sample->size,
                      &chunk_size) != H5TWIN_OK ||
        chunk_size != sample->chunk_size || memcmp(chunk, sample->chunk, chunk_size) != 0) {
        return "the chunk";
    }
    if (h5twin_decode(exec, decoded, sample->size, chunk, chunk_size, &decoded_size) != H5TWIN_OK ||
        memcmp(decoded, sample->decoded, sample->size) != 0) {
        return "the decoded array";
    }
    said[0] = '\0';
    h5twin_describe(chunk, chunk_size, said, sizeof said);
    return strcmp(said, sample->said) != 0 ? "the description" : NULL;
}

/* In a child. Returns the number of samples that differ. */
static unsigned
check_all(const struct environment *environment, bool pool_is_older)
{
    unsigned wrong = 0;
    size_t size = 0;
    if (!pool_is_older) {
        enter(environment);
    }
    const enum h5twin_status status =
        h5twin_decode(&(struct h5twin_exec){.threads = 2}, decoded, LARGE_BYTES, samples[0].chunk,
                      samples[0].chunk_size, &size);
    fesetenv(FE_DFL_ENV);
    wrong += status != H5TWIN_OK;
    for (size_t i = 0; i < sample_count; i++) {
        const struct h5twin_exec exec = {.threads = samples[i].size == LARGE_BYTES ? 2 : 1};
        enter(environment);
        const struct state before = state_now();
        const char *const what = check_sample(&samples[i], &exec);
        const struct state after = state_now();
        fesetenv(FE_DFL_ENV);
        const bool is_changed = memcmp(&before, &after, sizeof before) != 0;
        if (what != NULL || is_changed) {
            printf("%s, %s, %zu bytes, %s: %s differs\n", samples[i].written,
                   samples[i].params.element_size == 4 ? "f32" : "f64", samples[i].size,
                   environment->name, what != NULL ? what : "the environment");
            wrong++;
        }
    }
    fflush(stdout);
    return wrong;
}

static void
check_environments(bool pool_is_older)
{
    unsigned bad = 0;
    for (size_t i = 0; i < TEST_LENGTH(environments); i++) {
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            test_child_begin(CHILD_LIMIT);
            _exit(check_all(&environments[i], pool_is_older) == 0 ? 0 : 1);
        }
        int result = -1;
        assert_int_equal(waitpid(child, &result, 0), child);
        if (WIFSIGNALED(result)) {
            printf("%s: signal %d\n", environments[i].name, WTERMSIG(result));
        }
        bad += result != 0;
    }
    assert_int_equal(bad, 0);
}

static void
test_a_pool_started_in_the_environment(void **state)
{
    (void)state;
    check_environments(false);
}

static void
test_a_pool_started_before(void **state)
{
    (void)state;
    check_environments(true);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pool_started_in_the_environment),
        cmocka_unit_test(test_a_pool_started_before),
    };
    return cmocka_run_group_tests(tests, make_samples, NULL);
}
