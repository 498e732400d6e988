/* SPDX-License-Identifier: BSD-3-Clause
 * json.h: values of JSON (RFC 8259) on stdout. */
#ifndef H5TWIN_TOOLS_JSON_H
#define H5TWIN_TOOLS_JSON_H

#include <stdbool.h>

/* In quotes, escaped. What is not UTF-8 is replaced, byte by byte, by U+FFFD. */
void h5twin_json_string(const char *text);

/* The fewest digits that read back as the same double; null for what JSON has no number for. */
void h5twin_json_number(double value);

void h5twin_json_bool(bool value);

#endif
