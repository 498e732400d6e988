/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc.c: forgeries after codec/e2mc/FORMAT.md, section 7. */
#include "forgeries.h"

#define E2MC .codec = H5TWIN_E2MC, .kind = H5TWIN_INTEGER
#define END  FORGERY_END

/* Headers end in the size of the array and that of the codebook or directory. */
#define SEGMENT "E2 12 14 07 00 00 00 00  00 40 00 00  00*4  AA BB "

static const struct good_stream raw = {E2MC, .word_size = 2, .raw_size = 4,
                                       .payload =
                                           "E2 10 14 07 00 00 00 00  04 00 00 00  00*4  AA*4"};
static const struct good_stream constant = {
    E2MC, .word_size = 2, .raw_size = 128,
    .payload = "E2 12 14 07 00 00 00 00  80 00 00 00  00*4  AA BB"};
static const struct good_stream segments = {
    E2MC, .word_size = 2, .raw_size = 32768,
    .payload =
        "E2 13 14 07 00 00 0E 00  00 80 00 00  08 00 00 00  12 00*3 12 00*3 " SEGMENT SEGMENT};
/* Section 9 of FORMAT.md: two blocks, of which the second is a run. */
static const struct good_stream coded = {E2MC, .word_size = 2, .raw_size = 160,
                                         .payload =
                                             "E2 11 14 17 00 00 00 00  A0 00 00 00  0A 00 00 00"
                                             "88 45 91 27 00 7B FC 07 F0 00  37 F8"
                                             "1E 4D F4 70 05 13 7D 04 4D F4 37 BF 13 7D 04"
                                             "26 FA 08 9B E8 23 80 2D F4 11 37 D0 40"};
/* One tree of one symbol, a run of deltas, an anchor. */
static const struct good_stream deltas = {
    E2MC, .word_size = 2, .raw_size = 128,
    .payload = "E2 11 14 07 10 01 00 00  80 00 00 00  03 00 00 00 {0 00000 (0)*16}  {1111110}"
               "05 00"};
/* A tree of two symbols, 0 and 1, and a block that is stored. */
#define HEAD(size)       "E2 11 14 07 00 00 00 00  80 00 00 00 " size " 00 00 00 "
#define STORED           " {1111111}  55*128"
#define BOOK(size, bits) HEAD(size) "{" bits "}" STORED
static const struct good_stream book = {E2MC, .word_size = 2, .raw_size = 128,
                                        .payload =
                                            BOOK("04", "0 00001 011  00000 0000000000010  1 1")};
/* The same of an escape alone. */
static const struct good_stream escape = {E2MC, .word_size = 2, .raw_size = 128,
                                          .payload = BOOK("03", "1 00000 00000 010000 00000")};
/* Two ways of 32 codes of one bit: the first ends in bit 39 of 40. */
static const struct good_stream ways = {
    E2MC, .word_size = 2, .raw_size = 128,
    .payload = "E2 11 14 17 00 00 00 00  80 00 00 00  04 00 00 00"
               "{0 00001 011  00000 0000000000010  1 1}  {0001000}  {0000101 (01)*16}  33*4"};
/* The same 8 times: enough for ways to be decoded side by side. */
static const struct good_stream many_ways = {
    E2MC, .word_size = 2, .raw_size = 1024,
    .payload = "E2 11 14 17 00 00 00 00  00 04 00 00  04 00 00 00"
               "{0 00001 011  00000 0000000000010  1 1}  {(0001000)*8}"
               "({0000101 (01)*16}  33*4)*8"};
/* Eight ways of codes without bits: their pointers are all there is. */
static const struct good_stream pointers = {E2MC, .word_size = 2, .raw_size = 128,
                                            .payload =
                                                "E2 11 14 37 00 00 00 00  80 00 00 00  03 00 00 00"
                                                "{0 00000 (0)*16}  {0000110}  {(0000111)*7}"};

