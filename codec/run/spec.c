/* SPDX-License-Identifier: BSD-3-Clause
 * spec.c: parse and print the string form of struct h5twin_params; its only reader. */
#include "params.h"

#include "../common/number.h"

#include <stdio.h>
#include <string.h>

#define MAX_KEY   32 /* bytes with the ending zero */
#define MAX_VALUE 64

static enum h5twin_status
set_error_bound(struct h5twin_params *params, enum h5twin_mode mode, const char *value)
{
    double error_bound;
    if (!h5twin_number_read(value, &error_bound) || !h5twin_is_error_bound(error_bound)) {
        return H5TWIN_ERR_BOUND;
    }
    params->mode = mode;
    params->error_bound = error_bound;
    return H5TWIN_OK;
}

/* Keys of the lossy modes. */
static const char *const mode_keys[] = {
    [H5TWIN_ABS] = "abs", [H5TWIN_NOA] = "noa", [H5TWIN_REL] = "rel"};

/* H5TWIN_LOSSLESS if the key is none of a mode. */
static enum h5twin_mode
mode_of_key(const char *key)
{
    for (unsigned mode = H5TWIN_ABS; mode <= H5TWIN_REL; mode++) {
        if (strcmp(key, mode_keys[mode]) == 0) {
            return (enum h5twin_mode)mode;
        }
    }
    return H5TWIN_LOSSLESS;
}

static enum h5twin_status
set_pair(struct h5twin_params *params, const struct h5twin_codec *codec, const char *key,
         const char *value)
{
    const enum h5twin_mode mode = mode_of_key(key);
    if (mode != H5TWIN_LOSSLESS) {
        return h5twin_codec_takes_mode(codec, mode) ? set_error_bound(params, mode, value)
                                                    : H5TWIN_ERR_MODE;
    }
    if (strcmp(key, "fill") == 0 && codec->info.lossy) {
        if (!h5twin_number_read(value, &params->fill)) {
            return H5TWIN_ERR_OPTION;
        }
        params->has_fill = true;
        return H5TWIN_OK;
    }
    for (uint32_t i = 0; i < codec->info.option_count; i++) {
        if (strcmp(codec->info.options[i].name, key) == 0) {
            uint32_t field;
            if (!h5twin_option_field_of(&codec->info.options[i], value, &field)) {
                return H5TWIN_ERR_OPTION;
            }
            params->options &= ~h5twin_option_mask(&codec->info.options[i]);
            params->options |= (uint64_t)field << codec->info.options[i].shift;
            return H5TWIN_OK;
        }
    }
    if (codec->set_alias != NULL && codec->set_alias(&params->options, key, value)) {
        return H5TWIN_OK;
    }
    return H5TWIN_ERR_OPTION;
}

/* Copy [begin, end) as a string; false if it is empty or does not fit. */
static bool
copy_text(char *dst, size_t dst_capacity, const char *begin, const char *end)
{
    const size_t length = (size_t)(end - begin);
    if (length == 0 || length >= dst_capacity) {
        return false;
    }
    memcpy(dst, begin, length);
    dst[length] = '\0';
    return true;
}

/* One KEY=VALUE that ends at `end`. */
static enum h5twin_status
parse_pair(struct h5twin_params *params, const struct h5twin_codec *codec, const char *begin,
           const char *end)
{
    const char *const equals = memchr(begin, '=', (size_t)(end - begin));
    char key[MAX_KEY], value[MAX_VALUE];
    if (equals == NULL || !copy_text(key, sizeof key, begin, equals) ||
        !copy_text(value, sizeof value, equals + 1, end)) {
        return H5TWIN_ERR_SPEC;
    }
    return set_pair(params, codec, key, value);
}

