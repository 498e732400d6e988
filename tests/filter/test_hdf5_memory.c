/* SPDX-License-Identifier: BSD-3-Clause
 * test_hdf5_memory.c: every allocation of H5Dwrite and H5Dread fails once, HDF5's own and ours, and
 * each of ours in H5Dcreate.
 *
 * malloc and its like are defined here for the whole process, which glibc allows. Each attempt runs
 * in a child: HDF5 may be left as it will. It must not crash, and what it calls a success must be
 * one. H5TWIN_TEST_LONG=1 takes all specs, not only the codecs' defaults and those with a bound. */
#define _GNU_SOURCE
#include "support.h"

#include <h5twin_hdf5.h>

#include <hdf5.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VALUE_COUNT 40000u
#define NEVER       (-1L)
#define CHILD_LIMIT 60 /* seconds: a child that hangs */

/* ---- allocations ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

#define EXPORTED __attribute__((visibility("default"))) /* to HDF5 */

static atomic_long until_failure = NEVER; /* allocations that succeed before one fails */
static atomic_bool has_failed;

static bool only_ours; /* only calls from this executable, of which the filters are a part */

/* Of the executable; the linker defines them. */
extern const char __executable_start[], etext[];

static bool
must_fail(const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    const bool is_ours = at >= (uintptr_t)__executable_start && at < (uintptr_t)etext;
    if (until_failure == NEVER || (only_ours && !is_ours) ||
        atomic_fetch_sub(&until_failure, 1) != 0) {
        return false;
    }
    has_failed = true;
    until_failure = NEVER;
    return true;
}

