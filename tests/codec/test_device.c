/* SPDX-License-Identifier: BSD-3-Clause
 * test_device.c: the choice of a device where there is no GPU back end: auto is the CPU, and who
 * demands a GPU is told that there is none. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define UNTOUCHED ((size_t)0x5EED)

static const uint32_t values[100];
static uint8_t chunk[4096];
static size_t chunk_size;

static enum h5twin_status
encode_on(const struct h5twin_exec *exec)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    h5twin_params_set_array(&params, H5TWIN_INTEGER, 4, 1, (uint64_t[]){TEST_LENGTH(values)});
    chunk_size = UNTOUCHED;
    return h5twin_encode(&params, exec, chunk, sizeof chunk, values, sizeof values, &chunk_size);
}

static enum h5twin_status
decode_on(const struct h5twin_exec *exec)
{
    uint8_t back[sizeof values];
    size_t back_size;
    return h5twin_decode(exec, back, sizeof back, chunk, chunk_size, &back_size);
}

static const struct h5twin_exec automatic = {.device = H5TWIN_DEVICE_AUTO};
static const struct h5twin_exec cpu = {.device = H5TWIN_DEVICE_CPU};
static const struct h5twin_exec gpu = {.device = H5TWIN_DEVICE_GPU};

static void
test_auto_and_cpu_work_without_a_gpu(void **state)
{
    (void)state;
    static const char *const settings[] = {"auto", "cpu", "", "AUTO", "Cpu"};
    unsetenv("H5TWIN_DEVICE");
    assert_int_equal(encode_on(NULL), H5TWIN_OK);
    assert_int_equal(decode_on(NULL), H5TWIN_OK);
    for (size_t i = 0; i < TEST_LENGTH(settings); i++) {
        setenv("H5TWIN_DEVICE", settings[i], 1);
        assert_int_equal(encode_on(&automatic), H5TWIN_OK);
        assert_int_equal(decode_on(&automatic), H5TWIN_OK);
        assert_int_equal(encode_on(&cpu), H5TWIN_OK);
        assert_int_equal(decode_on(&cpu), H5TWIN_OK);
    }
}

static void
test_a_demanded_gpu_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    unsetenv("H5TWIN_DEVICE");
    assert_int_equal(encode_on(&gpu), H5TWIN_ERR_DEVICE);
    assert_int_equal(chunk_size, UNTOUCHED);
    assert_int_equal(encode_on(&cpu), H5TWIN_OK);
    assert_int_equal(decode_on(&gpu), H5TWIN_ERR_DEVICE);
    static const char *const settings[] = {"gpu", "GPU", "Gpu"};
    for (size_t i = 0; i < TEST_LENGTH(settings); i++) {
        setenv("H5TWIN_DEVICE", settings[i], 1);
        assert_int_equal(encode_on(&cpu), H5TWIN_OK);
        assert_int_equal(decode_on(NULL), H5TWIN_ERR_DEVICE);
        assert_int_equal(decode_on(&automatic), H5TWIN_ERR_DEVICE);
        assert_int_equal(encode_on(NULL), H5TWIN_ERR_DEVICE);
    }
}

/* It would be easy to miss that "cuda" means nothing. */
static void
test_an_unknown_word_in_the_environment_is_an_error(void **state)
{
    (void)state;
    static const char *const settings[] = {"cuda", "gpu ", " ", "gp", "gpus", "0", "AUTO,CPU"};
    for (size_t i = 0; i < TEST_LENGTH(settings); i++) {
        setenv("H5TWIN_DEVICE", settings[i], 1);
        assert_int_equal(encode_on(NULL), H5TWIN_ERR_ENVIRONMENT);
        assert_int_equal(chunk_size, UNTOUCHED);
        assert_int_equal(encode_on(&automatic), H5TWIN_ERR_ENVIRONMENT);
        assert_int_equal(encode_on(&gpu), H5TWIN_ERR_DEVICE); /* the call says it all */
        assert_int_equal(encode_on(&cpu), H5TWIN_OK);
        assert_int_equal(decode_on(&automatic), H5TWIN_ERR_ENVIRONMENT);
        assert_int_equal(decode_on(&cpu), H5TWIN_OK);
    }
}

/* An argument is nearer than the environment. */
static void
test_the_call_overrides_the_environment(void **state)
{
    (void)state;
    setenv("H5TWIN_DEVICE", "gpu", 1);
    assert_int_equal(encode_on(&cpu), H5TWIN_OK);
    assert_int_equal(decode_on(&cpu), H5TWIN_OK);
    setenv("H5TWIN_DEVICE", "cpu", 1);
    assert_int_equal(encode_on(&gpu), H5TWIN_ERR_DEVICE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto_and_cpu_work_without_a_gpu),
        cmocka_unit_test(test_a_demanded_gpu_that_is_not_there_is_an_error),
        cmocka_unit_test(test_an_unknown_word_in_the_environment_is_an_error),
        cmocka_unit_test(test_the_call_overrides_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
