/* SPDX-License-Identifier: BSD-3-Clause
 * speed_template.h: SPspeed and DPspeed, the same text for 32- and 64-bit words: DIFFMS, then MPLG.
 *
 * A block's words become residuals; each of 32 subchunks is packed with the width of its largest
 * residual, or of its largest residual read as a signed number where that is smaller.
 *
 * Include with WORD_BITS, and COUNT_BITS for the width of a stored width. Defines NAME(...).
 * SUM_WORDS32 or 64 (dst, words, count, is_signed, previous) is the inverse of DIFFMS, of words
 * mapped twice if is_signed; it returns the last word. PACKERS is a struct h5twin_bit_packers.
 * With PLAN_VECTORS32 and 64 (words, src, is_first, &is_signed) defined, that does the work of
 * plan_subchunk for the subchunks of a full block. */

#define JOIN_TEXT(a, b) a##b
#define JOIN(a, b)      JOIN_TEXT(a, b)
#define NAME(stem)      JOIN(stem, WORD_BITS)
#define WORD            JOIN(JOIN(uint, WORD_BITS), _t)
#define WORD_BYTES      (WORD_BITS / 8)
#define LOAD            JOIN(h5twin_load, WORD_BITS)
#define STORE           JOIN(h5twin_store, WORD_BITS)
#define ZIGZAG          JOIN(h5twin_zigzag, WORD_BITS)
#define UNZIGZAG        JOIN(h5twin_unzigzag, WORD_BITS)
#define BIT_LENGTH      JOIN(h5twin_bit_length, WORD_BITS)
#define SUM_WORDS       JOIN(SUM_WORDS, WORD_BITS)
#ifdef PLAN_VECTORS32
#    define PLAN_VECTORS JOIN(PLAN_VECTORS, WORD_BITS)
#endif
#define PACK           PACKERS.JOIN(pack, WORD_BITS)
#define UNPACK         PACKERS.JOIN(unpack, WORD_BITS)
#define BLOCK_WORDS    (H5TWIN_BLOCK_BYTES / WORD_BYTES)
#define SUBCHUNK_WORDS (BLOCK_WORDS / H5TWIN_FPC_SUBCHUNKS) /* of a full block; the largest */
#define DATA_BEGIN     h5twin_fpc_packed_begin(COUNT_BITS)

struct NAME(plan) {
    _Alignas(64) WORD words[BLOCK_WORDS]; /* as they will be packed */
    uint32_t signed_flags;
    uint32_t widths[H5TWIN_FPC_SUBCHUNKS]; /* bits */
    size_t stored_size;                    /* bytes, with the tail */
};

/* DIFFMS of the words [begin, end) of a block. Returns the bits that any residual uses. */
static WORD
NAME(difference)(WORD *restrict words, const uint8_t *restrict src, size_t begin, size_t end)
{
    WORD any = 0;
    for (size_t i = begin; i < end; i++) {
        const WORD previous = i == 0 ? 0 : LOAD(src + (i - 1) * WORD_BYTES);
        words[i] = NAME(h5twin_fpc_residual)(LOAD(src + i * WORD_BYTES), previous);
        any |= words[i];
    }
    return any;
}

static WORD
NAME(largest)(const WORD *words, size_t count)
{
    WORD largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = words[i] > largest ? words[i] : largest;
    }
    return largest;
}

/* Decide how a subchunk is packed, and make its words ready. `any` is their union of bits. */
static unsigned
NAME(choose)(WORD *words, size_t count, WORD any, bool *is_signed)
{
    *is_signed = false;
    if (any >> (WORD_BITS - 1) == 0) {
        return BIT_LENGTH(any); /* zigzag would double the largest one */
    }
    WORD mapped[SUBCHUNK_WORDS];
    WORD any_mapped = 0;
    for (size_t i = 0; i < count; i++) {
        mapped[i] = ZIGZAG(words[i]);
        any_mapped |= mapped[i];
    }
    /* The largest residual has its top bit; equal widths are decided by the values. */
    if (any_mapped >> (WORD_BITS - 1) == 0 ||
        NAME(largest)(mapped, count) < NAME(largest)(words, count)) {
        *is_signed = true;
        memcpy(words, mapped, count * sizeof words[0]);
        return BIT_LENGTH(any_mapped);
    }
    return WORD_BITS;
}

/* The residuals of a subchunk as they will be packed, and their width. */
static unsigned
NAME(plan_subchunk)(WORD *words, const uint8_t *src, size_t begin, size_t end, bool *is_signed)
{
#ifdef PLAN_VECTORS
    if (end - begin == SUBCHUNK_WORDS) {
        return PLAN_VECTORS(words + begin, src + begin * WORD_BYTES, begin == 0, is_signed);
    }
#endif
    const WORD any = NAME(difference)(words, src, begin, end);
    return NAME(choose)(words + begin, end - begin, any, is_signed);
}

static void
NAME(plan_block)(struct NAME(plan) * plan, const uint8_t *src, size_t block_size)
{
    const size_t word_count = block_size / WORD_BYTES;
    size_t packed_bits = 0;
    plan->signed_flags = 0;
    for (unsigned s = 0; s < H5TWIN_FPC_SUBCHUNKS; s++) {
        const size_t begin = h5twin_fpc_subchunk_begin(s, word_count);
        const size_t end = h5twin_fpc_subchunk_begin(s + 1, word_count);
        bool is_signed;
        h5twin_prefetch_bytes(src + H5TWIN_PREFETCH_AHEAD + begin * WORD_BYTES,
                              H5TWIN_BLOCK_BYTES / H5TWIN_FPC_SUBCHUNKS);
        plan->widths[s] = NAME(plan_subchunk)(plan->words, src, begin, end, &is_signed);
        plan->signed_flags |= (uint32_t)is_signed << s;
        packed_bits += plan->widths[s] * (end - begin);
    }
    plan->stored_size = DATA_BEGIN + (packed_bits + 7) / 8 + block_size % WORD_BYTES;
}

