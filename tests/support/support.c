/* SPDX-License-Identifier: BSD-3-Clause
 * support.c: see support.h. */
#include "support.h"

#include "isa.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
test_child_begin(unsigned seconds)
{
    static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    for (size_t i = 0; i < TEST_LENGTH(crashes); i++) {
        signal(crashes[i], SIG_DFL);
    }
    alarm(seconds);
}

bool
test_cpu_has(const char *variant)
{
    for (unsigned index = 0; h5twin_isa_level_at(index) != NULL; index++) {
        if (strcmp(h5twin_isa_level_at(index)->name, variant) == 0) {
            return true;
        }
    }
    return false;
}

void *
test_alloc(size_t size)
{
    void *const block = malloc(size == 0 ? 1 : size);
    if (block == NULL) {
        fail_msg("cannot allocate %zu bytes", size);
    }
    return block;
}

void
test_refused(const char *rule, enum h5twin_status status)
{
    if (status != H5TWIN_ERR_CORRUPT && status != H5TWIN_ERR_SRC_SHORT) {
        fail_msg("%s: status %d", rule, (int)status);
    }
}

const char *
test_golden_path(char *path, size_t capacity, const char *name)
{
    const char *const chosen = getenv("H5TWIN_GOLDEN");
    snprintf(path, capacity, "%s/%s", chosen != NULL ? chosen : H5TWIN_GOLDEN_DIR, name);
    return path;
}

struct test_bytes
test_golden_read(const char *name)
{
    char path[1024];
    FILE *const file = fopen(test_golden_path(path, sizeof path, name), "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail_msg("cannot open %s", path);
    }
    const long size = ftell(file);
    rewind(file);
    /* One byte more, for the zero that ends a text. */
    const struct test_bytes bytes = {.at = test_alloc((size_t)size + 1), .size = (size_t)size};
    if (fread(bytes.at, 1, bytes.size, file) != bytes.size) {
        fail_msg("cannot read %s", path);
    }
    bytes.at[bytes.size] = 0;
    fclose(file);
    return bytes;
}

struct test_table
test_table_open(const char *golden_name)
{
    struct test_table table = {.text = test_golden_read(golden_name)};
    char *const headings_end = strchr((char *)table.text.at, '\n');
    assert_non_null(headings_end);
    table.next = headings_end + 1;
    return table;
}

bool
test_table_next(struct test_table *table, char *fields[], unsigned field_count)
{
    if (*table->next == '\0') {
        return false;
    }
    char *const line_end = strchr(table->next, '\n');
    assert_non_null(line_end);
    *line_end = '\0';
    char *field = table->next;
    for (unsigned i = 0; i < field_count; i++) {
        fields[i] = field;
        char *const tab = strchr(field, '\t');
        if ((tab == NULL) != (i + 1 == field_count)) {
            fail_msg("a line has not %u fields: %s", field_count, table->next);
        }
        if (tab != NULL) {
            *tab = '\0';
            field = tab + 1;
        }
    }
    table->next = line_end + 1;
    return true;
}

void
test_table_close(struct test_table *table)
{
    free(table->text.at);
}

enum h5twin_status
test_params(struct h5twin_params *params, const char *spec, const char *type, const char *dims)
{
    h5twin_params_init(params, H5TWIN_SLEEK);
    const enum h5twin_status status = h5twin_params_parse(params, spec, NULL);
    char *end;
    const unsigned long width_bits = strtoul(type + 1, &end, 10);
    if (*end != '\0' || width_bits % 8 != 0 || width_bits == 0) {
        fail_msg("bad type %s", type);
    }
    uint64_t extents[H5TWIN_MAX_RANK];
    uint32_t rank = 0;
    for (const char *at = dims; *at != '\0' && *at != '-' && rank < H5TWIN_MAX_RANK; rank++) {
        extents[rank] = strtoull(at, &end, 10);
        at = *end == 'x' ? end + 1 : end;
    }
    const enum h5twin_kind kind = type[0] == 'f'   ? H5TWIN_FLOAT
                                  : type[0] == 'b' ? H5TWIN_OTHER
                                                   : H5TWIN_INTEGER;
    h5twin_params_set_array(params, kind, (uint32_t)(width_bits / 8), rank, extents);
    return status;
}
