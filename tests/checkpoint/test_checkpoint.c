/* SPDX-License-Identifier: BSD-3-Clause
 * test_checkpoint.c: checkpoints within one process, judged by plain HDF5 calls and by what the
 * test wrote. What kills, starves or damages them is in python_tests/test_checkpoint.py. */
#include "h5twin_checkpoint.h"

#include <h5twin_codecs.h>
#include <hdf5.h>

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define OK     H5TWIN_CHECKPOINT_OK
#define FAILED H5TWIN_CHECKPOINT_FAILED
#define NONE   H5TWIN_CHECKPOINT_NONE

static int
make_folder(void **state)
{
    char *const folder = malloc(64);
    assert_non_null(folder);
    strcpy(folder, "/tmp/h5twin-checkpoint-XXXXXX");
    *state = folder;
    return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **state)
{
    char *const folder = *state;
    DIR *const names = opendir(folder);
    for (const struct dirent *name; (name = readdir(names)) != NULL;) {
        unlinkat(dirfd(names), name->d_name, 0);
    }
    closedir(names);
    rmdir(folder);
    free(folder);
    return 0;
}

static struct h5twin_checkpoints *
open_folder(const char *folder, const struct h5twin_checkpoint_options *options)
{
    struct h5twin_checkpoints *checkpoints;
    const enum h5twin_checkpoint_status status =
        h5twin_checkpoint_open(&checkpoints, folder, options);
    if (status != OK) {
        fail_msg("%s", h5twin_checkpoint_message(checkpoints));
    }
    return checkpoints;
}

static hid_t
open_master(const char *folder, unsigned serial)
{
    char path[128];
    snprintf(path, sizeof path, "%s/checkpoint-%08u.h5", folder, serial);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

/* ---- every type and rank ---- */

struct type_case {
    enum h5twin_checkpoint_type type;
    size_t size;
};

static const struct type_case types[] = {
    {H5TWIN_CHECKPOINT_F32, 4}, {H5TWIN_CHECKPOINT_F64, 8}, {H5TWIN_CHECKPOINT_I8, 1},
    {H5TWIN_CHECKPOINT_I16, 2}, {H5TWIN_CHECKPOINT_I32, 4}, {H5TWIN_CHECKPOINT_I64, 8},
    {H5TWIN_CHECKPOINT_U8, 1},  {H5TWIN_CHECKPOINT_U16, 2}, {H5TWIN_CHECKPOINT_U32, 4},
    {H5TWIN_CHECKPOINT_U64, 8},
};

static hid_t
hdf5_type(enum h5twin_checkpoint_type type)
{
    const hid_t ids[] = {
        [H5TWIN_CHECKPOINT_F32] = H5T_IEEE_F32LE, [H5TWIN_CHECKPOINT_F64] = H5T_IEEE_F64LE,
        [H5TWIN_CHECKPOINT_I8] = H5T_STD_I8LE,    [H5TWIN_CHECKPOINT_I16] = H5T_STD_I16LE,
        [H5TWIN_CHECKPOINT_I32] = H5T_STD_I32LE,  [H5TWIN_CHECKPOINT_I64] = H5T_STD_I64LE,
        [H5TWIN_CHECKPOINT_U8] = H5T_STD_U8LE,    [H5TWIN_CHECKPOINT_U16] = H5T_STD_U16LE,
        [H5TWIN_CHECKPOINT_U32] = H5T_STD_U32LE,  [H5TWIN_CHECKPOINT_U64] = H5T_STD_U64LE,
    };
    return ids[type];
}

#define MOST_BYTES 40000

/* Any bytes: NaN with payloads, infinities and subnormal numbers among them. */
static void
fill(uint8_t *bytes, size_t size, unsigned seed)
{
    uint64_t word = 0x9e3779b97f4a7c15u * (seed + 1);
    for (size_t i = 0; i < size; i++) {
        word = word * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(i % 97 < 40 ? word >> 56 : i / 97);
    }
}

static void
name_case(char *name, size_t capacity, size_t type, uint32_t rank)
{
    snprintf(name, capacity, "group%u/field_%zu", rank, type);
}

static size_t
dims_of(uint32_t rank, uint64_t dims[H5TWIN_CHECKPOINT_MAX_RANK])
{
    static const uint64_t extents[] = {3, 1, 7, 2, 5, 2, 1, 4};
    size_t count = 1;
    for (uint32_t axis = 0; axis < rank; axis++) {
        dims[axis] = extents[axis] + (rank == 1 ? 3000 : 0);
        count *= dims[axis];
    }
    return count;
}

static void
test_every_type_and_rank_is_restored_bit_for_bit(void **state)
{
    static uint8_t written[MOST_BYTES], read[MOST_BYTES];
    uint64_t dims[H5TWIN_CHECKPOINT_MAX_RANK];
    char name[32];
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    assert_int_equal(OK, h5twin_checkpoint_begin(checkpoints, 7, 0.25));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (uint32_t rank = 0; rank <= H5TWIN_CHECKPOINT_MAX_RANK; rank++) {
            const size_t size = dims_of(rank, dims) * types[i].size;
            fill(written, size, (unsigned)(10 * i + rank));
            name_case(name, sizeof name, i, rank);
            const struct h5twin_checkpoint_field field = {
                .name = name, .type = types[i].type, .rank = rank, .dims = dims, .values = written};
            assert_int_equal(OK, h5twin_checkpoint_write(checkpoints, &field));
        }
    }
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    struct h5twin_checkpoint_info info;
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 0, &info));
    assert_int_equal(1, info.serial);
    assert_int_equal(7, info.step);
    assert_true(info.time == 0.25 && info.size > 0);
    const hid_t file = open_master(*state, 1);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (uint32_t rank = 0; rank <= H5TWIN_CHECKPOINT_MAX_RANK; rank++) {
            const size_t size = dims_of(rank, dims) * types[i].size;
            fill(written, size, (unsigned)(10 * i + rank));
            name_case(name, sizeof name, i, rank);
            const struct h5twin_checkpoint_field field = {
                .name = name, .type = types[i].type, .rank = rank, .dims = dims, .values = read};
            memset(read, 0xa5, size);
            assert_int_equal(OK, h5twin_checkpoint_read(checkpoints, &field));
            assert_memory_equal(written, read, size);
            enum h5twin_checkpoint_type type;
            uint32_t found_rank;
            uint64_t found_dims[H5TWIN_CHECKPOINT_MAX_RANK];
            assert_int_equal(
                OK, h5twin_checkpoint_inquire(checkpoints, name, &type, &found_rank, found_dims));
            assert_true(type == types[i].type && found_rank == rank);
            assert_memory_equal(dims, found_dims, rank * sizeof dims[0]);
            const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
            memset(read, 0xa5, size);
            assert_true(H5Dread(dataset, hdf5_type(types[i].type), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                read) >= 0);
            assert_memory_equal(written, read, size);
            H5Dclose(dataset);
        }
    }
    H5Fclose(file);
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

