/* SPDX-License-Identifier: BSD-3-Clause
 * device_memory.h: device buffers for tests, of the emulator's memory or a GPU's. */
#ifndef H5TWIN_TESTS_DEVICE_MEMORY_H
#define H5TWIN_TESTS_DEVICE_MEMORY_H

#include "gpu_case.h"

#include <cstring>
#include <string>
#ifdef H5TWIN_PTX
#    include "ptxsim.h"
namespace simt = ptxsim; /* faults on demand, and what was asked of the runtime */
#endif
#if defined(H5TWIN_SIMT) || defined(H5TWIN_PTX)
#    define GPU_HAS_FAULTS
#endif

extern std::string gpu_test_case; /* what runs, for messages */

#define GPU_CHECK(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("%s: ", gpu_test_case.c_str());                                            \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

inline void
gpu_check_cuda(cudaError_t error, const char *what)
{
#ifdef H5TWIN_SIMT
    const std::string why = simt::take_error();
#else
    const std::string why = cudaGetErrorString(error);
#endif
    GPU_CHECK(error == cudaSuccess, "%s: %s", what, why.c_str());
}

inline size_t
gpu_round_up(size_t size, size_t multiple)
{
    return (size + multiple - 1) / multiple * multiple;
}

/* Device memory filled with a pattern. It begins `offset` bytes (a multiple of 8, less than 64)
 * into the allocation, and nothing around it may be written: the emulator has its red zones and a
 * page without access for that, on a GPU some bytes more are allocated and looked at. */
class Device
{
  public:
    explicit Device(size_t size, size_t offset = 0, uint8_t fill = 0xA5)
        : size_(size), begin_(zone + offset), fill_(fill)
    {
        /* The padding too: back ends may read it, and initcheck would ask who wrote it. */
        const Bytes filling(gpu_round_up(begin_ + size, 16) + zone, fill);
        all_ = filling.size();
        gpu_check_cuda(cudaMalloc((void **)&base_, all_), "cudaMalloc");
        gpu_check_cuda(cudaMemcpy(base_, filling.data(), all_, cudaMemcpyHostToDevice), "fill");
    }
    Device(const Device &) = delete;
    ~Device()
    {
        cudaFree(base_);
    }
    void
    upload(const Bytes &bytes)
    {
        gpu_check_cuda(cudaMemcpy(at(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
                       "upload");
    }
    /* Looks around it, too. */
    Bytes
    download() const
    {
        Bytes all(all_);
        gpu_check_cuda(cudaMemcpy(all.data(), base_, all_, cudaMemcpyDeviceToHost), "download");
        for (size_t i = 0; i < all_; i++) {
            GPU_CHECK((i >= begin_ && i < begin_ + size_) || all[i] == fill_,
                      "written %zu bytes %s a buffer of %zu",
                      i < begin_ ? begin_ - i : i - begin_ - size_,
                      i < begin_ ? "before" : "behind", size_);
        }
        return Bytes(all.begin() + (ptrdiff_t)begin_, all.begin() + (ptrdiff_t)(begin_ + size_));
    }
    uint8_t *
    at()
    {
        return base_ + begin_;
    }

  private:
#ifdef H5TWIN_SIMT
    static const size_t zone = 0;
#else
    static const size_t zone = 256; /* keeps the alignment */
#endif
    uint8_t *base_ = nullptr;
    size_t size_, begin_, all_;
    uint8_t fill_;
};

template <typename T> class DeviceArray : public Device
{
  public:
    explicit DeviceArray(const std::vector<T> &values) : Device(values.size() * sizeof(T))
    {
        Bytes bytes(values.size() * sizeof(T));
        memcpy(bytes.data(), values.data(), bytes.size());
        upload(bytes);
    }
    T *
    data()
    {
        return reinterpret_cast<T *>(at());
    }
    std::vector<T>
    values() const
    {
        const Bytes bytes = download();
        std::vector<T> result(bytes.size() / sizeof(T));
        memcpy(result.data(), bytes.data(), bytes.size());
        return result;
    }
};

/* All on the default stream has been done, without an error. */
inline void
gpu_finish(enum h5twin_status status, const char *what)
{
#ifdef H5TWIN_SIMT
    const std::string why = simt::take_error();
    GPU_CHECK(why.empty(), "%s: %s", what, why.c_str());
#endif
    GPU_CHECK(status == H5TWIN_OK, "%s: %s", what, h5twin_status_message(status));
    gpu_check_cuda(cudaStreamSynchronize(nullptr), what);
}

#endif
