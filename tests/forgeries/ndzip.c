/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip.c: forgeries after codec/ndzip/FORMAT.md, "What a decoder refuses". Words are written with
 * their lowest byte first: 00 00 00 80 is bit 31, the first of 32 places. */
#include "forgeries.h"

#define NDZIP        .codec = H5TWIN_NDZIP
#define REFERENCE(r) .parameter = (r) << 8
#define EXTENDED(r)  .parameter = 1 | (r) << 8
#define END          FORGERY_END

/* ---- extended layout ---- */

/* 20 values: the head has one bit, and its column one. */
static const struct good_stream floats = {
    NDZIP,          EXTENDED(1),           .word_size = 4,
    .raw_size = 80, .extents = {1, 1, 20}, .payload = "02 00 00 00  00 00 00 80  00 00 00 80"};
static const struct good_stream doubles = {
    NDZIP,           EXTENDED(1),           .word_size = 8,
    .raw_size = 160, .extents = {1, 1, 20}, .payload = "02 00 00*6  00*7 80  00*7 80"};
/* The same with packed heads. */
static const struct good_stream packed = {NDZIP,
                                          EXTENDED(1),
                                          .word_size = 4,
                                          .raw_size = 80,
                                          .extents = {1, 1, 20},
                                          .payload =
                                              "03 40 00 00  00 00 00 80  00 00 00 80  00 00 00 80"};
static const struct good_stream packed_doubles = {
    NDZIP,           EXTENDED(1),           .word_size = 8,
    .raw_size = 160, .extents = {1, 1, 20}, .payload = "03 40 00*6  00*7 80  00*7 80  00*7 80"};
/* The array as it is. */
static const struct good_stream raw = {NDZIP,          EXTENDED(1),           .word_size = 4,
                                       .raw_size = 80, .extents = {1, 1, 20}, .payload = "AA*80"};
static const struct good_stream single = {NDZIP,         EXTENDED(1),          .word_size = 4,
                                          .raw_size = 4, .extents = {1, 1, 1}, .payload = "AA*4"};
/* A block of zeros, its heads packed, and one of 20 raw values. */
static const struct good_stream two_blocks = {NDZIP,
                                              EXTENDED(1),
                                              .word_size = 4,
                                              .raw_size = 4 * 4116,
                                              .extents = {1, 1, 4116},
                                              .payload = "04 40 14 00  00*16  AA*80"};
/* A full block: 128 heads of one bit, and 128 columns. */
static const struct good_stream full = {NDZIP,
                                        EXTENDED(1),
                                        .word_size = 4,
                                        .raw_size = 4 * 4096,
                                        .extents = {1, 1, 4096},
                                        .payload = "00 01 00 00  (00 00 00 80)*256"};
static const struct good_stream full_doubles = {NDZIP,
                                                EXTENDED(1),
                                                .word_size = 8,
                                                .raw_size = 8 * 4096,
                                                .extents = {1, 1, 4096},
                                                .payload = "80 00 00*6  (00*7 80)*128"};
/* The same, the heads packed: of four OR words one has a bit, and its column one. */
static const struct good_stream full_packed = {
    NDZIP,
    EXTENDED(1),
    .word_size = 4,
    .raw_size = 4 * 4096,
    .extents = {1, 1, 4096},
    .payload = "85 40 00 00  00 00 00 80 00*12  00 00 00 80  (00 00 00 80)*128"};

/* ---- reference layout ---- */

/* One block of zeros and a border of two. */
static const struct good_stream border = {NDZIP,
                                          REFERENCE(1),
                                          .word_size = 4,
                                          .raw_size = 4 * 4098,
                                          .extents = {1, 1, 4098},
                                          .payload = "80 00 00 00  00*512  AA*8"};
static const struct good_stream border_doubles = {NDZIP,
                                                  REFERENCE(1),
                                                  .word_size = 8,
                                                  .raw_size = 8 * 4098,
                                                  .extents = {1, 1, 4098},
                                                  .payload = "40 00 00 00 00*4  00*512  AA*16"};
/* Two blocks of zeros. */
static const struct good_stream two_whole = {NDZIP,
                                             REFERENCE(2),
                                             .word_size = 4,
                                             .raw_size = 4 * 8192,
                                             .extents = {1, 128, 64},
                                             .payload = "80 00 00 00 00 01 00 00  00*1024"};

