/* SPDX-License-Identifier: BSD-3-Clause
 * sum_avx512.h: words to zigzag codes and from those of differences between neighbours back to
 * words, with AVX-512: running sums within a vector take log2 steps, so that only one addition
 * waits for the vector before. */
#ifndef H5TWIN_COMMON_SUM_AVX512_H
#define H5TWIN_COMMON_SUM_AVX512_H

#include "bits.h"
#include "bytes.h"
#include "scan_avx512.h"
#include "word_names.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>

#define WORD_BITS 32
#include "sum_avx512_template.h"
#define WORD_BITS 64
#include "sum_avx512_template.h"

#endif
