/* SPDX-License-Identifier: BSD-3-Clause
 * kept_chunks.c: see kept_chunks.h. */
#include "kept_chunks.h"

#include "byte_limit.h"
#include "h5twin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* Declared for programs in include/h5twin_io.h. */
H5TWIN_API void h5twin_io_keep_chunks(size_t bytes);

/* Made by the first read of a part, and there until the process ends. */
static struct h5twin_chunk_cache *cache;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_size_t limit; /* bytes; what the cache is told */

static void
open_cache(void)
{
    const size_t bytes = h5twin_byte_limit("H5TWIN_KEPT_BYTES", H5TWIN_KEPT_BYTES);
    cache = h5twin_chunk_cache_new(bytes);
    atomic_store(&limit, bytes);
}

struct h5twin_chunk_cache *
h5twin_kept_chunks(void)
{
    (void)pthread_once(&once, open_cache);
    return atomic_load(&limit) == 0 ? NULL : cache;
}

void
h5twin_io_forget_chunks(void)
{
    h5twin_chunk_cache_forget(h5twin_kept_chunks());
}

void
h5twin_io_keep_chunks(size_t bytes)
{
    (void)pthread_once(&once, open_cache);
    atomic_store(&limit, bytes);
    h5twin_chunk_cache_set_limit(cache, bytes);
}
