/* SPDX-License-Identifier: BSD-3-Clause
 * speed_template.h: SPspeed and DPspeed, the same text for 32- and 64-bit words: DIFFMS, then MPLG.
 *
 * A block's words become residuals; each of 32 subchunks is packed with the width of its largest
 * residual, or of its largest residual read as a signed number where that is smaller.
 *
 * Include with WORD_BITS (see word_names.h). PACKERS is a struct h5twin_bit_pack_kernels. These may
 * be defined to do the work of functions here:
 *   SUM_VECTORS(dst, codes, count, previous, is_signed)   sum_words
 *   PLAN_VECTORS(words, src, is_first, &is_signed)        plan_subchunk, of a full block */

#define PACK           PACKERS.NAME(pack)
#define UNPACK         PACKERS.NAME(unpack)
#define COUNT_BITS     NAME(H5TWIN_FPC_COUNT) /* of a stored width */
#define BLOCK_WORDS    (H5TWIN_BLOCK_BYTES / WORD_BYTES)
#define SUBCHUNK_WORDS (BLOCK_WORDS / H5TWIN_FPC_SUBCHUNKS) /* of a full block; the largest */
#define GROUP          4u
#define PREFETCH_AHEAD 2560u /* bytes */
#define DATA_BEGIN     h5twin_fpc_packed_begin(COUNT_BITS)

/* DIFFMS of count words, of a block's first ones if is_first. Returns the bits that any residual
 * uses. */
static WORD
NAME(difference)(WORD *restrict words, const uint8_t *restrict src, size_t count, bool is_first)
{
    WORD any = 0;
    size_t i = 0;
    if (is_first && count > 0) {
        words[0] = NAME(h5twin_fpc_residual)(NAME(h5twin_load)(src), 0);
        any = words[0];
        i = 1;
    }
    for (; i < count;
         i++) { /* each word is loaded twice, so that no lane waits for the one before */
        words[i] = NAME(h5twin_fpc_residual)(NAME(h5twin_load)(src + i * WORD_BYTES),
                                             NAME(h5twin_load)(src + i * WORD_BYTES - WORD_BYTES));
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
        return NAME(h5twin_bit_length)(any); /* zigzag would double the largest one */
    }
    WORD mapped[SUBCHUNK_WORDS];
    WORD any_mapped = 0;
    for (size_t i = 0; i < count; i++) {
        mapped[i] = NAME(h5twin_zigzag)(words[i]);
        any_mapped |= mapped[i];
    }
    /* The largest residual has its top bit, so that a mapped one without it is smaller. */
    if (any_mapped >> (WORD_BITS - 1) == 0 ||
        h5twin_fpc_is_signed(NAME(largest)(words, count), NAME(largest)(mapped, count))) {
        *is_signed = true;
        memcpy(words, mapped, count * sizeof words[0]);
        return NAME(h5twin_bit_length)(any_mapped);
    }
    return WORD_BITS;
}

/* The residuals of a subchunk as they will be packed, and their width. */
static unsigned
NAME(plan_subchunk)(WORD *restrict words, const uint8_t *restrict src, size_t count, bool is_first,
                    bool *is_signed)
{
#ifdef PLAN_VECTORS
    if (count == SUBCHUNK_WORDS) {
        return PLAN_VECTORS(words, src, is_first, is_signed);
    }
#endif
    const WORD any = NAME(difference)(words, src, count, is_first);
    return NAME(choose)(words, count, any, is_signed);
}

/* A block on its way, by groups of subchunks. A group is planned, then packed: one by one, packing
 * would wait for the stores of planning; all of a block at once, memory would idle in between. */
struct NAME(plan) {
    uint32_t widths[H5TWIN_FPC_SUBCHUNKS]; /* bits */
    uint32_t signed_flags;
    size_t packed_bits;
    size_t counts[GROUP]; /* of the group: words as they will be packed */
    _Alignas(64) WORD words[GROUP][SUBCHUNK_WORDS];
};

