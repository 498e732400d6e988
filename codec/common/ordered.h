/* SPDX-License-Identifier: BSD-3-Clause
 * ordered.h: items of unequal size, coded in parallel, laid down one after the other.
 *
 * The items are cut into runs of neighbours, which threads take in order. A run goes to a small
 * buffer, in a cache, until its turn has come, that is, all before it have their places; from then
 * on it goes straight to its own. Nobody spins: a thread whose buffers are all waiting for their
 * turn sleeps. The bytes are those of one thread. */
#ifndef H5TWIN_COMMON_ORDERED_H
#define H5TWIN_COMMON_ORDERED_H

#include "crc32c.h"
#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

struct h5twin_ordered {
    size_t item_count;
    size_t item_bound;  /* bytes, no item is larger */
    size_t total_bound; /* bytes, all items together are no larger; at most the room at dst */
    void *context;
    /* Write one item; returns its size. Only [dst, dst + writable) may be touched; writable is at
     * least what the bounds allow the item. Bytes written beyond its size are overwritten later. */
    size_t (*encode)(void *context, size_t item, uint8_t *dst, size_t writable);
    /* If not NULL and its crc32c is set: gets the CRC of all items, and crc_begin as its begin. */
    struct h5twin_crc32c_span *crc;
    size_t crc_begin;
};

/* Write all items to dst; returns their size together. item_count * item_bound must not overflow.
 */
size_t h5twin_ordered_encode(const struct h5twin_ordered *work, unsigned threads, uint8_t *dst);

struct h5twin_ordered_decoder {
    size_t item_count;
    size_t decoded_size; /* bytes, of all items together */
    const void *context;
    /* Bytes of an item. All items together are known to lie in the source. */
    size_t (*stored_size)(const void *context, size_t item);
    /* Decode one item from stored_size bytes to where it belongs. */
    enum h5twin_status (*decode)(const void *context, size_t item, const uint8_t *src,
                                 size_t stored_size);
    struct h5twin_crc32c_span *crc; /* as above, if all items are good */
    size_t crc_begin;
};

/* Decode items that lie one after the other from src on. The status is that of the first bad one,
 * whatever the number of threads. */
enum h5twin_status h5twin_ordered_decode(const struct h5twin_ordered_decoder *work,
                                         unsigned threads, const uint8_t *src);

/* Cut item_count items, together `size` bytes, into runs of neighbours for so many threads: run r
 * is [begins[r], begins[r + 1]). Returns how many there are. */
#define H5TWIN_MAX_RUNS 256
size_t h5twin_cut_runs(size_t begins[H5TWIN_MAX_RUNS + 1], size_t item_count, size_t size,
                       unsigned threads);

#ifdef __cplusplus
}
#endif
#endif
