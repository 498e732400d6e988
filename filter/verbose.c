/* SPDX-License-Identifier: BSD-3-Clause
 * verbose.c: see verbose.h. */
#include "verbose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_line(const char *codec_name, const char *sentence)
{
    char line[640]; /* at once, so that lines of several threads do not mix */
    snprintf(line, sizeof line, "h5twin %s: %s\n", codec_name, sentence);
    fputs(line, stderr);
}

void
h5twin_verbose_print(const char *codec_name, const char *sentence)
{
    const char *const wanted = getenv("H5TWIN_VERBOSE");
    if (wanted != NULL && wanted[0] != '\0' && strcmp(wanted, "0") != 0) {
        print_line(codec_name, sentence);
    }
}

void
h5twin_verbose_say(const char *codec_name, const char *sentence)
{
    const char *const wanted = getenv("H5TWIN_VERBOSE");
    if (wanted == NULL || strcmp(wanted, "0") != 0) {
        print_line(codec_name, sentence);
    }
}
