/* SPDX-License-Identifier: BSD-3-Clause
 * races.cpp: see races.h. */
#include "races.h"

#include "warp.h"

namespace ptx
{

namespace
{

[[noreturn]] void
report(const char *what, Warp &warp, const Instruction &instruction, int lane)
{
    throw LaunchError(LAUNCH_FAILURE,
                      std::string("race: ") + what + place_text(warp, instruction, lane));
}

} // namespace

/* ---- shared memory ---- */

void
watch_shared(Warp &warp, const Instruction &instruction, int lane, uint32_t offset, uint32_t size,
             bool writes)
{
    SharedShadow &shadow = warp.block->shadow;
    const SharedAccess now = {warp.number * WARP_LANES + (uint32_t)lane, shadow.barriers,
                              shadow.meetings[warp.number], instruction.is_strong};
    const auto races = [&](const SharedAccess &before) {
        if (before.thread == NOBODY || before.thread == now.thread ||
            before.barriers != now.barriers || (before.is_strong && now.is_strong)) {
            return false;
        }
        return before.thread / WARP_LANES != warp.number || before.meetings == now.meetings;
    };
    for (uint32_t i = offset; i < offset + size; i++) {
        SharedByte &byte = shadow.bytes[i];
        if (races(byte.write)) {
            report(writes ? "written by two threads between two barriers of shared memory"
                          : "another thread wrote the shared memory read here, without a barrier",
                   warp, instruction, lane);
        }
        if (writes && (races(byte.read) || races(byte.other_read))) {
            report("another thread reads the shared memory written here, without a barrier", warp,
                   instruction, lane);
        }
        if (writes) {
            byte.write = now;
        } else {
            if (byte.read.thread / WARP_LANES != warp.number) {
                byte.other_read = byte.read;
            }
            byte.read = now;
        }
    }
}

/* ---- global memory ---- */

namespace
{

/* Of each block: how many of its fences are known to have happened before. */
using Known = std::unordered_map<uint32_t, uint32_t>;

struct GlobalAccess {
    uint32_t block = NOBODY;
    uint32_t fences = 0; /* of the block, until then */
    bool is_strong = false;
};

struct GlobalByte {
    GlobalAccess write, read, other_read; /* other_read: of another block than read */
};

constexpr uint64_t PIECE = 1024;

struct Watch {
    std::unordered_map<uint64_t, std::unique_ptr<GlobalByte[]>> pieces;
    std::unordered_map<uint64_t, Known> released; /* by address of a strong access */
    std::unordered_map<uint32_t, Known> known;    /* by block */
    std::unordered_map<uint32_t, uint32_t> fences;
};

Watch watch;

void
merge(Known *into, const Known &from)
{
    for (const auto &each : from) {
        uint32_t &fences = (*into)[each.first];
        fences = fences < each.second ? each.second : fences;
    }
}

} // namespace

void
begin_watching_global()
{
    watch.pieces.clear();
    watch.released.clear();
    watch.known.clear();
    watch.fences.clear();
}

void
watch_fence(Warp &warp)
{
    watch.fences[(uint32_t)warp.block->number]++;
}

void
watch_global(Warp &warp, const Instruction &instruction, int lane, uint64_t address, uint32_t size,
             bool reads, bool writes)
{
    const uint32_t me = (uint32_t)warp.block->number;
    const GlobalAccess now = {me, watch.fences[me], instruction.is_strong};
    Known &known = watch.known[me];
    if (instruction.is_strong && reads) {
        const auto released = watch.released.find(address);
        if (released != watch.released.end()) {
            merge(&known, released->second);
        }
    }
    const auto races = [&](const GlobalAccess &before) {
        if (before.block == NOBODY || before.block == me || (before.is_strong && now.is_strong)) {
            return false;
        }
        const auto fences = known.find(before.block);
        return fences == known.end() || fences->second <= before.fences;
    };
    for (uint64_t at = address; at < address + size; at++) {
        std::unique_ptr<GlobalByte[]> &piece = watch.pieces[at / PIECE];
        if (piece == nullptr) {
            piece.reset(new GlobalByte[PIECE]);
        }
        GlobalByte &byte = piece[at % PIECE];
        if (races(byte.write)) {
            report(writes ? "written by two blocks of a launch in no order"
                          : "another block wrote what is read here, in no order",
                   warp, instruction, lane);
        }
        if (writes && (races(byte.read) || races(byte.other_read))) {
            report("another block reads what is written here, in no order", warp, instruction,
                   lane);
        }
        if (writes) {
            byte.write = now;
        } else {
            if (byte.read.block != me) {
                byte.other_read = byte.read;
            }
            byte.read = now;
        }
    }
    if (instruction.is_strong && writes) {
        Known &released = watch.released[address];
        merge(&released, known);
        if (now.fences != 0) {
            uint32_t &fences = released[me];
            fences = fences < now.fences ? now.fences : fences;
        }
    }
}

} // namespace ptx
