/* SPDX-License-Identifier: BSD-3-Clause
 * test_inserted_bytes.c: a block of SLEEK or FPcompress with a byte that nothing needs, which the
 * table of sizes counts: it is refused, or it means other values. Else an array would have two
 * streams, and what a section leaves over would hide anything. */
#include "common/bytes.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 1000u /* in one block */

struct stream {
    struct h5twin_params params;
    size_t raw_size, size;
    size_t table; /* where the one stored size is */
    uint8_t values[WORDS * 8];
    uint8_t bytes[WORDS * 20 + 2000];
};

/* False if the array is stored as it is, or takes more than a block. */
static bool
make_stream(struct stream *stream, const char *spec, unsigned word_size, enum test_pattern pattern)
{
    stream->raw_size = WORDS * word_size;
    assert_int_equal(test_params(&stream->params, spec, word_size == 4 ? "f32" : "f64", "1000"),
                     H5TWIN_OK);
    test_fill(stream->values, stream->raw_size, word_size, pattern, 1);
    assert_int_equal(h5twin_encode_payload(&stream->params, NULL, stream->bytes,
                                           sizeof stream->bytes, stream->values, stream->raw_size,
                                           &stream->size),
                     H5TWIN_OK);
    for (stream->table = 4; stream->table <= 8; stream->table += 4) {
        if (h5twin_load16(stream->bytes + stream->table) == stream->size - stream->table - 2) {
            return stream->size - stream->table - 2 < stream->raw_size - 1;
        }
    }
    return false;
}

/* Whether it decodes to the same values with a zero before byte `at`. */
static bool
is_accepted(const struct stream *stream, size_t at)
{
    uint8_t longer[sizeof stream->bytes + 1], *const back = test_alloc(stream->raw_size);
    memcpy(longer, stream->bytes, at);
    longer[at] = 0;
    memcpy(longer + at + 1, stream->bytes + at, stream->size - at);
    h5twin_store16(longer + stream->table, (uint16_t)(stream->size - stream->table - 1));
    memset(back, 0xA5, stream->raw_size);
    const bool accepted = h5twin_decode_payload(&stream->params, NULL, back, stream->raw_size,
                                                longer, stream->size + 1) == H5TWIN_OK &&
                          memcmp(back, stream->values, stream->raw_size) == 0;
    free(back);
    return accepted;
}

static void
test_no_block_has_a_byte_too_many(void **state)
{
    (void)state;
    static const char *const specs[] = {"sleek", "fpcompress:mode=speed", "fpcompress:mode=ratio"};
    static struct stream stream;
    unsigned streams = 0;
    for (size_t i = 0; i < TEST_LENGTH(specs); i++) {
        for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
            for (unsigned pattern = 0; pattern < TEST_PATTERN_COUNT; pattern++) {
                if (!make_stream(&stream, specs[i], word_size, (enum test_pattern)pattern)) {
                    continue;
                }
                streams++;
                for (size_t at = stream.table + 2; at <= stream.size; at++) {
                    if (is_accepted(&stream, at)) {
                        fail_msg("%s, %u bytes, pattern %u, byte %zu of %zu", specs[i], word_size,
                                 pattern, at, stream.size);
                    }
                }
            }
        }
    }
    assert_true(streams > 12);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_block_has_a_byte_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
