/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_streams_avx512_template.h: the kernels of cascade_streams_template.h for one width of
 * lanes, with AVX-512. */

#define NAME(name) CASCADE_LANE_NAME(name)
#if CASCADE_WIDE
#    define V(name)      CASCADE_VECTOR_64(name)
#    define VMASK(name)  CASCADE_MASK_64(name)
#    define SET(lane)    _mm512_set1_epi64((long long)(lane))
#    define SCAN         h5twin_scan64_avx512
#    define VECTOR_MASK  __mmask8
#    define SIGNS        _mm512_movepi64_mask
#    define READ_FIELDS  h5twin_bit_fields64_avx512
#    define TRANSPOSE    cascade_transpose64
#    define GATHER       _mm512_mask_i64gather_epi64
#    define IS_NOT_BELOW _mm512_mask_cmpge_epu64_mask
#else
#    define V(name)      CASCADE_VECTOR_32(name)
#    define VMASK(name)  CASCADE_MASK_32(name)
#    define SET(lane)    _mm512_set1_epi32((int)(lane))
#    define SCAN         h5twin_scan32_avx512
#    define VECTOR_MASK  __mmask16
#    define SIGNS        _mm512_movepi32_mask
#    define READ_FIELDS  h5twin_bit_fields32_avx512
#    define TRANSPOSE    cascade_transpose32
#    define GATHER       _mm512_mask_i32gather_epi32
#    define IS_NOT_BELOW _mm512_mask_cmpge_epu32_mask
#endif
#define LANES        (512u / CASCADE_LANE_BITS)
#define LANE_BYTES   (CASCADE_LANE_BITS / 8)
#define FIRST(count) ((VECTOR_MASK)cascade_first_lanes(count, LANES))
#define FROM(first)  ((VECTOR_MASK)(~0u << (first))) /* below 32 */
#define ZERO         _mm512_setzero_si512()

/* Load or store up to `count` lanes; whole vectors without masks, which are slow on Zen 4. */
static inline __m512i
NAME(load_lanes)(const void *lanes, size_t count)
{
    return count >= LANES ? _mm512_loadu_si512(lanes) : V(maskz_loadu)(FIRST(count), lanes);
}

static inline void
NAME(store_lanes)(void *lanes, size_t count, __m512i vector)
{
    if (count >= LANES) {
        _mm512_storeu_si512(lanes, vector);
    } else {
        V(mask_storeu)(lanes, FIRST(count), vector);
    }
}

/* ---- survey ---- */

/* Up to a vector's words, as lanes; 0 behind them. */
H5TWIN_FORCE_INLINE __m512i
NAME(load_words)(const uint8_t *words, size_t count, unsigned word_size)
{
#if !CASCADE_WIDE
    if (word_size == 1) {
        return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(FIRST(count), words));
    }
    if (word_size == 2) {
        return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(FIRST(count), words));
    }
#endif
    (void)word_size;
    return NAME(load_lanes)(words, count);
}

/* Which words are in the sample, see h5twin_cascade_is_sampled. */
static inline VECTOR_MASK
NAME(are_sampled)(__m512i words)
{
#if CASCADE_WIDE
    const __m512i high =
        _mm512_mullo_epi64(words, _mm512_set1_epi64((long long)CASCADE_MULTIPLIER));
#else /* the high halves of the 64-bit products */
    const __m512i low_factor = _mm512_set1_epi64((uint32_t)CASCADE_MULTIPLIER);
    const __m512i even = _mm512_mul_epu32(words, low_factor);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(words, 32), low_factor);
    const __m512i high = _mm512_add_epi32(
        _mm512_mask_mov_epi32(_mm512_srli_epi64(even, 32), 0xAAAA, odd),
        _mm512_mullo_epi32(words, _mm512_set1_epi32((int)(CASCADE_MULTIPLIER >> 32))));
#endif
    return VMASK(testn)(high,
                        SET(~(CASCADE_LANE)0 << (CASCADE_LANE_BITS - 64 + CASCADE_SAMPLE_SHIFT)));
}

