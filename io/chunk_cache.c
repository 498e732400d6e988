/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_cache.c: see chunk_cache.h. */
#include "chunk_cache.h"

#include "common/box.h"
#include "common/bytes.h"
#include "frame_core.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Chunks that the cache knows of, most without their arrays: some 400 bytes each. A place has one
 * of a few entries, by a hash of it. */
#define SETS        256u
#define WAYS        4u
#define MAX_ENTRIES (SETS * WAYS)

struct entry {
    size_t stored_size; /* bytes; 0: free */
    uint8_t frame[H5TWIN_FRAME_BYTES];
    uint64_t last_read;      /* by the cache's clock */
    size_t decoded;          /* bytes, of all parts so far */
    struct kept_array *kept; /* or NULL */
};

/* Stays until the last one who uses it lets it go. */
struct kept_array {
    atomic_uint users; /* threads that copy from it, and the entry */
    size_t size;       /* bytes */
    uint64_t sum;      /* of the stored bytes that it was decoded from */
    uint8_t bytes[];
};

struct h5twin_chunk_cache {
    atomic_size_t limit;
    pthread_mutex_t lock; /* guards all below */
    uint64_t clock;       /* parts that were read */
    struct h5twin_chunk_cache_counts counts;
    struct entry entries[MAX_ENTRIES];
};

/* ---- arrays ---- */

/* Without the lock, too. */
static void
let_go(struct kept_array *kept)
{
    if (atomic_fetch_sub(&kept->users, 1) == 1) {
        free(kept);
    }
}

/* The entry's array, if it has one. */
static void
drop(struct h5twin_chunk_cache *cache, struct entry *entry)
{
    if (entry->kept != NULL) {
        cache->counts.kept_bytes -= entry->kept->size;
        let_go(entry->kept);
        entry->kept = NULL;
    }
}

/* Bytes that may still be kept. */
static size_t
room_in(const struct h5twin_chunk_cache *cache)
{
    const size_t limit = atomic_load(&cache->limit), kept = cache->counts.kept_bytes;
    return limit > kept ? limit - kept : 0;
}

/* Drop the array that was not used for longest; false if there is none. */
static bool
drop_oldest(struct h5twin_chunk_cache *cache)
{
    struct entry *oldest = NULL;
    for (unsigned i = 0; i < MAX_ENTRIES; i++) {
        struct entry *const entry = &cache->entries[i];
        if (entry->kept != NULL && (oldest == NULL || entry->last_read < oldest->last_read)) {
            oldest = entry;
        }
    }
    if (oldest != NULL) {
        drop(cache, oldest);
    }
    return oldest != NULL;
}

/* Down to the limit, which may have become less. */
static void
trim(struct h5twin_chunk_cache *cache)
{
    while (cache->counts.kept_bytes > atomic_load(&cache->limit) && drop_oldest(cache)) {
    }
}

/* Make room for size bytes of a chunk that was last read at `since`, among arrays that were not
 * used from then on; false if there is none. */
static bool
make_room(struct h5twin_chunk_cache *cache, size_t size, uint64_t since)
{
    size_t room = room_in(cache);
    for (unsigned i = 0; i < MAX_ENTRIES && room < size; i++) {
        const struct entry *const entry = &cache->entries[i];
        room += entry->kept != NULL && entry->last_read < since ? entry->kept->size : 0;
    }
    if (room < size) {
        return false;
    }
    while (room_in(cache) < size) {
        if (!drop_oldest(cache)) {
            return false;
        }
    }
    return true;
}

/* ---- entries, with the lock held ---- */

static bool
is_of(const struct entry *entry, const uint8_t *src, size_t src_size)
{
    return entry->stored_size == src_size && memcmp(entry->frame, src, sizeof entry->frame) == 0;
}

/* The entry of this chunk; else a free one, or that of the chunk that was not read for longest. */
static struct entry *
find(struct h5twin_chunk_cache *cache, const uint8_t *src, size_t src_size)
{
    const uint32_t checksum = h5twin_load32(src + H5TWIN_FRAME_CRC_OFFSET);
    struct entry *const set = &cache->entries[checksum % SETS * WAYS];
    struct entry *best = set;
    for (unsigned i = 0; i < WAYS; i++) {
        struct entry *const entry = &set[i];
        if (is_of(entry, src, src_size)) {
            return entry;
        }
        if (best->stored_size != 0 &&
            (entry->stored_size == 0 || entry->last_read < best->last_read)) {
            best = entry;
        }
    }
    return best;
}

