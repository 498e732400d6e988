/* SPDX-License-Identifier: BSD-3-Clause
 * test_class3_caller.c: one plugin gives each of two HDF5 libraries in one process the class that
 * it takes. */
#include "hdf5_abi.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const void *
load_through(const char *library)
{
    const void *(*load)(const char *);
    void *const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    void *const symbol = dlsym(handle, "fake_load");
    assert_non_null(symbol);
    memcpy(&load, &symbol, sizeof symbol);
    return load(PLUGIN);
}

static void
test_each_library_gets_the_class_it_takes(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        const struct h5twin_hdf5_class *const class2 = load_through(FAKE_2);
        const struct h5twin_hdf5_class3 *const class3 = load_through(FAKE_3);
        assert_non_null(class2);
        assert_non_null(class3);
        assert_int_equal(class2->version, 1);
        assert_non_null(strstr(class2->name, "HDF5_PLUGIN_PATH"));
        assert_int_equal(class3->version, 2);
        assert_string_equal(class3->name, "h5twin-ndzip");
        assert_int_equal(class2->id, class3->id);
        unsigned flags = 0, words[5];
        size_t count = 0;
        assert_int_equal(class3->set_config("layout = \"extended\"", &flags, &count, NULL, 0), 0);
        assert_int_equal(count, 5 - 1);
        assert_int_equal(class3->set_config("layout = \"extended\"", &flags, &count, words, count),
                         0);
        assert_int_equal(words[3], 2);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_library_gets_the_class_it_takes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