H5TWIN_FORCE_INLINE size_t
NAME(survey_by)(CASCADE_LANE *restrict samples, struct h5twin_cascade_counts *restrict counts,
                const uint8_t *restrict words, size_t count, unsigned word_size)
{
    const __m512i fill = SET(counts->fill);
    __m512i others = ZERO;
    size_t fill_count = 0;
    CASCADE_LANE *at = samples;
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR_MASK valid = FIRST(count - i);
        const __m512i in = NAME(load_words)(words + i * word_size, count - i, word_size);
        const VECTOR_MASK is_other = VMASK(mask_cmpneq)(valid, in, fill);
        const VECTOR_MASK is_sampled = (VECTOR_MASK)(NAME(are_sampled)(in) & is_other);
        fill_count += (size_t)_mm_popcnt_u32((unsigned)(valid & ~is_other));
        others = V(mask_or)(others, is_other, others, in);
        _mm512_storeu_si512(at, V(maskz_compress)(is_sampled, in));
        at += _mm_popcnt_u32(is_sampled);
    }
    counts->others |= (CASCADE_LANE)V(reduce_or)(others);
    counts->fill_count += fill_count;
    counts->sampled += (size_t)(at - samples);
    return (size_t)(at - samples);
}

static size_t
NAME(survey)(void *restrict samples, struct h5twin_cascade_counts *restrict counts,
             const uint8_t *restrict words, size_t count, unsigned word_size)
{
    (void)word_size;
    return CASCADE_BY_WORD_SIZE(survey_by, samples, counts, words, count);
}

/* ---- differences ---- */

/* All passes at once: each keeps the vector before as it was when it came to the pass. Pass j
 * changes the lanes from index j on. */
