/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress.c: forgeries after codec/fpcompress/FORMAT.md, section 8. */
#include "forgeries.h"

#define FPCOMPRESS .codec = H5TWIN_FPCOMPRESS
#define SPEED      .parameter = 1
#define RATIO      .parameter = 2
#define END        FORGERY_END

/* ---- streams of one mode ---- */

static const struct good_stream spspeed = {FPCOMPRESS, SPEED, .word_size = 4, .raw_size = 64,
                                           .payload = "40 00*3  1E 00  00*4 40 00 00*24"};
/* 13 words and a byte; the second word has 31 bits. */
static const struct good_stream spspeed_rest = {
    FPCOMPRESS, SPEED, .word_size = 4, .raw_size = 53,
    .payload = "35 00*3  23 00  00*4 35 00  00 F0 01 00*21  A5*3 25  AA"};
static const struct good_stream dpspeed = {FPCOMPRESS, SPEED, .word_size = 8, .raw_size = 64,
                                           .payload = "40 00*7  22 00  00*4 40 00 00*28"};
static const struct good_stream spratio = {FPCOMPRESS, RATIO, .word_size = 4, .raw_size = 64,
                                           .payload = "40 00*3  02 00  40 00"};
/* Byte 59 of 60 is not 0. */
static const struct good_stream spratio_60 = {
    FPCOMPRESS, RATIO, .word_size = 4, .raw_size = 60,
    .payload = "3C 00*3  0E 00  09  08 00  80 01 00  07 00  03 00*3  3C 00"};
/* 16 KiB of zeros, then 64 bytes. */
static const struct good_stream two_blocks = {FPCOMPRESS, RATIO, .word_size = 4,
                                              .raw_size = 16384 + 64,
                                              .payload = "40 40 00*2  02 00 02 00  00 40  40 00"};
static const struct good_stream raw = {FPCOMPRESS, RATIO, .word_size = 4, .raw_size = 64,
                                       .payload = "40 00*3  40 00  AA*64"};

/* ---- DPratio: a block is RAZE's bytes, which end in code and size, and so are RARE's ---- */

/* 8 words and 8 distances, all 0: RARE copies what RAZE gives. */
static const struct good_stream zeros = {FPCOMPRESS, RATIO, .word_size = 8, .raw_size = 64,
                                         .payload = "80 00*7  06 00  41 80 00  40 03 00"};
/* Of the 16 words 0 and 8 are full: one value 8 times, and no distances. */
#define FULL_0 "2A 50 CB B2 A9 A8 41 80 "
#define FULL_8 "29 50 CB B2 A9 A8 41 80 "
static const struct good_stream steps = {FPCOMPRESS, RATIO, .word_size = 8, .raw_size = 64,
                                         .payload = "80 00*7  1E 00  " FULL_0 FULL_8
                                                    "01 00  05 00  03 00*3  00 80 00  40 1B 00"};
/* RAZE calls all 16 words full, though they are 0; RARE keeps what is behind them. */
static const struct good_stream all_full = {
    FPCOMPRESS, RATIO, .word_size = 8, .raw_size = 64,
    .payload = "80 00*7  16 00  FF 00 05 00 03 00*3  01 00  0C 00  03 00*3  00 80 00  00 8B 00"};
/* RAZE copies 16 words, of which RARE leaves nothing. */
static const struct good_stream copied = {FPCOMPRESS, RATIO, .word_size = 8, .raw_size = 64,
                                          .payload = "80 00*7  06 00  40 80 00  41 83 00"};
/* RARE takes RAZE's 3 bytes for 0 words and a rest. */
static const struct good_stream no_words = {FPCOMPRESS, RATIO, .word_size = 8, .raw_size = 64,
                                            .payload = "80 00*7  0A 00  00*4  41 80 00  00 03 00"};
/* 8 KiB of zeros, coded by RAZE in 16383 bytes, the most that there can be. */
static const struct good_stream most = {
    FPCOMPRESS, RATIO, .word_size = 8, .raw_size = 8192,
    .payload = "00 40 00*6  18 00  00*3 FF 3F 01 00 80  40  80  00*3 80  03 00 00 80 0C 00 40"
               "  00 FF 3F"};
