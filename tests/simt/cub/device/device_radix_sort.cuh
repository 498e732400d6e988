/* SPDX-License-Identifier: BSD-3-Clause
 * device_radix_sort.cuh: stands in for CUB when a .cu file is compiled as C++ for the emulator: the
 * sort that kernels of this project use, called in the same way.
 *
 * What it counts as moved is what CUB's moves: each key once for the histograms, then keys and
 * values once for each 8 bits. How it sorts itself counts as the host's work.
 *
 * Like CUB's it asks for scratch first, and leaves the result in whichever buffer it likes: here
 * in the other one, so that a caller who does not ask fails. Like CUB's it takes any last error of
 * the thread for its own. */
#ifndef H5TWIN_SIMT_DEVICE_RADIX_SORT_CUH
#define H5TWIN_SIMT_DEVICE_RADIX_SORT_CUH

#include "../../simt_host.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub
{

template <typename T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector = 0;
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}
    {
    }
    T *
    Current()
    {
        return d_buffers[selector];
    }
    T *
    Alternate()
    {
        return d_buffers[selector ^ 1];
    }
};

struct DeviceRadixSort {
    template <typename Key, typename Value>
    static cudaError_t
    SortPairs(void *scratch, size_t &scratch_size, DoubleBuffer<Key> &keys,
              DoubleBuffer<Value> &values, int count, int begin_bit, int end_bit,
              cudaStream_t = nullptr)
    {
        const size_t needed = 1000 + (size_t)count / 16;
        const cudaError_t fault = simt::take_fault();
        if (fault != cudaSuccess) {
            return fault;
        }
        if (scratch == nullptr) {
            scratch_size = needed;
            return cudaSuccess;
        }
        if (scratch_size < needed) {
            return cudaErrorInvalidValue;
        }
        if (cudaPeekAtLastError() != cudaSuccess) { /* as after a launch of its own */
            return cudaPeekAtLastError();
        }
        if (simt::on_device_work != nullptr) {
            const size_t passes = (size_t)(end_bit - begin_bit + 7) / 8;
            const size_t moved = passes * (size_t)count * (sizeof(Key) + sizeof(Value));
            simt::on_device_work("cub::DeviceRadixSort", moved + (size_t)count * sizeof(Key),
                                 moved);
            simt::on_device_work(nullptr, 0, 0);
        }
        const Key mask =
            (Key)((Key) ~(Key)0 >> (8 * sizeof(Key) - (unsigned)(end_bit - begin_bit)));
        const Key *const keys_in = keys.Current();
        std::vector<size_t> order((size_t)count);
        std::iota(order.begin(), order.end(), (size_t)0);
        std::stable_sort(order.begin(), order.end(), [=](size_t a, size_t b) {
            return ((keys_in[a] >> begin_bit) & mask) < ((keys_in[b] >> begin_bit) & mask);
        });
        for (size_t i = 0; i < order.size(); i++) {
            keys.Alternate()[i] = keys_in[order[i]];
            values.Alternate()[i] = values.Current()[order[i]];
        }
        std::fill_n(keys.Current(), order.size(), (Key) ~(Key)0);
        keys.selector ^= 1;
        values.selector ^= 1;
        return cudaSuccess;
    }
};

} // namespace cub

#endif