static const struct forgery refused[] = {
    {RULE("header-cut"), &raw, AT(15, END, NULL)},
    {RULE("first-byte"), &raw, AT(0, 1, "E3")},
    {RULE("version"), &raw, AT(1, 1, "20")},
    {ALSO("version"), &raw, AT(1, 1, "00")},
    {RULE("kind"), &raw, AT(1, 1, "14")},
    {ALSO("kind"), &raw, AT(1, 1, "1F")},
    {RULE("word-bytes"), &raw, AT(2, 1, "44")},
    {RULE("symbol-bits"), &raw, AT(2, 1, "11")},
    {ALSO("symbol-bits"), &raw, AT(2, 1, "36")},
    {RULE("symbol-of-a-word"), &raw, AT(2, 1, "04")},
    {RULE("ways"), &raw, AT(3, 1, "47")},
    {RULE("block-bytes"), &raw, AT(3, 1, "06")},
    {ALSO("block-bytes"), &raw, AT(3, 1, "0D")},
    {RULE("granule"), &raw, AT(4, 1, "07")},
    {RULE("delta-flag"), &coded, AT(4, 1, "20")},
    {RULE("delta-kind"), &raw, AT(4, 2, "10 01")},
    {ALSO("delta-kind"), &constant, AT(4, 2, "10 01")},
    {ALSO("delta-kind"), &segments, AT(4, 2, "10 01")},
    {RULE("distance-zero"), &deltas,
     AT(5, END, "00 00 00  80 00 00 00  03 00 00 00 {0 00000 (0)*16} {1111110}")},
    {RULE("distance-unused"), &raw, AT(5, 1, "01")},
    {RULE("distance-largest"), &deltas,
     AT(5, END, "41 00 00  80 00 00 00  03 00 00 00 {0 00000 (0)*16} {1111110}  00*130")},
    {RULE("segment-unused"), &raw, AT(6, 1, "0E")},
    {ALSO("segment-unused"), &coded, AT(6, 1, "01")},
    {RULE("segment-log2"), &segments,
     AT(6, END,
        "0D 00  00 40 00 00  08 00 00 00  12 00*3 12 00*3"
        "E2 12 14 07 00 00 00 00  00 20 00 00  00*4  AA BB"
        "E2 12 14 07 00 00 00 00  00 20 00 00  00*4  AA BB"),
     .raw_size_more = -16384},
    {RULE("byte-7"), &raw, AT(7, 1, "01")},
    {ALSO("byte-7"), &raw, AT(7, 1, "80")},
    {RULE("book-unused"), &raw, AT(12, 1, "01")},
    {ALSO("book-unused"), &constant, AT(15, 1, "80")},
    {RULE("size"), &raw, .raw_size_more = -4},
    {ALSO("size"), &coded, .raw_size_more = 2},
    {ALSO("size"), &segments, .raw_size_more = 16384},

    {RULE("raw-length"), &raw, AT(END, 0, "AA")},
    {ALSO("raw-length"), &raw, AT(19, END, NULL)},
    {RULE("constant-length"), &constant, AT(END, 0, "AA")},
    {ALSO("constant-length"), &constant, AT(17, END, NULL)},
    {RULE("empty"), &constant, AT(8, 1, "00"), .raw_size_more = -128},
    {RULE("whole-words"), &constant, AT(8, 1, "7F"), .raw_size_more = -1},
    {ALSO("whole-words"), &book, AT(8, 1, "7F"), .raw_size_more = -1},

    {RULE("directory-size"), &segments, AT(12, END, "04 00 00 00  12 00*3 " SEGMENT)},
    {ALSO("directory-size"), &segments, AT(12, 1, "09")},
    {ALSO("directory-size"), &segments, /* one more, of no words */
     AT(12, END,
        "0C 00 00 00  12 00*3 12 00*3 10 00*3 " SEGMENT SEGMENT
        "E2 10 14 07 00 00 00 00  00*4  00*4")},
    {RULE("directory-cut"), &segments, AT(23, END, NULL)},
    {RULE("one-segment"), &segments, AT(8, END, "00 40 00 00  04 00 00 00  12 00*3 " SEGMENT),
     .raw_size_more = -16384},
    {RULE("segment-cut"), &segments, AT(59, END, NULL)},
    {RULE("segment-header"), &segments,
     AT(20, END, "0F 00*3 " SEGMENT "E2 12 14 07 00 00 00 00  00 40 00 00  00*3")},
    {RULE("segment-size"), &segments, AT(50, 2, "FE 3F")},
    {ALSO("segment-size"), &segments, AT(32, 2, "02 40")},
    {RULE("segment-kind"), &segments,
     AT(6, END,
        "0F 00  00 00 01 00  08 00 00 00  3C 00*3 12 00*3"
        "E2 13 14 07 00 00 0E 00  00 80 00 00  08 00 00 00  12 00*3 12 00*3 " SEGMENT SEGMENT
        "E2 12 14 07 00 00 00 00  00 80 00 00  00*4  AA BB"),
     .raw_size_more = 32768},
    {RULE("segment-geometry"), &segments, AT(45, 1, "08")},
    {ALSO("segment-geometry"), &segments, AT(44, 1, "13")},
    {ALSO("segment-geometry"), &segments, AT(27, 1, "08")},
    {RULE("segments-behind"), &segments, AT(END, 0, "00")},

    {RULE("book-cut"), &book, AT(12, 8, "03 00 00 00 {0 00001 011  00000 0000000000}")},
    {ALSO("book-cut"), &escape, AT(12, 7, "02 00 00 00 {1 00000 00000 01000}")},
    {ALSO("book-cut"), &escape, AT(12, 7, "00 00 00 00")},
    {RULE("longest-code"), &book,
     AT(0, END, BOOK("0E", "0 10101 (010)*20 011  00000 0000000010110  (1)*22"))},
    {RULE("escape-longer"), &escape, AT(0, END, BOOK("03", "1 00000 00001 010000 00000"))},
    {RULE("escape-zero"), &escape, AT(0, END, BOOK("03", "1 00001 00000 010000 00000 1"))},
    {RULE("raw-form"), &escape, AT(0, END, BOOK("03", "1 00000 00000 010000 00001"))},
    {ALSO("raw-form"), &escape, AT(0, END, BOOK("03", "1 00000 00000 010001 00000"))},
    {RULE("listed"), &book,
     AT(0, END,
        "E2 11 14 07 00 00 00 00  80 00 00 00  98 02 00 00 "
        "{0 01101 (1)*11 (0)*12 1000000000000 011 (00000 0000001000000)*64 00000 0000000000001"
        " (1)*4097}" STORED)},
    {RULE("kraft"), &book, AT(0, END, BOOK("04", "0 00001 010  00000 0000000000001  1"))},
    {ALSO("kraft"), &book, AT(0, END, BOOK("04", "0 00001 00100  00000 0000000000011  111"))},
    {RULE("leading-zeros"), &book,
     AT(0, END, BOOK("0C", "0 00001 011  10000 0000001000100  (0)*17 1 (0)*33  1 (0)*16"))},
    {RULE("symbol"), &book,
     AT(0, END, BOOK("08", "0 00001 011  10000 0000000100010  1 (1)*16  1 (0)*16"))},
    {ALSO("symbol"), &book,
     AT(0, END, BOOK("08", "0 00001 011  10000 0000000100100  1 (0)*16  01 (0)*17"))},
    /* a symbol that is not the last one of its batch */
    {ALSO("symbol"), &book,
     AT(0, END, BOOK("11", "0 00011 1 011 00101  10000 0000001100110  1 (1)*16  (1 (0)*16)*5"))},
    {RULE("batch"), &book, AT(0, END, BOOK("04", "0 00001 011  00000 0000000000011  11"))},
    {ALSO("batch"), &book, AT(0, END, BOOK("04", "0 00001 011  00000 0000000000001  11"))},
    {ALSO("batch"), &book,
     AT(0, END,
        BOOK("18", "0 00111 (1)*6 000000010000001"
                   "  00000 0000000111111  00000 0000001000001  (1)*128"))},
    {RULE("book-left"), &book,
     AT(0, END, BOOK("05", "0 00001 011  00000 0000000000010  11 000 00000000"))},

    {RULE("metadata-cut"), &coded, AT(27, END, NULL)},
    {RULE("anchors-cut"), &deltas, AT(21, END, NULL)},
    {RULE("payload-cut"), &coded, AT(55, END, NULL)},
    {ALSO("payload-cut"), &book, AT(148, END, NULL)},
    {RULE("payload-left"), &coded, AT(END, 0, "00")},
    {ALSO("payload-left"), &deltas, AT(END, 0, "00")},
    {RULE("run-of-escapes"), &escape, AT(19, END, "{1111110}")},

    {RULE("pointers-cut"), &pointers, AT(19, END, "{0000101}  {(0000111)*6 000000}")},
    {RULE("pointers-ascend"), &pointers, AT(19, END, "{0000111}  {0001000 (0000111)*6}  00")},
    {RULE("pointer-low"), &pointers, AT(20, 1, "{0000110 0}")},
    {RULE("pointer-high"), &pointers, AT(19, END, "{0000110}  {(0000111)*6 0001000}")},
    {RULE("way-end"), &ways, AT(21, 1, "{0000100 0}")},
    {ALSO("way-end"), &many_ways, AT(27, 1, "{0000100 0}")},
    {RULE("last-way-end"), &ways, AT(20, END, "{0000111}  {0000101 (01)*16}  33*3")},
    {ALSO("last-way-end"), &many_ways,
     AT(20, END, "{0000111 (0001000)*7}  {0000101 (01)*16}  33*3  ({0000101 (01)*16}  33*4)*7")},
};

