/* SPDX-License-Identifier: BSD-3-Clause
 * messages.c: see messages.h. */
#include "messages.h"

#include "commands.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of any bytes ---- */

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

long
h5twin_character(const char *at, size_t *size)
{
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char *const bytes = (const unsigned char *)at;
    const size_t count = character_size(bytes);
    long character = bytes[0] & first_bits[count];
    for (size_t i = 1; i < count; i++) {
        character = (character << 6) | (bytes[i] & 0x3F);
    }
    *size = count == 0 ? 1 : count;
    return count == 0 ? -1 : character;
}

bool
h5twin_is_shown(long character)
{
    static const long hidden[][2] = {
        {0, 0x1F},          {0x7F, 0x9F},     /* control characters */
        {0x061C, 0x061C},   {0x200B, 0x200F}, /* marks of direction, widths of zero */
        {0x2028, 0x202E},   {0x2060, 0x206F}, /* ends of lines, overrides, isolates */
        {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB}, /* no width, annotations */
        {0xE0000, 0xE007F},                   /* tags */
    };
    bool shown = character >= 0;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        shown = shown && (character < hidden[i][0] || character > hidden[i][1]);
    }
    return shown;
}

void
h5twin_put_text(FILE *out, const char *text)
{
    for (size_t size; *text != '\0'; text += size) {
        const long character = h5twin_character(text, &size);
        if (h5twin_is_shown(character)) {
            fwrite(text, 1, size, out);
        } else if (character < 0x80) {
            fprintf(out, "\\x%02x", (unsigned)(unsigned char)*text);
        } else {
            fprintf(out, "\\u%04lx", (unsigned long)character);
        }
    }
}

/* What printf() would write, as shown; without memory its beginning. */
static void
print_shown(FILE *out, const char *format, va_list arguments)
{
    char start[1024];
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(start, sizeof start, format, arguments);
    char *const longer =
        length < 0 || (size_t)length < sizeof start ? NULL : malloc((size_t)length + 1);
    if (longer != NULL) {
        vsnprintf(longer, (size_t)length + 1, format, again);
    }
    va_end(again);
    char *const text = longer == NULL ? start : longer;
    const size_t format_length = strlen(format);
    const bool ends_line = format_length > 0 && format[format_length - 1] == '\n';
    if (ends_line && length > 0) {
        text[strlen(text) - 1] = '\0';
    }
    h5twin_put_text(out, length < 0 ? "" : text);
    if (ends_line) {
        fputc('\n', out);
    }
    free(longer);
}

void
h5twin_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_shown(stdout, format, arguments);
    va_end(arguments);
}

/* ---- messages ---- */

static void
print_message(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("h5twin: ", stderr);
    print_shown(stderr, format, arguments);
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
