/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_reference.c: another program's payloads are decoded, and it decodes ours.
 *
 * H5TWIN_LATTICE_REFERENCE is the path of a program that is called as
 *     PROGRAM enc f32|f64 DIMS abs=E|noa=E|rel=E EFFORT IN OUT [fill=VALUE]
 *     PROGRAM dec f32|f64 DIMS IN OUT
 * with raw arrays, bare payloads and EFFORT fast, balanced, max, or one of them with +stable.
 * H5TWIN_LATTICE_CASES=N tries N random arrays. */
#include "lattice_cases.h"

#include "common/bits.h"
#include "common/values.h"
#include "isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/h5twin-lattice-XXXXXX";

static void
path_of(char path[64], const char *name)
{
    snprintf(path, 64, "%s/%s", folder, name);
}

static void
write_file(const char *name, const uint8_t *bytes, size_t size)
{
    char path[64];
    path_of(path, name);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t
read_file(const char *name, uint8_t *bytes, size_t capacity)
{
    char path[64];
    path_of(path, name);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    return size;
}

/* DIMS as text. */
static void
format_dims(char text[160], const struct lattice_case *item)
{
    size_t length = 0;
    for (unsigned axis = 0; axis < item->rank; axis++) {
        length += (size_t)snprintf(text + length, 160 - length, "%s%llu", axis == 0 ? "" : "x",
                                   (unsigned long long)item->dims[axis]);
    }
}

static const char *
type_of(const struct lattice_case *item)
{
    return item->settings.word_size == 4 ? "f32" : "f64";
}

/* The payload that the other program makes of the case; its size. */
static size_t
encode_there(const char *program, const struct lattice_case *item, uint8_t *payload,
             size_t capacity)
{
    static const char *const modes[] = {"", "abs", "noa", "rel"};
    static const char *const efforts[] = {"fast", "balanced", "max"};
    char command[1024], dims[160], fill[64] = "";
    const struct lattice_settings *const settings = &item->settings;
    format_dims(dims, item);
    if (settings->has_fill) {
        const double value = settings->word_size == 4
                                 ? (double)h5twin_float_of_bits((uint32_t)settings->fill)
                                 : h5twin_double_of_bits(settings->fill);
        snprintf(fill, sizeof fill, " fill=%.17g", value);
    }
    write_file("in", item->words, item->size);
    snprintf(command, sizeof command, "%s enc %s %s %s=%.17g %s%s %s/in %s/out%s >%s/log", program,
             type_of(item), dims, modes[settings->mode], settings->bound, efforts[settings->effort],
             settings->stable == LATTICE_STABLE_YES ? "+stable" : "", folder, folder, fill, folder);
    assert_int_equal(system(command), 0);
    return read_file("out", payload, capacity);
}

static void
decode_there(const char *program, const struct lattice_case *item, const uint8_t *payload,
             size_t size, uint8_t *words)
{
    char command[1024], dims[160];
    format_dims(dims, item);
    write_file("in", payload, size);
    snprintf(command, sizeof command, "%s dec %s %s %s/in %s/out", program, type_of(item), dims,
             folder, folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(read_file("out", words, item->size + 1), item->size);
}

static void
decode_here(const struct lattice_case *item, const uint8_t *payload, size_t size, uint8_t *words)
{
    if (payload[0] == LATTICE_VERBATIM) {
        assert_int_equal(size, item->size + 1);
        memcpy(words, payload + 1, item->size);
        return;
    }
    assert_int_equal(h5twin_lattice_decode(h5twin_isa_available(), 1, item->settings.word_size,
                                           words, item->shape.count, payload, size),
                     H5TWIN_OK);
}

static void
test_both_programs_read_both_payloads(void **state)
{
    const char *const program = *state;
    const uint64_t count = lattice_case_count(200);
    uint64_t equal = 0;
    size_t our_bytes = 0, their_bytes = 0;
    for (uint64_t number = 0; number < count; number++) {
        struct lattice_case item = lattice_case_new(number);
        item.settings.zeros_are_padding = item.settings.has_second_fill = false; /* not there */
        if (item.settings.stable == LATTICE_STABLE_AUTO) {
            item.settings.stable = LATTICE_STABLE_NO;
        }
        const size_t capacity = item.size + 64;
        uint8_t *const ours = test_alloc(capacity), *const theirs = test_alloc(capacity);
        uint8_t *const here = test_alloc(item.size), *const there = test_alloc(item.size + 1);
        size_t our_size = 0;
        assert_int_equal(h5twin_lattice_encode(&item.settings, h5twin_isa_available(), ours,
                                               item.words, &item.shape, &our_size),
                         H5TWIN_OK);
        decode_here(&item, ours, our_size, here);
        decode_there(program, &item, ours, our_size, there);
        assert_memory_equal(here, there, item.size);
        const size_t their_size = encode_there(program, &item, theirs, capacity);
        decode_here(&item, theirs, their_size, here);
        decode_there(program, &item, theirs, their_size, there);
        assert_memory_equal(here, there, item.size);
        equal += our_size == their_size && memcmp(ours, theirs, our_size) == 0;
        our_bytes += our_size;
        their_bytes += their_size;
        free(ours);
        free(theirs);
        free(here);
        free(there);
        free(item.words);
    }
    print_message("%llu of %llu payloads are the same; %zu bytes here, %zu there\n",
                  (unsigned long long)equal, (unsigned long long)count, our_bytes, their_bytes);
}

int
main(void)
{
    char *const program = getenv("H5TWIN_LATTICE_REFERENCE");
    if (program == NULL) {
        puts("SKIP: H5TWIN_LATTICE_REFERENCE names no program");
        return TEST_SKIPPED;
    }
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        {.name = "test_both_programs_read_both_payloads",
         .test_func = test_both_programs_read_both_payloads,
         .initial_state = program},
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const names[] = {"in", "out", "log", ""};
    for (size_t i = 0; i < TEST_LENGTH(names); i++) {
        char path[64];
        path_of(path, names[i]);
        (void)remove(path);
    }
    return failed;
}
