/* SPDX-License-Identifier: BSD-3-Clause
 * number.h: numbers as text, the same in every locale.
 *
 * A host program may have called setlocale, after which strtod stops at the point of "0.5" and
 * printf writes "0,5". The library must neither change the process's locale nor obey it: what one
 * machine prints as a specification, another must read. */
#ifndef H5TWIN_COMMON_NUMBER_H
#define H5TWIN_COMMON_NUMBER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that any double takes as text, with the ending zero. */
#define H5TWIN_NUMBER_TEXT 32

/* Read the whole of text as strtod does in the "C" locale: decimal or hexadecimal, or inf or nan;
 * rounded to nearest. False, and *value unchanged, if it is anything else, is longer than 127
 * characters, or has blanks. Too large a number is infinite. */
bool h5twin_number_read(const char *text, double *value);

/* The fewest decimal digits that read back as the same double: as printf's %.Ng writes them in the
 * "C" locale, for the least N. */
void h5twin_number_write(char text[H5TWIN_NUMBER_TEXT], double value);

/* The same with at most that many digits, 1..17: for people. */
void h5twin_number_write_rounded(char text[H5TWIN_NUMBER_TEXT], double value, int digits);

/* With two digits behind the point; value is 0 to 1e20, and more is written as that. */
void h5twin_number_write_ratio(char text[H5TWIN_NUMBER_TEXT], double value);

#ifdef __cplusplus
}
#endif
#endif
