/* SPDX-License-Identifier: BSD-3-Clause
 * counts.h: what kernels did, in the units of a GPU. */
#ifndef H5TWIN_PTX_COUNTS_H
#define H5TWIN_PTX_COUNTS_H

#include <cstdint>
#include <vector>

namespace ptx
{

struct Kernel;

#define H5TWIN_PTX_COUNTS(X)                                                                       \
    X(launches)                                                                                    \
    X(blocks)                                                                                      \
    X(warp_instructions)                                                                           \
    X(lane_instructions)                                                                           \
    X(load_requests) /* of warps, of global memory */                                              \
    X(load_sectors)  /* of 32 bytes */                                                             \
    X(load_bytes)                                                                                  \
    X(store_requests)                                                                              \
    X(store_sectors)                                                                               \
    X(store_bytes)                                                                                 \
    X(atomics)                                                                                     \
    X(shared_requests)                                                                             \
    X(shared_wavefronts) /* as many as the words of the fullest bank */                            \
    X(local_requests)                                                                              \
    X(barriers)

struct Counts {
#define FIELD(name) uint64_t name = 0;
    H5TWIN_PTX_COUNTS(FIELD)
#undef FIELD
    void add(const Counts &other);
};

bool counting(); /* are accesses counted? */
bool counting_lines();
void add_counts(const Kernel &kernel, const Counts &counts);
void add_lines(const Kernel &kernel, const std::vector<uint64_t> &executed);
/* Write the files that the environment asks for; forgets what was counted. */
void write_counts();

} // namespace ptx

#endif
