/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_map_template.h: the value maps for one width of lanes; see cascade_map_core.h.
 *
 * A word stands in the low bits of its lane, with zeros above.
 * Source  FORMAT.md section 4. */

/* The signed number in the low word_bits of a lane. */
H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(sign_extend)(CASCADE_LANE lane, unsigned word_bits)
{
    const unsigned unused = CASCADE_LANE_BITS - word_bits;
    return (CASCADE_LANE)((CASCADE_SIGNED_LANE)(lane << unused) >> unused);
}

/* All ones for a negative number, else 0. */
H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(sign_mask)(CASCADE_LANE lane)
{
    return (CASCADE_LANE)0 - (lane >> (CASCADE_LANE_BITS - 1));
}

/* Bit length of a lane, in a form that compilers put into vectors. */
H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(length)(CASCADE_LANE lane)
{
    return (CASCADE_LANE)(CASCADE_LANE_BITS - CASCADE_LANE_LEADING(lane | 1)) - (lane == 0);
}

/* |lane| of a signed lane. */
H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(magnitude)(CASCADE_LANE lane)
{
    const CASCADE_LANE sign = CASCADE_LANE_NAME(sign_mask)(lane);
    return (lane ^ sign) - sign;
}

/* Where the key of a difference stands in a table, times 2, plus 1 for a negative one; `none` if it
 * is too short to have one (FORMAT.md section 11). */
H5TWIN_HD uint32_t
CASCADE_LANE_NAME(key_slot)(CASCADE_LANE difference, unsigned word_bits)
{
    const unsigned leading = CASCADE_LANE_BITS == 64 ? CASCADE_KEY_BITS_64 : CASCADE_KEY_BITS_32;
    const uint32_t none =
        2 * (CASCADE_LANE_BITS == 64 ? 1u << CASCADE_SLOT_BITS_64 : CASCADE_SLOTS_32);
    const CASCADE_LANE lane = CASCADE_LANE_NAME(sign_extend)(difference, word_bits);
    const CASCADE_LANE size = CASCADE_LANE_NAME(magnitude)(lane);
    const CASCADE_LANE length = CASCADE_LANE_NAME(length)(size);
    const CASCADE_LANE below = length - leading;
    const CASCADE_LANE bits = size >> (below & (CASCADE_LANE_BITS - 1));
    /* the highest bit is 1 */
    uint32_t slot = ((uint32_t)below << (leading - 1)) + (uint32_t)bits - (1u << (leading - 1));
    if (CASCADE_LANE_BITS == 64) {
        slot = slot * UINT32_C(2654435769) >> (32 - CASCADE_SLOT_BITS_64);
    }
    slot = slot << 1 | (uint32_t)(lane >> (CASCADE_LANE_BITS - 1));
    return length < leading ? none : slot;
}

/* What a difference leaves of one that refers to it, by lag * 2 + sign; lag 0: all. */
H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(reference_rest)(CASCADE_LANE difference, CASCADE_LANE source, uint32_t entry)
{
    const CASCADE_LANE sign = (CASCADE_LANE)0 - (entry & 1);
    const CASCADE_LANE refers = (CASCADE_LANE)0 - (entry >> 1 != 0);
    return difference - (((source ^ sign) - sign) & refers);
}

/* The lowest `bits` bits, fewer than a lane has. */
H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(low_mask)(unsigned bits)
{
    return ((CASCADE_LANE)1 << bits) - 1;
}

/* ---- identity ---- */

H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(identity)(CASCADE_LANE word, unsigned word_bits, unsigned trailing)
{
    const unsigned unused = CASCADE_LANE_BITS - word_bits;
    return (CASCADE_LANE)((CASCADE_SIGNED_LANE)(word << unused) >> (unused + trailing));
}

H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(identity_back)(CASCADE_LANE code, unsigned trailing)
{
    return code << trailing;
}

/* ---- monotone ---- */

H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(monotone)(CASCADE_LANE word, unsigned word_bits, unsigned trailing)
{
    const CASCADE_LANE x = word >> trailing;
    const unsigned sign_bit = word_bits - trailing - 1;
    const CASCADE_LANE sign = (CASCADE_LANE)0 - (x >> sign_bit & 1);
    return (x & CASCADE_LANE_NAME(low_mask)(sign_bit)) ^ sign;
}

H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(monotone_back)(CASCADE_LANE code, unsigned word_bits, unsigned trailing)
{
    const CASCADE_LANE q = CASCADE_LANE_NAME(sign_extend)(code, word_bits);
    const CASCADE_LANE sign = CASCADE_LANE_NAME(sign_mask)(q);
    const unsigned sign_bit = word_bits - trailing - 1;
    return (((q ^ sign) & CASCADE_LANE_NAME(low_mask)(sign_bit)) | (sign & 1) << sign_bit)
           << trailing;
}