H5TWIN_FORCE_INLINE void
NAME(row_forward_by)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    __m512i before[CASCADE_MAX_ORDER];
    for (size_t i = 0; i < count; i += LANES) {
        __m512i lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = 0; j < order; j++) {
            const __m512i last = V(alignr)(lanes, i == 0 ? ZERO : before[j], LANES - 1);
            const VECTOR_MASK changed = i == 0 ? FROM(j + 1) : FROM(0);
            before[j] = lanes;
            lanes = V(mask_sub)(lanes, changed, lanes, last);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

/* One pass back: a running sum of the vector, and what those before it come to. */
H5TWIN_FORCE_INLINE __m512i
NAME(sum_pass)(__m512i lanes, __m512i *carry)
{
    const __m512i sums = SCAN(lanes), before = *carry;
    *carry = V(add)(V(permutexvar)(SET(LANES - 1), sums), before);
    return V(add)(sums, before);
}

/* The last pass first. In the first vector, pass j begins with index j - 1. */
H5TWIN_FORCE_INLINE void
NAME(row_back_by)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    __m512i carry[CASCADE_MAX_ORDER], lanes = NAME(load_lanes)(row, count);
    size_t i = LANES;
    for (unsigned j = order; j-- > 0;) {
        const VECTOR_MASK changed = FROM(j);
        const __m512i sums = SCAN(V(maskz_mov)(changed, lanes));
        carry[j] = V(permutexvar)(SET(LANES - 1), sums);
        lanes = V(mask_mov)(lanes, changed, sums);
    }
    NAME(store_lanes)(row, count, lanes);
    for (; i + LANES <= count; i += LANES) {
        lanes = _mm512_loadu_si512(row + i);
        for (unsigned j = order; j-- > 0;) {
            lanes = NAME(sum_pass)(lanes, &carry[j]);
        }
        _mm512_storeu_si512(row + i, lanes);
    }
    if (i < count) {
        lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = order; j-- > 0;) {
            lanes = NAME(sum_pass)(lanes, &carry[j]);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

/* The next columns of as many rows as a vector has lanes, turned so that all rows go on side by
 * side. Where a column's index is not above j, pass j + 1 begins. */
H5TWIN_FORCE_INLINE void
NAME(columns_back)(CASCADE_LANE *restrict rows, size_t row_length, size_t begin, size_t count,
                   unsigned order, __m512i sum[CASCADE_MAX_ORDER])
{
    __m512i square[LANES];
    for (unsigned row = 0; row < LANES; row++) {
        square[row] = NAME(load_lanes)(rows + row * row_length + begin, count);
    }
    TRANSPOSE(square);
    for (unsigned column = 0; column < LANES; column++) {
        __m512i lanes = square[column];
        for (unsigned j = order; j-- > 0;) {
            sum[j] = begin + column > j ? V(add)(sum[j], lanes) : lanes;
            lanes = sum[j];
        }
        square[column] = lanes;
    }
    TRANSPOSE(square);
    for (unsigned row = 0; row < LANES; row++) {
        NAME(store_lanes)(rows + row * row_length + begin, count, square[row]);
    }
}

H5TWIN_FORCE_INLINE void
NAME(square_back_by)(CASCADE_LANE *restrict rows, size_t row_length, unsigned order)
{
    __m512i sum[CASCADE_MAX_ORDER];
    NAME(columns_back)(rows, row_length, 0, row_length, order, sum);
    size_t begin = LANES;
    for (; begin + LANES <= row_length; begin += LANES) {
        NAME(columns_back)(rows, row_length, begin, LANES, order, sum);
    }
    if (begin < row_length) {
        NAME(columns_back)(rows, row_length, begin, row_length - begin, order, sum);
    }
}

H5TWIN_FORCE_INLINE void
NAME(axis_forward_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                      size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i += LANES) {
        __m512i lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = 0; j < order; j++) {
            CASCADE_LANE *const before = history + j * history_stride + i;
            const __m512i last = j < active ? NAME(load_lanes)(before, count - i) : ZERO;
            NAME(store_lanes)(before, count - i, lanes);
            lanes = V(sub)(lanes, last);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

H5TWIN_FORCE_INLINE void
NAME(axis_back_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                   size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i += LANES) {
        __m512i lanes = NAME(load_lanes)(row + i, count - i);
        for (unsigned j = order; j-- > 0;) {
            CASCADE_LANE *const sum = history + j * history_stride + i;
            lanes = j < active ? V(add)(lanes, NAME(load_lanes)(sum, count - i)) : lanes;
            NAME(store_lanes)(sum, count - i, lanes);
        }
        NAME(store_lanes)(row + i, count - i, lanes);
    }
}

/* Each with the number of passes known when compiling. */
#define BY_ORDER(run, ...)                                                                         \
    switch (order) {                                                                               \
    case 0:                                                                                        \
        break;                                                                                     \
    case 1:                                                                                        \
        NAME(run)(__VA_ARGS__, 1);                                                                 \
        break;                                                                                     \
    case 2:                                                                                        \
        NAME(run)(__VA_ARGS__, 2);                                                                 \
        break;                                                                                     \
    case 3:                                                                                        \
        NAME(run)(__VA_ARGS__, 3);                                                                 \
        break;                                                                                     \
    case 4:                                                                                        \
        NAME(run)(__VA_ARGS__, 4);                                                                 \
        break;                                                                                     \
    case 5:                                                                                        \
        NAME(run)(__VA_ARGS__, 5);                                                                 \
        break;                                                                                     \
    default:                                                                                       \
        NAME(run)(__VA_ARGS__, 6);                                                                 \
        break;                                                                                     \
    }

static void
NAME(row_forward)(void *restrict row, size_t count, unsigned order)
{
    BY_ORDER(row_forward_by, row, count)
}

static void
NAME(square_back)(CASCADE_LANE *restrict rows, size_t row_length, unsigned order)
{
    BY_ORDER(square_back_by, rows, row_length)
}

static void
NAME(row_back)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    BY_ORDER(row_back_by, row, count)
}

/* Turning squares costs less than two running sums. */
static void
NAME(rows_back)(void *restrict rows, size_t row_length, size_t row_count, unsigned order)
{
    CASCADE_LANE *const lanes = rows;
    size_t row = 0;
    for (; order > 1 && row_length >= LANES && row + LANES <= row_count; row += LANES) {
        NAME(square_back)(lanes + row * row_length, row_length, order);
    }
    for (; row < row_count; row++) {
        NAME(row_back)(lanes + row * row_length, row_length, order);
    }
}

static void
NAME(axis_forward)(void *restrict row, void *restrict history, size_t history_stride, size_t count,
                   unsigned order, unsigned active)
{
    NAME(axis_forward_by)(row, history, history_stride, count, order, active);
}

static void
NAME(axis_back)(void *restrict row, void *restrict history, size_t history_stride, size_t count,
                unsigned order, unsigned active)
{
    NAME(axis_back_by)(row, history, history_stride, count, order, active);
}

/* ---- residuals ---- */

static inline __m512i
NAME(zigzag_vector)(__m512i residuals, unsigned unused_bits)
{
    const __m128i unused = _mm_cvtsi32_si128((int)unused_bits);
    const __m512i r = V(sra)(V(sll)(residuals, unused), unused);
    return _mm512_xor_si512(V(slli)(r, 1), V(srai)(r, CASCADE_LANE_BITS - 1));
}

static inline __m512i
NAME(unzigzag_vector)(__m512i words)
{
    const __m512i sign = V(sub)(ZERO, _mm512_and_si512(words, SET(1)));
    return _mm512_xor_si512(V(srli)(words, 1), sign);
}

static size_t
NAME(zigzag)(void *restrict words, const void *restrict residuals, const uint8_t *restrict mask,
             size_t count, unsigned word_bits)
{
    CASCADE_LANE *out = words;
    const CASCADE_LANE *const in = residuals;
    const unsigned unused = CASCADE_LANE_BITS - word_bits;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i += LANES) {
            NAME(store_lanes)
            (out + i, count - i, NAME(zigzag_vector)(NAME(load_lanes)(in + i, count - i), unused));
        }
        return count;
    }
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR_MASK kept = (VECTOR_MASK)cascade_unmasked_lanes(mask + i, count - i, LANES);
        const __m512i lanes = NAME(load_lanes)(in + i, count - i);
        _mm512_storeu_si512(out, NAME(zigzag_vector)(V(maskz_compress)(kept, lanes), unused));
        out += _mm_popcnt_u32(kept);
    }
    return (size_t)(out - (CASCADE_LANE *)words);
}

