/* SPDX-License-Identifier: BSD-3-Clause
 * number.c: see number.h.
 *
 * The C library does the work, correctly rounded, and is told about or relieved of the decimal
 * point, the one thing in which locales differ here. What that point is, printf itself shows:
 * localeconv and the functions for a locale of one's own are not the same on every system. */
#include "number.h"

#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT  128 /* bytes with the ending zero */
#define MAX_POINT 8   /* bytes of a decimal point: a character in any encoding */

/* The decimal point of the locale in force. */
static void
find_point(char point[MAX_POINT + 1])
{
    char half[MAX_POINT + 3]; /* "0.5" */
    const int length = snprintf(half, sizeof half, "%.1f", 0.5);
    size_t point_length = length < 3 ? 0 : (size_t)length - 2;
    if (point_length == 0 || point_length > MAX_POINT) {
        point_length = 1;
        half[1] = '.';
    }
    memcpy(point, half + 1, point_length);
    point[point_length] = '\0';
}

/* Letters, digits and signs of ASCII, and the point: not the locale's own digits and separators. */
static bool
is_number_text(const char *text)
{
    static const char allowed[] = "0123456789.+-"
                                  "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

bool
h5twin_number_read(const char *text, double *value)
{
    char point[MAX_POINT + 1], local[MAX_TEXT + MAX_POINT];
    const size_t length = strlen(text);
    if (length >= MAX_TEXT || !is_number_text(text)) {
        return false;
    }
    find_point(point);
    const size_t before = strcspn(text, ".");
    memcpy(local, text, before);
    local[before] = '\0';
    if (before < length) {
        strcat(local, point);
        strcat(local, text + before + 1);
    }
    char *end;
    struct h5twin_environment environment; /* strtod and printf round as it says */
    h5twin_environment_hold(&environment);
    const double found = strtod(local, &end);
    h5twin_environment_release(&environment);
    if (end == local || *end != '\0') {
        return false;
    }
    *value = found;
    return true;
}

/* What printf wrote, with the point of the "C" locale. */
static void
take_local(char text[H5TWIN_NUMBER_TEXT], char *local)
{
    char point[MAX_POINT + 1];
    find_point(point);
    char *const at = strstr(local, point);
    if (at != NULL) {
        const size_t point_length = strlen(point);
        at[0] = '.';
        memmove(at + 1, at + point_length, strlen(at + point_length) + 1);
    }
    memcpy(text, local, strlen(local) + 1);
}

void
h5twin_number_write(char text[H5TWIN_NUMBER_TEXT], double value)
{
    char local[H5TWIN_NUMBER_TEXT + MAX_POINT];
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(local, sizeof local, "%.*g", digits, value);
        if (strtod(local, NULL) == value) {
            break;
        }
    }
    h5twin_environment_release(&environment);
    take_local(text, local);
}

void
h5twin_number_write_rounded(char text[H5TWIN_NUMBER_TEXT], double value, int digits)
{
    char local[H5TWIN_NUMBER_TEXT + MAX_POINT];
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    snprintf(local, sizeof local, "%.*g", digits, value);
    h5twin_environment_release(&environment);
    take_local(text, local);
}

void
h5twin_number_write_ratio(char text[H5TWIN_NUMBER_TEXT], double value)
{
    char local[H5TWIN_NUMBER_TEXT + MAX_POINT];
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    snprintf(local, sizeof local, "%.2f", value < 1e20 ? value : 1e20);
    h5twin_environment_release(&environment);
    take_local(text, local);
}
