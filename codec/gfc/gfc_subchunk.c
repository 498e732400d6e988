/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_subchunk.c: subchunks of GFC in plain C.
 *
 * Each residual is stored as a whole word and the position then moved on by its own size: 7 bytes
 * too many at most, which the next one overwrites. Where the buffer ends too soon for that, a
 * subchunk goes through a buffer of its own. The functions with a word size are inlined into one
 * caller per size, so that nothing is decided inside the loops.
 * Source  FORMAT.md sections 4 to 6. */
#include "gfc_subchunk.h"

#include "../common/bytes.h"
#include "gfc_core.h"

#include <string.h>

#define SLACK 8u /* bytes that a load or store may reach beyond its residual */

static inline uint64_t
load_word(const uint8_t *src, unsigned word_size)
{
    return word_size == 4 ? h5twin_load32(src) : h5twin_load64(src);
}

/* The subchunk before, and where the predictors of the lanes lie in it, in bytes. */
struct state {
    const uint8_t *previous;
    uint16_t offset[GFC_LANES];
};

static struct state
begin(const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    struct state state = {.previous = previous};
    for (unsigned lane = 0; lane < GFC_LANES; lane++) {
        state.offset[lane] = (uint16_t)(h5twin_gfc_predictor(lane, dimensionality) * word_size);
    }
    return state;
}

/* Code and stored bytes of one value. */
struct residual {
    uint64_t magnitude;
    unsigned stored_bytes;
    unsigned nibble;
};

static inline struct residual
find_residual(const uint8_t *value, const uint8_t *prediction, unsigned word_size)
{
    struct residual residual;
    if (word_size == 4) {
        const uint32_t difference = h5twin_load32(value) - h5twin_load32(prediction);
        const uint32_t magnitude = h5twin_gfc_magnitude32(difference);
        residual.magnitude = magnitude;
        residual.stored_bytes = h5twin_gfc_stored_bytes32(magnitude);
        residual.nibble = ((difference >> 31) << 3) | residual.stored_bytes;
    } else {
        const uint64_t difference = h5twin_load64(value) - h5twin_load64(prediction);
        residual.magnitude = h5twin_gfc_magnitude64(difference);
        residual.stored_bytes = h5twin_gfc_stored_bytes64(residual.magnitude);
        residual.nibble =
            ((unsigned)(difference >> 63) << 3) | h5twin_gfc_code64(residual.stored_bytes);
    }
    return residual;
}

/* ---- encode ---- */

static inline size_t
encode_subchunk(struct state *state, uint8_t *restrict dst, const uint8_t *restrict src,
                bool single, unsigned word_size)
{
    const uint8_t *restrict const previous = state->previous;
    (void)single;
    uint8_t *bytes = dst + GFC_NIBBLE_BYTES;
    for (unsigned lane = 0; lane < GFC_LANES; lane += 2) {
        const struct residual even =
            find_residual(src + lane * word_size, previous + state->offset[lane], word_size);
        const struct residual odd = find_residual(src + (lane + 1) * word_size,
                                                  previous + state->offset[lane + 1], word_size);
        dst[lane / 2] = (uint8_t)(even.nibble | (odd.nibble << 4));
        h5twin_store64(bytes, even.magnitude);
        bytes += even.stored_bytes;
        h5twin_store64(bytes, odd.magnitude);
        bytes += odd.stored_bytes;
    }
    state->previous = src;
    return (size_t)(bytes - dst);
}

/* ---- decode ---- */

/* Read where they are needed. */
struct nibbles {
    const uint8_t *bytes;
};

static inline bool
read_nibbles(struct nibbles *nibbles, const uint8_t *src, unsigned word_size, size_t *stored_bytes)
{
    nibbles->bytes = src;
    unsigned sum = 0;
    bool valid = true;
    for (unsigned i = 0; i < GFC_NIBBLE_BYTES; i++) {
        const unsigned even = src[i] & 7u;
        const unsigned odd = (src[i] >> 4) & 7u;
        if (word_size == 4) {
            sum += even + odd;
            valid = valid && even <= 4 && odd <= 4;
        } else {
            sum += h5twin_gfc_code_bytes64(even) + h5twin_gfc_code_bytes64(odd);
        }
    }
    *stored_bytes = sum;
    return valid;
}

static inline void
decode_subchunk(struct state *state, uint8_t *dst, const uint8_t *restrict src,
                const struct nibbles *nibbles, bool single, unsigned word_size)
{
    (void)single;
    static const uint64_t masks[9] = {0,
                                      0xFF,
                                      0xFFFF,
                                      0xFFFFFF,
                                      0xFFFFFFFF,
                                      UINT64_C(0xFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFFFFFF)};
    const uint8_t *bytes = src + GFC_NIBBLE_BYTES;
    for (unsigned lane = 0; lane < GFC_LANES; lane++) {
        const unsigned nibble = (unsigned)nibbles->bytes[lane / 2] >> (4 * (lane % 2));
        const unsigned code = nibble & 7u;
        const unsigned stored_bytes = word_size == 4 ? code : h5twin_gfc_code_bytes64(code);
        const uint64_t magnitude = h5twin_load64(bytes) & masks[stored_bytes];
        const uint64_t negative = UINT64_C(0) - ((nibble >> 3) & 1u); /* all ones if so */
        const uint64_t value = load_word(state->previous + state->offset[lane], word_size) +
                               ((magnitude ^ negative) - negative);
        bytes += stored_bytes;
        if (word_size == 4) {
            h5twin_store32(dst + 4 * lane, (uint32_t)value);
        } else {
            h5twin_store64(dst + 8 * lane, value);
        }
    }
    state->previous = dst;
}

#define HAS_SINGLE false
#include "gfc_subchunk_loops.h"

const struct h5twin_gfc_kernels h5twin_gfc_kernels_scalar = {
    .encode = encode,
    .decode = decode,
};

H5TWIN_KERNELS_FOR(h5twin_gfc_kernels, H5TWIN_OWN_VARIANTS(h5twin_gfc_kernels))
