/* SPDX-License-Identifier: BSD-3-Clause
 * support.h: what the C tests share: cmocka with the headers it wants, files, SHA-256, tables of
 * text, random numbers, arrays that look like data, and buffers that notice overruns. */
#ifndef H5TWIN_TESTS_SUPPORT_H
#define H5TWIN_TESTS_SUPPORT_H

#include "h5twin.h"
#include "specs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Exit status of a test that cannot run here (CTest's SKIP_RETURN_CODE). */
#define TEST_SKIPPED 77

#define TEST_LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* How many times fewer cases there is time for, where others like them show a sanitizer as much. */
#ifdef H5TWIN_SANITIZED
#    define TEST_SLOWNESS 4u
#else
#    define TEST_SLOWNESS 1u
#endif

struct test_bytes {
    uint8_t *at; /* free() it */
    size_t size;
};

/* malloc that fails the test instead of returning NULL; never of 0 bytes. */
void *test_alloc(size_t size);

/* In a forked child: signals end it, which cmocka would take for the failure of a test and go on. A
 * child that hangs ends after so many seconds. */
void test_child_begin(unsigned seconds);

/* Whether this processor runs the variant of this name, "avx512" say (see codec/isa.h). */
bool test_cpu_has(const char *variant);

/* Fails the test unless a decoder refuses what breaks a rule, see rules.h: as damaged or too short.
 */
void test_refused(const char *rule, enum h5twin_status status);

/* h5twin_decode_payload; a test that is also built for back ends (tests/simt) has those say the
 * same.
 */
enum h5twin_status test_decode_payload(const struct h5twin_params *params, void *dst,
                                       size_t dst_size, const void *src, size_t src_size);

/* ---- files (support.c) and digests (sha256.c) ---- */

/* Path below tests/golden: environment variable H5TWIN_GOLDEN, else the source tree. */
const char *test_golden_path(char *path, size_t capacity, const char *name);

/* The whole file; fails the test if it cannot be read. */
struct test_bytes test_golden_read(const char *name);

/* SHA-256 as 64 lower-case hexadecimal digits and a zero. */
void test_sha256(char hex[65], const void *bytes, size_t size);

/* Lines of tab-separated fields under one line of headings. */
struct test_table {
    struct test_bytes text;
    char *next;
};

struct test_table test_table_open(const char *golden_name);

/* Point fields[0..field_count) at the next line's fields; false at the end. A line with another
 * number of fields fails the test. */
bool test_table_next(struct test_table *table, char *fields[], unsigned field_count);
void test_table_close(struct test_table *table);

/* Fill *params from a spec, a type such as "f32", "i16" or "u8", and dims such as "37x40x45" ("-"
 * if unknown). Returns the status of the spec; a bad type or dims fails the test. */
enum h5twin_status test_params(struct h5twin_params *params, const char *spec, const char *type,
                               const char *dims);

/* ---- arrays (arrays.c) ---- */

uint64_t test_random(uint64_t *state);

/* Ways to fill an array of words. */
enum test_pattern {
    TEST_SMOOTH,  /* a sampled sum of waves with little noise */
    TEST_RANDOM,  /* random bits: does not shrink */
    TEST_ZERO,    /* zero bytes */
    TEST_SPECIAL, /* NaNs with payload, infinities, both zeros, subnormals, extremes, among waves */
    TEST_STEPS,   /* long runs of few values */
    TEST_PATTERN_COUNT,
};

/* Fill size bytes with words of word_size (1, 2, 4 or 8) bytes, little-endian; the last, cut off
 * word too. */
void test_fill(uint8_t *dst, size_t size, unsigned word_size, enum test_pattern pattern,
               uint64_t seed);

/* A buffer of exactly size bytes at an address that is `misalignment` past a 64-byte boundary,
 * between guard bytes. Under AddressSanitizer the end is also the end of the allocation. */
struct test_guarded {
    uint8_t *at;
    size_t size;
    uint8_t *block;
};

struct test_guarded test_guarded_new(size_t size, unsigned misalignment);

/* Fails the test if a guard byte changed. */
void test_guarded_check(const struct test_guarded *buffer);
void test_guarded_free(struct test_guarded *buffer);

#endif