static void
test_empty_fields_are_fields(void **state)
{
    const uint64_t dims[2] = {0, 5};
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    const struct h5twin_checkpoint_field field = {
        .name = "none", .type = H5TWIN_CHECKPOINT_F32, .rank = 2, .dims = dims};
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    assert_int_equal(OK, h5twin_checkpoint_write(checkpoints, &field));
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 0, NULL));
    assert_int_equal(OK, h5twin_checkpoint_read(checkpoints, &field));
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

/* ---- parts in memory ---- */

static void
test_ghost_cells_are_neither_written_nor_read(void **state)
{
    enum { ROWS = 40, COLUMNS = 30, GHOSTS = 2 };
    static double array[ROWS + 2 * GHOSTS][COLUMNS + 2 * GHOSTS];
    const uint64_t dims[2] = {ROWS, COLUMNS};
    const uint64_t memory[2] = {ROWS + 2 * GHOSTS, COLUMNS + 2 * GHOSTS};
    const uint64_t offset[2] = {GHOSTS, GHOSTS};
    const struct h5twin_checkpoint_field field = {.name = "u",
                                                  .type = H5TWIN_CHECKPOINT_F64,
                                                  .rank = 2,
                                                  .dims = dims,
                                                  .memory_dims = memory,
                                                  .memory_offset = offset,
                                                  .values = array};
    for (size_t i = 0; i < memory[0]; i++) {
        for (size_t k = 0; k < memory[1]; k++) {
            array[i][k] = (double)(100 * i + k);
        }
    }
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    assert_int_equal(OK, h5twin_checkpoint_write(checkpoints, &field));
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    const hid_t file = open_master(*state, 1), dataset = H5Dopen2(file, "u", H5P_DEFAULT);
    static double plain[ROWS][COLUMNS];
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, plain) >= 0);
    for (size_t i = 0; i < ROWS; i++) {
        assert_memory_equal(plain[i], &array[i + GHOSTS][GHOSTS], sizeof plain[i]);
    }
    H5Dclose(dataset);
    H5Fclose(file);
    memset(array, 0, sizeof array);
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 0, NULL));
    assert_int_equal(OK, h5twin_checkpoint_read(checkpoints, &field));
    for (size_t i = 0; i < memory[0]; i++) {
        for (size_t k = 0; k < memory[1]; k++) {
            const bool is_inside =
                i >= GHOSTS && i < ROWS + GHOSTS && k >= GHOSTS && k < COLUMNS + GHOSTS;
            assert_true(array[i][k] == (is_inside ? (double)(100 * i + k) : 0));
        }
    }
    /* A part of it. */
    const uint64_t part_offset[2] = {11, 3}, part_count[2] = {7, 20};
    static double part[7][20];
    const struct h5twin_checkpoint_field piece = {.name = "u",
                                                  .type = H5TWIN_CHECKPOINT_F64,
                                                  .rank = 2,
                                                  .dims = dims,
                                                  .offset = part_offset,
                                                  .count = part_count,
                                                  .values = part};
    assert_int_equal(OK, h5twin_checkpoint_read(checkpoints, &piece));
    for (size_t i = 0; i < 7; i++) {
        assert_memory_equal(part[i], &plain[11 + i][3], sizeof part[i]);
    }
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

