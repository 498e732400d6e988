/* SPDX-License-Identifier: BSD-3-Clause
 * config.c: see config.h. A subset of TOML: no dotted keys, tables, arrays, dates or escapes, as no
 * option needs them. */
#include "config.h"

#include "cd_values.h"
#include "common/number.h"

#include <stdio.h>
#include <string.h>

#define MAX_OPTION 256 /* characters of "key=value" */
#define MAX_KEYS   16

static const char not_toml[] = "The configuration is no list of key = value, separated by commas: "
                               "give for example abs = 1e-3, "
                               "effort = \"fast\".";
static const char no_room[] = "HDF5 has less room for the parameters than they need.";
static const char twice[] = "A key stands twice in the configuration: give it once.";

/* ---- reading ---- */

struct reader {
    const char *at;
    char keys[MAX_KEYS][MAX_OPTION]; /* those seen */
    unsigned key_count;
};

static bool
is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Blanks, and with lines also line ends and comments. */
static void
skip_blanks(struct reader *reader, bool lines)
{
    for (;;) {
        const char c = *reader->at;
        if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
            reader->at++;
        } else if (lines && c == '#') {
            reader->at += strcspn(reader->at, "\n");
        } else {
            return;
        }
    }
}

/* Text of a quoted string; no character of it needs an escape in any option. */
static bool
read_quoted(struct reader *reader, char *text, size_t capacity)
{
    const char quote = *reader->at++;
    const char *const end = strchr(reader->at, quote);
    const size_t length = end == NULL ? 0 : (size_t)(end - reader->at);
    if (end == NULL || length >= capacity || memchr(reader->at, '\\', length) != NULL ||
        memchr(reader->at, '\n', length) != NULL) {
        return false;
    }
    memcpy(text, reader->at, length);
    text[length] = '\0';
    reader->at = end + 1;
    return true;
}

static bool
read_key(struct reader *reader, char key[MAX_OPTION])
{
    if (*reader->at == '"' || *reader->at == '\'') {
        return read_quoted(reader, key, MAX_OPTION);
    }
    size_t length = 0;
    while (is_bare(*reader->at) && length < MAX_OPTION - 1) {
        key[length++] = *reader->at++;
    }
    key[length] = '\0';
    return length > 0;
}

/* A number or a boolean as the spec has it: TOML allows underscores between digits. */
static bool
read_bare_value(struct reader *reader, char value[MAX_OPTION])
{
    size_t length = 0;
    while ((is_bare(*reader->at) || *reader->at == '+' || *reader->at == '.') &&
           length < MAX_OPTION - 1) {
        if (*reader->at != '_') {
            value[length++] = *reader->at;
        }
        reader->at++;
    }
    value[length] = '\0';
    double number;
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        strcpy(value, value[0] == 't' ? "yes" : "no");
        return true;
    }
    return h5twin_number_read(value, &number); /* a word has quotes */
}

static bool
is_new_key(struct reader *reader, const char *key)
{
    for (unsigned i = 0; i < reader->key_count; i++) {
        if (strcmp(reader->keys[i], key) == 0) {
            return false;
        }
    }
    if (reader->key_count == MAX_KEYS) {
        return false;
    }
    strcpy(reader->keys[reader->key_count++], key);
    return true;
}

/* One key = value into params. */
static const char *
read_pair(struct reader *reader, struct h5twin_params *params)
{
    char key[MAX_OPTION], value[MAX_OPTION], option[2 * MAX_OPTION];
    if (!read_key(reader, key)) {
        return not_toml;
    }
    skip_blanks(reader, false);
    if (*reader->at != '=') {
        return not_toml;
    }
    reader->at++;
    skip_blanks(reader, false);
    const bool quoted = *reader->at == '"' || *reader->at == '\'';
    if (!(quoted ? read_quoted(reader, value, sizeof value) : read_bare_value(reader, value))) {
        return not_toml;
    }
    if (!is_new_key(reader, key)) {
        return twice;
    }
    if (strpbrk(key, ",=:") != NULL || strpbrk(value, ",=:") != NULL) {
        return h5twin_status_message(H5TWIN_ERR_OPTION);
    }
    snprintf(option, sizeof option, "%s=%s", key, value);
    const enum h5twin_status status = h5twin_params_set_option(params, option);
    return status == H5TWIN_OK ? NULL : h5twin_status_message(status);
}

/* What stands between two pairs, or ends them. */
static bool
read_separator(struct reader *reader)
{
    skip_blanks(reader, false);
    const bool separated =
        *reader->at == ',' || *reader->at == '\n' || *reader->at == '\r' || *reader->at == '#';
    if (*reader->at == ',') {
        reader->at++;
    }
    skip_blanks(reader, true);
    return separated;
}

