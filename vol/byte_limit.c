/* SPDX-License-Identifier: BSD-3-Clause
 * byte_limit.c: see byte_limit.h. */
#include "byte_limit.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

size_t
h5twin_byte_limit(const char *variable, size_t usual)
{
    const char *const text = getenv(variable);
    if (text == NULL || *text < '0' || *text > '9') {
        return usual;
    }
    char *end;
    errno = 0;
    const unsigned long long bytes = strtoull(text, &end, 10);
    return errno != 0 || *end != '\0' || bytes > SIZE_MAX ? usual : (size_t)bytes;
}
