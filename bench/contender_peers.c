/* SPDX-License-Identifier: BSD-3-Clause
 * contender_peers.c: memcpy, and the general and floating-point compressors that users would pick
 * instead, as contenders. CMake defines H5TWIN_HAVE_* for those whose libraries it finds.
 *
 * Each is used as its manual proposes for a buffer in memory, with contexts kept between calls
 * where the library has them. */
#include "common/parallel.h"
#include "common/stream_copy.h"
#include "contender.h"

#include <stdio.h>
#include <string.h>
#ifdef H5TWIN_HAVE_ZSTD
#    include <zstd.h>
#endif
#ifdef H5TWIN_HAVE_LZ4
#    include <lz4.h>
#endif
#ifdef H5TWIN_HAVE_ZLIB
#    include <zlib.h>
#endif
#ifdef H5TWIN_HAVE_ZFP
#    include <zfp.h>
#endif

static void
add(struct contenders *all, struct contender contender, const char *name)
{
    struct contender *const added = contenders_add(all, name);
    if (added != NULL) {
        contender.variant = added->variant;
        contender.threads = added->threads;
        memcpy(contender.name, added->name, sizeof contender.name);
        *added = contender;
    }
}

/* ---- memcpy ---- */

static void
memcpy_prepare(struct contender *self, const struct bench_array *array)
{
    self->capacity = array->size;
}

struct copy {
    uint8_t *dst;
    const uint8_t *src;
    size_t size;
    size_t pieces;
};

static void
copy_piece(void *context, size_t piece)
{
    const struct copy *const copy = context;
    const size_t begin = copy->size * piece / copy->pieces;
    const size_t end = copy->size * (piece + 1) / copy->pieces;
    memcpy(copy->dst + begin, copy->src + begin, end - begin);
}

/* On one thread one call; on several, which are the library's, one piece for each. */
static void
copy_on_threads(unsigned threads, uint8_t *dst, const uint8_t *src, size_t size)
{
    struct copy copy = {.dst = dst, .src = src, .size = size, .pieces = threads};
    h5twin_parallel_for(threads, copy.pieces, copy_piece, &copy);
}

static bool
memcpy_encode(const struct contender *self, const struct bench_array *array, const uint8_t *src,
              uint8_t *dst, size_t *dst_size)
{
    copy_on_threads(self->threads, dst, src, array->size);
    *dst_size = array->size;
    return true;
}

static bool
memcpy_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
              const uint8_t *src, size_t src_size)
{
    (void)array;
    copy_on_threads(self->threads, dst, src, src_size);
    return true;
}

void
contenders_add_memcpy(struct contenders *all, unsigned threads)
{
    add(all,
        (struct contender){
            .prepare = memcpy_prepare, .encode = memcpy_encode, .decode = memcpy_decode},
        "memcpy");
    all->list[all->count - 1].threads = threads;
}

static bool
stream_encode(const struct contender *self, const struct bench_array *array, const uint8_t *src,
              uint8_t *dst, size_t *dst_size)
{
    (void)self;
    h5twin_stream_copy(dst, src, array->size);
    h5twin_stream_fence();
    *dst_size = array->size;
    return true;
}

static bool
stream_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
              const uint8_t *src, size_t src_size)
{
    (void)self;
    (void)array;
    h5twin_stream_copy(dst, src, src_size);
    h5twin_stream_fence();
    return true;
}

void
contenders_add_stream_copy(struct contenders *all)
{
    add(all,
        (struct contender){
            .prepare = memcpy_prepare, .encode = stream_encode, .decode = stream_decode},
        "streaming copy");
}

/* ---- zstd ---- */

#ifdef H5TWIN_HAVE_ZSTD
static void
zstd_prepare(struct contender *self, const struct bench_array *array)
{
    self->capacity = ZSTD_compressBound(array->size);
}

static bool
zstd_encode(const struct contender *self, const struct bench_array *array, const uint8_t *src,
            uint8_t *dst, size_t *dst_size)
{
    static ZSTD_CCtx *context;
    context = context == NULL ? ZSTD_createCCtx() : context;
    *dst_size = ZSTD_compressCCtx(context, dst, self->capacity, src, array->size, self->level);
    return ZSTD_isError(*dst_size) == 0;
}

static bool
zstd_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
            const uint8_t *src, size_t src_size)
{
    static ZSTD_DCtx *context;
    (void)self;
    context = context == NULL ? ZSTD_createDCtx() : context;
    return ZSTD_decompressDCtx(context, dst, array->size, src, src_size) == array->size;
}
#endif

/* ---- lz4 ---- */

#ifdef H5TWIN_HAVE_LZ4
static void
lz4_prepare(struct contender *self, const struct bench_array *array)
{
    self->capacity = (size_t)LZ4_compressBound((int)array->size);
}

static bool
lz4_encode(const struct contender *self, const struct bench_array *array, const uint8_t *src,
           uint8_t *dst, size_t *dst_size)
{
    *dst_size = (size_t)LZ4_compress_default((const char *)src, (char *)dst, (int)array->size,
                                             (int)self->capacity);
    return *dst_size != 0;
}

static bool
lz4_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
           const uint8_t *src, size_t src_size)
{
    (void)self;
    return LZ4_decompress_safe((const char *)src, (char *)dst, (int)src_size, (int)array->size) ==
           (int)array->size;
}
#endif

/* ---- deflate ---- */

