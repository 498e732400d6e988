/* SPDX-License-Identifier: BSD-3-Clause
 * lattice.h: what the parts of lattice tell each other: shapes, choices, maps. */
#ifndef H5TWIN_LATTICE_H
#define H5TWIN_LATTICE_H

#include "../isa.h"
#include "h5twin.h"

#include "lattice_core.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

struct h5twin_job;

/* Bits of byte 1 of a payload; section 1 of FORMAT.md. */
#define LATTICE_VERBATIM        0u
#define LATTICE_CONSTANT        1u
#define LATTICE_CODED           2u
#define LATTICE_COMPANION       3u
#define LATTICE_EXTENDED        4u /* coded, with extras */
#define LATTICE_EXTRA_LOWER     1u
#define LATTICE_EXTRA_UPPER     2u
#define LATTICE_EXTRA_FOLDS     4u
#define LATTICE_FLAG_WIDE       1u
#define LATTICE_FLAG_RELATIVE   2u
#define LATTICE_PREDICTOR_SHIFT 2u
#define LATTICE_FLAG_CUBIC      16u
#define LATTICE_FLAG_SPECIALS   32u
#define LATTICE_AXES_SHIFT      6u

enum lattice_effort { LATTICE_FAST = 0, LATTICE_BALANCED = 1, LATTICE_MAX = 2 };

/* Whether values lie on lattices that do not depend on the others in the chunk. */
enum lattice_stable {
    LATTICE_STABLE_NO = 0,
    LATTICE_STABLE_YES = 1,
    LATTICE_STABLE_AUTO = 2 /* but for range-relative bounds, which depend on them anyway */
};

/* An array of 1 to 4 axes, which are the last of four; axis 3 varies fastest. */
struct lattice_shape {
    unsigned axes;
    size_t extent[LATTICE_AXES];
    size_t stride[LATTICE_AXES];
    size_t count;
};

struct lattice_choice {
    unsigned predictor; /* enum lattice_predictor */
    unsigned arg;       /* orders, two bits an axis; or a mask of active axes */
    bool cubic;
};

/* Axes of which the second half is predicted by the first, mirrored: what each is, or 0. */
#define LATTICE_FOLD_KINDS 4u /* 1 + offset of the mirror + 2 if it is negative */

struct lattice_folds {
    unsigned kind[LATTICE_AXES];
};

/* Words of missing data that users declare: the first and the last one of `skip`. */
#define LATTICE_FILLS 2u

/* How values become integers. */
struct lattice_map {
    unsigned word_size; /* bytes, 4 or 8 */
    bool wide;          /* integers of 64 bits */
    bool relative;
    bool lenient;     /* a relative bound met by words that only the margins made special */
    int grid;         /* exponent k; the shift of a relative bound */
    uint32_t width;   /* of a bin, odd */
    double room;      /* bound * 2^-k: what width 1 must look at */
    double most;      /* absolute: values beyond so many 2^k are special; at most C */
    uint64_t skip[4]; /* words that are special whatever they mean; a NaN's if there is none */
    /* Whose values are special as well: lattice_is_left_out(). */
    int64_t least;                  /* integers below this magnitude */
    int64_t avoided[LATTICE_FILLS]; /* those that decode to this one, which is a fill's; 0: none */
    /* Limits of what is decoded, FORMAT.md section 3: [0] the lower one, [1] the upper one. */
    bool has_limit[2];
    double limit[2]; /* values of the element type */
    /* Encoders: lattice_set_limits(). */
    bool is_limited;
    bool is_special[2];       /* values that are the limit */
    int64_t limit_integer[2]; /* their integer: a multiple of the width */
    int64_t closed[2];        /* integers up to, and from, here are special */
};

/* What the user asks for. */
struct lattice_settings {
    enum h5twin_mode mode;
    double bound;
    unsigned word_size;
    enum lattice_effort effort;
    enum lattice_stable stable;
    bool has_fill, has_second_fill;
    uint64_t fill, second_fill; /* words of values that are no numbers */
    bool zeros_are_padding;     /* +0 may be no value: it is exact, and counts for no range */
    bool has_limit[2];          /* of decoded values: a lower one, an upper one */
    double limit[2];            /* values of the element type, 0 or normal */
    unsigned threads;
};

/* Whether decoded values have limits. */
H5TWIN_HD bool
lattice_is_limited(const struct lattice_settings *settings)
{
    return settings->has_limit[0] || settings->has_limit[1];
}

/* Whether what a value decodes to must not depend on those around it. */
H5TWIN_HD bool
lattice_is_stable(const struct lattice_settings *settings)
{
    return settings->stable == LATTICE_STABLE_YES ||
           (settings->stable == LATTICE_STABLE_AUTO && settings->mode != H5TWIN_NOA);
}

