/* SPDX-License-Identifier: BSD-3-Clause
 * options.c: see params.h: the bit fields that codecs describe. */
#include "params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t
h5twin_option_mask(const struct h5twin_option_info *option)
{
    return ((UINT64_C(1) << option->width_bits) - 1) << option->shift;
}

uint32_t
h5twin_option_field(const struct h5twin_option_info *option, uint64_t options)
{
    return (uint32_t)((options & h5twin_option_mask(option)) >> option->shift);
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
    const uint32_t field = h5twin_option_field(option, options);
    if (field == 0) {
        return option->default_value;
    }
    return option->names != NULL ? field - 1 : option->minimum + field - 1;
}

bool
h5twin_options_go_together(const struct h5twin_codec *codec, uint64_t options,
                           uint32_t element_size, uint32_t *index)
{
    return codec->check_options == NULL ||
           codec->check_options(options, h5twin_codec_word_size(codec, element_size), index) ==
               H5TWIN_OK;
}

bool
h5twin_option_field_of(const struct h5twin_option_info *option, const char *value, uint32_t *field)
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

bool
h5twin_options_are_known(const struct h5twin_codec *codec, uint64_t options)
{
    uint64_t unknown = options;
    for (uint32_t i = 0; i < codec->info.option_count; i++) {
        const struct h5twin_option_info *const option = &codec->info.options[i];
        if (h5twin_option_field(option, options) > field_largest(option)) {
            return false;
        }
        unknown &= ~h5twin_option_mask(option);
    }
    return unknown == 0;
}
