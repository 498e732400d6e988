/* SPDX-License-Identifier: BSD-3-Clause
 * sum_avx2.h: from zigzag codes of differences between neighbours back to words, with AVX2: running
 * sums within a vector take log2 steps, so that only one addition waits for the vector before. */
#ifndef H5TWIN_COMMON_SUM_AVX2_H
#define H5TWIN_COMMON_SUM_AVX2_H

#include "bits.h"
#include "bytes.h"
#include "lanes_avx2.h"
#include "word_names.h"

#include <stdbool.h>
#include <stddef.h>

#define WORD_BITS 32
#include "sum_avx2_template.h"
#define WORD_BITS 64
#include "sum_avx2_template.h"

#endif