/* The entry of this chunk, from now on if it has none. */
static struct entry *
open_entry(struct h5twin_chunk_cache *cache, const uint8_t *src, size_t src_size)
{
    struct entry *const entry = find(cache, src, src_size);
    if (!is_of(entry, src, src_size)) {
        drop(cache, entry);
        memset(entry, 0, sizeof *entry);
        entry->stored_size = src_size;
        memcpy(entry->frame, src, sizeof entry->frame);
        entry->last_read = cache->clock;
    }
    return entry;
}

/* ---- the identity of stored bytes ---- */

#define LANES      8u /* words that are summed side by side */
#define MULTIPLIER UINT64_C(0x9E3779B97F4A7C15)

static uint64_t
mix(uint64_t sum, uint64_t word)
{
    const uint64_t product = (sum ^ word) * MULTIPLIER;
    return product << 29 | product >> 35;
}

/* A sum of all bytes that shares nothing with the checksum. */
static uint64_t
sum_of(const uint8_t *src, size_t src_size)
{
    uint64_t lanes[LANES];
    size_t at = 0;
    for (unsigned i = 0; i < LANES; i++) {
        lanes[i] = i + 1;
    }
    for (; src_size - at >= 8 * LANES; at += 8 * LANES) {
        for (unsigned i = 0; i < LANES; i++) {
            lanes[i] = mix(lanes[i], h5twin_load64(src + at + 8 * i));
        }
    }
    uint64_t sum = src_size;
    for (; at < src_size; at++) {
        sum = mix(sum, src[at]);
    }
    for (unsigned i = 0; i < LANES; i++) {
        sum = mix(sum, lanes[i]);
    }
    return sum;
}

/* ---- reading ---- */

/* What is to be done for one part. */
struct decision {
    struct kept_array *kept; /* to copy from, or to be filled; NULL: decode the part alone */
    bool is_filled;
};

static struct decision
decide(struct h5twin_chunk_cache *cache, const struct h5twin_plan *plan, const uint8_t *src,
       size_t src_size)
{
    struct decision decision = {.kept = NULL};
    const size_t size = (size_t)plan->info.raw_size;
    struct entry *const entry = open_entry(cache, src, src_size);
    const uint64_t since = entry->last_read;
    trim(cache);
    entry->last_read = ++cache->clock;
    if (entry->kept != NULL) {
        decision = (struct decision){.kept = entry->kept, .is_filled = true};
        atomic_fetch_add(&entry->kept->users, 1);
    } else if (entry->decoded >= size && make_room(cache, size, since)) {
        decision.kept = malloc(sizeof *decision.kept + size);
        if (decision.kept != NULL) {
            atomic_init(&decision.kept->users, 1);
            decision.kept->size = size;
        }
    }
    return decision;
}

/* The box of an array that is decoded. */
static enum h5twin_status
copy_box(const struct kept_array *kept, void *dst, const struct h5twin_box *box)
{
    struct h5twin_box_runs runs;
    const enum h5twin_status status = h5twin_box_open(&runs, box, dst, kept->size, 0);
    if (status == H5TWIN_OK) {
        h5twin_box_put(&runs, 0, kept->bytes, kept->size);
    }
    return status;
}

/* Decode the part alone, and note what that costs. */
static enum h5twin_status
read_alone(struct h5twin_chunk_cache *cache, const struct h5twin_plan *plan,
           const struct h5twin_exec *exec, void *dst, const struct h5twin_box *box,
           const uint8_t *src, size_t src_size)
{
    size_t decoded;
    const enum h5twin_status status =
        h5twin_plan_decode_box(plan, exec, dst, box, src, src_size, &decoded);
    if (status == H5TWIN_OK && pthread_mutex_trylock(&cache->lock) == 0) {
        struct entry *const entry = find(cache, src, src_size);
        if (is_of(entry, src, src_size)) {
            const size_t most = SIZE_MAX - entry->decoded;
            entry->decoded += decoded < most ? decoded : most;
        }
        cache->counts.decoded++;
        pthread_mutex_unlock(&cache->lock);
    }
    return status;
}

