/* SPDX-License-Identifier: BSD-3-Clause
 * test_unload.c: a program opens the shared library, codes on several threads, closes it, and lives
 * on: the threads of the pool wait in code that must stay. */
#include "h5twin.h"

#include "support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_BYTES (4u * 1024u * 1024u)

typedef enum h5twin_status (*encode_function)(const struct h5twin_params *params,
                                              const struct h5twin_exec *exec, void *dst,
                                              size_t dst_capacity, const void *src, size_t src_size,
                                              size_t *dst_size);

static void
test_the_library_may_be_closed(void **state)
{
    const char *const path = *state;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fail_msg("%s", dlerror());
    }
    encode_function encode;
    void *const symbol = dlsym(library, "h5twin_encode");
    assert_non_null(symbol);
    memcpy(&encode, &symbol, sizeof encode);
    struct h5twin_params params;
    assert_int_equal(test_params(&params, "sleek", "f32", "-"), H5TWIN_OK);
    uint8_t *const words = test_alloc(ARRAY_BYTES);
    const size_t capacity = h5twin_bound(&params, ARRAY_BYTES);
    uint8_t *const chunk = test_alloc(capacity);
    size_t size = 0;
    test_fill(words, ARRAY_BYTES, 4, TEST_SMOOTH, 1);
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = 4};
    assert_int_equal(encode(&params, &exec, chunk, capacity, words, ARRAY_BYTES, &size), H5TWIN_OK);
    assert_int_equal(dlclose(library), 0);
    /* Still there, and its sleeping threads wake up. */
    void *const again = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    assert_non_null(again);
    assert_int_equal(dlclose(again), 0);
    assert_int_equal(encode(&params, &exec, chunk, capacity, words, ARRAY_BYTES, &size), H5TWIN_OK);
    free(words);
    free(chunk);
}

int
main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: test_unload LIBRARY\n", stderr);
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_the_library_may_be_closed, argv[1]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