/* ---- loss ---- */

static void
test_loss_is_refused_unless_it_is_allowed(void **state)
{
    static float values[5000], back[5000];
    const uint64_t dims[1] = {5000};
    for (int i = 0; i < 5000; i++) {
        values[i] = sinf((float)i * 0.01f);
    }
    struct h5twin_checkpoint_field field = {.name = "u",
                                            .type = H5TWIN_CHECKPOINT_F32,
                                            .rank = 1,
                                            .dims = dims,
                                            .values = values,
                                            .spec = "lattice:abs=1e-3"};
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    assert_int_equal(FAILED, h5twin_checkpoint_write(checkpoints, &field));
    assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "may_lose"));
    assert_int_equal(FAILED, h5twin_checkpoint_commit(checkpoints));
    assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "may_lose"));
    assert_int_equal(NONE, h5twin_checkpoint_restart(checkpoints, 0, NULL));
    field.may_lose = true;
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    assert_int_equal(OK, h5twin_checkpoint_write(checkpoints, &field));
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    struct h5twin_checkpoint_info info;
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 0, &info));
    assert_true(info.size < sizeof values / 2);
    field.values = back;
    assert_int_equal(OK, h5twin_checkpoint_read(checkpoints, &field));
    bool has_changed = false;
    for (int i = 0; i < 5000; i++) {
        assert_true(fabs((double)values[i] - (double)back[i]) <= 1e-3);
        has_changed |= values[i] != back[i];
    }
    assert_true(has_changed);
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

/* ---- mistakes ---- */

