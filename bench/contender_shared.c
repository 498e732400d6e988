/* SPDX-License-Identifier: BSD-3-Clause
 * contender_shared.c: compressors from shared objects that the user names, as contenders. */
#include "contender.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct h5twin_bench_field
field_of(const struct contender *self, const struct bench_array *array)
{
    return (struct h5twin_bench_field){.word_size = array->word_size,
                                       .rank = array->rank,
                                       .dims = array->dims,
                                       .size = array->size,
                                       .bound = self->bound};
}

static void
peer_prepare(struct contender *self, const struct bench_array *array)
{
    self->bound = self->peer->relative_bound > 0
                      ? self->peer->relative_bound * bench_array_range(array)
                      : self->peer->absolute_bound;
    const struct h5twin_bench_field field = field_of(self, array);
    self->capacity = self->peer->capacity(&field);
}

static bool
peer_encode(const struct contender *self, const struct bench_array *array, const uint8_t *src,
            uint8_t *dst, size_t *dst_size)
{
    const struct h5twin_bench_field field = field_of(self, array);
    *dst_size = self->peer->encode(&field, src, dst, self->capacity);
    return *dst_size != 0 && *dst_size <= self->capacity;
}

static bool
peer_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
            const uint8_t *src, size_t src_size)
{
    const struct h5twin_bench_field field = field_of(self, array);
    return self->peer->decode(&field, src, src_size, dst) != 0;
}

static bool
add_peer(struct contenders *all, const struct h5twin_bench_peer *peer)
{
    struct contender *const contender = contenders_add(all, peer->name);
    if (contender == NULL) {
        return false;
    }
    contender->word_size = peer->word_size;
    contender->relative_bound = peer->relative_bound;
    contender->beside = peer->beside;
    contender->peer = peer;
    contender->prepare = peer_prepare;
    contender->encode = peer_encode;
    contender->decode = peer_decode;
    return true;
}

/* Never closed: the peers' functions are needed until the end. */
static bool
add_object(struct contenders *all, const char *path)
{
    const struct h5twin_bench_peer *(*peers_of)(unsigned *count) = NULL;
    void *const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *const symbol = object == NULL ? NULL : dlsym(object, "h5twin_bench_peers");
    if (symbol == NULL) {
        fprintf(stderr, "bench_codecs: %s\n", dlerror());
        return false;
    }
    memcpy(&peers_of, &symbol, sizeof peers_of);
    unsigned count = 0;
    const struct h5twin_bench_peer *const peers = peers_of(&count);
    bool ok = true;
    for (unsigned i = 0; i < count; i++) {
        ok = add_peer(all, &peers[i]) && ok;
    }
    return ok;
}

bool
contenders_add_shared(struct contenders *all, const char *paths)
{
    bool ok = true;
    while (*paths != '\0') {
        char path[4096];
        const size_t length = strcspn(paths, ":");
        snprintf(path, sizeof path, "%.*s", (int)length, paths);
        ok = (length == 0 || add_object(all, path)) && ok;
        paths += length + (paths[length] != '\0');
    }
    return ok;
}
