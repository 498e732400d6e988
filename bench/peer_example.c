/* SPDX-License-Identifier: BSD-3-Clause
 * peer_example.c: the smallest peer of bench_codecs, see peer.h: it copies.
 *
 *     cc -O2 -shared -fPIC -o libcopy.so peer_example.c && H5TWIN_PEER=./libcopy.so bench_codecs
 * sleek */
#include "peer.h"

#include <string.h>

static size_t
copy_capacity(const struct h5twin_bench_field *field)
{
    return field->size;
}

static size_t
copy_encode(const struct h5twin_bench_field *field, const void *src, void *dst, size_t capacity)
{
    if (capacity < field->size) {
        return 0;
    }
    memcpy(dst, src, field->size);
    return field->size;
}

static int
copy_decode(const struct h5twin_bench_field *field, const void *src, size_t src_size, void *dst)
{
    if (src_size != field->size) {
        return 0;
    }
    memcpy(dst, src, src_size);
    return 1;
}

static const struct h5twin_bench_peer peers[] = {
    {.name = "copy f32",
     .beside = "sleek",
     .word_size = 4,
     .capacity = copy_capacity,
     .encode = copy_encode,
     .decode = copy_decode},
    {.name = "copy within 1e-3",
     .beside = "sleek:range=1e-3",
     .relative_bound = 1e-3,
     .capacity = copy_capacity,
     .encode = copy_encode,
     .decode = copy_decode},
};

const struct h5twin_bench_peer *
h5twin_bench_peers(unsigned *count)
{
    *count = sizeof peers / sizeof peers[0];
    return peers;
}