/* Out of an array that is kept, if it is of the very same bytes. */
static enum h5twin_status
read_kept(struct h5twin_chunk_cache *cache, const struct kept_array *kept, void *dst,
          const struct h5twin_box *box, const uint8_t *src, size_t src_size)
{
    enum h5twin_status status = h5twin_frame_verify(src, src_size);
    if (status == H5TWIN_OK) {
        status = copy_box(kept, dst, box);
    }
    if (status == H5TWIN_OK && pthread_mutex_trylock(&cache->lock) == 0) {
        cache->counts.copied++;
        pthread_mutex_unlock(&cache->lock);
    }
    return status;
}

/* Decode all of the chunk, for others to come, which keep it or not. */
static enum h5twin_status
fill_and_read(struct h5twin_chunk_cache *cache, const struct h5twin_plan *plan,
              const struct h5twin_exec *exec, struct kept_array *kept, void *dst,
              const struct h5twin_box *box, const uint8_t *src, size_t src_size)
{
    size_t size;
    enum h5twin_status status =
        h5twin_plan_decode(plan, exec, kept->bytes, kept->size, src, src_size, &size);
    if (status == H5TWIN_OK) {
        kept->sum = sum_of(src, src_size);
        status = copy_box(kept, dst, box);
    }
    if (status != H5TWIN_OK || pthread_mutex_trylock(&cache->lock) != 0) {
        let_go(kept);
        return status;
    }
    struct entry *const entry = find(cache, src, src_size);
    if (is_of(entry, src, src_size) && entry->kept == NULL && room_in(cache) >= kept->size) {
        entry->kept = kept;
        cache->counts.kept_bytes += kept->size;
        cache->counts.kept++;
    } else {
        let_go(kept);
    }
    pthread_mutex_unlock(&cache->lock);
    return status;
}

enum h5twin_status
h5twin_chunk_cache_read(struct h5twin_chunk_cache *cache, const struct h5twin_plan *plan,
                        const struct h5twin_exec *exec, void *dst, const struct h5twin_box *box,
                        const uint8_t *src, size_t src_size)
{
    if (cache == NULL || plan->info.stored_raw || pthread_mutex_trylock(&cache->lock) != 0) {
        return h5twin_plan_decode_box(plan, exec, dst, box, src, src_size, NULL);
    }
    const struct decision decision = decide(cache, plan, src, src_size);
    pthread_mutex_unlock(&cache->lock);
    if (decision.kept == NULL) {
        return read_alone(cache, plan, exec, dst, box, src, src_size);
    }
    if (!decision.is_filled) {
        return fill_and_read(cache, plan, exec, decision.kept, dst, box, src, src_size);
    }
    const bool is_same = decision.kept->sum == sum_of(src, src_size);
    const enum h5twin_status status = is_same
                                          ? read_kept(cache, decision.kept, dst, box, src, src_size)
                                          : read_alone(cache, plan, exec, dst, box, src, src_size);
    let_go(decision.kept);
    return status;
}

/* ---- caches ---- */

struct h5twin_chunk_cache *
h5twin_chunk_cache_new(size_t limit)
{
    struct h5twin_chunk_cache *const cache = calloc(1, sizeof *cache);
    if (cache != NULL && pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return NULL;
    }
    if (cache != NULL) {
        atomic_init(&cache->limit, limit);
    }
    return cache;
}

static void
forget(struct h5twin_chunk_cache *cache)
{
    for (unsigned i = 0; i < MAX_ENTRIES; i++) {
        drop(cache, &cache->entries[i]);
        cache->entries[i] = (struct entry){.stored_size = 0};
    }
}

void
h5twin_chunk_cache_forget(struct h5twin_chunk_cache *cache)
{
    if (cache != NULL && pthread_mutex_trylock(&cache->lock) == 0) {
        forget(cache);
        pthread_mutex_unlock(&cache->lock);
    }
}

void
h5twin_chunk_cache_set_limit(struct h5twin_chunk_cache *cache, size_t limit)
{
    if (cache != NULL) {
        atomic_store(&cache->limit, limit);
        if (pthread_mutex_trylock(&cache->lock) == 0) {
            trim(cache);
            pthread_mutex_unlock(&cache->lock);
        }
    }
}

void
h5twin_chunk_cache_free(struct h5twin_chunk_cache *cache)
{
    if (cache != NULL) {
        forget(cache);
        pthread_mutex_destroy(&cache->lock);
        free(cache);
    }
}

struct h5twin_chunk_cache_counts
h5twin_chunk_cache_counts(struct h5twin_chunk_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    const struct h5twin_chunk_cache_counts counts = cache->counts;
    pthread_mutex_unlock(&cache->lock);
    return counts;
}
