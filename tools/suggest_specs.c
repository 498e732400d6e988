/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_specs.c: what `h5twin suggest` tries, made of what the codecs say of themselves. */
#include "codec.h"
#include "deflate.h"
#include "suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACKED_LEVEL                                                                              \
    1 /* of deflate: behind a codec, more only takes longer                                        \
       */
#define GZIP_LEVEL 6
#define ZSTD_LEVEL 3

/* The text of params, then more. */
static bool
add_spec(struct h5twin_specs *specs, struct h5twin_spec spec, const char *more)
{
    void *const list = realloc(specs->list, (specs->count + 1) * sizeof specs->list[0]);
    if (list == NULL) {
        return false;
    }
    if (spec.peer == H5TWIN_PEER_NONE) {
        h5twin_params_format(&spec.params, spec.text, sizeof spec.text);
    }
    const size_t length = strlen(spec.text);
    snprintf(spec.text + length, sizeof spec.text - length, "%s", more);
    specs->list = list;
    specs->list[specs->count++] = spec;
    return true;
}

static bool
add_params(struct h5twin_specs *specs, const struct h5twin_params *params)
{
    return add_spec(specs, (struct h5twin_spec){.params = *params}, "");
}

static bool
add_stacked(struct h5twin_specs *specs, const struct h5twin_params *params)
{
    char more[32];
    snprintf(more, sizeof more, "+deflate=%d", STACKED_LEVEL);
    return !h5twin_has_deflate() ||
           add_spec(specs, (struct h5twin_spec){.params = *params, .level = STACKED_LEVEL}, more);
}

static bool
add_peers(struct h5twin_specs *specs)
{
    char gzip[32], zstd[32];
    const struct h5twin_spec gzip_spec = {.peer = H5TWIN_PEER_GZIP, .level = GZIP_LEVEL};
    const struct h5twin_spec zstd_spec = {.peer = H5TWIN_PEER_ZSTD, .level = ZSTD_LEVEL};
    snprintf(gzip, sizeof gzip, "shuffle+gzip=%d", GZIP_LEVEL);
    snprintf(zstd, sizeof zstd, "shuffle+zstd=%d", ZSTD_LEVEL);
    return (!h5twin_has_deflate() || add_spec(specs, gzip_spec, gzip)) &&
           (!h5twin_has_zstd() || add_spec(specs, zstd_spec, zstd));
}

/* Each named value of an option but the default one, the others at their defaults: all
 * combinations would be too many to read. Numbers are left to the codec's own choice. */
static bool
add_values(struct h5twin_specs *specs, const struct h5twin_params *base,
           const struct h5twin_codec *codec, uint32_t index)
{
    const struct h5twin_option_info *const option = &codec->info.options[index];
    for (uint32_t i = 0; option->names != NULL && option->names[i] != NULL; i++) {
        struct h5twin_params params = *base;
        char key_value[128];
        snprintf(key_value, sizeof key_value, "%s=%s", codec->info.options[index].name,
                 option->names[i]);
        if (i != option->default_value &&
            h5twin_params_set_option(&params, key_value) == H5TWIN_OK &&
            h5twin_params_check(&params) == H5TWIN_OK && !add_params(specs, &params)) {
            return false;
        }
    }
    return true;
}

static bool
add_codec(struct h5twin_specs *specs, const struct h5twin_codec *codec, const char *bound,
          const char *fill)
{
    struct h5twin_params params;
    h5twin_params_init(&params, codec->info.id);
    if (bound != NULL && h5twin_params_set_option(&params, bound) != H5TWIN_OK) {
        return true;
    }
    if (bound != NULL && fill != NULL) {
        h5twin_params_set_option(&params, fill);
    }
    bool added = add_params(specs, &params) && add_stacked(specs, &params);
    /* Without a bound, a codec that takes relative ones has another one do the work. */
    const uint32_t option_count =
        bound == NULL && codec->info.relative ? 0 : codec->info.option_count;
    for (uint32_t i = 0; i < option_count && added; i++) {
        added = add_values(specs, &params, codec, i);
    }
    return added;
}

static bool
is_wanted(const struct h5twin_suggest_args *args, const char *name)
{
    bool wanted = args->codec_count == 0;
    for (size_t i = 0; i < args->codec_count && !wanted; i++) {
        wanted = strcmp(args->codecs[i], name) == 0;
    }
    return wanted;
}

bool
h5twin_specs_make(struct h5twin_specs *specs, const struct h5twin_suggest_args *args,
                  const char *fill)
{
    *specs = (struct h5twin_specs){.count = 0};
    bool added = true;
    for (size_t group = 0; group <= args->bound_count && added; group++) {
        for (uint32_t i = 0; i < h5twin_codec_count() && added; i++) {
            const struct h5twin_codec_info *const info = h5twin_codec_at(i);
            if (is_wanted(args, info->name) && (group == 0 || info->lossy)) {
                added = add_codec(specs, h5twin_codec_find(info->id),
                                  group == 0 ? NULL : args->bounds[group - 1], fill);
            }
        }
    }
    return added && (args->codec_count > 0 || add_peers(specs));
}
