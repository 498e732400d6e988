/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_streams_template.h: the kernels of cascade_kernels.h that go through values in order, in
 * plain C, for one width of lanes: what compilers find no vectors for. Instruction sets with
 * vectors have cascade_streams_lanes_template.h instead. */

#define NAME(name) CASCADE_LANE_NAME(name)

/* ---- survey ---- */

H5TWIN_FORCE_INLINE size_t
NAME(survey_by)(CASCADE_LANE *restrict samples, struct h5twin_cascade_counts *restrict counts,
                const uint8_t *restrict words, size_t count, unsigned word_size)
{
    const CASCADE_LANE fill = (CASCADE_LANE)counts->fill;
    CASCADE_LANE others = 0;
    size_t fill_count = 0, found = 0;
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE word = NAME(load)(words, i, word_size);
        others |= word == fill ? 0 : word;
        fill_count += word == fill;
    }
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE word = NAME(load)(words, i, word_size);
        samples[found] = word;
        found += word != fill && h5twin_cascade_is_sampled(word);
    }
    counts->others |= others;
    counts->fill_count += fill_count;
    counts->sampled += found;
    return found;
}

static size_t
NAME(survey)(void *restrict samples, struct h5twin_cascade_counts *restrict counts,
             const uint8_t *restrict words, size_t count, unsigned word_size)
{
    (void)word_size;
    return CASCADE_BY_WORD_SIZE(survey_by, samples, counts, words, count);
}

/* ---- differences ---- */

#define ROW_RUN 512u /* lanes of a row that are differenced at once */

/* All passes along a row, its last lanes first: so none overwrites what another one needs. Pass j
 * changes the lanes from index j on; a run is copied with the `order` lanes before it. */
static void
NAME(row_forward)(void *restrict row, size_t count, unsigned order)
{
    CASCADE_LANE *const lanes = row;
    CASCADE_LANE run[2][ROW_RUN + CASCADE_MAX_ORDER];
    for (size_t end = count; order != 0 && end != 0;) {
        const size_t begin = end > ROW_RUN ? end - ROW_RUN : 0;
        const size_t halo = begin < order ? begin : order; /* `order`, or 0 at the row's begin */
        const size_t size = end - begin + halo;
        unsigned from = 0;
        memcpy(run[0], lanes + begin - halo, size * sizeof run[0][0]);
        for (unsigned pass = 1; pass <= order; pass++) {
            for (size_t i = 0; i < pass && i < size; i++) {
                run[1 - from][i] = run[from][i];
            }
            for (size_t i = pass; i < size; i++) {
                run[1 - from][i] = run[from][i] - run[from][i - 1];
            }
            from = 1 - from;
        }
        memcpy(lanes + begin, run[from] + halo, (end - begin) * sizeof run[0][0]);
        end = begin;
    }
}

#undef ROW_RUN

H5TWIN_FORCE_INLINE void
NAME(row_back_by)(CASCADE_LANE *restrict row, size_t count, unsigned order)
{
    CASCADE_LANE sum[CASCADE_MAX_ORDER] = {0};
    const size_t graded = count < order ? count : order;
    for (size_t i = 0; i < graded; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = order; j-- > 0;) {
            sum[j] = i > j ? sum[j] + value : value;
            value = sum[j];
        }
        row[i] = value;
    }
    for (size_t i = graded; i < count; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = order; j-- > 0;) {
            sum[j] += value;
            value = sum[j];
        }
        row[i] = value;
    }
}

static void
NAME(rows_back)(void *restrict rows, size_t row_length, size_t row_count, unsigned order)
{
    CASCADE_LANE *row = rows;
    for (size_t i = 0; i < row_count; i++, row += row_length) {
        switch (order) {
        case 0:
            break;
        case 1:
            NAME(row_back_by)(row, row_length, 1);
            break;
        case 2:
            NAME(row_back_by)(row, row_length, 2);
            break;
        case 3:
            NAME(row_back_by)(row, row_length, 3);
            break;
        default:
            NAME(row_back_by)(row, row_length, order);
            break;
        }
    }
}

H5TWIN_FORCE_INLINE void
NAME(axis_forward_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                      size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = 0; j < order; j++) {
            CASCADE_LANE *const before = history + j * history_stride + i;
            const CASCADE_LANE last = j < active ? *before : 0;
            *before = value;
            value -= last;
        }
        row[i] = value;
    }
}