static void
test_mistakes_have_a_sentence_and_spoil_one_checkpoint(void **state)
{
    double value = 1;
    const uint64_t dims[2] = {3, 4}, huge[2] = {UINT64_MAX / 4, 8}, offset[2] = {1, 0},
                   count[2] = {3, 4}, less[2] = {2, 4};
    const struct {
        struct h5twin_checkpoint_field field;
        const char *words;
    } cases[] = {
        {{.type = H5TWIN_CHECKPOINT_F64, .values = &value}, "no name"},
        {{.name = "/u", .type = H5TWIN_CHECKPOINT_F64, .values = &value}, "no path"},
        {{.name = "a//u", .type = H5TWIN_CHECKPOINT_F64, .values = &value}, "no path"},
        {{.name = "a/", .type = H5TWIN_CHECKPOINT_F64, .values = &value}, "no path"},
        {{.name = "a/../u", .type = H5TWIN_CHECKPOINT_F64, .values = &value}, "no path"},
        {{.name = "u", .values = &value}, "type that does not exist"},
        {{.name = "u", .type = H5TWIN_CHECKPOINT_F64, .rank = 9, .dims = dims, .values = &value},
         "more than 8 dims"},
        {{.name = "u", .type = H5TWIN_CHECKPOINT_F64, .rank = 2, .values = &value}, "dims"},
        {{.name = "u", .type = H5TWIN_CHECKPOINT_F64, .rank = 2, .dims = huge, .values = &value},
         "more than memory"},
        {{.name = "u", .type = H5TWIN_CHECKPOINT_F64, .rank = 2, .dims = dims}, "no values"},
        {{.name = "u",
          .type = H5TWIN_CHECKPOINT_F64,
          .rank = 2,
          .dims = dims,
          .offset = offset,
          .count = count,
          .values = &value},
         "not within the field's dims"},
        {{.name = "u",
          .type = H5TWIN_CHECKPOINT_F64,
          .rank = 2,
          .dims = dims,
          .memory_dims = less,
          .values = &value},
         "array in memory"},
        {{.name = "u",
          .type = H5TWIN_CHECKPOINT_F64,
          .rank = 2,
          .dims = dims,
          .count = less,
          .values = &value},
         "Only a part"},
        {{.name = "u", .type = H5TWIN_CHECKPOINT_F64, .values = &value, .spec = "zlib"}, "zlib"},
    };
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(OK, h5twin_checkpoint_begin(checkpoints, i, 0));
        assert_int_equal(FAILED, h5twin_checkpoint_write(checkpoints, &cases[i].field));
        if (strstr(h5twin_checkpoint_message(checkpoints), cases[i].words) == NULL) {
            fail_msg("case %zu: %s", i, h5twin_checkpoint_message(checkpoints));
        }
        const struct h5twin_checkpoint_field right = {
            .name = "v", .type = H5TWIN_CHECKPOINT_F64, .values = &value};
        h5twin_checkpoint_write(checkpoints, &right);
        assert_int_equal(FAILED, h5twin_checkpoint_commit(checkpoints));
        assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), cases[i].words));
    }
    size_t found;
    assert_int_equal(OK, h5twin_checkpoint_list(checkpoints, NULL, 0, &found));
    assert_int_equal(0, found);
    assert_int_equal(FAILED, h5twin_checkpoint_commit(checkpoints)); /* nothing was begun */
    assert_int_equal(FAILED, h5twin_checkpoint_write_text(checkpoints, "a", "b"));
    assert_int_equal(OK, h5twin_checkpoint_begin(checkpoints, 1, 0));
    assert_int_equal(FAILED, h5twin_checkpoint_write_text(checkpoints, "step", "1"));
    assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "another name"));
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

static void
test_what_is_read_must_be_what_was_written(void **state)
{
    double values[15] = {0};
    const uint64_t dims[2] = {3, 4}, others[][2] = {{4, 3}, {3, 3}, {2, 4}, {3, 5}};
    struct h5twin_checkpoint_field field = {
        .name = "u", .type = H5TWIN_CHECKPOINT_F64, .rank = 2, .dims = dims, .values = values};
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    assert_int_equal(FAILED, h5twin_checkpoint_read(checkpoints, &field)); /* nothing is open */
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    h5twin_checkpoint_write(checkpoints, &field);
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    assert_int_equal(OK, h5twin_checkpoint_select(checkpoints, 1, NULL));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        field.dims = others[i];
        assert_int_equal(FAILED, h5twin_checkpoint_read(checkpoints, &field));
    }
    field.dims = dims;
    field.type = H5TWIN_CHECKPOINT_F32;
    assert_int_equal(FAILED, h5twin_checkpoint_read(checkpoints, &field));
    field.type = H5TWIN_CHECKPOINT_F64;
    field.name = "v";
    assert_int_equal(NONE, h5twin_checkpoint_read(checkpoints, &field));
    field.name = "u";
    assert_int_equal(OK, h5twin_checkpoint_read(checkpoints, &field));
    assert_int_equal(NONE, h5twin_checkpoint_select(checkpoints, 2, NULL));
    assert_int_equal(NONE, h5twin_checkpoint_restart(checkpoints, 1, NULL)); /* none before it */
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

/* ---- attributes ---- */

