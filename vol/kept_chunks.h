/* SPDX-License-Identifier: BSD-3-Clause
 * kept_chunks.h: the decoded chunks of this process that parts are read of (io/chunk_cache.h). */
#ifndef H5TWIN_VOL_KEPT_CHUNKS_H
#define H5TWIN_VOL_KEPT_CHUNKS_H

#include "chunk_cache.h"
#include "h5twin.h"

/* Where H5TWIN_KEPT_BYTES and h5twin_io_keep_chunks() say nothing. */
#define H5TWIN_KEPT_BYTES ((size_t)256 << 20)

/* NULL: none are to be kept, or there is no memory. */
struct h5twin_chunk_cache *h5twin_kept_chunks(void);

/* Give back their memory (h5twin_io.h). */
H5TWIN_API void h5twin_io_forget_chunks(void);

#endif