static const struct forgery refused[] = {
    {RULE("layout"), &raw, .parameter_flips = 1 ^ 2},
    {RULE("rank"), &single, .parameter_flips = 1 << 8},
    {ALSO("rank"), &raw, .parameter_flips = 1 << 8},
    {ALSO("rank"), &raw, .parameter_flips = (1 ^ 4) << 8},
    {ALSO("rank"), &raw, .parameter_flips = 1 << 16},
    {ALSO("rank"), &border, .parameter_flips = UINT32_C(1) << 31},
    {RULE("unused-extents"), &raw, .extents = {2, 1, 10}},
    {ALSO("unused-extents"), &raw, .extents = {1, 2, 10}},
    {RULE("size"), &raw, .extents = {1, 1, 19}},
    {ALSO("size"), &raw, .extents = {1, 1, 21}},
    {ALSO("size"), &border, .raw_size_more = 4},

    {RULE("reference-cut"), &border, AT(11, END, NULL)},
    {ALSO("reference-cut"), &border, AT(523, END, NULL)},
    {RULE("reference-length"), &border, AT(0, END, "7F 00 00 00  00*508  AA*8")},
    {ALSO("reference-length"), &border_doubles, AT(0, END, "3F 00 00 00 00*4  00*504  AA*16")},
    {ALSO("reference-length"), &two_whole, AT(0, 8, "80 01 00 00 00 01 00 00")},
    {ALSO("reference-length"), &two_whole, AT(0, 8, "FF 00 00 00 00 01 00 00")},
    {RULE("reference-left"), &border, AT(END, 0, "AA*4")},
    {ALSO("reference-left"), &border_doubles, AT(END, 0, "AA*8")},
    {RULE("reference-heads"), &border, AT(0, END, "81 00 00 00  00*512 00 00 00 80  AA*8")},
    {ALSO("reference-heads"), &border_doubles,
     AT(0, END, "41 00 00 00 00*4  00*512 00*7 80  AA*16")},
    {RULE("reference-column"), &border, AT(0, END, "81 00 00 00  00 00 00 80 00*508 00*4  AA*8")},
    {ALSO("reference-column"), &border_doubles,
     AT(0, END, "41 00 00 00 00*4  00*7 80 00*504 00*8  AA*16")},
    {ALSO("reference-column"), &two_whole,
     AT(0, END, "00 01 00 00 80 01 00 00  (00 00 00 80)*128  00*4 (00 00 00 80)*127  00*512")},

    {RULE("table-cut"), &floats, AT(3, END, NULL)},
    {RULE("table-padding"), &floats, AT(2, 1, "01")},
    {ALSO("table-padding"), &floats, AT(3, 1, "80")},
    {ALSO("table-padding"), &doubles, AT(7, 1, "01")},
    {RULE("entry-bit"), &floats, AT(1, 1, "80")},
    {RULE("length-zero"), &floats, AT(0, END, "00*4")},
    {RULE("length-above"), &two_blocks,
     AT(0, END, "04 40 15 00  00*16  FF FF 0F 00 (00 00 00 80)*20")},
    {RULE("raw-flags"), &two_blocks,
     AT(0, END, "04 40 14 20  00*16  FF FF 07 00 (00 00 00 80)*19")},
    {RULE("blocks-left"), &floats, AT(END, 0, "00*4")},
    {ALSO("blocks-left"), &doubles, AT(END, 0, "00*8")},
    {RULE("blocks-cut"), &full, AT(1024, END, NULL)},
    {RULE("no-shorter"), &floats, AT(0, END, "14 00 00 00  AA*80")},
    {ALSO("no-shorter"), &doubles, AT(0, END, "14 00 00*6  AA*160")},
    {RULE("heads-cut"), &full, AT(0, END, "64 00 00 00  00*400")},
    {ALSO("heads-cut"), &full_doubles, AT(0, END, "20 00 00*6  00*256")},
    {RULE("heads-length"), &floats,
     AT(0, END, "03 00 00 00  00 00 00 80  00 00 00 80 00 00 00 80")},
    {ALSO("heads-length"), &floats, AT(7, 1, "C0")},
    {ALSO("heads-length"), &doubles, AT(15, 1, "C0")},
    {ALSO("heads-length"), &packed,
     AT(0, END, "04 40 00 00  00 00 00 80  00 00 00 80  00 00 00 80 00 00 00 80")},
    {RULE("column"), &floats, AT(11, 1, "00")},
    {ALSO("column"), &doubles, AT(23, 1, "00")},
    {ALSO("column"), &full, AT(519, 1, "00")},
    {ALSO("column"), &full_doubles, AT(527, 1, "00")},
    {ALSO("column"), &full_packed, AT(27, 1, "00")},
    {RULE("beyond"), &floats, AT(9, 1, "08")},
    {ALSO("beyond"), &floats, AT(8, 1, "01")},
    {ALSO("beyond"), &doubles, AT(21, 1, "08")},
    {ALSO("beyond"), &doubles, AT(16, 1, "01")},
    {RULE("packed-cut"), &full_packed, AT(0, END, "03 40 00 00  00*12")},
    {RULE("packed-columns"), &packed, AT(0, END, "01 40 00 00  00 00 00 80")},
    {ALSO("packed-columns"), &packed_doubles, AT(0, END, "01 40 00*6  00*7 80")},
    {RULE("packed-column"), &packed, AT(0, END, "02 40 00 00  00 00 00 80  00*4")},
    {ALSO("packed-column"), &packed_doubles, AT(0, END, "02 40 00*6  00*7 80  00*8")},
    {ALSO("packed-column"), &full_packed,
     AT(0, END, "86 40 00 00  00 00 00 C0 00*12  00*4 00 00 00 80  (00 00 00 80)*128")},
    {ALSO("packed-beyond"), &packed, AT(0, END, "02 40 00 00  01 00 00 00  00 00 00 40")},
    {RULE("packed-beyond"), &packed, AT(0, END, "02 40 00 00  00 00 00 80  00 00 00 40")},
    {ALSO("packed-beyond"), &packed_doubles, AT(0, END, "02 40 00*6  00*7 80  01 00*7")},
};

static const struct forgery accepted[] = {
    {"padding of the reference layout's table", &border_doubles, AT(4, 1, "01")},
    {"the other mapping", &floats, AT(1, 1, "20")},
    {"the last of 20 codes", &floats, AT(9, 1, "10")},
    {"the last of 20 codes of doubles", &doubles, AT(21, 1, "10")},
};

const struct forgeries forgeries_ndzip = FORGERIES(refused, accepted);
