/* SPDX-License-Identifier: BSD-3-Clause
 * registry.c: the codecs that codecs.def lists. */
#include "../codec.h"

#include <string.h>

#define DECLARE(name, NAME) extern const struct h5twin_codec h5twin_##name##_codec;
H5TWIN_CODECS(DECLARE)

#define POINTER(name, NAME) &h5twin_##name##_codec,
static const struct h5twin_codec *const codecs[] = {H5TWIN_CODECS(POINTER)};

#define CODEC_COUNT (sizeof codecs / sizeof codecs[0])

uint32_t
h5twin_codec_count(void)
{
    return CODEC_COUNT;
}

const struct h5twin_codec_info *
h5twin_codec_at(uint32_t index)
{
    return index < CODEC_COUNT ? &codecs[index]->info : NULL;
}

const struct h5twin_codec *
h5twin_codec_find(enum h5twin_codec_id id)
{
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        if (codecs[i]->info.id == id) {
            return codecs[i];
        }
    }
    return NULL;
}

const struct h5twin_codec_info *
h5twin_codec_by_id(enum h5twin_codec_id id)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(id);
    return codec == NULL ? NULL : &codec->info;
}

const struct h5twin_codec_info *
h5twin_codec_by_filter(uint32_t filter_id)
{
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        if (codecs[i]->info.filter_id == filter_id) {
            return &codecs[i]->info;
        }
    }
    return NULL;
}

const struct h5twin_codec_info *
h5twin_codec_by_name(const char *name)
{
    for (size_t i = 0; name != NULL && i < CODEC_COUNT; i++) {
        if (strcmp(codecs[i]->info.name, name) == 0) {
            return &codecs[i]->info;
        }
    }
    return NULL;
}