static void
NAME(unzigzag)(void *lanes, const uint8_t *mask, size_t count, size_t unmasked)
{
    CASCADE_LANE *const out = lanes;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i += LANES) {
            NAME(store_lanes)
            (out + i, count - i, NAME(unzigzag_vector)(NAME(load_lanes)(out + i, count - i)));
        }
        return;
    }
    /* The words left are never behind the place of the next one. */
    size_t at = count - unmasked;
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR_MASK kept = (VECTOR_MASK)cascade_unmasked_lanes(mask + i, count - i, LANES);
        const __m512i words = NAME(load_lanes)(out + at, count - at);
        NAME(store_lanes)(out + i, count - i, NAME(unzigzag_vector)(V(maskz_expand)(kept, words)));
        at += (size_t)_mm_popcnt_u32(kept);
    }
}

/* ---- masks ---- */

static size_t
NAME(pick)(void *kept, const void *lanes, const uint8_t *restrict mask, size_t count)
{
    CASCADE_LANE *out = kept;
    const uint8_t *const in = lanes; /* or words, at any address */
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR_MASK is_kept = (VECTOR_MASK)cascade_unmasked_lanes(mask + i, count - i, LANES);
        const __m512i picked =
            V(maskz_compress)(is_kept, NAME(load_lanes)(in + i * LANE_BYTES, count - i));
        /* in place, a vector written does not reach beyond what was read */
        NAME(store_lanes)(out, count - i, picked);
        out += _mm_popcnt_u32(is_kept);
    }
    return (size_t)(out - (CASCADE_LANE *)kept);
}

static void
NAME(spread)(uint8_t *words, const uint8_t *restrict mask, size_t count, size_t unmasked,
             uint64_t fill)
{
    size_t at = count - unmasked; /* never behind the place of the next one */
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR_MASK is_kept = (VECTOR_MASK)cascade_unmasked_lanes(mask + i, count - i, LANES);
        const __m512i next = NAME(load_lanes)(words + at * LANE_BYTES, count - at);
        NAME(store_lanes)
        (words + i * LANE_BYTES, count - i, V(mask_expand)(SET(fill), is_kept, next));
        at += (size_t)_mm_popcnt_u32(is_kept);
    }
}

/* Up to a vector of lanes as words. */
H5TWIN_FORCE_INLINE void
NAME(store_words)(uint8_t *words, size_t count, __m512i lanes, unsigned word_size)
{
#if !CASCADE_WIDE
    if (word_size == 1) {
        _mm_mask_storeu_epi8(words, FIRST(count), _mm512_cvtepi32_epi8(lanes));
        return;
    }
    if (word_size == 2) {
        _mm256_mask_storeu_epi16(words, FIRST(count), _mm512_cvtepi32_epi16(lanes));
        return;
    }
#endif
    (void)word_size;
    NAME(store_lanes)(words, count, lanes);
}

static bool
NAME(look_up)(uint8_t *restrict words, const void *restrict indices, const void *restrict table,
              size_t word_count, const uint8_t *restrict mask, size_t count, unsigned word_size,
              uint64_t fill)
{
    const CASCADE_LANE *const in = indices;
    const __m512i all = SET(~(CASCADE_LANE)0 >> (CASCADE_LANE_BITS - 8 * word_size));
    for (size_t i = 0; i < count; i += LANES) {
        const __m512i index = _mm512_and_si512(NAME(load_lanes)(in + i, count - i), all);
        const VECTOR_MASK is_kept =
            mask == NULL ? FIRST(count - i)
                         : (VECTOR_MASK)cascade_unmasked_lanes(mask + i, count - i, LANES);
        if (IS_NOT_BELOW(is_kept, index, SET(word_count)) != 0) {
            return false;
        }
        NAME(store_words)
        (words + i * word_size, count - i, GATHER(SET(fill), is_kept, index, table, LANE_BYTES),
         word_size);
    }
    return true;
}

/* ---- references ---- */

#define BLOCK_VECTORS (CASCADE_REFERENCE_BLOCK / LANES)

