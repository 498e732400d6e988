/* SPDX-License-Identifier: BSD-3-Clause
 * peer.h: how other people's compressors take part in bench_codecs, beside ours in one process.
 *
 * Compile a shared object that defines h5twin_bench_peers() around their code (peer_example.c is
 * the smallest one), and name it:
 *
 *     H5TWIN_PEER=./libtheirs.so bench/run.sh peers report # several: separated by ':'
 *
 * Peers are timed exactly as our codecs are: warm buffers of the caller, one thread. */
#ifndef H5TWIN_BENCH_PEER_H
#define H5TWIN_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

/* An array, and how exactly it must come back. */
struct h5twin_bench_field {
    unsigned word_size;   /* bytes: 4 is float32, 8 is float64 */
    unsigned rank;        /* 1..8 */
    const uint64_t *dims; /* [rank], slowest varying first; their product is size / word_size */
    size_t size;          /* bytes */
    double bound;         /* |x - x'| at most that, in units of the data; 0: lossless */
};

struct h5twin_bench_peer {
    const char *name;      /* in tables, at most 63 bytes */
    const char *beside;    /* spec of our codec that it is compared with, "sleek"; NULL: none */
    unsigned word_size;    /* 4 or 8: takes only these; 0: both */
    double relative_bound; /* share of the array's range, from which `bound` is; 0: lossless */
    double absolute_bound; /* or this, in units of the data */
    /* Bytes that encode may write for this array. */
    size_t (*capacity)(const struct h5twin_bench_field *field);
    /* From src (field->size bytes) to dst, aligned to 64 bytes; bytes written, 0 if it failed. */
    size_t (*encode)(const struct h5twin_bench_field *field, const void *src, void *dst,
                     size_t capacity);
    /* From src to dst (field->size bytes); 0 if it failed. */
    int (*decode)(const struct h5twin_bench_field *field, const void *src, size_t src_size,
                  void *dst);
};

/* What the shared object defines: its peers, which stay valid. */
const struct h5twin_bench_peer *h5twin_bench_peers(unsigned *count);

#endif