static void
NAME(plan_group)(struct NAME(plan) * plan, unsigned group, const uint8_t *src, size_t word_count)
{
    for (unsigned i = 0; i < GROUP; i++) {
        const unsigned s = group + i;
        const size_t begin = h5twin_fpc_subchunk_begin(s, word_count);
        const size_t count = h5twin_fpc_subchunk_begin(s + 1, word_count) - begin;
        const uint8_t *const words = src + begin * WORD_BYTES;
        bool is_signed;
        h5twin_prefetch_bytes(words + PREFETCH_AHEAD, SUBCHUNK_WORDS * WORD_BYTES);
        plan->widths[s] = NAME(plan_subchunk)(plan->words[i], words, count, begin == 0, &is_signed);
        plan->signed_flags |= (uint32_t)is_signed << s;
        plan->packed_bits += plan->widths[s] * count;
        plan->counts[i] = count;
    }
}

static uint8_t *
NAME(pack_group)(uint8_t *dst, const uint8_t *end, const struct NAME(plan) * plan, unsigned group)
{
    for (unsigned i = 0; i < GROUP; i++) {
        dst +=
            PACK(dst, (size_t)(end - dst), plan->words[i], SUBCHUNK_WORDS, plan->widths[group + i]);
    }
    return dst;
}

/* Of a short block, where subchunks do not end at bytes. */
static void
NAME(put_group)(struct h5twin_lsb_writer *writer, const struct NAME(plan) * plan, unsigned group)
{
    for (unsigned i = 0; i < GROUP; i++) {
        for (size_t j = 0; j < plan->counts[i]; j++) {
            h5twin_lsb_put(writer, plan->words[i][j], plan->widths[group + i]);
        }
    }
}

static size_t
NAME(encode_block)(const void *context, uint8_t *restrict dst, size_t writable,
                   const uint8_t *restrict src, size_t block_size)
{
    struct NAME(plan) plan;
    const size_t tail_size = block_size % WORD_BYTES;
    uint8_t *packed = dst + DATA_BEGIN;
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(packed);
    size_t stored_size = 0;
    (void)context;
    plan.signed_flags = 0;
    plan.packed_bits = 0;
    for (unsigned group = 0; group < H5TWIN_FPC_SUBCHUNKS; group += GROUP) {
        NAME(plan_group)(&plan, group, src, block_size / WORD_BYTES);
        stored_size = DATA_BEGIN + (plan.packed_bits + 7) / 8 + tail_size;
        if (stored_size >= block_size) {
            return block_size;
        }
        if (block_size == H5TWIN_BLOCK_BYTES) {
            packed = NAME(pack_group)(packed, dst + writable, &plan, group);
        } else {
            NAME(put_group)(&writer, &plan, group);
        }
    }
    if (block_size != H5TWIN_BLOCK_BYTES) {
        packed = h5twin_lsb_writer_close(&writer);
    }
    h5twin_store32(dst, plan.signed_flags);
    h5twin_store16(dst + 4, (uint16_t)block_size);
    h5twin_bit_pack32(dst + 6, plan.widths, H5TWIN_FPC_SUBCHUNKS, COUNT_BITS);
    memcpy(packed, src + block_size - tail_size, tail_size);
    return stored_size;
}

/* The inverse of DIFFMS, of words mapped twice if is_signed. Returns the last word. */
static WORD
NAME(sum_words)(uint8_t *restrict dst, const WORD *restrict words, size_t count, bool is_signed,
                WORD previous)
{
#ifdef SUM_VECTORS
    return SUM_VECTORS(dst, (const uint8_t *)words, count, previous, is_signed);
#else
    for (size_t i = 0; i < count; i++) {
        const WORD residual = is_signed ? NAME(h5twin_unzigzag)(words[i]) : words[i];
        previous = NAME(h5twin_fpc_word)(residual, previous);
        NAME(h5twin_store)(dst + WORD_BYTES * i, previous);
    }
    return previous;
#endif
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
        _Alignas(64) WORD words[SUBCHUNK_WORDS];
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
        previous = NAME(sum_words)(dst + begin * WORD_BYTES, words, count, (signed_flags >> s) & 1u,
                                   previous);
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

#undef PACK
#undef UNPACK
#undef BLOCK_WORDS
#undef SUBCHUNK_WORDS
#undef DATA_BEGIN
#undef GROUP
#undef PREFETCH_AHEAD
#undef COUNT_BITS
#undef WORD_BITS