enum h5twin_status
h5twin_params_set_option(struct h5twin_params *params, const char *key_value)
{
    if (params == NULL || key_value == NULL) {
        return H5TWIN_ERR_ARG;
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    if (codec == NULL) {
        return H5TWIN_ERR_CODEC;
    }
    return parse_pair(params, codec, key_value, key_value + strlen(key_value));
}

/* The last pair of the spec with this key, which is the one in force; else the spec. */
static const char *
find_pair(const char *spec, const char *key)
{
    const size_t length = strlen(key);
    const char *found = spec;
    for (const char *at = strchr(spec, ':'); at != NULL; at = strchr(at + 1, ',')) {
        if (strncmp(at + 1, key, length) == 0 && at[1 + length] == '=') {
            found = at + 1;
        }
    }
    return found;
}

/* The same within a spec, which may say one error bound. */
static enum h5twin_status
parse_next_pair(struct h5twin_params *params, const struct h5twin_codec *codec, const char *begin,
                const char *end)
{
    const enum h5twin_mode mode = params->mode;
    params->mode = H5TWIN_LOSSLESS;
    const enum h5twin_status status = parse_pair(params, codec, begin, end);
    if (mode == H5TWIN_LOSSLESS || status != H5TWIN_OK) {
        return status;
    }
    if (params->mode != H5TWIN_LOSSLESS) {
        return H5TWIN_ERR_SPEC;
    }
    params->mode = mode;
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_params_parse(struct h5twin_params *params, const char *spec, const char **where)
{
    const char *unused;
    where = where == NULL ? &unused : where;
    *where = spec;
    if (params == NULL || spec == NULL) {
        return H5TWIN_ERR_ARG;
    }
    const char *const colon = strchr(spec, ':');
    char name[MAX_KEY];
    if (!copy_text(name, sizeof name, spec, colon == NULL ? spec + strlen(spec) : colon)) {
        return H5TWIN_ERR_SPEC;
    }
    const struct h5twin_codec_info *const info = h5twin_codec_by_name(name);
    if (info == NULL) {
        return H5TWIN_ERR_CODEC;
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(info->id);
    struct h5twin_params parsed = *params;
    parsed.codec = info->id;
    parsed.mode = H5TWIN_LOSSLESS;
    parsed.error_bound = 0;
    parsed.has_fill = false;
    parsed.fill = 0;
    parsed.options = 0;
    for (const char *begin = colon; begin != NULL;) {
        begin++; /* past ':' or ',' */
        *where = begin;
        const char *const comma = strchr(begin, ',');
        const enum h5twin_status status =
            parse_next_pair(&parsed, codec, begin, comma == NULL ? begin + strlen(begin) : comma);
        if (status != H5TWIN_OK) {
            return status;
        }
        begin = comma;
    }
    uint32_t bad;
    if (!h5twin_options_go_together(codec, parsed.options, 1, &bad)) { /* 1: leaves the most room */
        *where = find_pair(spec, codec->info.options[bad].name);
        return H5TWIN_ERR_OPTION;
    }
    *params = parsed;
    *where = NULL;
    return H5TWIN_OK;
}

/* ---- printing ---- */

struct text {
    char *at;
    size_t capacity;
    size_t length;
};

static void
append(struct text *text, const char *piece)
{
    const size_t length = strlen(piece);
    for (size_t i = 0; i < length; i++) {
        if (text->length + i + 1 < text->capacity) {
            text->at[text->length + i] = piece[i];
            text->at[text->length + i + 1] = '\0';
        }
    }
    text->length += length;
}

size_t
h5twin_params_format(const struct h5twin_params *params, char *dst, size_t capacity)
{
    struct text text = {.at = dst, .capacity = capacity};
    if (capacity > 0) {
        dst[0] = '\0';
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    if (codec == NULL) {
        return 0;
    }
    append(&text, codec->info.name);
    const char *separator = ":";
    char number[MAX_VALUE];
    if (params->mode != H5TWIN_LOSSLESS) {
        append(&text, ":");
        append(&text, mode_keys[params->mode]);
        append(&text, "=");
        h5twin_number_write(number, params->error_bound);
        append(&text, number);
        separator = ",";
    }
    if (params->has_fill) {
        append(&text, separator);
        append(&text, "fill=");
        h5twin_number_write(number, params->fill);
        append(&text, number);
        separator = ",";
    }
    for (uint32_t i = 0; i < codec->info.option_count; i++) {
        const struct h5twin_option_info *const option = &codec->info.options[i];
        if (h5twin_option_field(option, params->options) == 0) {
            continue;
        }
        append(&text, separator);
        append(&text, codec->info.options[i].name);
        append(&text, "=");
        if (option->is_decimal) {
            h5twin_number_write(number, h5twin_option_decimal(option, params->options));
            append(&text, number);
        } else if (option->names != NULL) {
            append(&text, option->names[h5twin_option_get(codec, params->options, i)]);
        } else {
            snprintf(number, sizeof number, "%u",
                     (unsigned)h5twin_option_get(codec, params->options, i));
            append(&text, number);
        }
        separator = ",";
    }
    return text.length;
}
