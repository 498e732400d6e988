/* SPDX-License-Identifier: BSD-3-Clause
 * kernel_test.h: for tests that bring kernels of their own, to try parts of codec/common that
 * whole codecs reach with huge chunks only.
 *
 * The same files are compiled for the emulator and by nvcc: device memory is touched by CUDA calls
 * only. Included first, after the kernels' headers. */
#ifndef H5TWIN_TESTS_KERNEL_TEST_H
#define H5TWIN_TESTS_KERNEL_TEST_H

#include "../../codec/common/gpu.cuh"

#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <functional>
#include <vector>

extern "C" {
#include <cmocka.h>
}

/* An array in device memory. */
template <typename T> class DeviceValues
{
  public:
    explicit DeviceValues(const std::vector<T> &values) : count_(values.size())
    {
        assert_int_equal(cudaMalloc((void **)&data_, sizeof(T) * count_), cudaSuccess);
        assert_int_equal(
            cudaMemcpy(data_, values.data(), sizeof(T) * count_, cudaMemcpyHostToDevice),
            cudaSuccess);
    }
    DeviceValues(const DeviceValues &) = delete;
    ~DeviceValues()
    {
        cudaFree(data_);
    }
    T *
    data()
    {
        return data_;
    }
    std::vector<T>
    values() const
    {
        std::vector<T> values(count_);
        assert_int_equal(
            cudaMemcpy(values.data(), data_, sizeof(T) * count_, cudaMemcpyDeviceToHost),
            cudaSuccess);
        return values;
    }

  private:
    T *data_ = nullptr;
    size_t count_;
};

/* The launches before were accepted and have ended well. */
inline void
kernels_finish(void)
{
    const bool accepted = h5twin_gpu_accepted();
#ifdef H5TWIN_SIMT
    const std::string why = simt::take_error();
    if (!accepted) {
        fail_msg("%s", why.c_str());
    }
#endif
    assert_true(accepted);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}

/* On the emulator, run body in each order and with each number of resident blocks; sanitizers
 * look at accesses, not at results: there one order will do. */
inline void
kernels_in_each_order(const std::vector<unsigned> &resident_blocks,
                      const std::function<void()> &body)
{
#ifdef H5TWIN_SIMT
#    if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    const unsigned order_count = 1;
#    else
    const unsigned order_count = 4;
#    endif
    for (unsigned order = 0; order < order_count; order++) {
        for (const unsigned resident : resident_blocks) {
            simt::options.order = order;
            simt::options.eager = order % 2 != 0;
            simt::options.resident_blocks = resident;
            body();
        }
    }
    simt::options = {};
#else
    (void)resident_blocks;
    body();
#endif
}

/* In main. 77 is ctest's sign that a test was skipped. */
#define KERNEL_RUN_TESTS(tests)                                                                    \
    (kernels_have_no_gpu() ? 77 : cmocka_run_group_tests(tests, nullptr, nullptr))

inline bool
kernels_have_no_gpu(void)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        print_message("SKIP: no GPU: %s\n", cudaGetErrorString(error));
        return true;
    }
    return false;
}

#endif