#ifdef H5TWIN_HAVE_ZLIB
static void
zlib_prepare(struct contender *self, const struct bench_array *array)
{
    self->capacity = compressBound(array->size);
}

static bool
zlib_encode(const struct contender *self, const struct bench_array *array, const uint8_t *src,
            uint8_t *dst, size_t *dst_size)
{
    uLongf size = self->capacity;
    const bool ok = compress2(dst, &size, src, array->size, self->level) == Z_OK;
    *dst_size = size;
    return ok;
}

static bool
zlib_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
            const uint8_t *src, size_t src_size)
{
    uLongf size = array->size;
    (void)self;
    return uncompress(dst, &size, src, src_size) == Z_OK && size == array->size;
}
#endif

/* ---- zfp ---- */

#ifdef H5TWIN_HAVE_ZFP
/* zfp knows four axes, fastest first; slower ones are merged. */
static zfp_field *
zfp_open_field(const struct bench_array *array, const void *values)
{
    size_t extents[4] = {0, 0, 0, 0};
    for (unsigned axis = 0; axis < array->rank; axis++) {
        const unsigned from_fastest = array->rank - 1 - axis;
        size_t *const extent = &extents[from_fastest < 4 ? from_fastest : 3];
        *extent = (*extent == 0 ? 1 : *extent) * (size_t)array->dims[axis];
    }
    zfp_field *const field = zfp_field_alloc();
    zfp_field_set_pointer(field, (void *)(uintptr_t)values);
    zfp_field_set_type(field, array->word_size == 4 ? zfp_type_float : zfp_type_double);
    zfp_field_set_size_4d(field, extents[0], extents[1], extents[2], extents[3]);
    return field;
}

static void
zfp_set_mode(const struct contender *self, zfp_stream *stream)
{
    if (self->bound > 0) {
        zfp_stream_set_accuracy(stream, self->bound);
    } else {
        zfp_stream_set_reversible(stream);
    }
}

static void
zfp_prepare(struct contender *self, const struct bench_array *array)
{
    self->bound = self->relative_bound * bench_array_range(array);
    zfp_field *const field = zfp_open_field(array, array->bytes);
    zfp_stream *const stream = zfp_stream_open(NULL);
    zfp_set_mode(self, stream);
    self->capacity = zfp_stream_maximum_size(stream, field);
    zfp_stream_close(stream);
    zfp_field_free(field);
}

static size_t
zfp_code(const struct contender *self, const struct bench_array *array, const void *values,
         void *packed, size_t packed_size, bool encode)
{
    zfp_field *const field = zfp_open_field(array, values);
    bitstream *const bits = stream_open(packed, packed_size);
    zfp_stream *const stream = zfp_stream_open(bits);
    zfp_set_mode(self, stream);
    const size_t size = encode ? zfp_compress(stream, field) : zfp_decompress(stream, field);
    zfp_stream_close(stream);
    stream_close(bits);
    zfp_field_free(field);
    return size;
}

static bool
zfp_contender_encode(const struct contender *self, const struct bench_array *array,
                     const uint8_t *src, uint8_t *dst, size_t *dst_size)
{
    *dst_size = zfp_code(self, array, src, dst, self->capacity, true);
    return *dst_size != 0;
}

static bool
zfp_contender_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
                     const uint8_t *src, size_t src_size)
{
    return zfp_code(self, array, dst, (void *)(uintptr_t)src, src_size, false) != 0;
}
#endif

void
contenders_add_peers(struct contenders *all)
{
#ifdef H5TWIN_HAVE_ZSTD
    struct contender zstd = {
        .prepare = zstd_prepare, .encode = zstd_encode, .decode = zstd_decode, .level = 1};
    add(all, zstd, "zstd -1");
    zstd.level = 3;
    add(all, zstd, "zstd -3");
#endif
#ifdef H5TWIN_HAVE_LZ4
    add(all, (struct contender){.prepare = lz4_prepare, .encode = lz4_encode, .decode = lz4_decode},
        "lz4");
#endif
#ifdef H5TWIN_HAVE_ZLIB
    add(all,
        (struct contender){
            .prepare = zlib_prepare, .encode = zlib_encode, .decode = zlib_decode, .level = 6},
        "gzip -6");
#endif
#ifdef H5TWIN_HAVE_ZFP
    static const char *const bounds[] = {"0", "1e-2", "1e-4", "1e-6"};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        struct contender zfp = {
            .prepare = zfp_prepare, .encode = zfp_contender_encode, .decode = zfp_contender_decode};
        char name[64];
        sscanf(bounds[i], "%lf", &zfp.relative_bound);
        snprintf(name, sizeof name, i == 0 ? "zfp reversible" : "zfp:range=%s", bounds[i]);
        add(all, zfp, name);
    }
#endif
    (void)all;
}

void
contenders_print_versions(void)
{
    printf("h5twin %s\n", h5twin_version());
#ifdef H5TWIN_HAVE_ZSTD
    printf("zstd %s\n", ZSTD_versionString());
#endif
#ifdef H5TWIN_HAVE_LZ4
    printf("lz4 %s\n", LZ4_versionString());
#endif
#ifdef H5TWIN_HAVE_ZLIB
    printf("zlib %s\n", zlibVersion());
#endif
#ifdef H5TWIN_HAVE_ZFP
    printf("zfp %s\n", ZFP_VERSION_STRING);
#endif
}
