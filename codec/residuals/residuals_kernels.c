/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_kernels.c: see residuals_kernels.h. Compiled for every instruction set: with vectors
 * those of residuals_lanes.h, without them what residuals_loops.h defines. */
#include "residuals_loops.h"

#if H5TWIN_VECTOR_BYTES == 16
#    define PACKERS h5twin_bit_pack_kernels_scalar
#else
#    define PACKERS H5TWIN_ISA_NAME(h5twin_bit_pack_kernels)
#endif

static void
widths32(uint8_t *restrict widths, const void *restrict words, size_t word_count)
{
    group_widths(widths, words, word_count, false);
}

static void
widths64(uint8_t *restrict widths, const void *restrict words, size_t word_count)
{
    group_widths(widths, words, word_count, true);
}

/* With AVX-512 bit_pack_avx512.c packs faster than vectors of fields: cascade:effort=fast encodes
 * an f32 field at 1.29 GB/s with it, and at 1.03 without. */
#if H5TWIN_VECTOR_BYTES == 0 || H5TWIN_VECTOR_BYTES == 64
#    define OWN_PACK

static size_t
pack32(uint8_t *restrict dst, size_t writable, const void *restrict words, size_t word_count,
       const uint8_t *restrict widths)
{
    return pack_groups(&PACKERS, dst, writable, words, word_count, widths, false);
}

static size_t
pack64(uint8_t *restrict dst, size_t writable, const void *restrict words, size_t word_count,
       const uint8_t *restrict widths)
{
    return pack_groups(&PACKERS, dst, writable, words, word_count, widths, true);
}
#endif

#if H5TWIN_VECTOR_BYTES != 0
#    include "residuals_lanes.h"

const struct h5twin_residuals_kernels H5TWIN_ISA_NAME(h5twin_residuals_kernels) = {
    .widths = {widths32, widths64},
#    ifdef OWN_PACK
    .pack = {pack32, pack64},
#    else
    .pack = {pack_lanes32, pack_lanes64},
#    endif
    .unpack = {unpack_lanes32, unpack_lanes64},
    .analyse = {analyse_lanes32, analyse_lanes64},
    .tokens = {tokens_lanes32, tokens_lanes64},
    .entropy = entropy_lanes,
    .put = put_lanes,
    .put_extra = {put_extra_lanes32, put_extra_lanes64},
    .take = take_lanes,
    .expand = {expand_lanes32, expand_lanes64},
};

#else

static void
unpack32(void *restrict words, const uint8_t *restrict widths, const uint8_t *restrict src,
         size_t readable)
{
    (void)readable;
    unpack_groups(&PACKERS, words, widths, src, false);
}

static void
unpack64(void *restrict words, const uint8_t *restrict widths, const uint8_t *restrict src,
         size_t readable)
{
    (void)readable;
    unpack_groups(&PACKERS, words, widths, src, true);
}

static struct h5twin_residuals_block
analyse32(uint32_t (*restrict histograms)[RESIDUALS_TOKENS], uint32_t *restrict counts,
          const void *restrict words, unsigned word_count)
{
    return analyse_block(histograms, counts, words, word_count, false);
}

static struct h5twin_residuals_block
analyse64(uint32_t (*restrict histograms)[RESIDUALS_TOKENS], uint32_t *restrict counts,
          const void *restrict words, unsigned word_count)
{
    return analyse_block(histograms, counts, words, word_count, true);
}

static void
tokens32(uint8_t *restrict tokens, const void *restrict words, unsigned word_count, unsigned shift)
{
    tokens_of(tokens, words, word_count, shift, false);
}

static void
tokens64(uint8_t *restrict tokens, const void *restrict words, unsigned word_count, unsigned shift)
{
    tokens_of(tokens, words, word_count, shift, true);
}

static void
put_extra32(struct h5twin_lsb_writer *writer, const void *restrict words, unsigned word_count,
            unsigned shift)
{
    put_extra_bits(writer, words, word_count, shift, false);
}

static void
put_extra64(struct h5twin_lsb_writer *writer, const void *restrict words, unsigned word_count,
            unsigned shift)
{
    put_extra_bits(writer, words, word_count, shift, true);
}

static void
expand32(void *restrict words, const uint8_t *restrict tokens, unsigned word_count,
         struct h5twin_lsb_reader *restrict reader)
{
    expand_tokens(words, tokens, word_count, reader, false);
}

static void
expand64(void *restrict words, const uint8_t *restrict tokens, unsigned word_count,
         struct h5twin_lsb_reader *restrict reader)
{
    expand_tokens(words, tokens, word_count, reader, true);
}

const struct h5twin_residuals_kernels h5twin_residuals_kernels_scalar = {
    .widths = {widths32, widths64},
    .pack = {pack32, pack64},
    .unpack = {unpack32, unpack64},
    .analyse = {analyse32, analyse64},
    .tokens = {tokens32, tokens64},
    .entropy = entropy_of,
    .put = put_in_rounds,
    .put_extra = {put_extra32, put_extra64},
    .take = take_in_rounds,
    .expand = {expand32, expand64},
};

#endif
