/* SPDX-License-Identifier: BSD-3-Clause
 * explain_file.c: see explain_file.h. Datasets with the same codec, bound and units share a
 * sentence. */
#include "explain_file.h"

#include "cd_values.h"
#include "commands.h"
#include "common/number.h"
#include "files.h"
#include "hdf5_file.h"
#include "messages.h"
#include "said.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH      88
#define MOST_NAMES 12 /* in a sentence; the rest is a number */

/* One sort of datasets. */
struct group {
    char spec[256], units[64];
    struct h5twin_said said;
    const struct h5twin_codec_info *codec;
    struct h5twin_params params;
    bool is_float;
    uint64_t raw_size, stored_size;
    char *names[MOST_NAMES];
    size_t name_count; /* of all */
};

struct groups {
    struct group *list;
    size_t count;
    uint64_t dataset_count;
};

/* ---- finding them ---- */

static bool
is_same(const struct group *left, const struct group *right)
{
    return left->codec == right->codec && left->is_float == right->is_float &&
           strcmp(left->spec, right->spec) == 0 && strcmp(left->units, right->units) == 0 &&
           strcmp(left->said.spec, right->said.spec) == 0 &&
           left->params.has_declared_fill == right->params.has_declared_fill &&
           memcmp(&left->params.declared_fill, &right->params.declared_fill, sizeof(double)) == 0;
}

/* What our filter of a dataset was told; false if it has none, or none that can be read. */
static bool
read_dataset(struct group *found, hid_t dataset)
{
    const hid_t dcpl = H5Dget_create_plist(dataset);
    const int count = H5Pget_layout(dcpl) == H5D_CHUNKED ? H5Pget_nfilters(dcpl) : 0;
    bool read = false;
    for (int i = 0; i < count && !read; i++) {
        unsigned flags, config, words[H5TWIN_CD_MAX];
        size_t word_count = H5TWIN_CD_MAX;
        struct h5twin_cd cd;
        const char *why;
        found->codec = h5twin_hdf5_codec(
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &word_count, words, 0, NULL, &config));
        read = found->codec != NULL && word_count <= H5TWIN_CD_MAX &&
               h5twin_cd_read(&cd, found->codec->id, words, word_count, &why) == H5TWIN_OK;
        if (read) {
            found->params = cd.params;
            found->is_float = cd.params.kind == H5TWIN_FLOAT;
            if (!found->is_float) {
                found->params.mode = H5TWIN_LOSSLESS;
            }
            if (found->params.mode == H5TWIN_LOSSLESS) {
                found->params.has_declared_fill = false;
                found->params.has_fill = false;
            }
            if (!found->params.has_declared_fill) {
                found->params.declared_fill = 0;
            }
            h5twin_params_format(&found->params, found->spec, sizeof found->spec);
        }
    }
    H5Pclose(dcpl);
    H5Eclear2(H5E_DEFAULT);
    return read;
}

static int
take_dataset(void *context, hid_t dataset, const char *name)
{
    struct groups *const groups = context;
    struct group found = {.name_count = 0};
    groups->dataset_count++;
    if (!read_dataset(&found, dataset)) {
        return 0;
    }
    h5twin_said_read(&found.said, dataset);
    if (found.params.mode != H5TWIN_LOSSLESS || found.said.spec[0] != '\0') {
        h5twin_attribute_text(dataset, "units", found.units, sizeof found.units);
    }
    size_t at = 0;
    while (at < groups->count && !is_same(&groups->list[at], &found)) {
        at++;
    }
    if (at == groups->count) {
        void *const more = realloc(groups->list, (at + 1) * sizeof found);
        if (more == NULL) {
            return -1;
        }
        groups->list = more;
        groups->list[groups->count++] = found;
    }
    struct group *const group = &groups->list[at];
    const uint64_t stored = H5Dget_storage_size(dataset);
    group->stored_size += stored;
    group->raw_size += stored > 0 ? h5twin_hdf5_raw_size(dataset) : 0;
    if (group->name_count < MOST_NAMES) {
        char *const copy = malloc(strlen(name) + 1);
        if (copy == NULL) {
            return -1;
        }
        strcpy(copy, name);
        group->names[group->name_count] = copy;
    }
    group->name_count++;
    return 0;
}

/* ---- words ---- */

struct text {
    char *start;
    size_t length, capacity;
};

static void add(struct text *text, const char *format, ...) H5TWIN_PRINTF(2, 3);

static void
add(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    const size_t needed = text->length + (length < 0 ? 0 : (size_t)length) + 1;
    if (needed > text->capacity) {
        char *const more = realloc(text->start, 2 * needed);
        text->capacity = more == NULL ? text->capacity : 2 * needed;
        text->start = more == NULL ? text->start : more;
    }
    if (needed <= text->capacity) {
        vsnprintf(text->start + text->length, text->capacity - text->length, format, again);
        text->length = needed - 1;
    }
    va_end(again);
    va_end(arguments);
}

static void
add_number(struct text *text, double value)
{
    char number[H5TWIN_NUMBER_TEXT];
    h5twin_number_write(number, value);
    add(text, "%s", number);
}

static void
add_names(struct text *text, const struct group *group)
{
    const size_t shown = group->name_count < MOST_NAMES ? group->name_count : MOST_NAMES;
    for (size_t i = 0; i < shown; i++) {
        const bool is_last = i + 1 == shown && shown == group->name_count;
        add(text, "%s%s", i == 0 ? "" : is_last ? " and " : ", ", group->names[i]);
    }
    if (group->name_count > shown) {
        add(text, " and %zu more", group->name_count - shown);
    }
}

