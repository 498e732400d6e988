/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_rows_avx512.h: rows of interpolation of narrow integers, sixteen points at a time;
 * included by lattice_rows_template.h, whose code_columns32 is what these must equal. Masks of
 * AVX-512 reach the ends of rows; with the steps and means of lattice_lanes.h instead of its
 * own, short rows decoded at 0.75 to 0.8 of the speed.
 *
 * At the ends of a row, where the weights along axis 3 change, neighbours that do not exist are
 * made up so that the usual weights give what the others would: one place of the parabola through
 * the three next ones where one is missing, the line where two are. Everything outside a row is
 * masked out. */

#include "lattice_steps_avx512.h"

#include <immintrin.h>

/* Weights along the axes before 3: all 8, 8; all -1, 9, 9, -1; or any, where axis 3 has the latter.
 */
enum { ROWS_LINEAR, ROWS_CUBIC, ROWS_MIXED };

/* Ways to code. The last two are for bounded integers (lattice_loops.h), where no clamp acts: in
 * steps of a width, and in steps of 1. */
enum { ROWS_ENCODE, ROWS_DECODE, ROWS_ENCODE_STEPS, ROWS_ENCODE_UNITS, ROWS_WAYS };

/* What rows have in common, and where one of them is. */
struct rows512 {
    int32_t *values;
    const int32_t *row_evens;
    uint32_t *codes;
    const int32_t *integers;
    const uint8_t *specials;
    size_t stride;
    size_t evens; /* even columns of a row */
    ptrdiff_t offset[3][4];
    int weights[3][4];
    __m512i cap, least;
    struct width512 width;
};

/* The first `count` of sixteen lanes. */
static inline __mmask16
lanes512(ptrdiff_t count)
{
    return count <= 0 ? 0 : count >= 16 ? 0xFFFF : (__mmask16)((1u << count) - 1);
}

/* Lane number `lane`, if there is one. */
static inline __mmask16
lane512(ptrdiff_t lane)
{
    return lane < 0 || lane > 15 ? 0 : (__mmask16)(1u << lane);
}

static inline __m512i
load512(const int32_t *at, __mmask16 lanes, bool whole)
{
    return whole ? _mm512_loadu_si512(at) : _mm512_maskz_loadu_epi32(lanes, at);
}

/* ---- prediction ---- */

/* Sums over axes: of the two next neighbours, and of the two beyond them; or of all, weighted. */
struct sums512 {
    __m512i near, far, weighted;
};

/* A third of numbers from -3 * 2^28 on, rounded down. */
static inline __m512i
third512(__m512i number)
{
    const __m512i inverse = _mm512_set1_epi32((int)0xAAAAAAABu);
    const __m512i positive = _mm512_add_epi32(number, _mm512_set1_epi32(805306368));
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(positive, inverse), 33);
    const __m512i odd =
        _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(positive, 32), inverse), 1);
    return _mm512_sub_epi32(_mm512_mask_mov_epi32(even, 0xAAAA, odd), _mm512_set1_epi32(268435456));
}

/* h5twin_lattice_mean32 */
H5TWIN_FORCE_INLINE __m512i
mean_of_sum512(__m512i sum, unsigned axes)
{
    sum = _mm512_add_epi32(sum, _mm512_set1_epi32((int)(8 * axes)));
    return axes == 3 ? third512(_mm512_srai_epi32(sum, 4))
                     : _mm512_srai_epi32(sum, axes == 1   ? 4
                                              : axes == 2 ? 5
                                                          : 6);
}

/* The mean of the axes, rounded down. */
H5TWIN_FORCE_INLINE __m512i
mean512(const struct sums512 *sums, unsigned axes, unsigned style)
{
    if (style == ROWS_LINEAR) { /* all of it divided by 8 */
        const __m512i sum = _mm512_add_epi32(sums->near, _mm512_set1_epi32((int)axes));
        return axes == 3 ? third512(_mm512_srai_epi32(sum, 1))
                         : _mm512_srai_epi32(sum, axes == 1   ? 1
                                                  : axes == 2 ? 2
                                                              : 3);
    }
    __m512i sum =
        _mm512_sub_epi32(_mm512_add_epi32(_mm512_slli_epi32(sums->near, 3), sums->near), sums->far);
    if (style == ROWS_MIXED) {
        sum = _mm512_add_epi32(sum, sums->weighted);
    }
    return mean_of_sum512(sum, axes);
}

