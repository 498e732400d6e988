/* SPDX-License-Identifier: BSD-3-Clause
 * lattice.c: forgeries after codec/lattice/FORMAT.md, section 6. */
#include "forgeries.h"

#define LATTICE .codec = H5TWIN_LATTICE
#define END     FORGERY_END

/* 2 x 3 values, one of them special: the example of FORMAT.md, and the same with runs and a
 * dictionary of two words. */
#define RESIDUALS "010108F8FFFFFFFFFF 640A0AC8001400000000000000000000"
static const struct good_stream bitmap = {LATTICE, .word_size = 4, .raw_size = 24, .parameter = 6,
                                          .payload =
                                              "026040F2FF470103 00 0110 000000C07F" RESIDUALS};
static const struct good_stream runs = {
    LATTICE, .word_size = 4, .raw_size = 24, .parameter = 6,
    .payload =
        "026040F2FF470103 03020000 010102F8FFFFFFFFFF3600000000 0000C07F0000C17F 0000" RESIDUALS};
/* The same residuals under a relative bound, in 64 bits; the header has an odd size. */
static const struct good_stream relative = {LATTICE, .word_size = 4, .raw_size = 24, .parameter = 6,
                                            .payload = "02834008004701020300" RESIDUALS};
/* The first one, of words of 8 bytes. */
static const struct good_stream doubles = {
    LATTICE, .word_size = 8, .raw_size = 48, .parameter = 6,
    .payload = "026040F2FF470103 00 011000 000000000000F87F" RESIDUALS};
/* The first one with limits, 0 and 1. */
static const struct good_stream limited = {
    LATTICE, .word_size = 4, .raw_size = 24, .parameter = 6,
    .payload = "046040F2FF470103 03 00000000 0000803F 000100 1000 0000C07F" RESIDUALS};
/* Axis 3, of extent 3, is folded: the core has two columns. */
static const struct good_stream folded = {
    LATTICE, .word_size = 4, .raw_size = 24, .parameter = 6,
    .payload = "046040F2FF470103 04 0010 00 0100 1000 0000C07F" RESIDUALS};
/* Verbatim. */
static const struct good_stream verbatim = {LATTICE, .word_size = 4, .raw_size = 24, .parameter = 6,
                                            .payload = "00 AA*24"};
static const struct good_stream shorts = {LATTICE, .word_size = 2, .raw_size = 12, .parameter = 6,
                                          .payload = "00 AA*12"};
static const struct good_stream none = {LATTICE, .word_size = 4, .payload = "00"};

#define WORDS_8 "0000C07F0000C17F0000C27F0000C37F0000C47F0000C57F0000C67F0000C77F"
#define RUNS    "010102F8FFFFFFFFFF3600000000"