/* What the references of one block are tried on. */
struct NAME(referring) {
    const CASCADE_LANE *in;
    __m512i lanes[2][BLOCK_VECTORS]; /* and their negatives: |lane + source| = |-lane - source| */
    VECTOR_MASK counted[BLOCK_VECTORS];
    __m128i unused; /* bits of a lane */
    size_t count;   /* lanes */
    size_t all_zeros;
};

H5TWIN_FORCE_INLINE struct NAME(referring)
    NAME(referring_of)(const CASCADE_LANE *in, const uint8_t *mask, size_t count,
                       unsigned word_bits)
{
    struct NAME(referring) block; /* set to 0 first, it would take longer than all the rest */
    block.in = in;
    block.unused = _mm_cvtsi32_si128((int)(CASCADE_LANE_BITS - word_bits));
    block.count = count;
    block.all_zeros = 0;
    for (size_t i = 0; i < count; i += LANES) {
        const VECTOR_MASK counted =
            mask == NULL ? FIRST(count - i)
                         : (VECTOR_MASK)cascade_unmasked_lanes(mask + i, count - i, LANES);
        block.lanes[0][i / LANES] = NAME(load_lanes)(in + i, count - i);
        block.lanes[1][i / LANES] = V(sub)(ZERO, block.lanes[0][i / LANES]);
        block.counted[i / LANES] = counted;
        block.all_zeros += CASCADE_LANE_BITS * (size_t)_mm_popcnt_u32(counted);
    }
    return block;
}

/* Zero bits before |rest| of the lanes that count, with this lag * 2 + sign. */
H5TWIN_FORCE_INLINE __m512i
NAME(zeros_of_rests)(const struct NAME(referring) * block, uint32_t entry)
{
    static const CASCADE_LANE nothing[CASCADE_REFERENCE_BLOCK];
    const CASCADE_LANE *const sources = entry >> 1 == 0 ? nothing : block->in - (entry >> 1);
    __m512i zeros = ZERO;
    for (size_t i = 0; i < block->count; i += LANES) {
        const __m512i rests = V(sub)(block->lanes[entry & 1][i / LANES],
                                     NAME(load_lanes)(sources + i, block->count - i));
        const __m512i whole = V(sra)(V(sll)(rests, block->unused), block->unused);
        zeros = V(mask_add)(zeros, block->counted[i / LANES], zeros, V(lzcnt)(V(abs)(whole)));
    }
    return zeros;
}

/* The sums of four vectors of small lanes. */
static inline __m128i
NAME(sums_of_four)(const __m512i four[4])
{
#if CASCADE_WIDE
    const __m512i a = _mm512_or_si512(four[0], _mm512_slli_epi64(four[1], 32));
    const __m512i b = _mm512_or_si512(four[2], _mm512_slli_epi64(four[3], 32));
#else
    const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(four[0], four[1]),
                                       _mm512_unpackhi_epi32(four[0], four[1]));
    const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(four[2], four[3]),
                                       _mm512_unpackhi_epi32(four[2], four[3]));
#endif
    const __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    const __m256i half =
        _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

H5TWIN_FORCE_INLINE void
NAME(reference_bits_by)(uint32_t *restrict bits, const CASCADE_LANE *in,
                        const uint32_t *restrict entries, size_t entry_count,
                        const uint8_t *restrict mask, size_t count, unsigned word_bits)
{
    const struct NAME(referring) block = NAME(referring_of)(in, mask, count, word_bits);
    size_t done = 0;
    for (; done + 4 <= entry_count; done += 4) {
        __m512i zeros[4];
        for (unsigned k = 0; k < 4; k++) {
            zeros[k] = NAME(zeros_of_rests)(&block, entries[done + k]);
        }
        _mm_storeu_si128(
            (__m128i *)(bits + done),
            _mm_sub_epi32(_mm_set1_epi32((int)block.all_zeros), NAME(sums_of_four)(zeros)));
    }
    for (; done < entry_count; done++) {
        const __m512i zeros = NAME(zeros_of_rests)(&block, entries[done]);
        bits[done] = (uint32_t)(block.all_zeros - (size_t)V(reduce_add)(zeros));
    }
}

static void
NAME(reference_bits)(uint32_t *restrict bits, const void *lanes, const uint32_t *restrict entries,
                     size_t entry_count, const uint8_t *restrict mask, size_t count,
                     unsigned word_bits)
{
    if (count == CASCADE_REFERENCE_BLOCK && word_bits == CASCADE_LANE_BITS) {
        NAME(reference_bits_by)
        (bits, lanes, entries, entry_count, mask, CASCADE_REFERENCE_BLOCK, CASCADE_LANE_BITS);
    } else {
        NAME(reference_bits_by)(bits, lanes, entries, entry_count, mask, count, word_bits);
    }
}