static void
NAME(axis_forward)(void *restrict row, void *restrict history, size_t history_stride, size_t count,
                   unsigned order, unsigned active)
{
    if (order == 1 && active == 1) {
        NAME(axis_forward_by)(row, history, history_stride, count, 1, 1);
    } else if (order == 2 && active == 2) {
        NAME(axis_forward_by)(row, history, history_stride, count, 2, 2);
    } else if (order == 3 && active == 3) {
        NAME(axis_forward_by)(row, history, history_stride, count, 3, 3);
    } else {
        NAME(axis_forward_by)(row, history, history_stride, count, order, active);
    }
}

H5TWIN_FORCE_INLINE void
NAME(axis_back_by)(CASCADE_LANE *restrict row, CASCADE_LANE *restrict history,
                   size_t history_stride, size_t count, unsigned order, unsigned active)
{
    for (size_t i = 0; i < count; i++) {
        CASCADE_LANE value = row[i];
        for (unsigned j = order; j-- > 0;) {
            CASCADE_LANE *const sum = history + j * history_stride + i;
            value += j < active ? *sum : 0;
            *sum = value;
        }
        row[i] = value;
    }
}

static void
NAME(axis_back)(void *restrict row, void *restrict history, size_t history_stride, size_t count,
                unsigned order, unsigned active)
{
    if (order == 1 && active == 1) {
        NAME(axis_back_by)(row, history, history_stride, count, 1, 1);
    } else if (order == 2 && active == 2) {
        NAME(axis_back_by)(row, history, history_stride, count, 2, 2);
    } else if (order == 3 && active == 3) {
        NAME(axis_back_by)(row, history, history_stride, count, 3, 3);
    } else {
        NAME(axis_back_by)(row, history, history_stride, count, order, active);
    }
}

/* ---- residuals ---- */

static inline CASCADE_LANE
NAME(zigzag_of)(CASCADE_LANE residual, unsigned word_bits)
{
    const CASCADE_LANE r = NAME(sign_extend)(residual, word_bits);
    return (r << 1) ^ NAME(sign_mask)(r);
}

static inline CASCADE_LANE
NAME(unzigzag_of)(CASCADE_LANE word)
{
    return (word >> 1) ^ ((CASCADE_LANE)0 - (word & 1));
}

static size_t
NAME(zigzag)(void *restrict words, const void *restrict residuals, const uint8_t *restrict mask,
             size_t count, unsigned word_bits)
{
    CASCADE_LANE *const out = words;
    const CASCADE_LANE *const in = residuals;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i++) {
            out[i] = NAME(zigzag_of)(in[i], word_bits);
        }
        return count;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        out[kept] = NAME(zigzag_of)(in[i], word_bits);
        kept += !mask[i];
    }
    return kept;
}

static void
NAME(unzigzag)(void *lanes, const uint8_t *mask, size_t count, size_t unmasked)
{
    CASCADE_LANE *const out = lanes;
    if (mask == NULL) {
        for (size_t i = 0; i < count; i++) {
            out[i] = NAME(unzigzag_of)(out[i]);
        }
        return;
    }
    /* The words left are never behind the place of the next one. */
    size_t at = count - unmasked;
    for (size_t i = 0; i < count; i++) {
        if (mask[i]) {
            out[i] = 0;
        } else {
            out[i] = NAME(unzigzag_of)(out[at++]);
        }
    }
}

/* ---- sizes ---- */

static uint64_t
NAME(lengths)(const void *restrict residuals, size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = residuals;
    CASCADE_LANE sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += NAME(length)(NAME(size_of)(in[i], word_bits));
    }
    return sum;
}

static uint64_t
NAME(group_lengths)(const void *restrict residuals, size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const in = residuals;
    uint64_t sum = 0;
    for (size_t begin = 0; begin < count; begin += 16) {
        const size_t size = count - begin < 16 ? count - begin : 16;
        CASCADE_LANE all = 0;
        for (size_t i = begin; i < begin + size; i++) {
            all |= NAME(size_of)(in[i], word_bits);
        }
        sum += size * NAME(length)(all);
    }
    return sum;
}

H5TWIN_FORCE_INLINE void
NAME(key_slots_by)(uint32_t *restrict slots, const CASCADE_LANE *restrict in, size_t count,
                   unsigned word_bits)
{
    for (size_t i = 0; i < count; i++) {
        slots[i] = NAME(key_slot)(in[i], word_bits);
    }
}

