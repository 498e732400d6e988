/* SPDX-License-Identifier: BSD-3-Clause
 * messages.h: what the command says when something is wrong: one sentence on stderr that starts
 * "h5twin: ". Each function returns the exit code that goes with its message. */
#ifndef H5TWIN_TOOLS_MESSAGES_H
#define H5TWIN_TOOLS_MESSAGES_H

#include "h5twin.h"

#include <stdio.h>

#ifdef __MINGW32__ /* whose printf means that of an older C library */
#    define H5TWIN_PRINTF(format_at, first_at)                                                     \
        __attribute__((format(gnu_printf, format_at, first_at)))
#elif defined(__GNUC__)
#    define H5TWIN_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#    define H5TWIN_PRINTF(format_at, first_at)
#endif

/* The character of UTF-8 that starts here, and its bytes; negative, and one byte, if there is none.
 */
long h5twin_character(const char *at, size_t *size);

/* Whether a terminal shows it as it is and where it is: no control character (of either set), and
 * none that ends a line or turns the direction of what follows. */
bool h5twin_is_shown(long character);

/* Names in files may hold any bytes, and so steer a terminal or forge lines: what is not shown is
 * written as \x1b, or \u202e. All messages below do so. */
void h5twin_put_text(FILE *out, const char *text);

/* printf() of a line, or part of one, to stdout, with its arguments written so; it ends a line if
 * the format does. */
void h5twin_print(const char *format, ...) H5TWIN_PRINTF(1, 2);

/* The data or the operation failed: returns H5TWIN_EXIT_FAILED. */
int h5twin_fail(const char *format, ...) H5TWIN_PRINTF(1, 2);

/* The command line is wrong: adds where help is; returns H5TWIN_EXIT_USAGE. */
int h5twin_fail_usage(const char *command, const char *format, ...) H5TWIN_PRINTF(2, 3);

/* The library refused `what` (a file, a spec): returns H5TWIN_EXIT_USAGE if the parameters are at
 * fault, H5TWIN_EXIT_FAILED if anything else is. */
int h5twin_fail_status(const char *what, enum h5twin_status status);

/* Same when getopt_long() returned '?' or ':', about the option it stopped at. */
int h5twin_fail_option(const char *command, int result, char **argv);

struct option; /* of getopt_long() */

/* Hands each option of a command line to take(args, code), with its value in optarg, until that
 * returns another exit code than H5TWIN_EXIT_OK: returns the last one. 'h' is not handed over but
 * sets *help and ends it. */
int h5twin_each_option(int argc, char **argv, const struct option *options,
                       int (*take)(void *args, int code), void *args, bool *help);

#endif
