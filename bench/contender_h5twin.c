/* SPDX-License-Identifier: BSD-3-Clause
 * contender_h5twin.c: the codecs of this library as contenders. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "contender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
h5twin_prepare(struct contender *self, const struct bench_array *array)
{
    h5twin_params_set_array(&self->params, H5TWIN_FLOAT, array->word_size, array->rank,
                            array->dims);
    if (self->relative_bound > 0) {
        self->params.mode = H5TWIN_ABS;
        self->params.error_bound = self->relative_bound * bench_array_range(array);
    }
    self->bound = self->params.mode == H5TWIN_LOSSLESS ? 0 : self->params.error_bound;
    if (self->params.mode == H5TWIN_NOA) {
        self->bound *= bench_array_range(array);
    }
    self->capacity = h5twin_bound(&self->params, array->size);
}

static bool
h5twin_contender_encode(const struct contender *self, const struct bench_array *array,
                        const uint8_t *src, uint8_t *dst, size_t *dst_size)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = self->threads};
    return h5twin_encode(&self->params, &exec, dst, self->capacity, src, array->size, dst_size) ==
           H5TWIN_OK;
}

static bool
h5twin_contender_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
                        const uint8_t *src, size_t src_size)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = self->threads};
    size_t dst_size = 0;
    return h5twin_decode(&exec, dst, array->size, src, src_size, &dst_size) == H5TWIN_OK &&
           dst_size == array->size;
}

/* The payload alone: the stream that the authors' programs write. */
static bool
bare_encode(const struct contender *self, const struct bench_array *array, const uint8_t *src,
            uint8_t *dst, size_t *dst_size)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = self->threads};
    return h5twin_encode_payload(&self->params, &exec, dst, self->capacity, src, array->size,
                                 dst_size) == H5TWIN_OK;
}

static bool
bare_decode(const struct contender *self, const struct bench_array *array, uint8_t *dst,
            const uint8_t *src, size_t src_size)
{
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = self->threads};
    return h5twin_decode_payload(&self->params, &exec, dst, array->size, src, src_size) ==
           H5TWIN_OK;
}

bool
contenders_add_spec(struct contenders *all, const char *spec, const char *variant, unsigned threads)
{
    struct contender *const contender = contenders_add(all, spec);
    if (contender == NULL) {
        return false;
    }
    contender->variant = variant;
    contender->threads = threads;
    contender->prepare = h5twin_prepare;
    contender->encode = h5twin_contender_encode;
    contender->decode = h5twin_contender_decode;
    char codec_spec[sizeof contender->name];
    memcpy(codec_spec, contender->name, sizeof codec_spec);
    char *const relative = strstr(codec_spec, ":range=");
    if (relative != NULL) {
        contender->relative_bound = strtod(relative + strlen(":range="), NULL);
        *relative = '\0';
    }
    h5twin_params_init(&contender->params, H5TWIN_SLEEK);
    const enum h5twin_status status = h5twin_params_parse(&contender->params, codec_spec, NULL);
    if (status != H5TWIN_OK) {
        fprintf(stderr, "bench_codecs: %s: %s\n", spec, h5twin_status_message(status));
        all->count--;
        return false;
    }
    return true;
}

bool
contenders_add_bare(struct contenders *all, const char *spec, const char *variant, unsigned threads)
{
    if (!contenders_add_spec(all, spec, variant, threads)) {
        return false;
    }
    struct contender *const contender = &all->list[all->count - 1];
    contender->encode = bare_encode;
    contender->decode = bare_decode;
    snprintf(contender->name, sizeof contender->name, "%s bare", spec);
    return true;
}

void
contenders_add_codecs(struct contenders *all, const char *variant, unsigned threads)
{
    static const char *const specs[] = {"fpcompress:mode=speed",
                                        "fpcompress:mode=ratio",
                                        "ndzip:layout=reference",
                                        "e2mc:profile=paper",
                                        "cascade:effort=fast",
                                        "cascade:effort=quick",
                                        "sleek:range=1e-2",
                                        "sleek:range=1e-4",
                                        "sleek:range=1e-6",
                                        "sleek:noa=1e-4",
                                        "lattice:range=1e-2",
                                        "lattice:range=1e-4",
                                        "lattice:range=1e-6",
                                        "lattice:effort=fast:range=1e-2",
                                        "lattice:effort=fast:range=1e-4"};
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        /* Without a bound lattice stores what cascade makes. */
        if (h5twin_codec_at(i)->id != H5TWIN_LATTICE) {
            contenders_add_spec(all, h5twin_codec_at(i)->name, variant, threads);
        }
    }
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        contenders_add_spec(all, specs[i], variant, threads);
    }
}
