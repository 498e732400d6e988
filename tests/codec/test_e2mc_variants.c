/* SPDX-License-Identifier: BSD-3-Clause
 * test_e2mc_variants.c: E2MC's segments are the same bytes from every instruction set, whichever
 * way symbols are counted. */
#include "e2mc/e2mc.h"
#include "e2mc_cases.h"
#include "isa.h"
#include "page_guard.h"

#define MAX_WORDS 20000u

/* Words of which `percent` are one and the same, the others with symbols of `distinct` values. */
static void
fill_words(uint8_t *words, size_t size, unsigned word_size, unsigned percent, unsigned distinct)
{
    for (size_t at = 0; at < size; at += word_size) {
        const bool is_frequent = random_below(100) < percent;
        for (unsigned byte = 0; byte < word_size; byte += 2) {
            const uint16_t symbol = (uint16_t)(is_frequent ? 77 : random_below(distinct));
            memcpy(words + at + byte, &symbol, sizeof symbol);
        }
    }
}

static size_t
encode(const struct h5twin_e2mc_encode_kernels *kernels, const struct h5twin_e2mc_params *params,
       uint8_t *stream, const uint8_t *src, size_t size)
{
    void *const scratch = calloc(1, kernels->scratch_size(params));
    assert_non_null(scratch);
    kernels->encode(params, scratch, stream, src, size);
    /* Once more: the first time left its tables as it found them. */
    const size_t stream_size = kernels->encode(params, scratch, stream, src, size);
    free(scratch);
    return stream_size;
}

/* From and to buffers of exactly their sizes at an edge of accessible memory. */
static void
check_decode(const struct h5twin_e2mc_decode_kernels *kernels, const uint8_t *expected,
             size_t stream_size, const uint8_t *src, size_t size, enum test_edge edge)
{
    struct h5twin_e2mc_header header;
    uint8_t *const stream = test_edge_copy(expected, stream_size, edge);
    uint8_t *const back = test_edge_alloc(size, edge);
    assert_int_equal(h5twin_e2mc_header_read(&header, stream, stream_size), H5TWIN_OK);
    void *const scratch = calloc(1, kernels->scratch_size(&header.geometry));
    assert_non_null(scratch);
    assert_int_equal(kernels->decode(&header, scratch, back, stream, stream_size, stream_size),
                     H5TWIN_OK);
    assert_memory_equal(back, src, size);
    free(scratch);
    test_edge_free(stream, stream_size, edge);
    test_edge_free(back, size, edge);
}

static void
check_variants(const struct h5twin_e2mc_params *params, const uint8_t *words, size_t size)
{
    const size_t bound = H5TWIN_E2MC_HEADER_BYTES + size;
    uint8_t *const src = test_page_copy(words, size);
    uint8_t *const expected = test_page_alloc(bound), *const stream = test_page_alloc(bound);
    const size_t expected_size =
        encode(h5twin_e2mc_encode_kernels_for(H5TWIN_ISA_SCALAR), params, expected, src, size);
    for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
        const h5twin_isa isa = h5twin_isa_level_at(i)->isa;
        const struct h5twin_e2mc_decode_kernels *const decode = h5twin_e2mc_decode_kernels_for(isa);
        assert_int_equal(encode(h5twin_e2mc_encode_kernels_for(isa), params, stream, src, size),
                         expected_size);
        assert_memory_equal(stream, expected, expected_size);
        check_decode(decode, stream, expected_size, src, size, TEST_AT_END);
        check_decode(decode, stream, expected_size, src, size, TEST_AT_BEGIN);
    }
    test_page_free(src, size);
    test_page_free(expected, bound);
    test_page_free(stream, bound);
}

static void
variants_agree_however_frequent_a_symbol_is(void **unused)
{
    (void)unused;
    static const unsigned percents[] = {0, 5, 20, 45, 60, 94, 99};
    static const unsigned distincts[] = {2, 300, 65536};
    static const size_t counts[] = {1, 31, 1023, 1024, 2049, 4096, 16384, MAX_WORDS};
    uint8_t *const src = malloc(MAX_WORDS * 8);
    assert_non_null(src);
    for (unsigned round = 0; round < 3 * 3 * 7 * 8; round++) {
        const unsigned word_size = 2u << round % 3;
        const size_t size = counts[round / 3 % 8] * word_size;
        struct h5twin_e2mc_params params;
        assert_int_equal(h5twin_e2mc_params_from_options(&params, 0, word_size), H5TWIN_OK);
        params.largest_segment = size;
        params.pre =
            (enum h5twin_e2mc_pre)(round % 2 == 0 ? H5TWIN_E2MC_PRE_CHOOSE : H5TWIN_E2MC_PRE_NONE);
        fill_words(src, size, word_size, percents[round / 72], distincts[round / 24 % 3]);
        check_variants(&params, src, size);
    }
    free(src);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_agree_however_frequent_a_symbol_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