#undef BLOCK_VECTORS

/* ---- soft map: see cascade_map_template.h ---- */

/* Codes and remainders of words, and how many bits those have; returns which words are
 * exceptions. */
static inline VECTOR_MASK
NAME(soft_vector)(__m512i words, const struct h5twin_cascade_map *map, __m512i *codes,
                  __m512i *remainders, __m512i *widths)
{
    const unsigned fraction = h5twin_cascade_fraction(map);
    const __m128i fraction_bits = _mm_cvtsi32_si128((int)fraction);
    const __m512i all = SET(-1), hidden = SET((CASCADE_LANE)1 << fraction);
    const __m512i x = V(srl)(words, _mm_cvtsi32_si128((int)map->trailing));
    const __m512i magnitude =
        _mm512_and_si512(x, SET(NAME(low_mask)(CASCADE_LANE_BITS - map->trailing - 1)));
    const __m512i own = V(srl)(magnitude, fraction_bits);
    const __m512i low = _mm512_andnot_si512(V(sll)(all, fraction_bits), magnitude);
    const __m512i significand = V(mask_or)(low, VMASK(test)(own, own), low, hidden);
    /* below 1 where nothing is cut off; more than the significand's bits take all of it */
    const __m512i cut_bits = V(sub)(SET(map->exponent), V(max)(own, SET(1)));
    const __m512i shifts = V(max)(V(min)(cut_bits, SET(fraction + 1)), ZERO);
    const VECTOR_MASK is_below = VMASK(cmpgt)(cut_bits, ZERO);
    const __m512i above = V(sub)(magnitude, SET((CASCADE_LANE)(map->exponent - 1) << fraction));
    const __m512i quotient = V(mask_srlv)(above, is_below, significand, shifts);
    const VECTOR_MASK is_zero = VMASK(testn)(quotient, quotient);
    const VECTOR_MASK is_exception = VMASK(mask_test)(is_zero, x, x);
    const __m512i cut = _mm512_andnot_si512(V(sllv)(all, shifts), significand);
    *remainders = V(mask_mov)(cut, is_zero, V(maskz_set1)(is_exception, 1));
    *widths = V(mask_mov)(shifts, is_zero, SET(1));
    *codes = V(mask_sub)(quotient, SIGNS(words), ZERO, quotient);
    return is_exception;
}

/* What the remainders of one segment are written with. */
struct NAME(remainder_writer) {
    struct h5twin_bit_writer_avx512 bits;
    uint8_t *exceptions;
    size_t exception_count;
    CASCADE_LANE *codes; /* NULL: not wanted */
};

/* Remainders of up to a vector of words as eight fields of 64 bits; exceptions are noted. */
H5TWIN_FORCE_INLINE __m512i
NAME(take_remainders)(struct NAME(remainder_writer) * writer, const uint8_t *words, size_t count,
                      const struct h5twin_cascade_map *map, __m512i *widths)
{
    const __m512i in = NAME(load_lanes)(words, count);
    __m512i remainders, codes;
    const VECTOR_MASK is_exception = NAME(soft_vector)(in, map, &codes, &remainders, widths);
    if (writer->codes != NULL) {
        NAME(store_lanes)(writer->codes, count, codes);
        writer->codes += count < LANES ? count : LANES;
    }
    if (count < LANES) { /* lanes beyond the end are zeros, with a bit */
        *widths = V(maskz_mov)(FIRST(count), *widths);
    }
    if (is_exception != 0) {
        _mm512_storeu_si512(writer->exceptions + writer->exception_count * LANE_BYTES,
                            V(maskz_compress)(is_exception, in));
        writer->exception_count += (size_t)_mm_popcnt_u32(is_exception);
    }
#if CASCADE_WIDE
    return remainders;
#else
    return h5twin_bit_pairs_avx512(remainders, widths);
#endif
}

