/* SPDX-License-Identifier: BSD-3-Clause
 * slots.h: places for registers. One that lives within a basic block gives its place to the next,
 * so that what a warp works on stays in the host's fastest cache. */
#ifndef H5TWIN_PTX_SLOTS_H
#define H5TWIN_PTX_SLOTS_H

#include "kernel.h"

namespace ptx
{

/* Places that stand for register number place - NUMBERED until assign_slots has run. */
constexpr uint32_t NUMBERED = 0x40000000u;

/* Give the registers of one function places from `top` on. `code` is the function's, `sizes` are
 * its registers' (1: a predicate), `starts` says which instructions have a label. Returns the new
 * top. */
uint32_t assign_slots(Instruction *code, size_t count, const std::vector<uint8_t> &sizes,
                      const std::vector<bool> &starts, uint32_t top);

} // namespace ptx

#endif