static void
test_attributes_come_back(void **state)
{
    const double numbers[3] = {0.1, -0.0, 1e300};
    const int32_t whole = -5;
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    assert_int_equal(OK, h5twin_checkpoint_write_attribute(checkpoints, "numbers",
                                                           H5TWIN_CHECKPOINT_F64, 3, numbers));
    assert_int_equal(OK, h5twin_checkpoint_write_attribute(checkpoints, "whole",
                                                           H5TWIN_CHECKPOINT_I32, 1, &whole));
    assert_int_equal(OK, h5twin_checkpoint_write_text(checkpoints, "text", "\xc3\xa9t\xc3\xa9"));
    assert_int_equal(OK, h5twin_checkpoint_write_text(checkpoints, "no text", ""));
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 0, NULL));
    double back[3];
    int64_t wide;
    char text[6];
    assert_int_equal(OK, h5twin_checkpoint_read_attribute(checkpoints, "numbers",
                                                          H5TWIN_CHECKPOINT_F64, 3, back));
    assert_memory_equal(numbers, back, sizeof back);
    assert_int_equal(FAILED, h5twin_checkpoint_read_attribute(checkpoints, "numbers",
                                                              H5TWIN_CHECKPOINT_F64, 2, back));
    assert_int_equal(OK, h5twin_checkpoint_read_attribute(checkpoints, "whole",
                                                          H5TWIN_CHECKPOINT_I64, 1, &wide));
    assert_true(wide == -5);
    assert_int_equal(
        NONE, h5twin_checkpoint_read_attribute(checkpoints, "no", H5TWIN_CHECKPOINT_I64, 1, &wide));
    assert_int_equal(OK, h5twin_checkpoint_read_text(checkpoints, "text", text, sizeof text));
    assert_string_equal("\xc3\xa9t\xc3\xa9", text);
    assert_int_equal(FAILED, h5twin_checkpoint_read_text(checkpoints, "text", text, 5));
    assert_int_equal(OK, h5twin_checkpoint_read_text(checkpoints, "no text", text, 1));
    assert_string_equal("", text);
    assert_int_equal(FAILED, h5twin_checkpoint_read_text(checkpoints, "whole", text, 6));
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

/* ---- which are there, and when ---- */

static enum h5twin_checkpoint_status
save_nothing(struct h5twin_checkpoints *checkpoints, uint64_t step)
{
    h5twin_checkpoint_begin(checkpoints, step, 0);
    return h5twin_checkpoint_commit(checkpoints);
}

static void
test_a_step_that_runs_again_is_newer(void **state)
{
    struct h5twin_checkpoint_options options;
    h5twin_checkpoint_options_init(&options);
    options.keep = 0;
    struct h5twin_checkpoints *checkpoints = open_folder(*state, &options);
    const uint64_t steps[] = {100, 110, 120, 105, 110};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(OK, save_nothing(checkpoints, steps[i]));
    }
    struct h5twin_checkpoint_info infos[3];
    size_t count;
    assert_int_equal(OK, h5twin_checkpoint_list(checkpoints, infos, 3, &count));
    assert_int_equal(5, count);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(5 - i, infos[i].serial);
        assert_int_equal(steps[4 - i], infos[i].step);
    }
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 5, infos));
    assert_int_equal(105, infos[0].step);
    assert_int_equal(OK, h5twin_checkpoint_prune(checkpoints, 2)); /* 4 is open, too */
    assert_int_equal(OK, h5twin_checkpoint_list(checkpoints, infos, 3, &count));
    assert_int_equal(2, count);
    assert_int_equal(OK, h5twin_checkpoint_prune(checkpoints, 0));
    h5twin_checkpoint_restart_end(checkpoints);
    assert_int_equal(OK, h5twin_checkpoint_list(checkpoints, infos, 3, &count));
    assert_int_equal(2, count);
    assert_int_equal(OK, h5twin_checkpoint_prune(checkpoints, 0)); /* one stays */
    assert_int_equal(OK, h5twin_checkpoint_list(checkpoints, infos, 3, &count));
    assert_int_equal(1, count);
    assert_int_equal(5, infos[0].serial);
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