/* Two words and two distances, stored raw. */
static const struct good_stream distances = {FPCOMPRESS, RATIO, .word_size = 8, .raw_size = 16,
                                             .payload =
                                                 "20 00*7  20 00  07 00*7  00*8  00*8  01 00*7"};

static const struct forgery refused[] = {
    {RULE("mode"), &spratio, .parameter_flips = 1},
    {ALSO("mode"), &spratio, .parameter_flips = 2},
    {ALSO("mode"), &dpspeed, .parameter_flips = 1 ^ 3},
    {RULE("mode-bits"), &spratio, .parameter_flips = 0x2 ^ 0x101},
    {ALSO("mode-bits"), &spratio, .parameter_flips = 1 << 8},
    {ALSO("mode-bits"), &spspeed, .parameter_flips = 1 << 8},
    {ALSO("mode-bits"), &zeros, .parameter_flips = UINT32_C(1) << 31},
    {RULE("part-of-a-word"), &distances, AT(0, END, "18 00*7  18 00  00*24"), .raw_size_more = -4},
    {RULE("header-cut"), &spratio, AT(3, END, NULL)},
    {ALSO("header-cut"), &zeros, AT(7, END, NULL)},
    {RULE("size"), &spratio, .raw_size_more = -4},
    {ALSO("size"), &spratio, .raw_size_more = 4},
    {ALSO("size"), &zeros, .raw_size_more = 8},
    {ALSO("size"), &zeros, .raw_size_more = -8},
    {RULE("table-cut"), &two_blocks, AT(7, END, NULL)},
    {RULE("stored-zero"), &two_blocks, AT(6, END, "00 00  00 40")},
    {RULE("stored-above"), &spspeed, AT(0, END, "04 00*3  1E 00  00*4 04 00 00*24"),
     .raw_size_more = -60},
    {ALSO("stored-above"), &raw, AT(4, 2, "41 00 AA")},
    {RULE("blocks-cut"), &raw, AT(69, END, NULL)},
    {RULE("blocks-behind"), &two_blocks, AT(END, 0, "00")},

    {RULE("mplg-short"), &spspeed, AT(4, END, "01 00  00")},
    {ALSO("mplg-short"), &dpspeed, AT(8, END, "01 00  00")},
    {ALSO("mplg-short"), &spspeed, AT(4, END, "1D 00  00*4 40 00 00*23")},
    {RULE("mplg-size"), &spspeed, AT(10, 1, "3C")},
    {ALSO("mplg-size"), &dpspeed, AT(14, 1, "38")},
    {RULE("mplg-width"), &spspeed, AT(12, 1, "21")},
    {ALSO("mplg-width"), &dpspeed, AT(16, 1, "41")},
    {RULE("mplg-length"), &spspeed, AT(12, 1, "40")},
    {ALSO("mplg-length"), &spspeed, AT(4, END, "1F 00  00*4 40 00 00*25")},
    {ALSO("mplg-length"), &spspeed_rest, AT(4, END, "22 00  00*4 35 00  00 F0 01 00*21  A5*3 25")},
    {ALSO("mplg-length"), &dpspeed, AT(8, END, "23 00  00*4 40 00 00*29")},

    {RULE("rze-short"), &raw, AT(0, END, "00 01 00*2  01 00  01"), .raw_size_more = 192},
    {RULE("rze-size"), &spratio, AT(6, 1, "3C")},
    {ALSO("rze-size"), &spratio_60, AT(18, 1, "40")},
    {RULE("rze-bitmap"), &spratio, AT(4, END, "05 00  00*3  40 00")},
    {ALSO("rze-bitmap"), &spratio, AT(4, END, "06 00  01 00*3  40 00")},
    {ALSO("rze-bitmap"), &spratio, AT(4, END, "07 00  01  01 00*3  40 00")},
    {ALSO("rze-bitmap"), &spratio_60, AT(4, END, "03 00  09  3C 00")},
    {RULE("rze-bytes"), &spratio_60,
     AT(4, END, "0F 00  09 09  08 00  80 01 00  07 00  03 00*3  3C 00")},
    {ALSO("rze-bytes"), &spratio_60, AT(4, END, "0D 00  08 00  80 01 00  07 00  03 00*3  3C 00")},
    {RULE("rze-beyond"), &spratio_60, AT(7, 1, "10")},
    {ALSO("rze-beyond"), &spratio, AT(4, END, "0D 00  09  01 00  03 00  06 00  03 00*3  40 00")},

    {RULE("raze-short"), &zeros, AT(8, END, "05 00  80 00  40 02 00")},
    {RULE("raze-code"), &all_full, AT(26, 1, "42")},
    {RULE("raze-size"), &zeros, AT(11, 1, "78")},
    {RULE("raze-copy"), &copied, AT(8, END, "07 00  00 40 80 00  41 84 00")},
    {RULE("raze-zeros"), &zeros, AT(8, END, "07 00  00 41 80 00  40 04 00")},
    {RULE("raze-bitmap"), &zeros, AT(8, END, "09 00  00*3  00 80 00  40 06 00")},
    {ALSO("raze-bitmap"), &zeros, AT(8, END, "0A 00  01 00*3  00 80 00  40 07 00")},
    {RULE("raze-words"), &steps,
     AT(8, END, "1F 00  " FULL_0 FULL_8 "00  01 00  05 00  03 00*3  00 80 00  40 1C 00")},
    {ALSO("raze-words"), &steps,
     AT(8, END, "1D 00  " FULL_0 "29*7  01 00  05 00  03 00*3  00 80 00  40 1A 00")},
    {RULE("raze-beyond"), &zeros,
     AT(8, END, "16 00  00*8  01 00  0C 00  03 00*3  00 80 00  40 13 00")},

    {RULE("rare-short"), &zeros, AT(8, END, "02 00  07 00")},
    {ALSO("rare-short"), &zeros, AT(0, END, "80 40 00*6  02 00 80 00  07 00  00*128"),
     .raw_size_more = 8256 - 64},
    {RULE("rare-code"), &no_words, AT(17, 1, "42")},
    {RULE("rare-size"), &most,
     AT(8, END, "19 00  00*4 FF 3F 01 00  80 03 00 00 80 10 00 40  C0  80  00*3 80  00 00 40")},
    {RULE("rare-copy"), &zeros, AT(8, END, "07 00  41 80 00 00  40 03 00")},
    {RULE("rare-zeros"), &copied, AT(8, END, "07 00  00 40 80 00  41 83 00")},
    {RULE("rare-rest"), &copied, AT(8, END, "05 00  40 80  41 83 00")},
    {ALSO("rare-rest"), &no_words, AT(8, END, "05 00  41 80  00 03 00")},
    {ALSO("rare-rest"), &no_words, AT(8, END, "04 00  41  00 07 00")},
    {RULE("rare-bitmap"), &no_words, AT(8, END, "09 00  00*3  41 80 00  00 03 00")},
    {ALSO("rare-bitmap"), &no_words, AT(10, 1, "01")},
    {RULE("rare-words"), &no_words, AT(8, END, "0B 00  00  00*4  41 80 00  00 03 00")},
    {RULE("rare-beyond"), &copied,
     AT(8, END, "16 00  00*8  01 00  0C 00  03 00*3  40 80 00  00 83 00")},

    {ALSO("rare-beyond"), &all_full,
     AT(8, END, "1E 00  FF 00 05 00 03 00*3  00*8  03 00  0C 00  03 00*3  00 80 00  00 8B 00")},
    {RULE("distance"), &distances, AT(34, 1, "02")},
    {ALSO("distance"), &distances, AT(26, 1, "01")},
    {ALSO("distance"), &distances, AT(38, 1, "01")},
    {ALSO("distance"), &distances, AT(37, 1, "80")},
    {ALSO("distance"), &distances, AT(34, 8, "FF*8")},
};

static const struct forgery accepted[] = {
    {"a width of no words", &spspeed, AT(12, 1, "20")},
    {"padding of widths' bit string", &spspeed_rest, AT(39, 1, "A5")},
    {"bitmaps of zeros", &spratio, AT(4, END, "06 00  00*4  40 00")},
    {"a byte of 0 that is kept", &spratio_60, AT(6, 1, "00")},
    {"a byte of a bitmap that is kept though it repeats", &spratio,
     AT(4, END, "07 00  00  01 00*3  40 00")},
    {"a word under a distance", &distances, AT(18, 8, "55*8")},
};

const struct forgeries forgeries_fpcompress = FORGERIES(refused, accepted);
