/* SPDX-License-Identifier: BSD-3-Clause
 * kept_chunks.c: see kept_chunks.h. */
#include "kept_chunks.h"

#include "h5twin.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* Declared for programs in include/h5twin_io.h. */
H5TWIN_API void h5twin_io_keep_chunks(size_t bytes);

/* Made by the first read of a part, and there until the process ends. */
static struct h5twin_chunk_cache *cache;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_size_t limit; /* bytes; what the cache is told */

/* The number of bytes that the variable names; the default if it is none. */
static size_t
limit_of_environment(void)
{
    const char *const text = getenv("H5TWIN_KEPT_BYTES");
    if (text == NULL || *text < '0' || *text > '9') {
        return H5TWIN_KEPT_BYTES;
    }
    char *end;
    errno = 0;
    const unsigned long long bytes = strtoull(text, &end, 10);
    return errno != 0 || *end != '\0' || bytes > SIZE_MAX ? H5TWIN_KEPT_BYTES : (size_t)bytes;
}

static void
open_cache(void)
{
    const size_t bytes = limit_of_environment();
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