static void
test_when_a_checkpoint_is_due(void **state)
{
    struct h5twin_checkpoint_options options;
    h5twin_checkpoint_options_init(&options);
    struct h5twin_checkpoints *checkpoints = open_folder(*state, &options);
    assert_true(h5twin_checkpoint_is_due(checkpoints, 0) &&
                h5twin_checkpoint_is_due(checkpoints, 1));
    h5twin_checkpoint_close(checkpoints);
    options.every_steps = 10;
    checkpoints = open_folder(*state, &options);
    for (uint64_t step = 1; step < 40; step++) {
        assert_int_equal(step % 10 == 0, h5twin_checkpoint_is_due(checkpoints, step));
    }
    assert_int_equal(OK, save_nothing(checkpoints, 20));
    assert_false(h5twin_checkpoint_is_due(checkpoints, 20));
    assert_true(h5twin_checkpoint_is_due(checkpoints, 10));
    h5twin_checkpoint_close(checkpoints);
    options.every_steps = 0;
    options.every_seconds = 1e9;
    checkpoints = open_folder(*state, &options);
    assert_false(h5twin_checkpoint_is_due(checkpoints, 10));
    h5twin_checkpoint_close(checkpoints);
    options.every_seconds = 1e-9;
    checkpoints = open_folder(*state, &options);
    assert_true(h5twin_checkpoint_is_due(checkpoints, 10));
    h5twin_checkpoint_close(checkpoints);
}

static void
test_what_is_not_committed_leaves_nothing(void **state)
{
    struct h5twin_checkpoints *checkpoints = open_folder(*state, NULL);
    size_t count;
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    h5twin_checkpoint_abort(checkpoints);
    h5twin_checkpoint_begin(checkpoints, 1, 0); /* and dropped by the next one */
    assert_int_equal(OK, save_nothing(checkpoints, 2));
    h5twin_checkpoint_begin(checkpoints, 3, 0); /* and by close */
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
    checkpoints = open_folder(*state, NULL);
    struct h5twin_checkpoint_info info;
    assert_int_equal(OK, h5twin_checkpoint_list(checkpoints, &info, 1, &count));
    assert_int_equal(1, count);
    assert_int_equal(2, info.step);
    assert_int_equal(OK, h5twin_checkpoint_close(checkpoints));
}

static void
test_folders_and_names_that_are_refused(void **state)
{
    struct h5twin_checkpoint_options options;
    h5twin_checkpoint_options_init(&options);
    struct h5twin_checkpoints *checkpoints;
    static const char *const names[] = {"", "a/b", "/"};
    for (size_t i = 0; i < 3; i++) {
        options.name = names[i];
        assert_int_equal(FAILED, h5twin_checkpoint_open(&checkpoints, *state, &options));
        assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "name"));
        assert_int_equal(FAILED, h5twin_checkpoint_begin(checkpoints, 1, 0));
        h5twin_checkpoint_close(checkpoints);
    }
    assert_int_equal(FAILED, h5twin_checkpoint_open(&checkpoints, NULL, NULL));
    h5twin_checkpoint_close(checkpoints);
    assert_int_equal(FAILED, h5twin_checkpoint_open(&checkpoints, "", NULL));
    h5twin_checkpoint_close(checkpoints);
    h5twin_checkpoint_options_init(&options);
    options.read_only = true;
    checkpoints = open_folder(*state, &options);
    assert_int_equal(FAILED, h5twin_checkpoint_begin(checkpoints, 1, 0));
    assert_int_equal(FAILED, h5twin_checkpoint_prune(checkpoints, 1));
    assert_int_equal(NONE, h5twin_checkpoint_restart(checkpoints, 0, NULL));
    h5twin_checkpoint_close(checkpoints);
    assert_int_equal(OK, h5twin_checkpoint_close(NULL));
    assert_non_null(h5twin_checkpoint_message(NULL));
}

/* ---- what is there ---- */