/* Axes before 3. */
H5TWIN_FORCE_INLINE struct sums512
column_sums512(const struct rows512 *rows, size_t column, __mmask16 lanes, bool whole,
               unsigned axes, unsigned style)
{
    const __m512i zero = _mm512_setzero_si512();
    struct sums512 sums = {zero, zero, zero};
    H5TWIN_UNROLL
    for (unsigned axis = 0; axis < axes; axis++) {
        const ptrdiff_t *const offset = rows->offset[axis];
        const int32_t *const at = rows->values + column;
        const __m512i before = load512(at + offset[1], lanes, whole);
        const __m512i behind = load512(at + offset[2], lanes, whole);
        if (style == ROWS_LINEAR) {
            sums.near = _mm512_add_epi32(sums.near, _mm512_add_epi32(before, behind));
            continue;
        }
        const __m512i far_before = load512(at + offset[0], lanes, whole);
        const __m512i far_behind = load512(at + offset[3], lanes, whole);
        if (style == ROWS_CUBIC) {
            sums.near = _mm512_add_epi32(sums.near, _mm512_add_epi32(before, behind));
            sums.far = _mm512_add_epi32(sums.far, _mm512_add_epi32(far_before, far_behind));
            continue;
        }
        const __m512i tap[4] = {far_before, before, behind, far_behind};
        for (unsigned i = 0; i < 4; i++) {
            sums.weighted = _mm512_add_epi32(
                sums.weighted,
                _mm512_mullo_epi32(tap[i], _mm512_set1_epi32(rows->weights[axis][i])));
        }
    }
    return sums;
}

/* Axis 3 where all neighbours exist. */
H5TWIN_FORCE_INLINE void
add_row512(struct sums512 *sums, const int32_t *evens, unsigned style)
{
    const __m512i before = _mm512_loadu_si512(evens), behind = _mm512_loadu_si512(evens + 1);
    sums->near = _mm512_add_epi32(sums->near, _mm512_add_epi32(before, behind));
    if (style != ROWS_LINEAR) {
        sums->far = _mm512_add_epi32(sums->far, _mm512_add_epi32(_mm512_loadu_si512(evens - 1),
                                                                 _mm512_loadu_si512(evens + 2)));
    }
}

/* a + 3 (b - c) */
static inline __m512i
parabola512(__m512i a, __m512i b, __m512i c)
{
    const __m512i step = _mm512_sub_epi32(b, c);
    return _mm512_add_epi32(_mm512_add_epi32(a, step), _mm512_slli_epi32(step, 1));
}

/* Axis 3 near the ends; left: there are columns from this one to the last even one. */
H5TWIN_FORCE_INLINE void
add_row_end512(struct sums512 *sums, const int32_t *evens, size_t column, ptrdiff_t left,
               __mmask16 lanes, unsigned style)
{
    const __mmask16 first = column == 0 ? 1 : 0;
    const __mmask16 last = lane512(left - 1), one_sided = lane512(left);
    __m512i far_before =
        _mm512_maskz_loadu_epi32((__mmask16)(lanes & ~first), evens + (ptrdiff_t)column - 1);
    __m512i before = _mm512_maskz_loadu_epi32(lanes, evens + column);
    __m512i behind =
        _mm512_maskz_loadu_epi32((__mmask16)(lanes & lanes512(left)), evens + column + 1);
    __m512i far_behind =
        _mm512_maskz_loadu_epi32((__mmask16)(lanes & lanes512(left - 1)), evens + column + 2);
    const __m512i made_before = parabola512(far_behind, before, behind);
    const __m512i made_behind = parabola512(far_before, behind, before);
    far_before = _mm512_mask_mov_epi32(far_before, (__mmask16)(first & ~last), made_before);
    far_behind = _mm512_mask_mov_epi32(far_behind, (__mmask16)(last & ~first), made_behind);
    far_before = _mm512_mask_mov_epi32(far_before, (__mmask16)(first & (last | one_sided)), before);
    far_behind = _mm512_mask_mov_epi32(far_behind, (__mmask16)(first & last), behind);
    if (one_sided != 0) {
        const __m512i step = _mm512_sub_epi32(before, far_before);
        behind = _mm512_mask_add_epi32(behind, one_sided, before, step);
        far_behind = _mm512_mask_add_epi32(far_behind, one_sided, behind, step);
    }
    sums->near = _mm512_add_epi32(sums->near, _mm512_add_epi32(before, behind));
    if (style != ROWS_LINEAR) {
        sums->far = _mm512_add_epi32(sums->far, _mm512_add_epi32(far_before, far_behind));
    }
}