EXPORTED void *
malloc(size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

EXPORTED void *
calloc(size_t count, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

EXPORTED void *
realloc(void *block, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

EXPORTED void *
aligned_alloc(size_t alignment, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

/* ---- one dataset of one chunk, in a file in memory ---- */

struct dataset {
    hid_t file, space, dcpl, id;
    float values[VALUE_COUNT], back[VALUE_COUNT];
    double tolerance;
};

static struct dataset dataset; /* of a child */

/* Everything but the dataset itself. */
static bool
dataset_set_up(const char *spec)
{
    const hsize_t dims[2] = {VALUE_COUNT / 200, 200};
    const float fill = -9999;
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    struct h5twin_params params;
    test_fill((uint8_t *)dataset.values, sizeof dataset.values, 4, TEST_SMOOTH, 1);
    assert_int_equal(test_params(&params, spec, "f32", "-"), H5TWIN_OK);
    dataset.tolerance = params.mode == H5TWIN_LOSSLESS ? 0 : 1; /* either bound, of such data */
    H5Pset_fapl_core(fapl, 1 << 20, false);
    dataset.file = H5Fcreate("memory.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    dataset.space = H5Screate_simple(2, dims, NULL);
    dataset.dcpl = H5Pcreate(H5P_DATASET_CREATE);
    return H5Pset_chunk(dataset.dcpl, 2, dims) >= 0 && H5Pset_h5twin(dataset.dcpl, spec) >= 0 &&
           H5Pset_fill_value(dataset.dcpl, H5T_NATIVE_FLOAT, &fill) >= 0;
}

static herr_t
dataset_create(void)
{
    dataset.id = H5Dcreate2(dataset.file, "x", H5T_IEEE_F32LE, dataset.space, H5P_DEFAULT,
                            dataset.dcpl, H5P_DEFAULT);
    return dataset.id < 0 ? -1 : 0;
}

static herr_t
dataset_write(void)
{
    const herr_t status =
        H5Dwrite(dataset.id, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset.values);
    return status < 0 ? status : H5Dflush(dataset.id); /* chunks wait in a cache until then */
}

static herr_t
dataset_read(void)
{
    return H5Dread(dataset.id, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset.back);
}

static bool
dataset_is_right(void)
{
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        const double error = (double)dataset.back[i] - (double)dataset.values[i];
        if (!(error <= dataset.tolerance && error >= -dataset.tolerance)) {
            return false;
        }
    }
    return true;
}

/* A new cache of chunks, so that the next read decodes. */
static bool
dataset_reopen(void)
{
    H5Dclose(dataset.id);
    dataset.id = H5Dopen2(dataset.file, "x", H5P_DEFAULT);
    return dataset.id >= 0;
}

/* ---- attempts, each in a child ---- */

enum outcome { NOTHING_FAILED, SUCCEEDED, REFUSED, SILENT, WRONG, NOT_SET_UP };

static herr_t
with_failure(herr_t (*call)(void), long n)
{
    until_failure = n;
    const herr_t status = call();
    until_failure = NEVER;
    return status;
}

/* What a failed creation leaves in the file is HDF5's affair. */
static enum outcome
try_to_create(const char *spec, long n)
{
    if (!dataset_set_up(spec)) {
        return NOT_SET_UP;
    }
    only_ours = true; /* HDF5 1.10 crashes when it lacks memory for an object's header */
    if (with_failure(dataset_create, n) < 0) {
        return H5Eget_num(H5E_DEFAULT) > 0 ? REFUSED : SILENT;
    }
    if (dataset_write() < 0 || !dataset_reopen() || dataset_read() < 0 || !dataset_is_right()) {
        return WRONG;
    }
    return has_failed ? SUCCEEDED : NOTHING_FAILED;
}

static enum outcome
try_to_write(const char *spec, long n)
{
    if (!dataset_set_up(spec) || dataset_create() < 0) {
        return NOT_SET_UP;
    }
    if (with_failure(dataset_write, n) < 0) {
        return H5Eget_num(H5E_DEFAULT) > 0 ? REFUSED : SILENT;
    }
    if (!dataset_reopen() || dataset_read() < 0 || !dataset_is_right()) {
        return WRONG;
    }
    return has_failed ? SUCCEEDED : NOTHING_FAILED;
}

static enum outcome
try_to_read(const char *spec, long n)
{
    if (!dataset_set_up(spec) || dataset_create() < 0 || dataset_write() < 0 || !dataset_reopen()) {
        return NOT_SET_UP;
    }
    const herr_t status = with_failure(dataset_read, n);
    if (status < 0 && H5Eget_num(H5E_DEFAULT) <= 0) {
        return SILENT;
    }
    if (status < 0 && dataset_read() < 0) { /* with memory again, it must go */
        return WRONG;
    }
    if (!dataset_is_right()) {
        return WRONG;
    }
    return !has_failed ? NOTHING_FAILED : status < 0 ? REFUSED : SUCCEEDED;
}

static void
fail_each(const char *spec, enum outcome (*attempt)(const char *spec, long n), const char *what)
{
    unsigned counts[NOT_SET_UP + 1] = {0};
    for (long n = 0; counts[NOTHING_FAILED] == 0; n++) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            test_child_begin(CHILD_LIMIT);
            H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
            _exit((int)attempt(spec, n));
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status)) {
            fail_msg("%s, %s: allocation %ld: signal %d", spec, what, n, WTERMSIG(status));
        }
        counts[WEXITSTATUS(status)]++;
        if (WEXITSTATUS(status) > REFUSED) {
            fail_msg("%s, %s: allocation %ld: outcome %d", spec, what, n, WEXITSTATUS(status));
        }
    }
    printf("%s, %s: %u allocations failed, %u were errors\n", spec, what,
           counts[SUCCEEDED] + counts[REFUSED], counts[REFUSED]);
    assert_true(counts[REFUSED] > 0);
}

static void
test_every_allocation(enum outcome (*attempt)(const char *spec, long n), const char *what)
{
    const bool is_long = getenv("H5TWIN_TEST_LONG") != NULL;
    const char *spec;
    assert_true(h5twin_hdf5_register() >= 0);
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        const bool is_plain = strchr(spec, ':') == NULL || strstr(spec, "=1e-") != NULL;
        if (is_long || is_plain) { /* the defaults, and those with a bound */
            fail_each(spec, attempt, what);
        }
    }
}

static void
test_creation_survives_each_failed_allocation(void **state)
{
    (void)state;
    assert_true(h5twin_hdf5_register() >= 0);
    fail_each("sleek:noa=1e-4", try_to_create, "create"); /* asks for the fill value */
}

static void
test_writes_survive_each_failed_allocation(void **state)
{
    (void)state;
    test_every_allocation(try_to_write, "write");
}

static void
test_reads_survive_each_failed_allocation(void **state)
{
    (void)state;
    test_every_allocation(try_to_read, "read");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creation_survives_each_failed_allocation),
        cmocka_unit_test(test_writes_survive_each_failed_allocation),
        cmocka_unit_test(test_reads_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
