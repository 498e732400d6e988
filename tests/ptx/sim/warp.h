/* SPDX-License-Identifier: BSD-3-Clause
 * warp.h: the state of what runs, and how operations get at it. */
#ifndef H5TWIN_PTX_WARP_H
#define H5TWIN_PTX_WARP_H

#include "counts.h"
#include "kernel.h"
#include "races.h"

#include <atomic>
#include <random>

namespace ptx
{

struct Block;
struct Worker;

struct Warp {
    uint8_t *base[2] = {}; /* registers, constants */
    uint32_t alive = 0;    /* lanes that have not ended */
    uint32_t at_barrier = 0, waiting = 0;
    uint32_t pc[WARP_LANES] = {};
    uint32_t number = 0; /* in the block */
    Block *block = nullptr;
    uint8_t *local = nullptr; /* local_bytes for each lane */
    std::vector<uint32_t> returns[WARP_LANES];
};

struct Block {
    uint32_t index[3] = {};
    uint64_t number = 0; /* in the grid */
    std::vector<Warp> warps;
    std::vector<uint8_t> memory; /* registers, local and shared memory, see base pointers */
    uint8_t *shared = nullptr;
    uint32_t threads = 0;
    bool is_running = false;
    uint64_t instructions = 0; /* of its warps, so far */
    SharedShadow shadow;
    Worker *worker = nullptr;
};

struct Launch {
    const Kernel *kernel = nullptr;
    uint32_t grid[3] = {}, block[3] = {};
    uint32_t dynamic_bytes = 0;
    const uint8_t *parameters = nullptr;
    int device = 0;
    uint64_t number = 0; /* of the launch, for seeds */
    uint64_t block_count = 0;

    std::atomic<uint64_t> next_block{0};
    std::atomic<uint64_t> effects{0}; /* rises when any worker has changed something */
    std::atomic<bool> stop{false};
    /* Of each worker: instructions since anything changed. One that has ended has the most. */
    std::unique_ptr<std::atomic<uint64_t>[]> idle;
    uint32_t worker_count = 0;
};

/* One host thread of a launch. */
struct Worker {
    Launch *launch = nullptr;
    uint32_t number = 0;
    std::mt19937_64 random;
    uint64_t range_begin = 1, range_end = 0; /* the allocation used last */
    uint64_t effects = 0;                    /* stores, atomics, barriers, ends */
    Counts counts;
    uint64_t longest = 0;                    /* warp instructions of the block that ran most */
    std::vector<InstructionCounts> executed; /* per instruction, if lines are counted */
};

/* An error of the device, as CUDA numbers them, and what went wrong. */
struct LaunchError : std::runtime_error {
    int code;
    LaunchError(int cuda_code, const std::string &what) : std::runtime_error(what), code(cuda_code)
    {
    }
};
constexpr int MISALIGNED_ADDRESS = 716, ILLEGAL_ADDRESS = 700, LAUNCH_FAILURE = 719,
              LAUNCH_TIMEOUT = 702, ILLEGAL_INSTRUCTION = 715;

/* ", kernel K, block B, warp W, lane L, at FILE:LINE: add.s32 ..." */
std::string place_text(const Warp &warp, const Instruction &instruction, int lane);

template <class T>
inline T *
values(Warp &warp, uint32_t place)
{
    return reinterpret_cast<T *>(warp.base[place >> 31] + (place & ~IN_CONSTANTS));
}

/* An operand of any size, zero-extended. */
inline uint64_t
value_of(Warp &warp, uint32_t place, unsigned size, int lane)
{
    switch (size) {
    case 2:
        return values<uint16_t>(warp, place)[lane];
    case 4:
        return values<uint32_t>(warp, place)[lane];
    default:
        return values<uint64_t>(warp, place)[lane];
    }
}

inline void
set_value(Warp &warp, uint32_t place, unsigned size, int lane, uint64_t value)
{
    switch (size) {
    case 2:
        values<uint16_t>(warp, place)[lane] = (uint16_t)value;
        break;
    case 4:
        values<uint32_t>(warp, place)[lane] = (uint32_t)value;
        break;
    default:
        values<uint64_t>(warp, place)[lane] = value;
    }
}

inline uint32_t
predicate(Warp &warp, uint32_t place, bool negated)
{
    const uint32_t mask = *values<uint32_t>(warp, place);
    return negated ? ~mask : mask;
}

inline void
set_predicate(Warp &warp, uint32_t place, uint32_t lanes, uint32_t mask)
{
    uint32_t *const p = values<uint32_t>(warp, place);
    *p = (*p & ~lanes) | (mask & lanes);
}

/* Call f(lane) for each. */
template <class F>
inline void
for_each_lane(uint32_t lanes, F &&f)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        f(__builtin_ctz(lanes));
    }
}

/* d[lane] = f(lane), in vectors: the loop over all lanes has no branch. */
template <class T, class F>
inline void
set_lanes(Warp &warp, uint32_t place, uint32_t lanes, F &&f)
{
    T *const d = values<T>(warp, place);
    if (lanes == ALL_LANES) {
#pragma GCC ivdep
        for (int lane = 0; lane < WARP_LANES; lane++) {
            d[lane] = f(lane);
        }
        return;
    }
#pragma GCC ivdep
    for (int lane = 0; lane < WARP_LANES; lane++) {
        const T value = f(lane);
        d[lane] = lanes >> lane & 1 ? value : d[lane];
    }
}

/* Run a launch to its end; throws LaunchError. */
void run_launch(Launch *launch);

} // namespace ptx

#endif
