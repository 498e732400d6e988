/* SPDX-License-Identifier: BSD-3-Clause
 * quiet_messages.c: tools/messages.h for a fuzzer: sentences are made as the command makes them,
 * and dropped. */
#include "fuzz.h"

#include "commands.h"
#include "messages.h"

#include <stdarg.h>

static void
make_sentence(const char *format, va_list arguments)
{
    char text[4096];
    FUZZ_REQUIRE(vsnprintf(text, sizeof text, format, arguments) > 0);
}

void
h5twin_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    make_sentence(format, arguments);
    va_end(arguments);
}

int
h5twin_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    make_sentence(format, arguments);
    va_end(arguments);
    return H5TWIN_EXIT_FAILED;
}

int
h5twin_fail_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    (void)command;
    va_start(arguments, format);
    make_sentence(format, arguments);
    va_end(arguments);
    return H5TWIN_EXIT_USAGE;
}

int
h5twin_fail_status(const char *what, enum h5twin_status status)
{
    return h5twin_fail("%s: %s", what, h5twin_status_message(status));
}

int
h5twin_fail_option(const char *command, int result, char **argv)
{
    (void)result;
    return h5twin_fail("%s: %s", command, argv[0]);
}
