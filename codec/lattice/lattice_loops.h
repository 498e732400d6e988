/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_loops.h: the loops of lattice over all values, one table for each width of integers.
 *
 * "Integers" below are int32_t in the narrow table and int64_t in the wide one; codes are zigzagged
 * residuals, uint32_t and uint64_t, in the order of the stream. */
#ifndef H5TWIN_LATTICE_LOOPS_H
#define H5TWIN_LATTICE_LOOPS_H

#include "lattice.h"
#include "lattice_cost_core.h"
#include "lattice_screen_core.h"

/* Integers up to this magnitude, none of them special, are *bounded*: predictions of them, and what
 * steps from there reach, stay inside -C..C by themselves. The widest weights, 24 and -8, double a
 * value, which lies at most half a width from its integer. */
#define LATTICE_BOUNDED32 (INT32_C(1) << 22)

/* An array at work under one predictor. */
struct lattice_array {
    const struct lattice_shape *shape;
    struct lattice_choice choice;
    uint32_t width;
    const void *integers;    /* encode: in C order */
    const uint8_t *specials; /* encode: 1 for each special; NULL if there is none */
    bool is_binned;          /* encode: the integers are bins; not with LATTICE_INTERPOLATE */
    bool is_bounded;         /* encode, narrow: all integers are bounded */
    void *codes;
    void *levels; /* interpolation: room for level_count() integers; the array's come first.
                   * Encoding with LATTICE_LORENZO: for as many as there are values, or, without
                   * differences along axes 0..2, none */
    unsigned threads;
};

/* Samples of an array, all of one shape, side by side: point p of sample c is item
 * LATTICE_LANES * p + c, and once more LATTICE_SAMPLES further on. */
#define LATTICE_LANES (2 * LATTICE_SAMPLES)

struct lattice_samples {
    const struct lattice_shape *shape;
    uint32_t width;
    enum lattice_effort effort;
    const void *integers;
    const void *bins;        /* their bins */
    const uint8_t *specials; /* as in lattice_array */
    void *room;              /* of LATTICE_SAMPLE_ROOM integers for each of their items */
};
#define LATTICE_SAMPLE_ROOM 2u

/* Smallest and largest finite value, as magnitude words with the value's sign: they order like
 * numbers. Subnormals count as 0. low > high if there is none. */
struct lattice_extremes {
    int64_t low, high;
    bool has_subnormals;
};

/* A short array whose interpolations are compared without coding it; of bins only, integers are
 * bins, too, and the width is 1. */
struct lattice_screen {
    const struct lattice_shape *shape;
    uint32_t width;
    const void *integers, *bins;
    const uint8_t *specials; /* as in lattice_array */
    void *room;              /* of LATTICE_SCREEN_ROOM integers for each value */
};
#define LATTICE_SCREEN_ROOM 3u

struct lattice_loops {
    unsigned integer_size; /* bytes */

    /* Integers of values, 0 for specials, which get a 1 in `specials`, the others a 0. Returns the
     * number of specials, of fewer than 2^32 words. Leaves nothing out (lattice_is_left_out). */
    size_t (*quantize)(const struct lattice_map *map, void *integers, uint8_t *specials,
                       const uint8_t *words, size_t count);

    /* Specials take the integer of the last one before them that is none; 0 if there is none. */
    void (*fill)(void *integers, const uint8_t *specials, size_t count);

    /* Codes from integers; interpolation leaves what a decoder will see in `levels`. */
    void (*encode)(const struct lattice_array *array);

    /* The way back: to `levels` by interpolation, else in place of the codes. */
    void (*decode)(const struct lattice_array *array);

    /* Folds, FORMAT.md section 5. Bins that decode left of the core, an array of its own, to their
     * places among all bins of the shape. */
    void (*spread)(const struct lattice_array *core, const struct lattice_shape *shape, void *bins);

    /* All other bins, from those of the core and the codes behind the core's. */
    void (*unfold)(const struct lattice_shape *shape, const struct lattice_folds *folds,
                   uint32_t width, void *bins, void *codes);

    /* The way back: these codes, from integers; specials (or NULL) take what they mirror. */
    void (*fold)(const struct lattice_shape *shape, const struct lattice_folds *folds,
                 uint32_t width, void *bins, const void *integers, const uint8_t *specials,
                 void *codes);

    /* Words begin..end of what decode (or encode, by interpolation) left. */
    void (*restore)(const struct lattice_array *array, const struct lattice_map *map,
                    uint8_t *words, size_t begin, size_t end);

    /* What the codes will cost when they are coded; section "search" of lattice_search.c. */
    uint64_t (*cost)(const void *codes, size_t count, enum lattice_effort effort);

    /* Bins of so many integers, which may take their place. */
    void (*bins)(void *bins, const void *integers, size_t count, uint32_t width);

    /* The sum over samples of what their codes will cost. Interpolation (or that of bins) along
     * active axes: linear, then cubic. */
    uint64_t (*cost_lorenzo)(const struct lattice_samples *samples, unsigned orders);
    void (*cost_levels)(const struct lattice_samples *samples, unsigned predictor, unsigned active,
                        uint64_t cost[2]);

    /* What interpolations would cost, about: by sets of active axes; linear, cubic. */
    void (*screen)(const struct lattice_screen *screen, uint64_t cost[LATTICE_SETS][2]);

    /* Whether the predictor reproduces integers that lie on its lattice already, with an odd width
     * of at least `least`, or with `width` itself if that is not 0. levels: as many integers as
     * values. On success *width is the width, or 0 if any is good. */
    bool (*reproduces)(const struct lattice_array *array, uint32_t least, uint32_t *width);

    /* Surveys of words, of 4 bytes in the narrow table and of 8 in the wide one. A magnitude is a
     * word without its sign; words that equal one of skip count for nothing. */

    /* The largest magnitude that is at most `most`; 0 if there is none. */
    uint64_t (*largest)(const uint8_t *words, size_t count, uint64_t most, const uint64_t skip[4]);

    /* Words with above < magnitude < below. */
    size_t (*count_between)(const uint8_t *words, size_t count, uint64_t above, uint64_t below,
                            const uint64_t skip[4]);
    size_t (*count_word)(const uint8_t *words, size_t count, uint64_t wanted);
    struct lattice_extremes (*extremes)(const uint8_t *words, size_t count, const uint64_t skip[4]);
};

/* What decode and restore need to know of the order in `levels`: the even columns of a row stand
 * before the odd ones. */
bool h5twin_lattice_is_split(const struct lattice_shape *shape,
                             const struct lattice_choice *choice);

struct h5twin_lattice_kernels {
    const struct lattice_loops *narrow, *wide;

    /* Words begin..end, within the map's limits. */
    void (*limit)(const struct lattice_map *map, uint8_t *words, size_t begin, size_t end);
};

H5TWIN_DECLARE_VARIANTS(h5twin_lattice_kernels);

const struct h5twin_lattice_kernels *h5twin_lattice_kernels_for(h5twin_isa isa);

#endif
