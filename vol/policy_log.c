/* SPDX-License-Identifier: BSD-3-Clause
 * policy_log.c: lines for people and programs: what each dataset was created with, and why. */
#include "policy_rules.h"

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

/* A column after the first has a tab before it. Control characters would forge lines and columns,
 * or steer a terminal. */
static void
put_column(struct line *line, const char *text)
{
    static const char digits[] = "0123456789abcdef", named[] = "\t\n\r\\", names[] = "tnr\\";
    if (line->length > 0) {
        put_byte(line, '\t');
    }
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

/* As one write: lines of several threads and processes, which append to one file, do not mix. */
static void
write_line(struct line *line)
{
    const char *const name = getenv("H5TWIN_POLICY_LOG");
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

static bool
is_wanted(void)
{
    const char *const name = getenv("H5TWIN_POLICY_LOG");
    return name != NULL && name[0] != '\0';
}

/* "line 3, chunks 16x64x64 chosen". */
static void
describe_coded(const struct h5twin_policy_outcome *outcome, char text[H5TWIN_POLICY_SENTENCE])
{
    size_t length = (size_t)snprintf(text, H5TWIN_POLICY_SENTENCE, "line %u, %s chunks ",
                                     outcome->line, outcome->is_new_chunk ? "new" : "its own");
    for (uint32_t axis = 0; axis < outcome->rank && length < H5TWIN_POLICY_SENTENCE; axis++) {
        length += (size_t)snprintf(text + length, H5TWIN_POLICY_SENTENCE - length, "%s%llu",
                                   axis == 0 ? "" : "x", (unsigned long long)outcome->chunk[axis]);
    }
}

static void
describe_left(const struct h5twin_policy_outcome *outcome, char text[H5TWIN_POLICY_SENTENCE])
{
    if (outcome->line == 0) {
        snprintf(text, H5TWIN_POLICY_SENTENCE, "%s", outcome->why);
    } else {
        snprintf(text, H5TWIN_POLICY_SENTENCE, "line %u, %.*s", outcome->line,
                 H5TWIN_POLICY_SENTENCE - 32, outcome->why);
    }
}

void
h5twin_policy_detail(const struct h5twin_policy_outcome *outcome, char text[H5TWIN_POLICY_SENTENCE])
{
    if (outcome->is_coded) {
        describe_coded(outcome, text);
    } else {
        describe_left(outcome, text);
    }
}

void
h5twin_policy_log(const char *file_name, const struct h5twin_policy_outcome *outcome)
{
    if (!is_wanted()) {
        return;
    }
    struct line line = {.length = 0};
    char text[H5TWIN_POLICY_SENTENCE];
    put_column(&line, file_name == NULL || file_name[0] == '\0' ? "-" : file_name);
    put_column(&line, outcome->path[0] == '\0' ? "-" : outcome->path);
    put_column(&line, outcome->array);
    put_column(&line, outcome->is_coded ? outcome->spec : "left alone");
    h5twin_policy_detail(outcome, text);
    put_column(&line, text);
    write_line(&line);
}

void
h5twin_policy_log_sentence(const char *sentence)
{
    if (!is_wanted()) {
        return;
    }
    struct line line = {.length = 0};
    put_column(&line, "-");
    put_column(&line, "-");
    put_column(&line, "-");
    put_column(&line, "no policy");
    put_column(&line, sentence);
    write_line(&line);
}
