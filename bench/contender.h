/* SPDX-License-Identifier: BSD-3-Clause
 * contender.h: what takes part in bench_codecs: a way to encode an array and to decode it again.
 *
 * contender_h5twin.c makes those of this library, contender_peers.c those of others that are
 * packages, contender_shared.c those that the user brings. */
#ifndef H5TWIN_BENCH_CONTENDER_H
#define H5TWIN_BENCH_CONTENDER_H

#include "bench_data.h"
#include "h5twin.h"
#include "peer.h"

#define MAX_CONTENDERS 192

struct contender {
    char name[64];
    const char *variant;   /* instruction set; "-" where there is no choice */
    unsigned threads;      /* 1 for all peers but memcpy */
    unsigned word_size;    /* takes only arrays of 4 or 8 bytes per value; 0: both */
    double relative_bound; /* share of the array's range; 0 = lossless */
    int level;             /* of the peer's compressor */
    const char *beside;    /* spec of ours that it is compared with, or NULL */
    const struct h5twin_bench_peer *peer;
    struct h5twin_params params;
    /* prepare() sets these for the array at hand */
    double bound;    /* in data units; 0 = lossless */
    size_t capacity; /* bytes that encode may write */

    void (*prepare)(struct contender *self, const struct bench_array *array);
    bool (*encode)(const struct contender *self, const struct bench_array *array,
                   const uint8_t *src, uint8_t *dst, size_t *dst_size);
    bool (*decode)(const struct contender *self, const struct bench_array *array, uint8_t *dst,
                   const uint8_t *src, size_t src_size);
};

struct contenders {
    unsigned count;
    struct contender list[MAX_CONTENDERS];
};

/* Codec and options as in h5twin_params_parse(), with :range=SHARE behind them for a bound that is
 * a share of each array's range; on one variant and thread count. False with a message if spec is
 * refused. */
bool contenders_add_spec(struct contenders *all, const char *spec, const char *variant,
                         unsigned threads);

/* The same without frame and checksum, and " bare" behind its name; spec has no range-relative
 * bound. */
bool contenders_add_bare(struct contenders *all, const char *spec, const char *variant,
                         unsigned threads);

/* Every codec with each value of the options that are worth a choice, and bounds where it is lossy;
 * on one variant. */
void contenders_add_codecs(struct contenders *all, const char *variant, unsigned threads);

/* Room for one more, empty but for its name, one thread and no choice of variants; NULL with a
 * message if there is none. */
struct contender *contenders_add(struct contenders *all, const char *name);

/* On one thread: the first contender of a run. There must be room. */
void contenders_add_memcpy(struct contenders *all, unsigned threads);

/* The same by stores that go past the caches: memcpy does so only for very large copies, if at all,
 * so it is not what memory can do. */
void contenders_add_stream_copy(struct contenders *all);

/* Those other libraries that were found when this was built, and their versions on one line. */
void contenders_add_peers(struct contenders *all);
void contenders_print_versions(void);

/* Those of shared objects, see peer.h; paths are separated by ':'. False with a message if one
 * cannot be loaded. */
bool contenders_add_shared(struct contenders *all, const char *paths);

#endif