static size_t
NAME(soft_remainders)(uint8_t *restrict dst, uint8_t *restrict exceptions,
                      size_t *restrict exception_count, void *restrict codes,
                      const uint8_t *restrict words, size_t count,
                      const struct h5twin_cascade_map *restrict map)
{
    struct NAME(remainder_writer)
        writer = {.bits = h5twin_bit_writer_avx512(dst), .exceptions = exceptions, .codes = codes};
    const struct h5twin_cascade_map constant = *map; /* whatever is written */
    __m512i fields[2], widths[2];
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        const uint8_t *const at = words + i * LANE_BYTES;
        fields[0] = NAME(take_remainders)(&writer, at, LANES, &constant, &widths[0]);
        fields[1] = NAME(take_remainders)(&writer, at + 64, LANES, &constant, &widths[1]);
        h5twin_bit_put_twice8_avx512(&writer.bits, fields, widths);
    }
    for (; i < count; i += LANES) {
        fields[0] = NAME(take_remainders)(&writer, words + i * LANE_BYTES, count - i, &constant,
                                          &widths[0]);
        h5twin_bit_put8_avx512(&writer.bits, fields[0], widths[0]);
    }
    *exception_count = writer.exception_count;
    return (size_t)(h5twin_bit_writer_end_avx512(&writer.bits) - dst);
}

/* Words of codes and the remainders that *bit is at; where the code is 0, the remainder. */
H5TWIN_FORCE_INLINE __m512i
NAME(soft_back_vector)(__m512i codes, size_t count, const struct h5twin_cascade_map *map,
                       const uint8_t *bits, size_t bits_size, size_t *bit)
{
    const unsigned fraction = h5twin_cascade_fraction(map);
    const __m512i low_fraction = SET(NAME(low_mask)(fraction));
    const __m128i fraction_bits = _mm_cvtsi32_si128((int)fraction);
    const __m512i quotient = V(abs)(codes);
    const __m512i length = V(sub)(SET(CASCADE_LANE_BITS), V(lzcnt)(quotient));
    const VECTOR_MASK is_zero = VMASK(testn)(codes, codes);
    const VECTOR_MASK is_above = VMASK(cmpgt)(length, SET(fraction));
    const __m512i shifts = V(mask_sub)(ZERO, (VECTOR_MASK)~is_above, SET(fraction + 1), length);
    __m512i widths = V(mask_mov)(shifts, is_zero, SET(1));
    if (count < LANES) { /* lanes beyond the end are zeros, with a bit */
        widths = V(maskz_mov)(FIRST(count), widths);
    }
    const __m512i remainders = READ_FIELDS(bits, bits_size, bit, widths);
    const __m512i above = V(add)(quotient, SET((CASCADE_LANE)(map->exponent - 1) << fraction));
    const __m512i significand =
        _mm512_and_si512(_mm512_or_si512(V(sllv)(quotient, shifts), remainders), low_fraction);
    const __m512i below =
        V(add)(V(sll)(V(sub)(SET(map->exponent), shifts), fraction_bits), significand);
    const __m512i magnitude =
        _mm512_and_si512(V(mask_mov)(below, is_above, above),
                         SET(NAME(low_mask)(CASCADE_LANE_BITS - map->trailing - 1)));
    const __m512i words = V(sll)(magnitude, _mm_cvtsi32_si128((int)map->trailing));
    const __m512i sign = SET((CASCADE_LANE)1 << (CASCADE_LANE_BITS - 1));
    return V(mask_mov)(V(mask_or)(words, SIGNS(codes), words, sign), is_zero, remainders);
}

static inline size_t
NAME(exceptions_in)(__m512i codes, __m512i words)
{
    return (size_t)_mm_popcnt_u32(VMASK(mask_test)(VMASK(testn)(codes, codes), words, words));
}

/* Put the exceptions where a code is 0 and a word 1. */
static void
NAME(place_exceptions)(uint8_t *restrict words, const CASCADE_LANE *restrict codes, size_t count,
                       const uint8_t *restrict exceptions, size_t exception_count)
{
    for (size_t i = 0; i < count; i += LANES) {
        uint8_t *const at = words + i * LANE_BYTES;
        const __m512i in = NAME(load_lanes)(codes + i, count - i);
        const __m512i marks = NAME(load_lanes)(at, count - i);
        const VECTOR_MASK is_zero = VMASK(testn)(in, in);
        const VECTOR_MASK is_exception = VMASK(mask_test)(is_zero, marks, marks);
        if (is_exception != 0) {
            const __m512i next = NAME(load_lanes)(exceptions, exception_count);
            const size_t used = (size_t)_mm_popcnt_u32(is_exception);
            NAME(store_lanes)(at, count - i, V(mask_expand)(marks, is_exception, next));
            exceptions += used * LANE_BYTES;
            exception_count -= used;
        }
    }
}