static const struct forgery refused[] = {
    {RULE("parameter"), &verbatim, .parameter_flips = 1},
    {ALSO("parameter"), &bitmap, .parameter_flips = 4},
    {ALSO("parameter"), &bitmap, .parameter_flips = 6},
    {RULE("constant-of-none"), &none, AT(0, 1, "01 00*4")},
    {RULE("small-words"), &shorts, AT(0, END, "02834008004701020300" RESIDUALS)},
    /* a form that does not exist */
    {RULE("form"), &bitmap, AT(0, 1, "05")},
    /* constant, too long */
    {RULE("constant-size"), &bitmap, AT(0, 1, "01")},
    /* constant, too short */
    {ALSO("constant-size"), &bitmap, AT(0, END, "01000000")},
    /* verbatim, of another size */
    {RULE("verbatim-size"), &bitmap, AT(0, 1, "00")},
    /* nothing */
    {RULE("no-form"), &bitmap, AT(0, END, "")},
    /* a header cut short */
    {RULE("header-cut"), &bitmap, AT(6, END, "")},
    /* predictor 3 */
    {RULE("predictor"), &bitmap, AT(1, 1, "6C")},
    /* cubic differences */
    {RULE("cubic"), &bitmap, AT(1, 1, "70")},
    /* order 3 on axis 3 */
    {RULE("order"), &bitmap, AT(2, 1, "C0")},
    /* order 3 on axis 0 */
    {ALSO("order"), &bitmap, AT(2, 1, "43")},
    /* no active axis */
    {RULE("active-axes"), &bitmap, AT(1, 2, "6400")},
    /* a fifth axis */
    {ALSO("active-axes"), &bitmap, AT(1, 2, "6410")},
    /* no active axis for bins */
    {ALSO("active-axes"), &bitmap, AT(1, 2, "6800")},
    /* an even width */
    {RULE("width"), &bitmap, AT(5, 2, "4601")},
    /* width 0 */
    {ALSO("width"), &bitmap, AT(5, 2, "0000")},
    /* a grid that is too coarse */
    {RULE("grid-largest"), &bitmap, AT(3, 2, "6800")},
    /* a grid that is too fine */
    {RULE("grid-smallest"), &bitmap, AT(3, 2, "82FF")},
    /* a grid of doubles that is too coarse */
    {ALSO("grid-largest"), &doubles, AT(3, 2, "CC03")},
    /* a grid of doubles that is too fine */
    {ALSO("grid-smallest"), &doubles, AT(3, 2, "02FC")},
    /* order 3 on axis 1 */
    {ALSO("order"), &bitmap, AT(2, 1, "4C")},
    /* order 3 on axis 2 */
    {ALSO("order"), &bitmap, AT(2, 1, "70")},
    /* wide integers for floats */
    {RULE("wide"), &bitmap, AT(1, 1, "61")},
    /* a relative bound in narrow integers */
    {RULE("relative"), &bitmap, AT(1, 1, "62")},
    /* a shift of all bits */
    {RULE("shift"), &relative, AT(3, 2, "1F00")},
    /* a negative shift */
    {ALSO("shift"), &relative, AT(3, 2, "FFFF")},
    /* extent 0 */
    {RULE("extent-zero"), &bitmap, AT(7, 1, "00")},
    /* an extent above the number of values */
    {RULE("extent-above"), &bitmap, AT(7, 1, "07")},
    /* an extent that does not divide the number of values */
    {RULE("extents-divide"), &bitmap, AT(7, 1, "04")},
    /* extents that are too many values */
    {RULE("extents-above"), &bitmap, AT(1, 7, "A040F2FF4701030300")},
    /* a number with a superfluous byte */
    {ALSO("varint-end"), &bitmap, AT(7, 1, "8300")},
    /* a number of six bytes */
    {RULE("varint-long"), &bitmap, AT(7, 1, "838080808001")},
    /* a number with a superfluous byte, all else in its place */
    {RULE("varint-end"), &bitmap, AT(7, 3, "8300000100")},
    /* a number of 33 bits */
    {RULE("varint-large"), &bitmap, AT(7, 1, "8380808010")},
    /* a number that is cut */
    {RULE("varint-cut"), &bitmap, AT(7, END, "83")},
    /* more runs than values */
    {RULE("runs-above"), &runs, AT(8, 1, "08")},
    /* a dictionary of 17 words */
    {ALSO("dictionary-above"), &runs, AT(9, 1, "11")},
    /* a dictionary of 17 words that are there */
    {RULE("dictionary-above"), &runs, AT(9, 25, "110000" RUNS WORDS_8 WORDS_8 "0000C87F")},
    /* lag 4 */
    {RULE("lag"), &runs, AT(10, 1, "04")},
    /* lag 31 */
    {ALSO("lag"), &runs, AT(10, 1, "1F")},
    /* padding that is not 0 */
    {RULE("padding"), &runs, AT(11, 1, "01")},
    /* padding that is missing */
    {ALSO("runs-cut"), &runs, AT(11, END, "")},
    /* a run of no values */
    {RULE("run-of-none"), &runs, AT(21, 1, "32")},
    /* a run of no values, the first of ones */
    {ALSO("run-of-none"), &runs, AT(8, 17, "05020000010102F8FFFFFFFFFF91020000")},
    /* a run of no values, the last */
    {ALSO("run-of-none"), &runs, AT(21, 1, "0F")},
    /* runs beyond the last value */
    {RULE("runs-beyond"), &runs, AT(21, 1, "37")},
    /* runs that end early */
    {RULE("runs-end"), &runs, AT(21, 1, "26")},
    /* padding behind the runs that is not 0 */
    {ALSO("padding"), &runs, AT(25, 1, "01")},
    /* runs that are cut */
    {RULE("runs-cut"), &runs, AT(20, END, "")},
    /* no special at all */
    {RULE("no-special"), &bitmap, AT(10, 1, "00")},
    /* all values special */
    {RULE("all-special"), &bitmap, AT(10, 1, "3F")},
    /* the bit behind the last value */
    {RULE("bitmap-unused"), &bitmap, AT(10, 1, "50")},
    /* the last unused bit */
    {ALSO("bitmap-unused"), &bitmap, AT(10, 1, "90")},
    /* padding behind the bitmap that is not 0 */
    {ALSO("padding"), &bitmap, AT(11, 1, "01")},
    /* a bitmap that is cut */
    {RULE("bitmap-cut"), &bitmap, AT(10, END, "")},
    /* words that are cut */
    {RULE("words-cut"), &bitmap, AT(14, END, "")},
    /* words for all specials that are cut */
    {ALSO("words-cut"), &bitmap, AT(9, END, "0020000000C0")},
    /* an index beyond the dictionary */
    {RULE("index"), &runs, AT(34, 2, "010102F8FFFFFFFFFF0200000000")},
    /* indices that are cut */
    {RULE("indices-cut"), &runs, AT(34, END, "")},
    /* padding behind the indices that is not 0 */
    {ALSO("padding"), &runs, AT(35, 1, "01")},
    /* padding before the residuals that is not 0 */
    {ALSO("padding"), &relative, AT(9, 1, "01")},
    /* residuals that are missing */
    {RULE("residuals-cut"), &bitmap, AT(16, END, "")},
    /* residuals that are cut */
    {ALSO("residuals-cut"), &bitmap, AT(40, END, "")},
    /* a byte behind the residuals */
    {RULE("residuals-behind"), &bitmap, AT(END, 0, "00")},
    /* no extras */
    {RULE("extras"), &limited, AT(8, 1, "00")},
    /* unknown extras */
    {ALSO("extras"), &limited, AT(8, 1, "13")},
    /* extras that are missing */
    {RULE("extras-cut"), &limited, AT(8, END, "")},
    /* a limit that is no number */
    {RULE("limit"), &limited, AT(9, 4, "0000C07F")},
    /* a limit that is infinite */
    {ALSO("limit"), &limited, AT(13, 4, "0000807F")},
    /* a limit that is subnormal */
    {ALSO("limit"), &limited, AT(9, 4, "01000000")},
    /* a limit of -0 */
    {ALSO("limit"), &limited, AT(9, 4, "00000080")},
    /* limits in the wrong order */
    {RULE("limits"), &limited, AT(9, 4, "00000040")},
    /* a limit that is cut */
    {RULE("limit-cut"), &limited, AT(12, END, "")},
    /* an upper limit that is missing */
    {ALSO("limit-cut"), &limited, AT(13, END, "")},
    /* no folds */
    {RULE("folds-none"), &folded, AT(9, 2, "0000")},
    /* a fold of a kind that does not exist */
    {RULE("fold"), &folded, AT(9, 2, "0050")},
    /* a fold of an axis of extent 2 */
    {RULE("fold-extent"), &folded, AT(9, 2, "0001")},
    /* a fold of an axis that is not there */
    {ALSO("fold-extent"), &folded, AT(9, 2, "0100")},
    /* folds of values that are predicted themselves */
    {RULE("fold-interpolate"), &folded, AT(1, 2, "6408")},
    /* folds that are cut */
    {RULE("folds-cut"), &folded, AT(10, END, "")},
    /* an unknown way of coding residuals */
    {RULE("residuals"), &bitmap, AT(16, 1, "05")},
};

/* What is just inside a limit that a row above exceeds. */
static const struct forgery accepted[] = {
    {"the coarsest grid", &bitmap, AT(3, 2, "6700")},
    {"the finest grid", &bitmap, AT(3, 2, "83FF")},
    {"the coarsest grid of doubles", &doubles, AT(3, 2, "CB03")},
    {"the finest grid of doubles", &doubles, AT(3, 2, "03FC")},
    {"the largest shift", &relative, AT(3, 2, "1E00")},
    {"a fold of kind 2", &folded, AT(9, 2, "0020")},
    {"a fold of kind 3", &folded, AT(9, 2, "0030")},
    {"a fold of kind 4", &folded, AT(9, 2, "0040")},
    {"limits that are equal", &limited, AT(9, 4, "0000803F")},
    {"limits of the largest numbers", &limited, AT(9, 8, "FFFF7FFFFFFF7F7F")},
    {"a dictionary of 16 words", &runs, AT(9, 25, "100000" RUNS WORDS_8 WORDS_8)},
};

const struct forgeries forgeries_lattice = FORGERIES(refused, accepted);
