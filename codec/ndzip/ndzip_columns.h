/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_columns.h: PACK and EXPAND of ndzip_block_template.h without an instruction for it.
 *
 * Mostly a head is the sign and an unbroken run of low bits: then the columns are one run too,
 * which is copied four words at a time. */
#ifndef H5TWIN_NDZIP_COLUMNS_H
#define H5TWIN_NDZIP_COLUMNS_H

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/word_names.h"

#include <stddef.h>
#include <string.h>

#define SPARE 4 /* words */

#define WORD_BITS 32
#include "ndzip_columns_template.h"
#define WORD_BITS 64
#include "ndzip_columns_template.h"

#endif
