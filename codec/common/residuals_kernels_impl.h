/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_kernels_impl.h: all kernels of residuals_kernels.h in C, for words of both widths. One
 * file per instruction set includes it, with RESIDUALS_PACKERS its variant of bit_pack.h,
 * RESIDUALS_OWN_PACKED if it has its own widths and unpack, and RESIDUALS_OWN_ENCODER if it takes
 * blocks apart in a way of its own. */
#ifndef H5TWIN_COMMON_RESIDUALS_KERNELS_IMPL_H
#define H5TWIN_COMMON_RESIDUALS_KERNELS_IMPL_H

#include "residuals_loops.h"

#ifndef RESIDUALS_OWN_PACKED

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

static void
unpack32(void *restrict words, const uint8_t *restrict widths, const uint8_t *restrict src,
         size_t readable)
{
    (void)readable;
    unpack_groups(&RESIDUALS_PACKERS, words, widths, src, false);
}

static void
unpack64(void *restrict words, const uint8_t *restrict widths, const uint8_t *restrict src,
         size_t readable)
{
    (void)readable;
    unpack_groups(&RESIDUALS_PACKERS, words, widths, src, true);
}

#endif

static size_t
pack32(uint8_t *restrict dst, size_t writable, const void *restrict words, size_t word_count,
       const uint8_t *restrict widths)
{
    return pack_groups(&RESIDUALS_PACKERS, dst, writable, words, word_count, widths, false);
}

static size_t
pack64(uint8_t *restrict dst, size_t writable, const void *restrict words, size_t word_count,
       const uint8_t *restrict widths)
{
    return pack_groups(&RESIDUALS_PACKERS, dst, writable, words, word_count, widths, true);
}

#ifndef RESIDUALS_OWN_ENCODER

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

#endif

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

#endif