static inline __m512i
clamp512(const struct rows512 *rows, __m512i value)
{
    return _mm512_max_epi32(_mm512_min_epi32(value, rows->cap), rows->least);
}

/* Not clamped. */
H5TWIN_FORCE_INLINE __m512i
guess512(const struct rows512 *rows, size_t column, __mmask16 lanes, bool whole, unsigned axes,
         bool odd3, unsigned style)
{
    struct sums512 sums = column_sums512(rows, column, lanes, whole, axes, style);
    if (!odd3) {
        return mean512(&sums, axes, style);
    }
    struct sums512 all = sums;
    if (whole) {
        add_row512(&all, rows->row_evens + column, style);
        return mean512(&all, axes + 1, style);
    }
    const ptrdiff_t left = (ptrdiff_t)rows->evens - 1 - (ptrdiff_t)column;
    add_row_end512(&all, rows->row_evens, column, left, lanes, style);
    __m512i mean = mean512(&all, axes + 1, style);
    if (axes > 0) { /* where the row has one neighbour only, the other axes know better */
        mean = _mm512_mask_mov_epi32(mean, lane512(left), mean512(&sums, axes, style));
    }
    return mean;
}

/* ---- both directions ---- */

static inline void
store512(void *at, __mmask16 lanes, bool whole, __m512i items)
{
    if (whole) {
        _mm512_storeu_si512(at, items);
    } else {
        _mm512_mask_storeu_epi32(at, lanes, items);
    }
}

H5TWIN_FORCE_INLINE void
decode512(const struct rows512 *rows, size_t column, __m512i guess, __mmask16 lanes, bool whole)
{
    const __m512i code = load512((const int32_t *)rows->codes + column, lanes, whole);
    const __m512i sign =
        _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_and_si512(code, _mm512_set1_epi32(1)));
    const __m512i steps = _mm512_xor_si512(_mm512_srli_epi32(code, 1), sign);
    const __m512i value =
        _mm512_add_epi32(clamp512(rows, guess), _mm512_mullo_epi32(steps, rows->width.width));
    store512(rows->values + column, lanes, whole, clamp512(rows, value));
}

/* Every stride-th one of `count` integers. */
static inline __m512i
integers512(const int32_t *at, size_t stride, __mmask16 lanes, unsigned count)
{
    if (stride == 1) {
        return _mm512_maskz_loadu_epi32(lanes, at);
    }
    const __m512i places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    if (stride == 2) {
        const ptrdiff_t all = 2 * (ptrdiff_t)count - 1;
        return _mm512_permutex2var_epi32(_mm512_maskz_loadu_epi32(lanes512(all), at),
                                         _mm512_slli_epi32(places, 1),
                                         _mm512_maskz_loadu_epi32(lanes512(all - 16), at + 16));
    }
    if (stride == 4) { /* a gather takes longer than all of it */
        const ptrdiff_t all = 4 * (ptrdiff_t)count - 3;
        const __m512i fourth = _mm512_slli_epi32(places, 2);
        const __m512i low =
            _mm512_permutex2var_epi32(_mm512_maskz_loadu_epi32(lanes512(all), at), fourth,
                                      _mm512_maskz_loadu_epi32(lanes512(all - 16), at + 16));
        const __m512i high =
            _mm512_permutex2var_epi32(_mm512_maskz_loadu_epi32(lanes512(all - 32), at + 32), fourth,
                                      _mm512_maskz_loadu_epi32(lanes512(all - 48), at + 48));
        return _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
    }
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes,
                                       _mm512_mullo_epi32(places, _mm512_set1_epi32((int)stride)),
                                       at, 4);
}