static const struct forgery accepted[] = {
    {"padding of the codebook", &escape, AT(18, 1, "03")},
    {"padding of the metadata", &book, AT(20, 1, "FF")},
    {"padding of a way", &ways, AT(25, 1, "AB")},
    {"bytes between two ways", &ways, AT(20, END, "{0001001}  {0000110 (01)*16 0}  00  33*4")},
    {"the largest distance", &deltas,
     AT(5, END, "40 00 00  80 00 00 00  03 00 00 00 {0 00000 (0)*16} {1111110}  00*128")},
    {"a symbol twice", &book, AT(0, END, BOOK("05", "0 00010 010 011  00000 0000000000011  111"))},
    {"the last symbol", &book,
     AT(0, END, BOOK("08", "0 00001 011  10000 0000000100010  1 (1)*15 0  1 (0)*16"))},
    {"two batches", &book,
     AT(0, END,
        BOOK("18", "0 00111 (1)*6 000000010000001"
                   "  00000 0000001000000  00000 0000001000000  (1)*128"))},
    {"4096 symbols", &book,
     AT(0, END,
        "E2 11 14 07 00 00 00 00  80 00 00 00  96 02 00 00 "
        "{0 01100 (1)*11 (0)*12 1000000000001 (00000 0000001000000)*64 (1)*4096}" STORED)},
};

const struct forgeries forgeries_e2mc = FORGERIES(refused, accepted);
