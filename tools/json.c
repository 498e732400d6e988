/* SPDX-License-Identifier: BSD-3-Clause
 * json.c: see json.h. */
#include "json.h"

#include "common/number.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the character of UTF-8 that starts here; 0 if there is none: cut short, longer than
 * need be, a surrogate, or beyond U+10FFFF. */
static size_t
character_size(const unsigned char *at)
{
    const size_t size = at[0] < 0x80   ? 1
                        : at[0] < 0xC2 ? 0
                        : at[0] < 0xE0 ? 2
                        : at[0] < 0xF0 ? 3
                        : at[0] < 0xF5 ? 4
                                       : 0;
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80) { /* so is the ending zero */
            return 0;
        }
    }
    const bool wrong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
                       (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F);
    return wrong ? 0 : size;
}

void
h5twin_json_string(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putchar('"');
    while (*at != '\0') {
        const size_t size = character_size(at);
        if (size == 0) {
            fputs("\\ufffd", stdout);
        } else if (*at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7F) {
            printf("\\u%04x", *at);
        } else {
            fwrite(at, 1, size, stdout);
        }
        at += size == 0 ? 1 : size;
    }
    putchar('"');
}

void
h5twin_json_number(double value)
{
    char text[H5TWIN_NUMBER_TEXT];
    if (!isfinite(value)) {
        fputs("null", stdout);
        return;
    }
    h5twin_number_write(text, value);
    fputs(text, stdout);
}

void
h5twin_json_bool(bool value)
{
    fputs(value ? "true" : "false", stdout);
}