static void
NAME(key_slots)(uint32_t *restrict slots, const void *restrict residuals,
                const uint8_t *restrict mask, size_t count, unsigned word_bits)
{
    const uint32_t none =
        2 * (CASCADE_LANE_BITS == 64 ? 1u << CASCADE_SLOT_BITS_64 : CASCADE_SLOTS_32);
    if (word_bits == CASCADE_LANE_BITS && count == CASCADE_REFERENCE_BLOCK) {
        NAME(key_slots_by)(slots, residuals, CASCADE_REFERENCE_BLOCK, CASCADE_LANE_BITS);
    } else {
        NAME(key_slots_by)(slots, residuals, count, word_bits);
    }
    for (size_t i = 0; mask != NULL && i < count; i++) {
        slots[i] = mask[i] ? none : slots[i];
    }
}

/* ---- references ---- */

H5TWIN_FORCE_INLINE uint32_t
NAME(reference_bits_by)(const CASCADE_LANE *in, uint32_t entry, const uint8_t *restrict mask,
                        size_t count, unsigned word_bits)
{
    const CASCADE_LANE *const source = in - (entry >> 1);
    CASCADE_LANE sum = 0;
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE rest = NAME(reference_rest)(in[i], source[i], entry);
        const CASCADE_LANE length = NAME(length)(NAME(size_of)(rest, word_bits));
        sum += mask == NULL || !mask[i] ? length : 0;
    }
    return (uint32_t)sum;
}

static void
NAME(reference_bits)(uint32_t *restrict bits, const void *lanes, const uint32_t *restrict entries,
                     size_t entry_count, const uint8_t *restrict mask, size_t count,
                     unsigned word_bits)
{
    const bool is_whole =
        mask == NULL && count == CASCADE_REFERENCE_BLOCK && word_bits == CASCADE_LANE_BITS;
    for (size_t i = 0; i < entry_count; i++) {
        bits[i] = is_whole ? NAME(reference_bits_by)(lanes, entries[i], NULL,
                                                     CASCADE_REFERENCE_BLOCK, CASCADE_LANE_BITS)
                           : NAME(reference_bits_by)(lanes, entries[i], mask, count, word_bits);
    }
}

/* ---- masks ---- */

static size_t
NAME(pick)(void *kept, const void *lanes, const uint8_t *restrict mask, size_t count)
{
    const uint8_t *const in = lanes; /* or words, at any address */
    CASCADE_LANE *const out = kept;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (!mask[i]) {
            memcpy(&out[found++], in + i * sizeof *out, sizeof *out);
        }
    }
    return found;
}

static void
NAME(spread)(uint8_t *words, const uint8_t *restrict mask, size_t count, size_t unmasked,
             uint64_t fill)
{
    const unsigned word_size = CASCADE_LANE_BITS / 8;
    size_t at = count - unmasked; /* never behind the place of the next one */
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = mask[i] ? fill : NAME(load)(words, at, word_size);
        at += !mask[i];
        h5twin_store_word(words + i * word_size, word, word_size);
    }
}

static bool
NAME(look_up)(uint8_t *restrict words, const void *restrict indices, const void *restrict table,
              size_t word_count, const uint8_t *restrict mask, size_t count, unsigned word_size,
              uint64_t fill)
{
    const CASCADE_LANE all = ~(CASCADE_LANE)0 >> (CASCADE_LANE_BITS - 8 * word_size);
    for (size_t i = 0; i < count; i++) {
        CASCADE_LANE word = (CASCADE_LANE)fill;
        if (mask == NULL || !mask[i]) {
            const CASCADE_LANE index = ((const CASCADE_LANE *)indices)[i] & all;
            if (index >= word_count) {
                return false;
            }
            word = ((const CASCADE_LANE *)table)[index];
        }
        h5twin_store_word(words + i * word_size, word, word_size);
    }
    return true;
}

/* ---- soft map ---- */

static size_t
NAME(soft_bits_sum)(const void *restrict codes, size_t count, unsigned fraction)
{
    const CASCADE_LANE *const in = codes;
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += NAME(soft_bits)(in[i], fraction);
    }
    return sum;
}

#define SOFT_RUN 64u /* values that go through the stages below together */

/* The remainders of codes, from the reader on. */
static inline void
NAME(read_remainders)(CASCADE_LANE *restrict remainders, const CASCADE_LANE *restrict codes,
                      size_t count, unsigned fraction, struct h5twin_lsb_reader *restrict reader)
{
    for (size_t i = 0; i < count; i++) {
        remainders[i] = (CASCADE_LANE)h5twin_lsb_get(reader, NAME(soft_bits)(codes[i], fraction));
    }
}

/* Words of a run's codes and remainders; returns how many of them are exceptions, taken from
 * `exceptions` as far as there are any. */