static void
test_names_of_fields_and_attributes(void **state)
{
    const char *const names[] = {"a", "b/c", "b/d/e", "z"};
    const double number = 2.5;
    struct h5twin_checkpoints *const checkpoints = open_folder(*state, NULL);
    struct h5twin_checkpoint_field field = {.type = H5TWIN_CHECKPOINT_F64,
                                            .values = (void *)(uintptr_t)&number};
    enum h5twin_checkpoint_type type;
    char name[64];
    size_t count;
    assert_int_equal(FAILED, h5twin_checkpoint_field_name(checkpoints, 0, name, sizeof name));
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    for (size_t i = 4; i-- > 0;) {
        field.name = names[i];
        assert_int_equal(OK, h5twin_checkpoint_write(checkpoints, &field));
    }
    h5twin_checkpoint_write_attribute(checkpoints, "number", H5TWIN_CHECKPOINT_F64, 1, &number);
    h5twin_checkpoint_write_attribute(checkpoints, "many", H5TWIN_CHECKPOINT_U16, 3,
                                      (const uint16_t[]){1, 2, 3});
    h5twin_checkpoint_write_text(checkpoints, "text", "four");
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 0, NULL));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(OK, h5twin_checkpoint_field_name(checkpoints, i, name, sizeof name));
        assert_string_equal(names[i], name);
    }
    assert_int_equal(NONE, h5twin_checkpoint_field_name(checkpoints, 4, name, sizeof name));
    assert_int_equal(FAILED, h5twin_checkpoint_field_name(checkpoints, 2, name, 5));
    assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "room for 5"));
    const char *const attributes[] = {"many", "number", "text"};
    const size_t counts[] = {3, 1, 5};
    const enum h5twin_checkpoint_type of[] = {H5TWIN_CHECKPOINT_U16, H5TWIN_CHECKPOINT_F64,
                                              (enum h5twin_checkpoint_type)0};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(OK, h5twin_checkpoint_attribute_name(checkpoints, i, name, sizeof name));
        assert_string_equal(attributes[i], name);
        assert_int_equal(OK, h5twin_checkpoint_inquire_attribute(checkpoints, name, &type, &count));
        assert_int_equal(of[i], type);
        assert_int_equal(counts[i], count);
    }
    assert_int_equal(NONE, h5twin_checkpoint_attribute_name(checkpoints, 3, name, sizeof name));
    assert_int_equal(NONE, h5twin_checkpoint_inquire_attribute(checkpoints, "no", &type, &count));
    h5twin_checkpoint_close(checkpoints);
}

/* The id of the only filter of a dataset, and the chunk's first extent. */
static void
expect_coding(hid_t file, const char *name, unsigned filter, hsize_t extent)
{
    unsigned flags, config;
    size_t count = 0;
    hsize_t chunk[3];
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), dcpl = H5Dget_create_plist(dataset);
    assert_int_equal(1, H5Pget_nfilters(dcpl));
    assert_int_equal(filter, H5Pget_filter2(dcpl, 0, &flags, &count, NULL, 0, NULL, &config));
    assert_int_equal(3, H5Pget_chunk(dcpl, 3, chunk));
    assert_int_equal(extent, chunk[0]);
    H5Pclose(dcpl);
    H5Dclose(dataset);
}

static void
test_a_policy_chooses_codecs_and_chunks(void **state)
{
    static float values[40 * 20 * 30];
    const uint64_t dims[3] = {40, 20, 30};
    char path[128];
    struct h5twin_checkpoints *checkpoints;
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoint_field field = {
        .type = H5TWIN_CHECKPOINT_F32, .rank = 3, .dims = dims, .values = values};
    for (size_t i = 0; i < 40 * 20 * 30; i++) {
        values[i] = sinf((float)i);
    }
    snprintf(path, sizeof path, "%s/rules", (const char *)*state);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs("/flow/** float32 -> ndzip chunks=8x20x30\nlossy any -> sleek:abs=1e-3\n", file);
    assert_int_equal(0, fclose(file));
    h5twin_checkpoint_options_init(&options);
    options.policy = path;
    options.spec = "gfc";
    checkpoints = open_folder(*state, &options);
    h5twin_checkpoint_begin(checkpoints, 1, 0);
    const char *const names[] = {"flow/u", "other", "lossy", "flow/named"};
    for (size_t i = 0; i < 4; i++) {
        field.name = names[i];
        field.may_lose = i == 2;
        field.spec = i == 3 ? "cascade" : NULL;
        assert_int_equal(OK, h5twin_checkpoint_write(checkpoints, &field));
    }
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    h5twin_checkpoint_begin(checkpoints, 2, 0);
    field.name = "lossy";
    field.spec = NULL;
    field.may_lose = false;
    assert_int_equal(FAILED, h5twin_checkpoint_write(checkpoints, &field));
    assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "may_lose"));
    h5twin_checkpoint_close(checkpoints);
    const hid_t master = open_master(*state, 1);
    expect_coding(master, "flow/u", H5TWIN_FILTER_NDZIP, 8);
    expect_coding(master, "other", H5TWIN_FILTER_GFC, 40);
    expect_coding(master, "lossy", H5TWIN_FILTER_SLEEK, 40);
    expect_coding(master, "flow/named", H5TWIN_FILTER_CASCADE, 40);
    H5Fclose(master);
    options.policy = "/no/such/rules";
    assert_int_equal(FAILED, h5twin_checkpoint_open(&checkpoints, *state, &options));
    assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "/no/such/rules"));
    h5twin_checkpoint_close(checkpoints);
}

