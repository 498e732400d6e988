/* SPDX-License-Identifier: BSD-3-Clause
 * sleek.c: forgeries after codec/sleek/FORMAT.md, section 9. */
#include "forgeries.h"

#define SLEEK .codec = H5TWIN_SLEEK
#define END   FORGERY_END

/* 1 KiB, of which the first 512 bytes have codes of one bit. */
static const struct good_stream floats = {SLEEK, .word_size = 4, .raw_size = 1024,
                                          .payload = "00 04 00*6  32 00  01 00*31  A5*16  00 04"};
static const struct good_stream doubles = {SLEEK, .word_size = 8, .raw_size = 1024,
                                           .payload = "00 04 00*6  2A 00  01 00*31  A5*8  00 04"};
/* The same with an absolute and a relative bound of 2^-2. */
static const struct good_stream bounded = {SLEEK, .word_size = 4, .raw_size = 1024,
                                           .parameter = 1 | 125 << 8,
                                           .payload = "00 04 00*6  32 00  01 00*31  A5*16  00 04"};
static const struct good_stream relative = {SLEEK, .word_size = 8, .raw_size = 1024,
                                            .parameter = 2 | 1021 << 8,
                                            .payload = "00 04 00*6  2A 00  01 00*31  A5*8  00 04"};
/* Two blocks of zeros, the second short. */
static const struct good_stream two_blocks = {
    SLEEK, .word_size = 4, .raw_size = 16384 + 64,
    .payload = "40 40 00*6  22 00 22 00  00*32 00 40  00*32 40 00"};
/* A block that is raw. */
static const struct good_stream raw = {SLEEK, .word_size = 4, .raw_size = 64,
                                       .payload = "40 00*7  40 00  AA*64"};

static const struct forgery refused[] = {
    {RULE("mode"), &bounded, .parameter_flips = 2},
    {RULE("lossless-word"), &floats, .parameter_flips = 125 << 8},
    {RULE("bound-zero"), &bounded, .parameter_flips = 125 << 8},
    {ALSO("bound-zero"), &relative, .parameter_flips = 1021 << 8},
    {RULE("bound-largest"), &bounded, .parameter_flips = (125 ^ 231) << 8},
    {ALSO("bound-largest"), &relative, .parameter_flips = (1021 ^ 1994) << 8},
    {RULE("lossy-integers"), &bounded, .kind = H5TWIN_INTEGER},
    {ALSO("lossy-integers"), &relative, .kind = H5TWIN_OTHER},
    {RULE("header-cut"), &floats, AT(7, END, NULL)},
    {RULE("size"), &floats, .raw_size_more = -4},
    {ALSO("size"), &floats, .raw_size_more = 4},
    {RULE("table-cut"), &two_blocks, AT(11, END, NULL)},
    {RULE("stored-zero"), &two_blocks, AT(10, END, "00 00  00*32 00 40")},
    {RULE("stored-above"), &raw, AT(0, END, "10 00*7  22 00  00*32 10 00"), .raw_size_more = -48},
    {ALSO("stored-above"), &raw, AT(8, 2, "41 00  AA")},
    {RULE("blocks-cut"), &two_blocks, AT(79, END, NULL)},
    {RULE("blocks-behind"), &two_blocks, AT(END, 0, "00")},
    {RULE("packed-short"), &raw, AT(8, END, "01 00  00")},
    {ALSO("packed-short"), &raw, AT(0, END, "10 00*7  02 00  10 00"), .raw_size_more = -48},
    {ALSO("packed-short"), &two_blocks, AT(10, END, "21 00  00*32 00 40  00*31 40 00")},
    {RULE("width"), &floats, AT(8, END, "32 02  21 00*31  A5*528  00 04")},
    {ALSO("width"), &doubles, AT(8, END, "2A 02  41 00*31  A5*520  00 04")},
    {RULE("packed-size"), &floats, AT(10, 1, "02")},
    {ALSO("packed-size"), &floats, AT(10, 1, "00")},
    {ALSO("packed-size"), &doubles, AT(10, 1, "02")},
    {RULE("trailer"), &floats, AT(58, 2, "FC 03")},
    {ALSO("trailer"), &two_blocks, AT(78, 2, "00 40")},
};

static const struct forgery accepted[] = {
    {"the largest bound", &bounded, .parameter_flips = (125 ^ 230) << 8},
    {"the largest bound of doubles", &relative, .parameter_flips = (1021 ^ 1993) << 8},
    {"the smallest bound", &bounded, .parameter_flips = (125 ^ 1) << 8},
    {"the widest codes", &floats, AT(8, END, "22 02  20 00*31  A5*512  00 04")},
    {"the widest codes of doubles", &doubles, AT(8, END, "22 02  40 00*31  A5*512  00 04")},
    {"widths that are larger than needed", &floats, AT(26, 16, "00*16")},
    {"codes beyond the input", &two_blocks,
     AT(10, END, "32 00  00*32 00 40  00*31 01 A5*16 40 00")},
};

const struct forgeries forgeries_sleek = FORGERIES(refused, accepted);
