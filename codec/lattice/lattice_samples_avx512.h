/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_samples_avx512.h: points of samples of narrow integers, all lanes at a time; included by
 * lattice_samples_template.h, whose code_lanes32 is what these must equal. */

H5TWIN_FORCE_INLINE void
code_lanes512(struct lanes32 *lanes, size_t point, size_t by, size_t count,
              const struct lane_taps32 *taps, unsigned axes, bool has_width)
{
    const bool fast = lanes->sink.effort == LATTICE_FAST;
    const struct width512 width = make_width512(lanes->width, lanes->divisor);
    const __m512i cap = _mm512_set1_epi32(lanes->cap), least = _mm512_set1_epi32(-lanes->cap);
    const __m512i one = _mm512_set1_epi32(1);
    const int32_t *integers = lanes->integers + point * LATTICE_LANES;
    const uint8_t *specials =
        lanes->specials == NULL ? NULL : lanes->specials + point * LATTICE_LANES;
    int32_t *values = lanes->values + point * LATTICE_LANES;
    for (; count > 0; count--) {
        __m512i sum = _mm512_setzero_si512();
        H5TWIN_UNROLL
        for (unsigned axis = 0; axis < axes; axis++) {
            H5TWIN_UNROLL
            for (unsigned i = 0; i < 4; i++) {
                sum = _mm512_add_epi32(
                    sum, _mm512_mullo_epi32(_mm512_loadu_si512(values + taps[axis].offset[i]),
                                            _mm512_loadu_si512(taps[axis].weight[i])));
            }
        }
        const __m512i guess =
            _mm512_max_epi32(_mm512_min_epi32(mean_of_sum512(sum, axes), cap), least);
        const __m512i integer = _mm512_loadu_si512(integers);
        __m512i steps = _mm512_sub_epi32(integer, guess), value = integer;
        if (has_width) {
            steps = steps512(&width, steps);
            value = _mm512_add_epi32(guess, _mm512_mullo_epi32(steps, width.width));
            const __mmask16 more =
                _mm512_cmpeq_epi32_mask(integer, cap) & _mm512_cmplt_epi32_mask(value, cap);
            const __mmask16 less =
                _mm512_cmpeq_epi32_mask(integer, least) & _mm512_cmpgt_epi32_mask(value, least);
            steps = _mm512_mask_add_epi32(steps, more, steps, one);
            steps = _mm512_mask_sub_epi32(steps, less, steps, one);
        }
        if (specials != NULL) {
            const __m128i mask = _mm_loadu_si128((const __m128i *)specials);
            steps = _mm512_maskz_mov_epi32(_mm_testn_epi8_mask(mask, mask), steps);
            specials += by * LATTICE_LANES;
        }
        if (has_width || specials != NULL) {
            value = _mm512_add_epi32(guess, _mm512_mullo_epi32(steps, width.width));
        }
        value = _mm512_max_epi32(_mm512_min_epi32(value, cap), least);
        _mm512_storeu_si512(values, value);
        const __m512i before = _mm512_loadu_si512(lanes->sink.sum), code = zigzag512(steps);
        _mm512_storeu_si512(lanes->sink.sum,
                            fast ? _mm512_or_si512(before, code) : _mm512_add_epi32(before, code));
        count_points32(&lanes->sink, 1);
        values += by * LATTICE_LANES;
        integers += by * LATTICE_LANES;
    }
}