/* Whether only predictors are used whose values lie on one lattice: what decoded to a limit has to
 * be found again. */
H5TWIN_HD bool
lattice_uses_bins(const struct lattice_settings *settings)
{
    return lattice_is_stable(settings) || lattice_is_limited(settings);
}

/* Whether a GPU's encoder leaves all that is lossy to the CPU: also limits where data that were
 * decoded before are looked for. */
H5TWIN_HD bool
lattice_is_left(const struct lattice_settings *settings)
{
    const bool is_fixed = settings->mode != H5TWIN_NOA && lattice_is_stable(settings);
    return settings->effort == LATTICE_MAX || (lattice_is_limited(settings) && !is_fixed);
}

/* ---- lattice.c ---- */

void h5twin_lattice_settings(struct lattice_settings *settings, const struct h5twin_job *job);

/* ---- lattice_shape.c ---- */

/* Drops extents of 1 and folds the slowest ones until four are left. An array of unknown shape
 * (rank 0) is one row. */
void h5twin_lattice_shape(struct lattice_shape *shape, const uint64_t *dims, unsigned rank,
                          size_t count);

/* Strides and count from extents. */
void h5twin_lattice_shape_finish(struct lattice_shape *shape);

/* Extents of the sample of at most `budget` values, and where sample `number` (0..7) begins. */
void h5twin_lattice_crop(struct lattice_shape *crop, const struct lattice_shape *shape,
                         size_t budget);
void h5twin_lattice_crop_start(size_t start[LATTICE_AXES], const struct lattice_shape *shape,
                               const struct lattice_shape *crop, unsigned number);

/* Lay all samples of this shape side by side, twice (lattice_loops.h); items of `size` bytes, 1, 4
 * or 8. */
void h5twin_lattice_lay_samples(void *dst, const void *items, size_t size,
                                const struct lattice_shape *shape,
                                const struct lattice_shape *crop);

/* How often interpolation over these axes halves its step: 0..LATTICE_MOST_LEVELS. */
unsigned h5twin_lattice_level_number(const struct lattice_shape *shape, unsigned mask);

/* Integers of all levels of interpolation over these axes, with the array itself. */
size_t h5twin_lattice_level_count(const struct lattice_shape *shape, unsigned mask);

/* ---- lattice_search.c ---- */

/* 16 sets of first differences, 4 second ones, 15 sets of axes linear and cubic */
#define LATTICE_MOST_CANDIDATES (16u + 4u + 2u * 15u)

/* Every predictor that a search tries, in order; returns their number. */
unsigned h5twin_lattice_candidates(struct lattice_choice list[LATTICE_MOST_CANDIDATES],
                                   const struct lattice_shape *shape, bool stable);

/* ---- lattice_header.c ---- */

/* The fields between byte 0 and the specials. */
struct lattice_header {
    struct lattice_map map;
    struct lattice_choice choice;
    struct lattice_shape shape;
    bool has_specials;
    struct lattice_folds folds;
};

/* At most this many bytes. */
#define LATTICE_MOST_HEADER (7u + 3u * 5u + 1u + 2u + 2u * 8u)

size_t h5twin_lattice_header_write(uint8_t *dst, const struct lattice_header *header);

/* count is that of the array; *used the bytes read. */
enum h5twin_status h5twin_lattice_header_read(struct lattice_header *header, unsigned word_size,
                                              size_t count, const uint8_t *src, size_t src_size,
                                              size_t *used);

size_t h5twin_lattice_varint_write(uint8_t *dst, uint32_t value);
enum h5twin_status h5twin_lattice_varint_read(uint32_t *value, const uint8_t *src, size_t src_size,
                                              size_t *at);

/* ---- lattice_describe.c ---- */

/* A line for people on a payload, like snprintf. */
size_t h5twin_lattice_describe(unsigned word_size, size_t count, const uint8_t *src,
                               size_t src_size, char *text, size_t capacity);

/* ---- lattice_encode.c, lattice_decode.c ---- */

/* dst has room for 1 + count words. */
enum h5twin_status h5twin_lattice_encode(const struct lattice_settings *settings, h5twin_isa isa,
                                         uint8_t *dst, const uint8_t *src,
                                         const struct lattice_shape *shape, size_t *dst_size);

/* Payloads of the forms constant and coded. */
enum h5twin_status h5twin_lattice_decode(h5twin_isa isa, unsigned threads, unsigned word_size,
                                         uint8_t *dst, size_t count, const uint8_t *src,
                                         size_t src_size);

#ifdef __cplusplus
}
#endif
#endif