static size_t
NAME(soft_run)(uint8_t *restrict words, const CASCADE_LANE *restrict codes,
               const CASCADE_LANE *restrict remainders, size_t count,
               const struct h5twin_cascade_map *restrict map, const uint8_t *exceptions,
               size_t exception_count)
{
    const unsigned word_size = CASCADE_LANE_BITS / 8, trailing = map->trailing;
    const unsigned fraction = h5twin_cascade_fraction(map), exponent = map->exponent;
    CASCADE_LANE has_exceptions = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const CASCADE_LANE word =
            NAME(soft_back)(codes[i], remainders[i], fraction, trailing, exponent);
        has_exceptions |= codes[i] == 0 ? remainders[i] : 0;
        h5twin_store_word(words + i * word_size, codes[i] == 0 ? 0 : word, word_size);
    }
    for (size_t i = 0; has_exceptions != 0 && i < count; i++) {
        if (codes[i] == 0 && remainders[i] != 0 && used++ < exception_count) {
            memcpy(words + i * word_size, exceptions + (used - 1) * word_size, word_size);
        }
    }
    return used;
}

static bool
NAME(soft_values)(uint8_t *restrict words, const void *restrict codes, size_t count,
                  const struct h5twin_cascade_map *restrict map, const uint8_t *restrict segment,
                  size_t segment_size)
{
    const unsigned word_size = CASCADE_LANE_BITS / 8, fraction = h5twin_cascade_fraction(map);
    const size_t bits = NAME(soft_bits_sum)(codes, count, fraction);
    if (!cascade_segment_fits(segment, segment_size, bits, word_size)) {
        return false;
    }
    struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(segment, (bits + 7) / 8);
    const uint8_t *exceptions = segment + (bits + 7) / 8;
    size_t left = (segment_size - (bits + 7) / 8) / word_size;
    for (size_t begin = 0; begin < count; begin += SOFT_RUN) {
        const CASCADE_LANE *const in = (const CASCADE_LANE *)codes + begin;
        const size_t size = count - begin < SOFT_RUN ? count - begin : SOFT_RUN;
        CASCADE_LANE remainders[SOFT_RUN];
        NAME(read_remainders)(remainders, in, size, fraction, &reader);
        const size_t used =
            NAME(soft_run)(words + begin * word_size, in, remainders, size, map, exceptions, left);
        if (used > left) {
            return false;
        }
        exceptions += used * word_size;
        left -= used;
    }
    return left == 0;
}

static size_t
NAME(soft_remainders)(uint8_t *restrict dst, uint8_t *restrict exceptions,
                      size_t *restrict exception_count, void *restrict codes,
                      const uint8_t *restrict words, size_t count,
                      const struct h5twin_cascade_map *restrict map)
{
    const unsigned word_size = CASCADE_LANE_BITS / 8, trailing = map->trailing;
    const unsigned fraction = h5twin_cascade_fraction(map), exponent = map->exponent;
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(dst);
    size_t found = 0;
    for (size_t begin = 0; begin < count; begin += SOFT_RUN) {
        const size_t size = count - begin < SOFT_RUN ? count - begin : SOFT_RUN;
        const uint8_t *const in = words + begin * word_size;
        CASCADE_LANE run_codes[SOFT_RUN];
        uint64_t fields[SOFT_RUN];
        uint8_t widths[SOFT_RUN], is_exception[SOFT_RUN], any = 0;
        unsigned widest = 0;
        for (size_t i = 0; i < size; i++) {
            const struct NAME(soft_code) soft =
                NAME(soft)(NAME(load)(in, i, word_size), fraction, trailing, exponent);
            const unsigned width = NAME(soft_bits)(soft.code, fraction);
            run_codes[i] = soft.code;
            fields[i] = soft.remainder;
            widths[i] = (uint8_t)width;
            widest = width > widest ? width : widest;
            is_exception[i] = soft.code == 0 && soft.remainder != 0;
            any |= is_exception[i];
        }
        h5twin_lsb_put_all(&writer, fields, widths, size, widest);
        if (codes != NULL) {
            memcpy((CASCADE_LANE *)codes + begin, run_codes, size * sizeof run_codes[0]);
        }
        for (size_t i = 0; any && i < size; i++) {
            if (is_exception[i]) {
                memcpy(exceptions + word_size * found++, in + i * word_size, word_size);
            }
        }
    }
    *exception_count = found;
    return (size_t)(h5twin_lsb_writer_close(&writer) - dst);
}

#undef SOFT_RUN

#define CASCADE_ROW_COSTS_IN_C

#undef NAME
