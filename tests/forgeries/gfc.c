/* SPDX-License-Identifier: BSD-3-Clause
 * gfc.c: forgeries after codec/gfc/FORMAT.md, section 9. */
#include "forgeries.h"

#define GFC .codec = H5TWIN_GFC
#define END FORGERY_END

/* 32 words in one chunk, of which one is not 0. */
static const struct good_stream doubles = {GFC, .word_size = 8, .raw_size = 256, .parameter = 1,
                                           .payload =
                                               "01 01 01 20 00 00 00  18 00 00 00  70 00*15  A5*8"};
static const struct good_stream floats = {GFC, .word_size = 4, .raw_size = 128, .parameter = 1,
                                          .payload =
                                              "01 01 01 20 00 00 00  14 00 00 00  04 00*15  A5*4"};
/* Two subchunks in one chunk. */
static const struct good_stream two_subchunks = {
    GFC, .word_size = 8, .raw_size = 512, .parameter = 3,
    .payload = "01 01 03 40 00 00 00  28 00 00 00  70 00*15 A5*8  00*16"};
/* Three chunks, of which the last has no words. */
static const struct good_stream three_chunks = {
    GFC, .word_size = 4, .raw_size = 256, .parameter = 1,
    .payload = "03 01 01 40 00 00 00  11 00 00 00 10 00 00 00 00 00 00 00  10 00*15 A5  00*16"};
/* 31 words and 3 bytes. */
static const struct good_stream with_rest = {GFC, .word_size = 8, .raw_size = 251, .parameter = 1,
                                             .payload =
                                                 "01 01 01 1F 00 00 00  10 00 00 00  00*16  AA*3"};

static const struct forgery refused[] = {
    {RULE("header-cut"), &doubles, AT(6, END, NULL)},
    {RULE("blocks-zero"), &doubles, AT(0, 1, "00")},
    {RULE("warps-zero"), &doubles, AT(1, 1, "00")},
    {RULE("dimensionality"), &doubles, AT(2, 1, "21"), .parameter_flips = 1 ^ 33},
    {ALSO("dimensionality"), &doubles, AT(2, 1, "00"), .parameter_flips = 1},
    {ALSO("dimensionality"), &floats, AT(2, 1, "FF"), .parameter_flips = 1 ^ 255},
    {RULE("frame-dimensionality"), &doubles, .parameter_flips = 1 ^ 2},
    {ALSO("frame-dimensionality"), &doubles, .parameter_flips = 1 << 8},
    {ALSO("frame-dimensionality"), &doubles, .parameter_flips = UINT32_C(1) << 31},
    {RULE("table-cut"), &doubles, AT(10, END, NULL)},
    {RULE("chunk-below"), &doubles, AT(7, END, "0F 00 00 00  00*15")},
    {RULE("chunk-above"), &doubles, AT(7, END, "11 01 00 00  77*16 A5*257")},
    {ALSO("chunk-above"), &floats, AT(7, END, "91 00 00 00  44*16 A5*129")},
    {RULE("empty-chunk"), &three_chunks, AT(15, END, "01 00 00 00  10 00*15 A5  00*16  00")},
    {RULE("chunks-cut"), &three_chunks, AT(51, END, NULL)},
    {RULE("rest-word"), &doubles, AT(END, 0, "AA*8"), .claims_no_size = true},
    {ALSO("rest-word"), &floats, AT(END, 0, "AA*4"), .claims_no_size = true},
    {RULE("size"), &doubles, .raw_size_more = -8},
    {ALSO("size"), &doubles, .raw_size_more = 8},
    {RULE("rest-size"), &with_rest, .raw_size_more = 1},
    {ALSO("rest-size"), &with_rest, .raw_size_more = -3},
    {RULE("nibbles-outside"), &two_subchunks, AT(7, END, "20 00 00 00  70 00*15 A5*8  00*8")},
    {RULE("bytes-outside"), &doubles, AT(11, 1, "71")},
    {ALSO("bytes-outside"), &floats, AT(12, 1, "01")},
    {ALSO("bytes-outside"), &with_rest, AT(11, 1, "01")},
    {ALSO("bytes-outside"), &three_chunks, AT(20, 1, "01")},
    {RULE("bytes-left"), &doubles, AT(11, 1, "60")},
    {ALSO("bytes-left"), &floats, AT(11, 1, "03")},
    {ALSO("bytes-left"), &three_chunks, AT(19, 1, "00")},
    {RULE("code"), &floats, AT(7, END, "15 00 00 00  05 00*15  A5*5")},
    {ALSO("code"), &floats, AT(7, END, "16 00 00 00  00*7 60 00*8  A5*6")},
    {ALSO("code"), &floats, AT(7, END, "17 00 00 00  00*15 70  A5*7")},
    {ALSO("code"), &floats, AT(7, END, "15 00 00 00  00*12 0D 00*3  A5*5")},
};

static const struct forgery accepted[] = {
    {"the largest dimensionality", &doubles, AT(2, 1, "20"), .parameter_flips = 1 ^ 32},
    {"a sign of 0", &doubles, AT(12, 1, "08")},
    {"more bytes than a magnitude needs", &doubles, AT(27, 8, "01 00*7")},
    {"pads that are not 0", &with_rest, AT(7, 20, "11 00 00 00  00*15 10  A5")},
    {"as many bytes as can be", &doubles, AT(7, END, "10 01 00 00  77*16 A5*256")},
    {"as many bytes of floats as can be", &floats, AT(7, END, "90 00 00 00  44*16 A5*128")},
};

const struct forgeries forgeries_gfc = FORGERIES(refused, accepted);