/* Words that only later versions know are refused, so that they may get a meaning. */
static void
test_reserved_words_must_be_0(void **state)
{
    const double number = 2.5;
    double back = 0;
    struct h5twin_checkpoint_team team = {.size = 1};
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoint_info infos[2];
    struct h5twin_checkpoints *checkpoints;
    struct h5twin_checkpoint_field field = {
        .name = "u", .type = H5TWIN_CHECKPOINT_F64, .values = (void *)(uintptr_t)&number};
    size_t count;
    h5twin_checkpoint_options_init(&options);
    options.team = &team;
    for (size_t i = 0; i < sizeof team.reserved / sizeof team.reserved[0]; i++) {
        team.reserved[i] = 1;
        assert_int_equal(FAILED, h5twin_checkpoint_open(&checkpoints, *state, &options));
        assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "reserved"));
        h5twin_checkpoint_close(checkpoints);
        team.reserved[i] = 0;
    }
    checkpoints = open_folder(*state, &options);
    for (size_t i = 0; i < sizeof field.reserved / sizeof field.reserved[0]; i++) {
        assert_int_equal(OK, h5twin_checkpoint_begin(checkpoints, i, 0));
        field.reserved[i] = UINT64_C(1) << 63;
        assert_int_equal(FAILED, h5twin_checkpoint_write(checkpoints, &field));
        assert_non_null(strstr(h5twin_checkpoint_message(checkpoints), "reserved"));
        field.reserved[i] = 0;
        assert_int_equal(FAILED, h5twin_checkpoint_commit(checkpoints));
    }
    assert_int_equal(OK, h5twin_checkpoint_begin(checkpoints, 9, 0));
    assert_int_equal(OK, h5twin_checkpoint_write(checkpoints, &field));
    assert_int_equal(OK, h5twin_checkpoint_commit(checkpoints));
    memset(infos, 0xFF, sizeof infos);
    assert_int_equal(OK, h5twin_checkpoint_list(checkpoints, infos, 2, &count));
    assert_int_equal(1, count);
    memset(&infos[1], 0xFF, sizeof infos[1]);
    assert_int_equal(OK, h5twin_checkpoint_restart(checkpoints, 0, &infos[1]));
    for (size_t i = 0; i < sizeof infos[0].reserved / sizeof infos[0].reserved[0]; i++) {
        assert_int_equal(0, infos[0].reserved[i]);
        assert_int_equal(0, infos[1].reserved[i]);
    }
    field.values = &back;
    field.reserved[0] = 1;
    assert_int_equal(FAILED, h5twin_checkpoint_read(checkpoints, &field));
    field.reserved[0] = 0;
    assert_int_equal(OK, h5twin_checkpoint_read(checkpoints, &field));
    assert_true(back == number);
    h5twin_checkpoint_close(checkpoints);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_type_and_rank_is_restored_bit_for_bit),
        TEST(test_empty_fields_are_fields),
        TEST(test_ghost_cells_are_neither_written_nor_read),
        TEST(test_loss_is_refused_unless_it_is_allowed),
        TEST(test_mistakes_have_a_sentence_and_spoil_one_checkpoint),
        TEST(test_what_is_read_must_be_what_was_written),
        TEST(test_attributes_come_back),
        TEST(test_a_step_that_runs_again_is_newer),
        TEST(test_when_a_checkpoint_is_due),
        TEST(test_what_is_not_committed_leaves_nothing),
        TEST(test_folders_and_names_that_are_refused),
        TEST(test_names_of_fields_and_attributes),
        TEST(test_a_policy_chooses_codecs_and_chunks),
        TEST(test_reserved_words_must_be_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
