/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_subchunk_loops.h: subchunks one after the other, as a template for every instruction set.
 *
 * The file that includes this defines
 *   SLACK       bytes that one subchunk's code may touch beyond its end
 *   HAS_SINGLE  whether dimensionality 1 has code of its own
 *   struct state, struct nibbles
 *   begin(previous, dimensionality, word_size): the state before the first subchunk
 *   encode_subchunk(state, dst, src, single, word_size): returns the size, may write SLACK more
 *   read_nibbles(nibbles, src, word_size, stored_bytes): how many bytes follow them; false if a
 * code is invalid decode_subchunk(state, dst, src, nibbles, single, word_size): may read SLACK more
 * The last three change the state to that before the next subchunk. */

static inline size_t
encode_words(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
             const uint8_t *previous, unsigned dimensionality, bool single, unsigned word_size)
{
    struct state state = begin(previous, dimensionality, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        if (writable - position >= GFC_SUBCHUNK_BOUND(word_size) + SLACK) {
            position += encode_subchunk(&state, dst + position, src, single, word_size);
        } else {
            uint8_t buffer[GFC_SUBCHUNK_BOUND(8) + SLACK];
            const size_t size = encode_subchunk(&state, buffer, src, single, word_size);
            memcpy(dst + position, buffer, size);
            position += size;
        }
        src += GFC_LANES * word_size;
    }
    return position;
}

static size_t
encode(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
       const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
#define ENCODE(single, word_size)                                                                  \
    encode_words(dst, writable, src, subchunk_count, previous, dimensionality, single, word_size)
    if (HAS_SINGLE && dimensionality == 1) {
        return word_size == 4 ? ENCODE(true, 4) : ENCODE(true, 8);
    }
    return word_size == 4 ? ENCODE(false, 4) : ENCODE(false, 8);
#undef ENCODE
}

static inline enum h5twin_status
decode_words(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
             bool single, unsigned word_size, const uint8_t *restrict src, size_t src_size,
             size_t *src_used)
{
    struct state state = begin(previous, dimensionality, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        const size_t available = src_size - position;
        struct nibbles nibbles;
        size_t size;
        if (available < GFC_NIBBLE_BYTES ||
            !read_nibbles(&nibbles, src + position, word_size, &size) ||
            (size += GFC_NIBBLE_BYTES) > available) {
            return H5TWIN_ERR_CORRUPT;
        }
        uint8_t buffer[GFC_SUBCHUNK_BOUND(8) + SLACK];
        const uint8_t *bytes = src + position;
        if (available - size < SLACK) {
            memcpy(buffer, bytes, size);
            memset(buffer + size, 0, SLACK);
            bytes = buffer;
        }
        decode_subchunk(&state, dst, bytes, &nibbles, single, word_size);
        position += size;
        dst += GFC_LANES * word_size;
    }
    *src_used = position;
    return H5TWIN_OK;
}

static enum h5twin_status
decode(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
       unsigned word_size, const uint8_t *restrict src, size_t src_size, size_t *src_used)
{
#define DECODE(single, word_size)                                                                  \
    decode_words(dst, subchunk_count, previous, dimensionality, single, word_size, src, src_size,  \
                 src_used)
    if (HAS_SINGLE && dimensionality == 1) {
        return word_size == 4 ? DECODE(true, 4) : DECODE(true, 8);
    }
    return word_size == 4 ? DECODE(false, 4) : DECODE(false, 8);
#undef DECODE
}