/* The same of sixteen: nothing behind the last one is read. */
static inline __m512i
whole_integers512(const int32_t *at, size_t stride)
{
    const __m512i places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    if (stride == 1) {
        return _mm512_loadu_si512(at);
    }
    if (stride == 2) {
        const __m512i pairs = _mm512_slli_epi32(places, 1);
        return _mm512_permutex2var_epi32(
            _mm512_loadu_si512(at),
            _mm512_mask_add_epi32(pairs, 0xFF00, pairs, _mm512_set1_epi32(1)),
            _mm512_loadu_si512(at + 15));
    }
    return integers512(at, stride, 0xFFFF, 16);
}

/* Which of them are special. */
static inline __mmask16
specials512(const uint8_t *at, size_t stride, __mmask16 lanes, unsigned count)
{
    const unsigned left = (unsigned)(stride * (count - 1)) + 1; /* bytes */
    if (stride == 1) {
        return _mm_mask_test_epi8_mask(lanes, _mm_maskz_loadu_epi8(lanes, at), _mm_set1_epi8(-1));
    }
    if (stride > 4) {
        unsigned found = 0;
        for (unsigned i = 0; i < count; i++) {
            found |= (unsigned)(at[stride * i] != 0) << i;
        }
        return (__mmask16)found;
    }
    const __m512i bytes = _mm512_maskz_loadu_epi8(_bzhi_u64(~UINT64_C(0), left), at);
    const uint64_t found = _mm512_test_epi8_mask(bytes, bytes);
    return (__mmask16)_pext_u64(found, stride == 2 ? UINT64_C(0x5555555555555555)
                                                   : UINT64_C(0x1111111111111111));
}

H5TWIN_FORCE_INLINE void
encode_bounded512(const struct rows512 *rows, size_t column, __m512i guess, __mmask16 lanes,
                  bool whole, unsigned count, unsigned way)
{
    const size_t stride = rows->stride;
    const int32_t *const at = rows->integers + column * stride;
    const __m512i integer =
        whole ? whole_integers512(at, stride) : integers512(at, stride, lanes, count);
    const __m512i difference = _mm512_sub_epi32(integer, guess);
    __m512i steps = difference, value = integer;
    if (way == ROWS_ENCODE_STEPS) {
        steps = steps512(&rows->width, difference);
        value = _mm512_add_epi32(guess, _mm512_mullo_epi32(steps, rows->width.width));
    }
    store512(rows->codes + column, lanes, whole, zigzag512(steps));
    store512(rows->values + column, lanes, whole, value);
}

H5TWIN_FORCE_INLINE void
encode512(const struct rows512 *rows, size_t column, __m512i guess, __mmask16 lanes, unsigned count)
{
    const size_t stride = rows->stride;
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i integer = integers512(rows->integers + column * stride, stride, lanes, count);
    guess = clamp512(rows, guess);
    __m512i steps = steps512(&rows->width, _mm512_sub_epi32(integer, guess));
    __m512i value = _mm512_add_epi32(guess, _mm512_mullo_epi32(steps, rows->width.width));
    const __mmask16 ends = _mm512_cmpeq_epi32_mask(_mm512_abs_epi32(integer), rows->cap);
    if (ends != 0) { /* the last integers of all are met by the clamp, from one step further */
        const __mmask16 more =
            _mm512_cmpeq_epi32_mask(integer, rows->cap) & _mm512_cmplt_epi32_mask(value, rows->cap);
        const __mmask16 less = _mm512_cmpeq_epi32_mask(integer, rows->least) &
                               _mm512_cmpgt_epi32_mask(value, rows->least);
        steps = _mm512_mask_add_epi32(steps, more, steps, one);
        steps = _mm512_mask_sub_epi32(steps, less, steps, one);
        value = _mm512_add_epi32(guess, _mm512_mullo_epi32(steps, rows->width.width));
    }
    if (rows->specials != NULL) {
        const __mmask16 special =
            specials512(rows->specials + column * stride, stride, lanes, count);
        steps = _mm512_mask_mov_epi32(steps, special, _mm512_setzero_si512());
        value = _mm512_mask_mov_epi32(value, special, guess);
    }
    _mm512_mask_storeu_epi32(rows->codes + column, lanes, zigzag512(steps));
    _mm512_mask_storeu_epi32(rows->values + column, lanes, clamp512(rows, value));
}