static const char *
read_pairs(struct reader *reader, struct h5twin_params *params)
{
    skip_blanks(reader, true);
    const bool braced = *reader->at == '{';
    if (braced) {
        reader->at++;
        skip_blanks(reader, true);
    }
    const char end = braced ? '}' : '\0';
    while (*reader->at != end) {
        const char *const why = read_pair(reader, params);
        if (why != NULL) {
            return why;
        }
        if (!read_separator(reader) && *reader->at != end) {
            return not_toml;
        }
    }
    if (braced) {
        reader->at++;
        skip_blanks(reader, true);
    }
    return *reader->at == '\0' ? NULL : not_toml;
}

const char *
h5twin_config_read(enum h5twin_codec_id codec, const char *text, size_t *cd_count,
                   unsigned *cd_values, size_t cd_capacity)
{
    struct reader reader = {.at = text, .key_count = 0};
    struct h5twin_params params;
    unsigned words[H5TWIN_USER_CD_VALUES];
    h5twin_params_init(&params, codec);
    if (text != NULL) {
        const char *const why =
            strlen(text) > H5TWIN_CONFIG_MAX ? not_toml : read_pairs(&reader, &params);
        if (why != NULL) {
            return why;
        }
    }
    const enum h5twin_status status = h5twin_params_check(&params);
    if (status != H5TWIN_OK) {
        return h5twin_status_message(status);
    }
    *cd_count = h5twin_params_to_cd_values(&params, words);
    if (cd_values != NULL && cd_capacity < *cd_count) {
        return no_room;
    }
    if (cd_values != NULL) {
        memcpy(cd_values, words, *cd_count * sizeof *words);
    }
    return NULL;
}

/* ---- writing ---- */

struct writer {
    char *text;
    size_t capacity, length; /* length goes on counting beyond capacity */
};

static void
put(struct writer *writer, const char *text, size_t size)
{
    if (writer->length < writer->capacity) {
        const size_t room = writer->capacity - writer->length;
        memcpy(writer->text + writer->length, text, size < room ? size : room);
    }
    writer->length += size;
}

/* A value as TOML: what is no number is a string; a bound, a fill value and a limit are floats,
 * which have a point or an exponent. */
static void
put_value(struct writer *writer, const char *key, const char *value)
{
    double number;
    const size_t length = strlen(value);
    if (!h5twin_number_read(value, &number)) {
        put(writer, "\"", 1);
        put(writer, value, length);
        put(writer, "\"", 1);
        return;
    }
    put(writer, value, length);
    static const char *const reals[] = {"abs", "noa", "rel", "fill", "min", "max"};
    bool real = false;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        real = real || strcmp(key, reals[i]) == 0;
    }
    if (real && strpbrk(value, ".enif") == NULL) {
        put(writer, ".0", 2);
    }
}

/* "CODEC:KEY=VALUE,KEY=VALUE" as "KEY = VALUE, KEY = VALUE". Changes the spec. */
static void
put_spec(struct writer *writer, char *spec)
{
    char *pair = strchr(spec, ':');
    while (pair != NULL) {
        char *const key = pair + 1;
        char *const value = strchr(key, '=');
        pair = strchr(key, ',');
        if (pair != NULL) {
            *pair = '\0';
        }
        *value = '\0';
        if (writer->length > 0) {
            put(writer, ", ", 2);
        }
        put(writer, key, strlen(key));
        put(writer, " = ", 3);
        put_value(writer, key, value + 1);
    }
}

const char *
h5twin_config_write(enum h5twin_codec_id codec, size_t cd_count, const unsigned *cd_values,
                    char *text, size_t *size, char why_text[H5TWIN_CONFIG_WHY])
{
    struct h5twin_cd cd;
    const char *why = NULL;
    char spec[H5TWIN_CONFIG_MAX];
    if (h5twin_cd_read(&cd, codec, cd_values, cd_count, &why) != H5TWIN_OK) {
        snprintf(why_text, H5TWIN_CONFIG_WHY, "%s", why); /* it may be in cd */
        return why_text;
    }
    h5twin_params_format(&cd.params, spec, sizeof spec);
    struct writer writer = {text, text == NULL ? 0 : *size, 0};
    put_spec(&writer, spec);
    const size_t length = writer.length;
    put(&writer, "", 1);
    if (text != NULL && writer.length > writer.capacity) {
        return no_room;
    }
    *size = length;
    return NULL;
}
