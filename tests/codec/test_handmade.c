/* SPDX-License-Identifier: BSD-3-Clause
 * test_handmade.c: short streams written by hand after FORMAT.md, right ones and beside them some
 * that contradict it in one place only, which random damage hardly ever finds. */
#include "page_guard.h"
#include "support.h"

#include "common/bytes.h"

#include <stdlib.h>
#include <string.h>

/* A stream of one block: size field and stored size, which are always right, then the block: front,
 * zeros, back. */
struct handmade {
    const char *what;
    const char *spec, *type;
    size_t raw_size;   /* bytes of the array */
    size_t front_size; /* bytes of front */
    uint8_t front[40]; /* of the stored block */
    size_t zeros;      /* bytes of 0 behind front */
    size_t back_size;  /* bytes of back */
    uint8_t back[16];  /* the end of the stored block */
    bool is_right;
};

#define SPEED "fpcompress:mode=speed"
#define RATIO "fpcompress:mode=ratio"

/* Full words in the example of FORMAT.md of fpcompress: 0 and 1 of RAZE, 0 and 2 of RARE. */
#define FULL_0 0x2A, 0x50, 0xCB, 0xB2, 0xA9, 0xA8, 0x41, 0x80
#define FULL_1 0x29, 0x50, 0xCB, 0xB2, 0xA9, 0xA8, 0x41, 0x80
#define FULL_2 0x06, 0x00, 0x03, 0x00, 0x03, 0x00, 0x00, 0x00

static const struct handmade streams[] = {
    {"zeros", "sleek", "f32", 1024, 0, {0}, 32, 2, {0x00, 0x04}, true},
    {"one width", "sleek", "f32", 1024, 1, {32}, 31 + 512, 2, {0x00, 0x04}, true},
    {"a width above the word's", "sleek", "f32", 1024, 1, {33}, 31 + 528, 2, {0x00, 0x04}, false},
    {"a width above the word's", "sleek", "f64", 1024, 1, {65}, 31 + 520, 2, {0x00, 0x04}, false},
    {"another trailer", "sleek", "f32", 1024, 0, {0}, 32, 2, {0x04, 0x04}, false},
    {"shorter than its widths", "sleek", "f32", 256, 1, {1}, 0, 0, {0}, false},
    {"shorter than its trailer", "sleek", "f32", 1024, 0, {0}, 31, 2, {0x00, 0x04}, false},

    {"zeros", SPEED, "f32", 64, 6, {0, 0, 0, 0, 64}, 24, 0, {0}, true},
    {"the width of no words", SPEED, "f32", 64, 7, {0, 0, 0, 0, 64, 0, 33}, 23, 0, {0}, false},
    {"zeros", SPEED, "f64", 64, 6, {0, 0, 0, 0, 64}, 28, 0, {0}, true},
    {"the width of no words", SPEED, "f64", 64, 7, {0, 0, 0, 0, 64, 0, 65}, 27, 0, {0}, false},
    {"another size", SPEED, "f32", 64, 6, {0, 0, 0, 0, 60}, 24, 0, {0}, false},
    {"shorter than its widths", SPEED, "f32", 64, 6, {0, 0, 0, 0, 64}, 1, 0, {0}, false},

    {"zeros", RATIO, "f32", 64, 2, {64, 0}, 0, 0, {0}, true},
    {"another size", RATIO, "f32", 64, 2, {60, 0}, 0, 0, {0}, false},
    {"shorter than its size", RATIO, "f32", 256, 1, {1}, 0, 0, {0}, false},
    {"byte 63",
     RATIO,
     "f32",
     64,
     14,
     {9, 0x80, 0, 0x80, 1, 0, 7, 0, 3, 0, 0, 0, 64, 0},
     0,
     0,
     {0},
     true},
    {"byte 64 of 64",
     RATIO,
     "f32",
     64,
     13,
     {9, 1, 0, 3, 0, 6, 0, 3, 0, 0, 0, 64, 0},
     0,
     0,
     {0},
     false},
    {"a byte that no bit marks",
     RATIO,
     "f32",
     64,
     15,
     {9, 9, 0x80, 0, 0x80, 1, 0, 7, 0, 3, 0, 0, 0, 64, 0},
     0,
     0,
     {0},
     false},

    {"the example",
     RATIO,
     "f64",
     16,
     31,
     {FULL_0, FULL_2, 1, 5, 0, 3, 0, 3, 0, 0, 0, 0, 0x20, 0, 2, 27, 0},
     0,
     0,
     {0},
     true},
    {"the example as RAZE left it",
     RATIO,
     "f64",
     16,
     30,
     {FULL_0, FULL_1, 6, 0, 3, 0, 3, 0, 0, 0, 0, 32, 0, 64, 27, 0},
     0,
     0,
     {0},
     true},
    {"word 4 of 4",
     RATIO,
     "f64",
     16,
     22,
     {FULL_0, 0x10, 0, 3, 0, 3, 0, 0, 0, 0, 32, 0, 64, 19, 0},
     0,
     0,
     {0},
     false},
    {"zeros", RATIO, "f64", 16, 6, {65, 32, 0, 64, 3, 0}, 0, 0, {0}, true},
    {"RAZE of another size", RATIO, "f64", 16, 6, {65, 24, 0, 64, 3, 0}, 0, 0, {0}, false},
    {"RARE of another size", RATIO, "f64", 16, 7, {65, 32, 0, 0, 64, 3, 0}, 0, 0, {0}, false},
    {"code 66", RATIO, "f64", 16, 6, {65, 32, 0, 66, 3, 0}, 0, 0, {0}, false},
    {"fewer further bytes than left", RATIO, "f64", 16, 4, {0, 0, 15, 0}, 0, 0, {0}, false},
    {"one byte", RATIO, "f64", 16, 1, {65}, 0, 0, {0}, false},
    {"two bytes", RATIO, "f64", 16, 2, {65, 0}, 0, 0, {0}, false},
    {"RAZE of two bytes", RATIO, "f64", 16, 5, {32, 0, 64, 2, 0}, 0, 0, {0}, false},
};

