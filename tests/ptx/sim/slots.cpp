/* SPDX-License-Identifier: BSD-3-Clause
 * slots.cpp: see slots.h. */
#include "slots.h"

#include <map>

namespace ptx
{

namespace
{

bool
is_numbered(uint32_t place)
{
    return place != NO_PLACE && (place & IN_CONSTANTS) == 0 && (place & NUMBERED) != 0;
}

/* Call f(place, is it written) for all operands, what is read first. */
template <class F>
void
for_each_place(Instruction &instruction, F &&f)
{
    f(instruction.guard, false);
    for (const bool defined : {false, true}) {
        for (unsigned k = 0; k < 6; k++) {
            if ((instruction.defines >> k & 1) == defined) {
                f(instruction.place[k], defined);
            }
        }
        for (unsigned k = 0; k < 4; k++) {
            if ((instruction.defines >> (8 + k) & 1) == defined) {
                f(instruction.vector[k], defined);
            }
        }
    }
}

struct Life {
    uint32_t first_block = NO_PLACE;
    uint32_t last_use = 0;
    bool is_local = true; /* written first, and used in that basic block only */
    uint32_t place = NO_PLACE;
};

bool
ends_block(const Instruction &instruction)
{
    return instruction.flow == Flow::branch || instruction.flow == Flow::ret ||
           instruction.flow == Flow::exit;
}

struct Slots {
    uint32_t top;
    std::map<uint8_t, std::vector<uint32_t>> free;

    uint32_t
    take(uint8_t size)
    {
        std::vector<uint32_t> &spare = free[size];
        if (!spare.empty()) {
            const uint32_t place = spare.back();
            spare.pop_back();
            return place;
        }
        const uint32_t bytes = size == 1 ? 4 : size * WARP_LANES;
        const uint32_t align = bytes < 64 ? bytes : 64;
        top = (top + align - 1) / align * align;
        const uint32_t place = top;
        top += bytes;
        return place;
    }
};

} // namespace

uint32_t
assign_slots(Instruction *code, size_t count, const std::vector<uint8_t> &sizes,
             const std::vector<bool> &starts, uint32_t top)
{
    std::vector<Life> lives(sizes.size());
    uint32_t block = 0;
    for (size_t at = 0; at < count; at++) {
        block += starts[at] || (at > 0 && ends_block(code[at - 1]));
        for_each_place(code[at], [&](uint32_t place, bool defined) {
            if (!is_numbered(place)) {
                return;
            }
            Life &life = lives[place - NUMBERED];
            if (life.first_block == NO_PLACE) {
                life.first_block = block;
                /* With a guard, lanes keep what they had, perhaps from the round before. */
                life.is_local = defined && code[at].guard == NO_PLACE;
            }
            life.is_local &= life.first_block == block;
            life.last_use = (uint32_t)at;
        });
    }
    Slots slots = {top, {}};
    for (size_t number = 0; number < lives.size(); number++) {
        if (lives[number].first_block != NO_PLACE && !lives[number].is_local) {
            lives[number].place = slots.take(sizes[number]);
        }
    }
    std::vector<uint32_t> ends; /* registers whose life ends with the instruction */
    for (size_t at = 0; at < count; at++) {
        ends.clear();
        for_each_place(code[at], [&](uint32_t &place, bool) {
            if (!is_numbered(place)) {
                return;
            }
            const uint32_t number = place - NUMBERED;
            Life &life = lives[number];
            if (life.place == NO_PLACE) {
                life.place = slots.take(sizes[number]);
            }
            if (life.is_local && life.last_use == at) {
                life.last_use = NO_PLACE; /* once */
                ends.push_back(number);
            }
            place = life.place;
        });
        for (const uint32_t number : ends) {
            slots.free[sizes[number]].push_back(lives[number].place);
        }
    }
    return (slots.top + 63) / 64 * 64;
}

} // namespace ptx
