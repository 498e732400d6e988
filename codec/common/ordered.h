/* SPDX-License-Identifier: BSD-3-Clause
 * ordered.h: items of unequal size, coded in parallel, laid down one after the other.
 *
 * The items are cut into runs of neighbours. If the codec can tell an item's size before packing
 * it (measure), sizes come first, a prefix sum gives each run its place, and all runs are written
 * in place. If not, each run is packed where it would start if nothing before it shrank, and the
 * runs are then moved together, in order. Nobody waits for a neighbour, nothing spins, and the
 * bytes are those of one thread. */
#ifndef H5TWIN_COMMON_ORDERED_H
#define H5TWIN_COMMON_ORDERED_H

#include <stddef.h>
#include <stdint.h>

struct h5twin_ordered {
    size_t item_count;
    size_t item_bound;  /* bytes, no item is larger */
    size_t total_bound; /* bytes, all items together are no larger; at most the room at dst */
    void *context;
    /* Write one item; returns its size. Only [dst, dst + writable) may be touched; writable is at
     * least the item's size and, if measure is NULL, at least what the bounds allow it. Bytes
     * written beyond the item's size are overwritten later. */
    size_t (*encode)(void *context, size_t item, uint8_t *dst, size_t writable);
    size_t (*measure)(void *context, size_t item); /* exactly what encode will return; or NULL */
    /* Bytes from dst to where the item starts if none before it shrinks; NULL: item * item_bound */
    size_t (*place)(void *context, size_t item);
};

/* Write all items to dst; returns their size together. item_count * item_bound must not overflow.
 */
size_t h5twin_ordered_encode(const struct h5twin_ordered *work, unsigned threads, uint8_t *dst);

/* How many runs to cut item_count items into for so many threads, and where run `run` begins. */
#define H5TWIN_MAX_RUNS 256
size_t h5twin_run_count(size_t item_count, unsigned threads);
size_t h5twin_run_begin(size_t item_count, size_t run_count, size_t run);

#endif