/* Sixteen points or fewer; whole: sixteen that have all neighbours along the row. */
H5TWIN_FORCE_INLINE void
code_points512(const struct rows512 *rows, size_t column, unsigned count, bool whole, unsigned axes,
               bool odd3, unsigned style, unsigned way)
{
    const __mmask16 lanes = lanes512((ptrdiff_t)count);
    const __m512i guess = guess512(rows, column, lanes, whole, axes, odd3, style);
    if (way == ROWS_DECODE) {
        decode512(rows, column, guess, lanes, whole);
    } else if (way == ROWS_ENCODE) {
        encode512(rows, column, guess, lanes, count);
    } else {
        encode_bounded512(rows, column, guess, lanes, whole, count, way);
    }
}

H5TWIN_FORCE_INLINE void
code_row512(const struct rows512 *rows, size_t begin, size_t end, unsigned axes, bool odd3,
            unsigned style, unsigned way)
{
    for (size_t column = begin; column < end; column += 16) {
        const unsigned count = end - column < 16 ? (unsigned)(end - column) : 16;
        if (count == 16 && (!odd3 || (column > 0 && column + 18 <= rows->evens))) {
            code_points512(rows, column, 16, true, axes, odd3, style, way);
        } else {
            code_points512(rows, column, count, false, axes, odd3, style, way);
        }
    }
}

/* Of this many axes before 3. The copy of what rows have in common stays in registers, or is known
 * not to change. */
H5TWIN_FORCE_INLINE void
code_case512(const struct pass32 *pass, const struct row32 *row, size_t begin, size_t end,
             unsigned axes, bool odd3, unsigned style, unsigned way)
{
    const struct lattice_array *const array = pass->array;
    struct rows512 rows = {
        .values = row->values,
        .row_evens = row->evens,
        .codes = row->codes,
        .stride = row->stride,
        .evens = (pass->level->extent[3] + 1) / 2,
        .cap = _mm512_set1_epi32(pass->cap),
        .least = _mm512_set1_epi32(-pass->cap),
        .width = make_width512(pass->width, pass->divisor),
    };
    H5TWIN_UNROLL
    for (unsigned axis = 0; axis < axes; axis++) {
        H5TWIN_UNROLL
        for (unsigned i = 0; i < 4; i++) {
            rows.offset[axis][i] = row->both[axis].offset[i];
            rows.weights[axis][i] = row->both[axis].weights[i];
        }
    }
    if (way != ROWS_DECODE) {
        rows.integers = (const int32_t *)array->integers + row->origin;
        rows.specials = array->specials == NULL ? NULL : array->specials + row->origin;
    }
    const size_t length = pass->length, value_step = row->value_step;
    const size_t origin_step = row->origin_step;
    for (size_t left = row->count; left > 0; left--) {
        code_row512(&rows, begin, end, axes, odd3, style, way);
        rows.values += value_step;
        rows.row_evens += value_step;
        rows.codes += length;
        if (way != ROWS_DECODE) {
            rows.integers += origin_step;
            rows.specials = rows.specials == NULL ? NULL : rows.specials + origin_step;
        }
    }
}

/* ---- a function for each case ---- */

static unsigned
way512(const struct pass32 *pass)
{
    if (pass->decoding) {
        return ROWS_DECODE;
    }
    return !pass->array->is_bounded ? ROWS_ENCODE
           : pass->width == 1       ? ROWS_ENCODE_UNITS
                                    : ROWS_ENCODE_STEPS;
}

typedef void rows512_function(const struct pass32 *pass, const struct row32 *row, size_t begin,
                              size_t end);

#define ROWS512(axes, odd3, style, way)                                                            \
    static void rows512_##axes##_##odd3##_##style##_##way(                                         \
        const struct pass32 *pass, const struct row32 *row, size_t begin, size_t end)              \
    {                                                                                              \
        code_case512(pass, row, begin, end, axes, odd3, style, way);                               \
    }
