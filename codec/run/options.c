/* SPDX-License-Identifier: BSD-3-Clause
 * options.c: see params.h: the bit fields that codecs describe. */
#include "params.h"

#include "../common/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decimal option's field: digits * 10^exponent, with the largest exponent that there is; 0 has no
 * exponent and no sign. */
#define DECIMAL_MOST     999999u /* bits 19..0 */
#define DECIMAL_EXPONENT 20      /* bits 25..20: the exponent + 32 */
#define DECIMAL_BIAS     32
#define DECIMAL_LAST     31 /* the largest exponent */
#define DECIMAL_NEGATIVE 26
#define DECIMAL_GIVEN    27

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

/* ---- decimal numbers ---- */

struct decimal {
    uint32_t digits;
    int exponent;
    bool is_negative, is_given;
};

static struct decimal
decimal_of_field(uint32_t field)
{
    return (struct decimal){.digits = field & ((1u << DECIMAL_EXPONENT) - 1),
                            .exponent = (int)(field >> DECIMAL_EXPONENT & 63u) - DECIMAL_BIAS,
                            .is_negative = (field >> DECIMAL_NEGATIVE & 1u) != 0,
                            .is_given = (field >> DECIMAL_GIVEN & 1u) != 0};
}

/* Whether this is the one field of its number. */
static bool
decimal_is_known(uint32_t field)
{
    const struct decimal decimal = decimal_of_field(field);
    if (!decimal.is_given || decimal.digits == 0) {
        return field == 0 ||
               field == (1u << DECIMAL_GIVEN | (uint32_t)DECIMAL_BIAS << DECIMAL_EXPONENT);
    }
    return field >> DECIMAL_GIVEN == 1 && decimal.digits <= DECIMAL_MOST &&
           (decimal.digits % 10 != 0 || decimal.exponent == DECIMAL_LAST);
}

/* False if the number takes more digits, or another exponent, than a field has. */
static bool
decimal_from_number(double number, uint32_t *field)
{
    char text[H5TWIN_NUMBER_TEXT];
    struct decimal decimal = {.is_negative = number < 0, .is_given = true};
    if (!isfinite(number)) {
        return false;
    }
    h5twin_number_write(text, fabs(number));
    bool is_fraction = false;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == 'e') {
            decimal.exponent += (int)strtol(at + 1, NULL, 10);
            break;
        }
        if (*at == '.') {
            is_fraction = true;
            continue;
        }
        if (decimal.digits > (UINT32_MAX - 9) / 10) {
            return false;
        }
        decimal.digits = 10 * decimal.digits + (uint32_t)(*at - '0');
        decimal.exponent -= is_fraction ? 1 : 0;
    }
    while (decimal.digits != 0 && decimal.digits % 10 == 0 && decimal.exponent < DECIMAL_LAST) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    while (decimal.exponent > DECIMAL_LAST && decimal.digits <= DECIMAL_MOST) {
        decimal.digits *= 10;
        decimal.exponent--;
    }
    decimal.exponent = decimal.digits == 0 ? 0 : decimal.exponent;
    if (decimal.digits > DECIMAL_MOST || decimal.exponent < -DECIMAL_BIAS) {
        return false;
    }
    *field = decimal.digits | (uint32_t)(decimal.exponent + DECIMAL_BIAS) << DECIMAL_EXPONENT |
             (decimal.is_negative ? 1u << DECIMAL_NEGATIVE : 0u) | 1u << DECIMAL_GIVEN;
    return true;
}

double
h5twin_option_decimal(const struct h5twin_option_info *option, uint64_t options)
{
    const struct decimal decimal = decimal_of_field(h5twin_option_field(option, options));
    char text[H5TWIN_NUMBER_TEXT];
    double number = (double)NAN;
    if (decimal.is_given) {
        snprintf(text, sizeof text, "%s%ue%d", decimal.is_negative ? "-" : "",
                 (unsigned)decimal.digits, decimal.exponent);
        h5twin_number_read(text, &number);
    }
    return number;
}

/* The decimal option of this name; NULL if there is none. */
static const struct h5twin_option_info *
find_decimal(const struct h5twin_params *params, const char *name)
{
    const struct h5twin_codec *const codec =
        params == NULL || name == NULL ? NULL : h5twin_codec_find(params->codec);
    for (uint32_t i = 0; codec != NULL && i < codec->info.option_count; i++) {
        const struct h5twin_option_info *const option = &codec->info.options[i];
        if (option->is_decimal && strcmp(option->name, name) == 0) {
            return option;
        }
    }
    return NULL;
}

double
h5twin_option_number(const struct h5twin_params *params, const char *name)
{
    const struct h5twin_option_info *const option = find_decimal(params, name);
    return option == NULL ? (double)NAN : h5twin_option_decimal(option, params->options);
}

enum h5twin_status
h5twin_params_set_number(struct h5twin_params *params, const char *name, double number)
{
    const struct h5twin_option_info *const option = find_decimal(params, name);
    uint32_t field = 0;
    if (option == NULL || (!isnan(number) && !decimal_from_number(number, &field))) {
        return H5TWIN_ERR_OPTION;
    }
    params->options &= ~h5twin_option_mask(option);
    params->options |= (uint64_t)field << option->shift;
    return H5TWIN_OK;
}

/* ---- fields ---- */

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
    if (option->is_decimal) {
        double number;
        return h5twin_number_read(value, &number) && decimal_from_number(number, field);
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
        const uint32_t field = h5twin_option_field(option, options);
        if (option->is_decimal ? !decimal_is_known(field) : field > field_largest(option)) {
            return false;
        }
        unknown &= ~h5twin_option_mask(option);
    }
    return unknown == 0;
}