static bool
NAME(soft_values)(uint8_t *restrict words, const void *restrict codes, size_t count,
                  const struct h5twin_cascade_map *restrict map, const uint8_t *restrict segment,
                  size_t segment_size)
{
    const CASCADE_LANE *const in = codes;
    const struct h5twin_cascade_map constant = *map; /* whatever is written */
    size_t bit = 0, found = 0, i = 0;
    for (; i + LANES <= count; i += LANES) {
        const __m512i lanes = _mm512_loadu_si512(in + i);
        const __m512i out =
            NAME(soft_back_vector)(lanes, LANES, &constant, segment, segment_size, &bit);
        found += NAME(exceptions_in)(lanes, out);
        _mm512_storeu_si512(words + i * LANE_BYTES, out);
    }
    if (i < count) {
        const __m512i lanes = NAME(load_lanes)(in + i, count - i);
        const __m512i out =
            NAME(soft_back_vector)(lanes, count - i, &constant, segment, segment_size, &bit);
        found += NAME(exceptions_in)(lanes, out);
        NAME(store_lanes)(words + i * LANE_BYTES, count - i, out);
    }
    const size_t bits_size = (bit + 7) / 8;
    if (!cascade_segment_fits(segment, segment_size, bit, LANE_BYTES) ||
        (segment_size - bits_size) / LANE_BYTES != found) {
        return false;
    }
    if (found != 0) {
        NAME(place_exceptions)(words, in, count, segment + bits_size, found);
    }
    return true;
}

/* ---- search ---- */

#define TILE_VECTORS (CASCADE_TILE_VALUES / LANES)
#define GROUP        (16u / LANES) /* vectors */

/* What up to 64 values cost; those beyond count are anything. */
H5TWIN_FORCE_INLINE uint64_t
NAME(cost_of_tile)(const __m512i lanes[TILE_VECTORS], size_t count, unsigned word_bits,
                   bool in_groups)
{
    const __m128i unused = _mm_cvtsi32_si128((int)(CASCADE_LANE_BITS - word_bits));
    __m512i sum = ZERO;
    uint64_t cost = 0;
    for (size_t k = 0; k < TILE_VECTORS; k += GROUP) {
        __m512i all = ZERO;
        for (size_t i = k; i < k + GROUP; i++) {
            const VECTOR_MASK valid = FIRST(count > i * LANES ? count - i * LANES : 0);
            const __m512i lane = V(sra)(V(sll)(lanes[i], unused), unused);
            const __m512i size = V(maskz_abs)(valid, lane);
            all = _mm512_or_si512(all, size);
            sum = V(add)(sum, V(sub)(SET(CASCADE_LANE_BITS), V(lzcnt)(size)));
        }
        if (in_groups && count > k * LANES) {
            const size_t left = count - k * LANES;
            cost += (left < 16 ? left : 16) * NAME(length)((CASCADE_LANE)V(reduce_or)(all));
        }
    }
    return in_groups ? cost : (uint64_t)V(reduce_add)(sum);
}

static void
NAME(row_costs)(uint64_t *restrict costs, const void *restrict row, size_t halo, size_t count,
                unsigned most, unsigned word_bits, bool in_groups)
{
    const CASCADE_LANE *const counted = (const CASCADE_LANE *)row + halo;
    const VECTOR_MASK is_halo = FROM(LANES - halo);
    __m512i before = V(maskz_expand)(is_halo, V(maskz_loadu)(FIRST(halo), row));
    __m512i lanes[TILE_VECTORS];
    for (size_t k = 0; k < TILE_VECTORS; k++) {
        const size_t at = k * LANES;
        lanes[k] = at < count ? NAME(load_lanes)(counted + at, count - at) : ZERO;
    }
    for (unsigned order = 0;; order++) {
        costs[order] = NAME(cost_of_tile)(lanes, count, word_bits, in_groups);
        if (order == most) {
            return;
        }
        /* The next pass leaves what it cannot reach back from. */
        for (size_t k = TILE_VECTORS; k-- > 1;) {
            lanes[k] = V(sub)(lanes[k], V(alignr)(lanes[k], lanes[k - 1], LANES - 1));
        }
        const unsigned kept = order + 1 > halo ? order + 1 - (unsigned)halo : 0;
        lanes[0] =
            V(mask_sub)(lanes[0], FROM(kept), lanes[0], V(alignr)(lanes[0], before, LANES - 1));
        before = V(mask_sub)(before, FROM(LANES - halo + order + 1), before,
                             V(alignr)(before, ZERO, LANES - 1));
    }
}

#undef TILE_VECTORS
#undef GROUP
#undef NAME
#undef V
#undef VMASK
#undef SET
#undef SCAN
#undef VECTOR_MASK
#undef SIGNS
#undef READ_FIELDS
#undef TRANSPOSE
#undef GATHER
#undef IS_NOT_BELOW
#undef LANES
#undef LANE_BYTES
#undef FIRST
#undef FROM
#undef ZERO
#undef BY_ORDER
