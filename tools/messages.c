/* SPDX-License-Identifier: BSD-3-Clause
 * messages.c: see messages.h. */
#include "messages.h"

#include "commands.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
print_message(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("h5twin: ", stderr);
    vfprintf(stderr, format, arguments);
}

int
h5twin_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return H5TWIN_EXIT_FAILED;
}

int
h5twin_fail_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fprintf(stderr, "; see `h5twin %s%s--help`.\n", command, command[0] == '\0' ? "" : " ");
    return H5TWIN_EXIT_USAGE;
}

int
h5twin_fail_status(const char *what, enum h5twin_status status)
{
    h5twin_fail("%s: %s", what, h5twin_status_message(status));
    return status >= H5TWIN_ERR_ARG && status <= H5TWIN_ERR_DIMS ? H5TWIN_EXIT_USAGE
                                                                 : H5TWIN_EXIT_FAILED;
}

int
h5twin_fail_option(const char *command, int result, char **argv)
{
    const char *const text = argv[optind - 1];
    if (result == '?' && strncmp(text, "--", 2) != 0) { /* in a group of letters: not yet passed */
        return h5twin_fail_usage(command, "there is no option -%c", optopt);
    }
    return result == ':' ? h5twin_fail_usage(command, "option %s needs a value", text)
                         : h5twin_fail_usage(command, "there is no option %s", text);
}

int
h5twin_each_option(int argc, char **argv, const struct option *options,
                   int (*take)(void *args, int code), void *args, bool *help)
{
    int code, result = H5TWIN_EXIT_OK;
    opterr = 0;
    while (result == H5TWIN_EXIT_OK && !*help &&
           (code = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        *help = code == 'h';
        result = code == '?' || code == ':' ? h5twin_fail_option(argv[0], code, argv)
                 : *help                    ? H5TWIN_EXIT_OK
                                            : take(args, code);
    }
    return result;
}
