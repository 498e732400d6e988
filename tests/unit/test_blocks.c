/* SPDX-License-Identifier: BSD-3-Clause
 * test_blocks.c: codec/common/blocks.h with a toy codec: a block of one repeated byte is stored as
 * that byte and the block's size. */
#include "common/blocks.h"
#include "common/bytes.h"

#include "page_guard.h"

#include <stdlib.h>
#include <string.h>

#define TOY_BYTES 3u

static size_t
toy_size(const uint8_t *src, size_t block_size)
{
    for (size_t i = 1; i < block_size; i++) {
        if (src[i] != src[0]) {
            return block_size + 100;
        }
    }
    return TOY_BYTES;
}

static size_t
toy_encode(const void *context, uint8_t *restrict dst, size_t writable, const uint8_t *restrict src,
           size_t block_size)
{
    const size_t size = toy_size(src, block_size);
    (void)context;
    assert_true(writable >= block_size);
    if (size < block_size) {
        dst[0] = src[0];
        h5twin_store16(dst + 1, (uint16_t)block_size);
    }
    return size;
}

static enum h5twin_status
toy_decode(const void *context, uint8_t *restrict dst, size_t block_size,
           const uint8_t *restrict src, size_t stored_size)
{
    (void)context;
    if (stored_size != TOY_BYTES || h5twin_load16(src + 1) != block_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    memset(dst, src[0], block_size);
    return H5TWIN_OK;
}

static struct h5twin_block_codec
toy_codec(unsigned header_size)
{
    return (struct h5twin_block_codec){
        .header_size = header_size, .encode = toy_encode, .decode = toy_decode};
}

/* Every other block is constant. */
static uint8_t *
make_input(size_t size)
{
    uint8_t *const bytes = test_page_alloc(size);
    uint64_t seed = size;
    for (size_t i = 0; i < size; i++) {
        const size_t block = i / H5TWIN_BLOCK_BYTES;
        bytes[i] = block % 2 == 0 ? (uint8_t)block : (uint8_t)test_random(&seed);
    }
    return bytes;
}

static void
check_round_trip(const struct h5twin_block_codec *codec, size_t size)
{
    uint8_t *const src = make_input(size);
    const size_t bound = h5twin_blocks_bound(codec, size);
    uint8_t *const first = malloc(bound);
    size_t first_size = 0;
    for (unsigned threads = 1; threads <= 9; threads += 4) {
        uint8_t *const dst = test_page_alloc(bound);
        const size_t stored = h5twin_blocks_encode(codec, NULL, threads, dst, src, size, NULL);
        assert_in_range(stored, codec->header_size, bound);
        if (threads == 1) {
            memcpy(first, dst, stored);
            first_size = stored;
        }
        assert_int_equal(stored, first_size);
        assert_memory_equal(dst, first, stored);
        test_page_free(dst, bound);

        uint8_t *const stream = test_page_copy(first, first_size);
        uint8_t *const decoded = test_page_alloc(size);
        uint64_t raw_size = 99;
        assert_int_equal(h5twin_blocks_raw_size(codec, stream, first_size, &raw_size), H5TWIN_OK);
        assert_int_equal(raw_size, size);
        assert_int_equal(
            h5twin_blocks_decode(codec, NULL, threads, decoded, size, stream, first_size, NULL),
            H5TWIN_OK);
        assert_memory_equal(decoded, src, size);
        test_page_free(decoded, size);
        test_page_free(stream, first_size);
    }
    free(first);
    test_page_free(src, size);
}

static void
test_streams_round_trip_at_every_edge_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,     3,     4,     16383,          16384,
                                   16385, 32767, 32768, 32769, 20 * 16384 + 5, 301 * 16384};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (unsigned header_size = 4; header_size <= 8; header_size += 4) {
            const struct h5twin_block_codec codec = toy_codec(header_size);
            check_round_trip(&codec, sizes[i]);
        }
    }
}

static void
test_layout_is_size_table_blocks(void **state)
{
    (void)state;
    const struct h5twin_block_codec codec = toy_codec(8);
    static uint8_t src[H5TWIN_BLOCK_BYTES + 2];
    memset(src, 7, H5TWIN_BLOCK_BYTES);
    src[H5TWIN_BLOCK_BYTES] = 1;
    src[H5TWIN_BLOCK_BYTES + 1] = 2;
    uint8_t dst[H5TWIN_BLOCK_BYTES + 14];
    static const uint8_t expected[] = {0x02, 0x40, 0, 0, 0, 0, 0, 0, 3, 0, 2, 0, 7, 0, 0x40, 1, 2};
    assert_int_equal(h5twin_blocks_bound(&codec, sizeof src), sizeof dst);
    assert_int_equal(h5twin_blocks_encode(&codec, NULL, 1, dst, src, sizeof src, NULL),
                     sizeof expected);
    assert_memory_equal(dst, expected, sizeof expected);
}

static enum h5twin_status
decode_exactly(const struct h5twin_block_codec *codec, const uint8_t *stream, size_t stream_size,
               size_t dst_size)
{
    uint8_t *const src = test_page_copy(stream, stream_size);
    uint8_t *const dst = test_page_alloc(dst_size);
    const enum h5twin_status status =
        h5twin_blocks_decode(codec, NULL, 2, dst, dst_size, src, stream_size, NULL);
    test_page_free(dst, dst_size);
    test_page_free(src, stream_size);
    return status;
}

static void
test_damaged_streams_are_refused(void **state)
{
    (void)state;
    const struct h5twin_block_codec codec = toy_codec(8);
    const size_t size = 5 * H5TWIN_BLOCK_BYTES + 100;
    uint8_t *const src = make_input(size);
    uint8_t *const stream = malloc(h5twin_blocks_bound(&codec, size) + 1);
    const size_t stored = h5twin_blocks_encode(&codec, NULL, 1, stream, src, size, NULL);
    for (size_t cut = 0; cut < stored; cut += cut < 40 ? 1 : 997) {
        assert_int_not_equal(decode_exactly(&codec, stream, cut, size), H5TWIN_OK);
    }
    stream[stored] = 0;
    assert_int_equal(decode_exactly(&codec, stream, stored + 1, size), H5TWIN_ERR_CORRUPT);
    assert_int_equal(decode_exactly(&codec, stream, stored, size - 1), H5TWIN_ERR_CORRUPT);
    /* any change of header, table or a coded block's size is noticed */
    for (size_t bit = 0; bit < 8 * (8 + 2 * 6); bit++) {
        stream[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_int_not_equal(decode_exactly(&codec, stream, stored, size), H5TWIN_OK);
        stream[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    stream[8 + 2 * 6 + 1] ^= 1;
    assert_int_equal(decode_exactly(&codec, stream, stored, size), H5TWIN_ERR_CORRUPT);
    free(stream);
    test_page_free(src, size);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_round_trip_at_every_edge_size),
        cmocka_unit_test(test_layout_is_size_table_blocks),
        cmocka_unit_test(test_damaged_streams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
