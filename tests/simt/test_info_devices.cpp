/* SPDX-License-Identifier: BSD-3-Clause
 * test_info_devices.cpp: `h5twin info --devices` where there is a GPU: it is named and tried, and
 * what keeps calls from it is said. */
#include "device_memory.h"
#include "gpu.h"
#include "gpu/gpu_host.h"

#include <cstdio>
#include <cstdlib>
extern "C" {
#include "../../tools/info.h"
}

namespace
{

std::string
report(void)
{
    char *text = nullptr;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_int_equal(h5twin_info_devices(out), 0);
    fclose(out);
    const std::string result(text, size);
    free(text);
    return result;
}

bool
contains(const std::string &text, const char *words)
{
    return text.find(words) != std::string::npos;
}

void
test_every_codec_is_tried(void **)
{
    const std::string text = report();
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const size_t at = text.find(std::string("  ") + h5twin_codec_at(i)->name + " ");
        assert_true(at != std::string::npos);
        const std::string line = text.substr(at, text.find('\n', at) - at);
        gpu_test_case = line;
        const enum h5twin_codec_id id = h5twin_codec_at(i)->id;
        struct h5twin_params params;
        h5twin_params_init(&params, id);
        GPU_CHECK(contains(line, h5twin_gpu_encodes(&params) ? "works: a short"
                                 : h5twin_gpu_codec_has(id, true)
                                     ? "works: decoded"
                                     : "this codec has no GPU back end"),
                  "not tried, or not with success");
    }
    assert_true(contains(text, ", compute capability "));
    assert_true(contains(text, "; calls that take a GPU take this one\n"));
    assert_true(contains(text, "  result            as auto means\n"));
}

void
test_the_environment_is_told(void **)
{
    setenv("H5TWIN_GPU", "777", 1);
    setenv("H5TWIN_DEVICE", "gpu", 1);
    std::string text = report();
    assert_true(contains(text, "none: H5TWIN_GPU is not the number of a GPU"));
    assert_true(contains(text, "compute capability"));
    assert_false(contains(text, "take this one"));
    assert_true(contains(text, "calls fail: H5TWIN_DEVICE demands a GPU, and none is usable"));
    unsetenv("H5TWIN_GPU");
    text = report();
    assert_true(contains(text, "the GPU: H5TWIN_DEVICE demands it"));
    unsetenv("H5TWIN_DEVICE");
}

#ifdef GPU_HAS_FAULTS

void
test_a_gpu_that_fails_is_told(void **)
{
    simt::inject_fault(0, cudaErrorLaunchFailure, true);
    std::string text = report();
    assert_true(contains(text, "none: there is no CUDA driver or no GPU"));
    simt::inject_fault(20, cudaErrorMemoryAllocation, true); /* while the first codec is tried */
    text = report();
    simt::inject_fault(-1, cudaSuccess, false);
    assert_true(contains(text, "  sleek             fails: CUDA refused"));
    h5twin_gpu_host_trim();
}

#endif

} // namespace

int
main()
{
    unsetenv("H5TWIN_DEVICE");
    unsetenv("H5TWIN_GPU");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_codec_is_tried),
        cmocka_unit_test(test_the_environment_is_told),
#ifdef GPU_HAS_FAULTS
        cmocka_unit_test(test_a_gpu_that_fails_is_told),
#endif
    };
    const int result = GPU_RUN_TESTS(tests);
    h5twin_gpu_host_trim();
    return result;
}