static enum h5twin_status
decode(const struct handmade *handmade)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, handmade->spec, handmade->type, "-"), H5TWIN_OK);
    const bool is_dpratio =
        strcmp(handmade->spec, RATIO) == 0 && strcmp(handmade->type, "f64") == 0;
    const bool is_short = strcmp(handmade->spec, "sleek") != 0 && params.element_size == 4;
    const size_t block_at = (is_short ? 4 : 8) + 2;
    const size_t stored_size = handmade->front_size + handmade->zeros + handmade->back_size;
    uint8_t *const bytes = calloc(1, block_at + stored_size);
    h5twin_store16(bytes, (uint16_t)(is_dpratio ? 2 * handmade->raw_size : handmade->raw_size));
    h5twin_store16(bytes + block_at - 2, (uint16_t)stored_size);
    memcpy(bytes + block_at, handmade->front, handmade->front_size);
    memcpy(bytes + block_at + handmade->front_size + handmade->zeros, handmade->back,
           handmade->back_size);
    uint8_t *const stream = test_page_copy(bytes, block_at + stored_size);
    struct test_guarded array = test_guarded_new(handmade->raw_size, 1);
    const enum h5twin_status status =
        h5twin_decode_payload(&params, NULL, array.at, array.size, stream, block_at + stored_size);
    test_guarded_check(&array);
    test_guarded_free(&array);
    test_page_free(stream, block_at + stored_size);
    free(bytes);
    return status;
}

static void
test_right_streams_are_decoded_and_wrong_ones_refused(void **state)
{
    (void)state;
    unsigned failed = 0;
    for (size_t i = 0; i < TEST_LENGTH(streams); i++) {
        const enum h5twin_status status = decode(&streams[i]);
        if (status != (streams[i].is_right ? H5TWIN_OK : H5TWIN_ERR_CORRUPT)) {
            print_error("%s of %s: %s: status %d\n", streams[i].spec, streams[i].type,
                        streams[i].what, (int)status);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_streams_are_decoded_and_wrong_ones_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