static void
add_bound(struct text *text, const struct group *group)
{
    const struct h5twin_params *const params = &group->params;
    const char *const blank = group->units[0] == '\0' ? "" : " ";
    add(text, "so that every value differs from the one that was given by at most ");
    add_number(text, params->error_bound);
    if (params->mode == H5TWIN_ABS) {
        add(text, "%s%s", blank, group->units);
    } else {
        add(text, params->mode == H5TWIN_REL ? " times its own magnitude"
                                             : " times the range of the values in its chunk");
    }
    add(text, params->has_fill || params->has_declared_fill ? "; NaN, infinities"
                                                            : "; NaN and infinities");
    if (params->has_fill) {
        add(text, params->has_declared_fill ? ", the missing value " : " and the missing value ");
        add_number(text, params->fill);
    }
    if (params->has_declared_fill) {
        add(text, " and the fill value ");
        add_number(text, params->declared_fill);
    }
    add(text, " are kept exactly");
}

static void
add_sizes(struct text *text, const struct group *group)
{
    if (group->stored_size > 0) {
        add(text, " %s %.4g MB instead of %.4g MB, a ratio of %.3g.",
            group->name_count == 1 ? "It takes" : "They take", (double)group->stored_size / 1e6,
            (double)group->raw_size / 1e6, (double)group->raw_size / (double)group->stored_size);
    }
}

/* What was done before, and is no part of the filter's parameters. */
static void
add_said(struct text *text, const struct group *group)
{
    const struct h5twin_said *const said = &group->said;
    if (said->spec[0] == '\0' || strcmp(said->spec, group->spec) == 0) {
        return;
    }
    add(text, " By %s attributes, %s went through %s", group->name_count == 1 ? "its" : "their",
        group->name_count == 1 ? "it" : "they", said->spec);
    if (said->has_abs) {
        add(text, ", together at most ");
        add_number(text, said->abs);
        add(text, "%s%s from the first original", group->units[0] == '\0' ? "" : " ", group->units);
    }
    add(text, ".");
}

static void
add_group(struct text *text, const struct group *group)
{
    const bool is_lossy = group->params.mode != H5TWIN_LOSSLESS;
    add_names(text, group);
    add(text, " %s compressed %s the codec %s (%s", group->name_count == 1 ? "is" : "are",
        is_lossy ? "with" : "without loss with", group->codec->name, group->spec);
    if (group->said.implementation[0] != '\0') {
        add(text, "; %s)", group->said.implementation);
    } else {
        add(text, "; h5twin, HDF5 filter %u)", (unsigned)group->codec->filter_id);
    }
    if (is_lossy) {
        add(text, ", ");
        add_bound(text, group);
    } else {
        add(text, ": every bit is as it was given");
    }
    add(text, ".");
    add_sizes(text, group);
    add_said(text, group);
}

/* In lines of WIDTH columns. */
static void
print_wrapped(const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        char *const word = malloc(length + 1);
        if (word == NULL) {
            break;
        }
        memcpy(word, text, length);
        word[length] = '\0';
        if (column > 0 && column + 1 + length > WIDTH) {
            putchar('\n');
            column = 0;
        } else if (column > 0) {
            putchar(' ');
            column++;
        }
        h5twin_put_text(stdout, word);
        column += length;
        free(word);
        text += length;
        text += strspn(text, " ");
    }
    puts("");
}

/* ---- all together ---- */

static int
print_groups(const struct groups *groups, const char *path)
{
    if (groups->count == 0) {
        return h5twin_fail("%s: none of its arrays went through a filter of h5twin.", path);
    }
    uint64_t ours = 0;
    for (int lossy = 1; lossy >= 0; lossy--) {
        for (size_t i = 0; i < groups->count; i++) {
            const struct group *const group = &groups->list[i];
            struct text text = {.start = NULL};
            if ((group->params.mode != H5TWIN_LOSSLESS) == (lossy == 1)) {
                add_group(&text, group);
                print_wrapped(text.start == NULL ? "" : text.start);
                ours += group->name_count;
            }
            free(text.start);
        }
    }
    if (groups->dataset_count > ours) {
        printf("%llu other dataset%s of the file did not go through a filter of h5twin.\n",
               (unsigned long long)(groups->dataset_count - ours),
               groups->dataset_count - ours == 1 ? "" : "s");
    }
    return H5TWIN_EXIT_OK;
}

int
h5twin_explain_file(char *path)
{
    const char *const name = h5twin_file_split(path);
    struct groups groups = {.count = 0};
    if (!h5twin_file_check(path)) {
        return H5TWIN_EXIT_FAILED;
    }
    if (!h5twin_file_is_hdf5(path)) {
        return h5twin_fail("%s is not an HDF5 file.", path);
    }
    const hid_t file = h5twin_hdf5_open(path);
    if (file < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    int result = H5TWIN_EXIT_OK;
    if (name == NULL) {
        result = h5twin_hdf5_each(file, take_dataset, &groups) == 0
                     ? H5TWIN_EXIT_OK
                     : h5twin_hdf5_fail(path, "", "read");
    } else {
        const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        result = dataset < 0 ? h5twin_hdf5_fail(path, name, "opened") : H5TWIN_EXIT_OK;
        if (dataset >= 0 && take_dataset(&groups, dataset, name) != 0) {
            result = h5twin_fail("there is no memory for the names.");
        }
        H5Dclose(dataset);
    }
    result = result == H5TWIN_EXIT_OK ? print_groups(&groups, path) : result;
    for (size_t i = 0; i < groups.count; i++) {
        for (size_t k = 0; k < groups.list[i].name_count && k < MOST_NAMES; k++) {
            free(groups.list[i].names[k]);
        }
    }
    free(groups.list);
    H5Fclose(file);
    return result;
}
