/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_cache.h: decoded chunks, kept for the next part that is read of them.
 *
 * A program that reads planes, rows or points asks for parts of the same chunks again and again.
 * The first part of a chunk is decoded alone (h5twin_plan_decode_box). Once what was decoded of a
 * chunk adds up to all of it, the next part decodes all of it, keeps it, and further parts are
 * copied. So no more than about twice the least is decoded, whatever parts are read.
 *
 * Identity a chunk is known by its stored bytes alone: their number, the frame, and sums of 32 and
 *          64 bits over all of them, which are made anew for each part. So it does not matter who
 *          wrote a chunk anew, or where: other bytes are another chunk. Damaged ones are refused,
 *          as if nothing were kept.
 * Memory   arrays that are kept take no more than the limit; each thread may be at work on one
 * more, which is kept or given back then. When there is no room, arrays that were not used since
 * this chunk was last read make room for it; if all were, nothing is kept: chunks that are read in
 * turns do not drive each other out. Threads  any number may use one cache. Nobody waits for the
 * lock: a thread that finds it taken, also in a forked child, does without the cache.
 *
 * Nothing here knows of files or of HDF5. */
#ifndef H5TWIN_IO_CHUNK_CACHE_H
#define H5TWIN_IO_CHUNK_CACHE_H

#include "run/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct h5twin_chunk_cache;

/* An empty one for arrays of at most `limit` bytes together; NULL if there is no memory. */
struct h5twin_chunk_cache *h5twin_chunk_cache_new(size_t limit);

/* No thread is at work with it any more. NULL is allowed. */
void h5twin_chunk_cache_free(struct h5twin_chunk_cache *cache);

/* h5twin_plan_decode_box of the chunk that the plan was made for, out of the cache where it can be.
 * cache may be NULL. */
enum h5twin_status h5twin_chunk_cache_read(struct h5twin_chunk_cache *cache,
                                           const struct h5twin_plan *plan,
                                           const struct h5twin_exec *exec, void *dst,
                                           const struct h5twin_box *box, const uint8_t *src,
                                           size_t src_size);

/* Another limit, in bytes. What is more than that is given back at once, or, where the lock is
 * taken, with the next part that is read. Nothing happens to NULL. */
void h5twin_chunk_cache_set_limit(struct h5twin_chunk_cache *cache, size_t limit);

/* Give back the memory of all arrays. Nothing happens where the lock is taken, or to NULL. */
void h5twin_chunk_cache_forget(struct h5twin_chunk_cache *cache);

/* What has happened, for tests and logs. */
struct h5twin_chunk_cache_counts {
    size_t kept_bytes; /* now */
    uint64_t copied;   /* parts out of the cache */
    uint64_t decoded;  /* parts decoded alone */
    uint64_t kept;     /* chunks decoded as a whole, and kept */
};
struct h5twin_chunk_cache_counts h5twin_chunk_cache_counts(struct h5twin_chunk_cache *cache);

#ifdef __cplusplus
}
#endif
#endif