/* The words of a short block, whose subchunks do not end at bytes. Returns the end. */
static uint8_t *
NAME(pack_short)(uint8_t *dst, const struct NAME(plan) * plan, size_t word_count)
{
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(dst);
    for (unsigned s = 0; s < H5TWIN_FPC_SUBCHUNKS; s++) {
        const size_t end = h5twin_fpc_subchunk_begin(s + 1, word_count);
        for (size_t i = h5twin_fpc_subchunk_begin(s, word_count); i < end; i++) {
            h5twin_lsb_put(&writer, plan->words[i], plan->widths[s]);
        }
    }
    return h5twin_lsb_writer_close(&writer);
}

static size_t
NAME(encode_block)(const void *context, uint8_t *restrict dst, size_t writable,
                   const uint8_t *restrict src, size_t block_size)
{
    struct NAME(plan) plan;
    const size_t tail_size = block_size % WORD_BYTES;
    const uint8_t *const end = dst + writable;
    (void)context;
    NAME(plan_block)(&plan, src, block_size);
    if (plan.stored_size >= block_size) {
        return block_size;
    }
    h5twin_store32(dst, plan.signed_flags);
    h5twin_store16(dst + 4, (uint16_t)block_size);
    h5twin_bit_pack32(dst + 6, plan.widths, H5TWIN_FPC_SUBCHUNKS, COUNT_BITS);
    dst += DATA_BEGIN;
    if (block_size == H5TWIN_BLOCK_BYTES) {
        for (unsigned s = 0; s < H5TWIN_FPC_SUBCHUNKS; s++) {
            dst += PACK(dst, (size_t)(end - dst), plan.words + s * SUBCHUNK_WORDS, SUBCHUNK_WORDS,
                        plan.widths[s]);
        }
    } else {
        dst = NAME(pack_short)(dst, &plan, block_size / WORD_BYTES);
    }
    memcpy(dst, src + block_size - tail_size, tail_size);
    return plan.stored_size;
}

static void
NAME(unpack_words)(uint8_t *restrict dst, size_t block_size, const uint32_t *widths,
                   uint32_t signed_flags, const uint8_t *restrict packed, size_t packed_size)
{
    const size_t word_count = block_size / WORD_BYTES;
    const bool is_full = block_size == H5TWIN_BLOCK_BYTES;
    struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(packed, packed_size);
    WORD previous = 0;
    for (unsigned s = 0; s < H5TWIN_FPC_SUBCHUNKS; s++) {
        WORD words[SUBCHUNK_WORDS];
        const size_t begin = h5twin_fpc_subchunk_begin(s, word_count);
        const size_t count = h5twin_fpc_subchunk_begin(s + 1, word_count) - begin;
        if (is_full) {
            UNPACK(words, count, widths[s], packed);
            packed += SUBCHUNK_WORDS / 8 * widths[s];
        } else {
            for (size_t i = 0; i < count; i++) {
                words[i] = (WORD)h5twin_lsb_get(&reader, widths[s]);
            }
        }
        previous =
            SUM_WORDS(dst + begin * WORD_BYTES, words, count, (signed_flags >> s) & 1u, previous);
    }
}

static enum h5twin_status
NAME(decode_block)(const void *context, uint8_t *restrict dst, size_t block_size,
                   const uint8_t *restrict src, size_t stored_size)
{
    const size_t word_count = block_size / WORD_BYTES;
    const size_t tail_size = block_size % WORD_BYTES;
    (void)context;
    if (stored_size < DATA_BEGIN || h5twin_load16(src + 4) != (uint16_t)block_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    uint32_t widths[H5TWIN_FPC_SUBCHUNKS];
    h5twin_bit_unpack32(widths, H5TWIN_FPC_SUBCHUNKS, COUNT_BITS, src + 6);
    size_t packed_bits = 0;
    for (unsigned s = 0; s < H5TWIN_FPC_SUBCHUNKS; s++) {
        if (widths[s] > WORD_BITS) {
            return H5TWIN_ERR_CORRUPT;
        }
        packed_bits += widths[s] * (h5twin_fpc_subchunk_begin(s + 1, word_count) -
                                    h5twin_fpc_subchunk_begin(s, word_count));
    }
    const size_t packed_size = (packed_bits + 7) / 8;
    if (stored_size != DATA_BEGIN + packed_size + tail_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    NAME(unpack_words)
    (dst, block_size, widths, h5twin_load32(src), src + DATA_BEGIN, packed_size);
    memcpy(dst + block_size - tail_size, src + stored_size - tail_size, tail_size);
    return H5TWIN_OK;
}

#undef JOIN_TEXT
#undef JOIN
#undef NAME
#undef WORD
#undef WORD_BYTES
#undef LOAD
#undef STORE
#undef ZIGZAG
#undef UNZIGZAG
#undef BIT_LENGTH
#undef SUM_WORDS
#undef PACK
#undef PLAN_VECTORS
#undef UNPACK
#undef BLOCK_WORDS
#undef SUBCHUNK_WORDS
#undef DATA_BEGIN
#undef WORD_BITS
#undef COUNT_BITS
