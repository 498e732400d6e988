/* SPDX-License-Identifier: BSD-3-Clause
 * log_line.c: see log_line.h. */
#include "log_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 8192 /* bytes */

struct line {
    char text[MAX_LINE];
    size_t length;
};

static void
put_byte(struct line *line, char byte)
{
    if (line->length < MAX_LINE - 1) { /* the last one is for the end of the line */
        line->text[line->length++] = byte;
    }
}

/* Control characters would forge lines and columns, or steer a terminal. */
static void
put_text(struct line *line, const char *text)
{
    static const char digits[] = "0123456789abcdef", named[] = "\t\n\r\\", names[] = "tnr\\";
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        const char *const name = strchr(named, *text);
        if (name != NULL) {
            put_byte(line, '\\');
            put_byte(line, names[name - named]);
        } else if (byte < 0x20 || byte == 0x7F) {
            put_byte(line, '\\');
            put_byte(line, 'x');
            put_byte(line, digits[byte >> 4]);
            put_byte(line, digits[byte & 15]);
        } else {
            put_byte(line, *text);
        }
    }
}

/* As one write. */
static void
write_line(const char *name, struct line *line)
{
    line->text[line->length++] = '\n';
    if (strcmp(name, "-") == 0 || strcmp(name, "stderr") == 0) {
        FILE *const stream = name[0] == '-' ? stdout : stderr;
        fwrite(line->text, 1, line->length, stream);
        fflush(stream);
        return;
    }
    FILE *const file = fopen(name, "ab");
    if (file != NULL) {
        char buffer[MAX_LINE + 1]; /* more than a line: it goes out when the file is closed */
        setvbuf(file, buffer, _IOFBF, sizeof buffer);
        fwrite(line->text, 1, line->length, file);
        fclose(file);
    }
}

bool
h5twin_log_is_wanted(const char *variable)
{
    const char *const name = getenv(variable);
    return name != NULL && name[0] != '\0';
}

void
h5twin_log_line(const char *variable, const char *const columns[], size_t count)
{
    if (!h5twin_log_is_wanted(variable)) {
        return;
    }
    struct line line;
    line.length = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            put_byte(&line, '\t');
        }
        put_text(&line, columns[i] == NULL || columns[i][0] == '\0' ? "-" : columns[i]);
    }
    write_line(getenv(variable), &line);
}
