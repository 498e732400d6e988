/* SPDX-License-Identifier: BSD-3-Clause
 * simt.h: run CUDA kernels on the CPU, one fiber per CUDA thread, to test them without a GPU.
 *
 * A launch keeps several blocks resident and runs their threads in turn. A thread runs until it
 * waits (a barrier, a warp collective, __nanosleep in a spin loop, an atomic) or ends. The order of
 * lanes, warps and blocks is a parameter, and whether warps take turns at each wait or one goes on
 * to a barrier before the next starts: results must not depend on either.
 *
 * What is found
 *   - a barrier or warp collective that some threads never reach, or reach with another operation
 *     or mask; a spin loop that waits for ever: the launch fails with a sentence
 *   - launches that a GPU refuses: no blocks, too many threads, more of them than the kernel's
 *     __launch_bounds__, more than 48 KiB of shared memory
 *   - out-of-bounds accesses to global, static and dynamic shared memory: each buffer is an
 *     allocation of its own, so AddressSanitizer reports them; cudaMalloc'ed buffers also end at a
 *     page without access, so that builds without it crash; before them is a red zone, which is
 *     looked at when they are freed and when all is waited for
 *   - races and missing barriers: results differ between orders, and a ThreadSanitizer build
 *     reports the two accesses, because each CUDA thread is a fiber that it knows
 *   - undefined behaviour (shifts too far, indices beyond arrays, misaligned accesses): traps where
 *     AddressSanitizer is
 *   - shared memory used before it is written: it is filled with a pattern that depends on the
 *     order
 * What is not found
 *   - a missing memory fence: the emulator's memory is sequentially consistent
 *   - a race between two accesses that no order of this scheduler separates (use ThreadSanitizer)
 */
#ifndef H5TWIN_SIMT_H
#define H5TWIN_SIMT_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};
struct uint3 {
    unsigned x, y, z;
};

namespace simt
{

/* How the next launches run. */
struct Options {
    unsigned order = 0;           /* 0 rising, 1 falling, others: shuffled with this seed */
    bool eager = false;           /* a warp runs as far as it can; else warps take turns */
    unsigned resident_blocks = 3; /* blocks that run in turn; at least 1 */
};
extern Options options;

/* Why the last failing launch failed; empty if none has since the last call. */
std::string take_error();
void set_error(const std::string &why); /* of something that is no launch */

/* ---- for the headers that stand in for CUDA's ---- */

enum class Collective { sync, shuffle, ballot, reduce };

struct Builtins {
    uint3 thread_index, block_index;
    dim3 block_size, grid_size;
    unsigned lane, warp;
};
extern const Builtins *current; /* of the running thread */
inline const Builtins &
builtins()
{
    return *current;
}

/* Run body once per thread of the grid. bound: the most threads that a block may have, or 0. false
 * if the launch failed (see take_error). */
bool run_grid(const char *kernel_name, dim3 grid, dim3 block, size_t bound,
              size_t dynamic_shared_bytes, const std::function<void()> &body);

void block_barrier();                                  /* __syncthreads */
uint32_t block_reduce(uint32_t value, char operation); /* '+', '&', '|' over the block */

/* All lanes of mask give their value; returns every lane's value (valid until the caller's next
 * collective). The lanes must agree on mask and kind. Only sync orders their accesses to memory. */
const uint64_t *warp_exchange(uint32_t mask, uint64_t value, Collective kind);

void yield(bool spinning); /* let others run; spinning: this thread made no progress */
void fence();

/* This block's copy of the static shared array number id, or of the dynamic one (id -1). */
void *shared_memory(int id, size_t size);
int new_shared_id();

} // namespace simt

#endif
