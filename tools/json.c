/* SPDX-License-Identifier: BSD-3-Clause
 * json.c: see json.h. */
#include "json.h"

#include "common/number.h"
#include "messages.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

void
h5twin_json_string(const char *text)
{
    putchar('"');
    for (size_t size; *text != '\0'; text += size) {
        const long character = h5twin_character(text, &size);
        if (character < 0) {
            fputs("\\ufffd", stdout);
        } else if (!h5twin_is_shown(character) || character == '"' || character == '\\') {
            printf("\\u%04lx", (unsigned long)character);
        } else {
            fwrite(text, 1, size, stdout);
        }
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