/* Few rows have mixed weights: one function for all ways. */
#define ROWS512_MIXED(axes, odd3)                                                                  \
    static void rows512_##axes##_##odd3##_mixed(const struct pass32 *pass,                         \
                                                const struct row32 *row, size_t begin, size_t end) \
    {                                                                                              \
        code_case512(pass, row, begin, end, axes, odd3, ROWS_MIXED, way512(pass));                 \
    }
#define ROWS512_EACH_WAY(axes, odd3, style)                                                        \
    ROWS512(axes, odd3, style, 0)                                                                  \
    ROWS512(axes, odd3, style, 1) ROWS512(axes, odd3, style, 2) ROWS512(axes, odd3, style, 3)
#define ROWS512_STYLES(axes, odd3)                                                                 \
    ROWS512_EACH_WAY(axes, odd3, 0)                                                                \
    ROWS512_EACH_WAY(axes, odd3, 1) ROWS512_MIXED(axes, odd3)
ROWS512_STYLES(1, 0)
ROWS512_STYLES(2, 0)
ROWS512_STYLES(3, 0)
ROWS512_EACH_WAY(0, 1, 0)
ROWS512_EACH_WAY(0, 1, 1)
ROWS512_STYLES(1, 1)
ROWS512_STYLES(2, 1)
ROWS512_STYLES(3, 1)

#define ROW512_NAMES(axes, odd3, style)                                                            \
    {                                                                                              \
        rows512_##axes##_##odd3##_##style##_0, rows512_##axes##_##odd3##_##style##_1,              \
            rows512_##axes##_##odd3##_##style##_2, rows512_##axes##_##odd3##_##style##_3           \
    }
#define ROW512_MIXED(axes, odd3)                                                                   \
    {                                                                                              \
        rows512_##axes##_##odd3##_mixed, rows512_##axes##_##odd3##_mixed,                          \
            rows512_##axes##_##odd3##_mixed, rows512_##axes##_##odd3##_mixed                       \
    }
#define ROW512_STYLES(axes, odd3)                                                                  \
    {                                                                                              \
        ROW512_NAMES(axes, odd3, 0), ROW512_NAMES(axes, odd3, 1), ROW512_MIXED(axes, odd3)         \
    }

/* By axes before 3, axis 3, style and way. */
static rows512_function *const rows512_functions[4][2][3][ROWS_WAYS] = {
    {{{NULL}}, {ROW512_NAMES(0, 1, 0), ROW512_NAMES(0, 1, 1), ROW512_NAMES(0, 1, 1)}},
    {ROW512_STYLES(1, 0), ROW512_STYLES(1, 1)},
    {ROW512_STYLES(2, 0), ROW512_STYLES(2, 1)},
    {ROW512_STYLES(3, 0), ROW512_STYLES(3, 1)},
};

static unsigned
style512(const struct pass32 *pass, const struct row32 *row)
{
    if (!pass->array->choice.cubic) {
        return ROWS_LINEAR;
    }
    unsigned style = ROWS_CUBIC;
    for (unsigned axis = 0; axis < row->both_count; axis++) {
        const int *const weights = row->both[axis].weights;
        style = weights[0] == -1 && weights[1] == 9 ? style : ROWS_MIXED;
    }
    return style;
}

/* Codes columns begin..end of rows, or those before the one that it returns. */
static size_t
code_rows512(const struct pass32 *pass, const struct row32 *row, size_t begin, size_t end)
{
    const bool odd3 = (pass->odd >> 3 & 1u) != 0;
    const size_t extent = pass->level->extent[3];
    if (row->both_count == 0) {
        if (!odd3) { /* one-sided altogether */
            return begin;
        }
        if (row->one_count > 0 && extent % 2 == 0 && end == pass->length) {
            end--; /* and so is the last column */
        }
    }
    if (begin >= end) {
        return begin;
    }
    rows512_functions[row->both_count][odd3][style512(pass, row)][way512(pass)](pass, row, begin,
                                                                                end);
    return end;
}
