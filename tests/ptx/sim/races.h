/* SPDX-License-Identifier: BSD-3-Clause
 * races.h: two accesses to a byte of which one writes and nothing orders them.
 *
 * Shared memory: the threads of a block are ordered by its barriers, the lanes of a warp by .sync
 * instructions too. Global memory: blocks of a launch are ordered by fences and strong accesses
 * (atomics, volatile): what a block wrote before a fence is ordered before what another block reads
 * after it has seen something strong that the first one wrote after the fence. Two strong accesses
 * do not race. */
#ifndef H5TWIN_PTX_RACES_H
#define H5TWIN_PTX_RACES_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ptx
{

struct Warp;
struct Instruction;

constexpr uint32_t NOBODY = 0xFFFFFFFFu;

/* A thread's access to a byte of shared memory. */
struct SharedAccess {
    uint32_t thread = NOBODY;
    uint32_t barriers = 0; /* of the block, until then */
    uint32_t meetings = 0; /* of the warp */
    bool is_strong = false;
};

struct SharedByte {
    SharedAccess write, read, other_read; /* other_read: of another warp than read */
};

/* What is known of a block's shared memory; empty if nobody watches. */
struct SharedShadow {
    std::vector<SharedByte> bytes;
    std::vector<uint32_t> meetings; /* of each warp */
    uint32_t barriers = 0;
};

void watch_shared(Warp &warp, const Instruction &instruction, int lane, uint32_t offset,
                  uint32_t size, bool writes);

/* Of all blocks of the launch that runs; one at a time. */
void begin_watching_global();
void watch_global(Warp &warp, const Instruction &instruction, int lane, uint64_t address,
                  uint32_t size, bool reads, bool writes);
void watch_fence(Warp &warp);

} // namespace ptx

#endif
