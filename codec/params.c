/* SPDX-License-Identifier: BSD-3-Clause
 * params.c: fill, parse, print and check struct h5twin_params. The only reader of the string form.
 */
#include "codec.h"
#include "common/bits.h"
#include "common/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KEY   32 /* bytes with the ending zero */
#define MAX_VALUE 64

void
h5twin_params_init(struct h5twin_params *params, enum h5twin_codec_id codec)
{
    *params = (struct h5twin_params){
        .codec = codec, .mode = H5TWIN_LOSSLESS, .kind = H5TWIN_OTHER, .element_size = 1};
}

void
h5twin_params_set_array(struct h5twin_params *params, enum h5twin_kind kind, uint32_t element_size,
                        uint32_t rank, const uint64_t *dims)
{
    params->kind = kind;
    params->element_size = element_size;
    params->big_endian = false;
    params->rank = rank;
    memset(params->dims, 0, sizeof params->dims);
    for (uint32_t axis = 0; axis < rank && axis < H5TWIN_MAX_RANK; axis++) {
        params->dims[axis] = dims[axis];
    }
}

/* ---- options: bit fields described by the codec ---- */

static uint64_t
field_mask(const struct h5twin_option_info *option)
{
    return ((UINT64_C(1) << option->width_bits) - 1) << option->shift;
}

static uint32_t
field_get(const struct h5twin_option_info *option, uint64_t options)
{
    return (uint32_t)((options & field_mask(option)) >> option->shift);
}

static uint32_t
field_largest(const struct h5twin_option_info *option)
{
    if (option->names == NULL) {
        return option->maximum - option->minimum + 1;
    }
    uint32_t count = 0;
    while (option->names[count] != NULL) {
        count++;
    }
    return count;
}

uint32_t
h5twin_option_get(const struct h5twin_codec *codec, uint64_t options, unsigned index)
{
    const struct h5twin_option_info *const option = &codec->info.options[index];
    const uint32_t field = field_get(option, options);
    if (field == 0) {
        return option->default_value;
    }
    return option->names != NULL ? field - 1 : option->minimum + field - 1;
}

static bool
options_go_together(const struct h5twin_codec *codec, uint64_t options, uint32_t element_size,
                    uint32_t *index)
{
    return codec->check_options == NULL ||
           codec->check_options(options, h5twin_codec_word_size(codec, element_size), index) ==
               H5TWIN_OK;
}

/* The field value for a text, or false. "default" and, for numbers, "auto" mean field value 0. */
static bool
field_from_text(const struct h5twin_option_info *option, const char *value, uint32_t *field)
{
    if (strcmp(value, "default") == 0 || (option->names == NULL && strcmp(value, "auto") == 0)) {
        *field = 0;
        return true;
    }
    if (option->names != NULL) {
        for (uint32_t i = 0; option->names[i] != NULL; i++) {
            if (strcmp(option->names[i], value) == 0) {
                *field = i + 1;
                return true;
            }
        }
        return false;
    }
    char *end;
    errno = 0;
    const unsigned long number = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 ||
        number < option->minimum || number > option->maximum) {
        return false;
    }
    *field = (uint32_t)number - option->minimum + 1;
    return true;
}

/* ---- parsing ---- */

/* Positive and finite; by its bits, as comparisons may take subnormal numbers as 0. */
static bool
is_error_bound(double number)
{
    const uint64_t bits = h5twin_bits_of_double(number);
    return bits != 0 && bits < UINT64_C(0x7FF0000000000000);
}

static enum h5twin_status
set_error_bound(struct h5twin_params *params, enum h5twin_mode mode, const char *value)
{
    double error_bound;
    if (!h5twin_number_read(value, &error_bound) || !is_error_bound(error_bound)) {
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

static bool
takes_mode(const struct h5twin_codec *codec, enum h5twin_mode mode)
{
    return mode == H5TWIN_REL ? codec->info.relative : codec->info.lossy;
}

static enum h5twin_status
set_pair(struct h5twin_params *params, const struct h5twin_codec *codec, const char *key,
         const char *value)
{
    const enum h5twin_mode mode = mode_of_key(key);
    if (mode != H5TWIN_LOSSLESS) {
        return takes_mode(codec, mode) ? set_error_bound(params, mode, value) : H5TWIN_ERR_MODE;
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
            if (!field_from_text(&codec->info.options[i], value, &field)) {
                return H5TWIN_ERR_OPTION;
            }
            params->options &= ~field_mask(&codec->info.options[i]);
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
    if (!options_go_together(codec, parsed.options, 1, &bad)) { /* 1: leaves the most room */
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
        if (field_get(option, params->options) == 0) {
            continue;
        }
        const uint32_t value = h5twin_option_get(codec, params->options, i);
        append(&text, separator);
        append(&text, codec->info.options[i].name);
        append(&text, "=");
        if (option->names != NULL) {
            append(&text, option->names[value]);
        } else {
            snprintf(number, sizeof number, "%u", (unsigned)value);
            append(&text, number);
        }
        separator = ",";
    }
    return text.length;
}

/* ---- checking ---- */

/* False if a field holds no value of its option, or a bit belongs to none. */
static bool
fields_are_known(const struct h5twin_codec *codec, uint64_t options)
{
    uint64_t unknown = options;
    for (uint32_t i = 0; i < codec->info.option_count; i++) {
        const struct h5twin_option_info *const option = &codec->info.options[i];
        if (field_get(option, options) > field_largest(option)) {
            return false;
        }
        unknown &= ~field_mask(option);
    }
    return unknown == 0;
}

const char *
h5twin_params_bad_option(const struct h5twin_params *params)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    uint32_t index;
    return codec == NULL || !fields_are_known(codec, params->options) ||
                   options_go_together(codec, params->options, params->element_size, &index)
               ? NULL
               : codec->info.options[index].name;
}

enum h5twin_status
h5twin_params_check(const struct h5twin_params *params)
{
    if (params == NULL) {
        return H5TWIN_ERR_ARG;
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    if (codec == NULL) {
        return H5TWIN_ERR_CODEC;
    }
    switch (params->mode) {
    case H5TWIN_LOSSLESS:
        break;
    case H5TWIN_ABS:
    case H5TWIN_NOA:
    case H5TWIN_REL:
        if (!takes_mode(codec, params->mode)) {
            return H5TWIN_ERR_MODE;
        }
        if (!is_error_bound(params->error_bound)) {
            return H5TWIN_ERR_BOUND;
        }
        break;
    default:
        return H5TWIN_ERR_MODE;
    }
    const bool is_float = params->kind == H5TWIN_FLOAT;
    if (params->element_size == 0 || (unsigned)params->kind > H5TWIN_OTHER ||
        (is_float && params->element_size != 4 && params->element_size != 8)) {
        return H5TWIN_ERR_ELEMENT;
    }
    if (params->rank > H5TWIN_MAX_RANK) {
        return H5TWIN_ERR_DIMS;
    }
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        if (params->dims[axis] == 0) {
            return H5TWIN_ERR_DIMS;
        }
    }
    uint32_t index;
    return fields_are_known(codec, params->options) &&
                   options_go_together(codec, params->options, params->element_size, &index)
               ? H5TWIN_OK
               : H5TWIN_ERR_OPTION;
}