/* ---- soft: words of all bits of a lane ---- */

/* Code and remainder of a word: how many bits that is follows from the code. */
struct CASCADE_LANE_NAME(soft_code) {
    CASCADE_LANE code, remainder;
};

/* The bits of the remainder that come with a code. */
H5TWIN_HD unsigned
CASCADE_LANE_NAME(soft_bits)(CASCADE_LANE code, unsigned fraction)
{
    const unsigned length = (unsigned)CASCADE_LANE_NAME(length)(CASCADE_LANE_NAME(magnitude)(code));
    const unsigned bits = length > fraction ? 0 : fraction + 1 - length;
    return length == 0 ? 1 : bits;
}

H5TWIN_HD struct CASCADE_LANE_NAME(soft_code)
    CASCADE_LANE_NAME(soft)(CASCADE_LANE word, unsigned fraction, unsigned trailing,
                            unsigned exponent)
{
    const unsigned sign_bit = CASCADE_LANE_BITS - trailing - 1;
    const CASCADE_LANE x = word >> trailing;
    const CASCADE_LANE sign = (CASCADE_LANE)0 - (x >> sign_bit);
    const CASCADE_LANE magnitude = x & CASCADE_LANE_NAME(low_mask)(sign_bit);
    const unsigned own = (unsigned)(magnitude >> fraction);
    const CASCADE_LANE significand =
        (magnitude & CASCADE_LANE_NAME(low_mask)(fraction)) | (CASCADE_LANE)(own != 0) << fraction;
    const unsigned wanted = exponent - (own != 0 ? own : 1);
    /* one more than its bits takes all of the significand away */
    const unsigned shift = own >= exponent ? 0 : wanted <= fraction ? wanted : fraction + 1;
    const CASCADE_LANE above = magnitude - ((CASCADE_LANE)(exponent - 1) << fraction);
    const CASCADE_LANE quotient = own >= exponent ? above : significand >> shift;
    const CASCADE_LANE cut = significand & CASCADE_LANE_NAME(low_mask)(shift);
    struct CASCADE_LANE_NAME(soft_code) soft;
    soft.code = (quotient ^ sign) - sign;
    soft.remainder = quotient == 0 ? (CASCADE_LANE)(x != 0) : cut;
    return soft;
}

/* The word of a code that is not 0, and its remainder. */
H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(soft_back)(CASCADE_LANE code, CASCADE_LANE remainder, unsigned fraction,
                             unsigned trailing, unsigned exponent)
{
    const unsigned sign_bit = CASCADE_LANE_BITS - trailing - 1;
    const CASCADE_LANE sign = code >> (CASCADE_LANE_BITS - 1);
    const CASCADE_LANE quotient = CASCADE_LANE_NAME(magnitude)(code);
    const unsigned length = (unsigned)CASCADE_LANE_NAME(length)(quotient);
    const unsigned shift = length > fraction ? 0 : fraction + 1 - length;
    const CASCADE_LANE above = quotient + ((CASCADE_LANE)(exponent - 1) << fraction);
    const CASCADE_LANE below =
        ((CASCADE_LANE)(exponent - shift) << fraction) +
        ((quotient << shift | remainder) & CASCADE_LANE_NAME(low_mask)(fraction));
    const CASCADE_LANE magnitude = length > fraction ? above : below;
    return ((magnitude & CASCADE_LANE_NAME(low_mask)(sign_bit)) | sign << sign_bit) << trailing;
}

/* ---- dictionary: keys in the order of the numbers, of word_bits - trailing bits ---- */

H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(key)(CASCADE_LANE word, const struct h5twin_cascade_map *map)
{
    const CASCADE_LANE x = word >> map->trailing;
    const CASCADE_LANE top = (CASCADE_LANE)1 << (map->word_bits - map->trailing - 1);
    if (map->map == CASCADE_IDENTITY || (x & top) == 0) {
        return x ^ top;
    }
    return ~x & (top | (top - 1));
}

H5TWIN_HD CASCADE_LANE
CASCADE_LANE_NAME(key_back)(CASCADE_LANE key, const struct h5twin_cascade_map *map)
{
    const CASCADE_LANE top = (CASCADE_LANE)1 << (map->word_bits - map->trailing - 1);
    const CASCADE_LANE all = top | (top - 1);
    const CASCADE_LANE x =
        map->map == CASCADE_IDENTITY || (key & top) != 0 ? (key & all) ^ top : ~key & all;
    return x << map->trailing;
}
