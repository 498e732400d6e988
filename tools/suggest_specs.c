/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_specs.c: what `h5twin suggest` tries, made of what the codecs say of themselves. */
#include "codec.h"
#include "suggest.h"

#include <stdio.h>
#include <stdlib.h>

static bool
add_spec(struct h5twin_specs *specs, const struct h5twin_params *params)
{
    void *const texts = realloc(specs->texts, (specs->count + 1) * sizeof specs->texts[0]);
    if (texts == NULL) {
        return false;
    }
    specs->texts = texts;
    h5twin_params_format(params, specs->texts[specs->count], H5TWIN_SPEC_TEXT);
    specs->count++;
    return true;
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
            h5twin_params_check(&params) == H5TWIN_OK && !add_spec(specs, &params)) {
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
    bool added = add_spec(specs, &params);
    for (uint32_t i = 0; i < codec->info.option_count && added; i++) {
        added = add_values(specs, &params, codec, i);
    }
    return added;
}

bool
h5twin_specs_make(struct h5twin_specs *specs, const char *const *bounds, size_t bound_count,
                  const char *fill)
{
    *specs = (struct h5twin_specs){.count = 0};
    bool added = true;
    for (size_t group = 0; group <= bound_count && added; group++) {
        for (uint32_t i = 0; i < h5twin_codec_count() && added; i++) {
            const struct h5twin_codec_info *const info = h5twin_codec_at(i);
            if (group == 0 || info->lossy) {
                added = add_codec(specs, h5twin_codec_find(info->id),
                                  group == 0 ? NULL : bounds[group - 1], fill);
            }
        }
    }
    return added;
}
