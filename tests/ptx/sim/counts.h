/* SPDX-License-Identifier: BSD-3-Clause
 * counts.h: what kernels did, in the units of a GPU. */
#ifndef H5TWIN_PTX_COUNTS_H
#define H5TWIN_PTX_COUNTS_H

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ptx
{

struct Kernel;

#define H5TWIN_PTX_COUNTS(X)                                                                       \
    X(launches) /* or copies */                                                                    \
    X(blocks)                                                                                      \
    X(warp_instructions)                                                                           \
    X(lane_instructions)                                                                           \
    X(load_requests) /* of warps, of global memory */                                              \
    X(load_sectors)  /* of 32 bytes */                                                             \
    X(load_bytes)                                                                                  \
    X(store_requests) /* and atomics */                                                            \
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

/* What one instruction did. */
struct InstructionCounts {
    uint64_t runs = 0, load_sectors = 0, store_sectors = 0;
};

/* Of all launches of a kernel; threads and bytes of shared memory of its largest block. `longest`:
 * warp instructions of the block of a launch that ran most, added up over the launches. */
struct KernelCounts {
    Counts counts;
    uint64_t longest = 0;
    uint32_t threads = 0, shared_bytes = 0;
};

/* Of all instructions of a source line; `instructions` is how many of them ran at all. */
struct LineCounts {
    uint64_t warp_instructions = 0, instructions = 0, load_sectors = 0, store_sectors = 0;
};

struct Line {
    std::string kernel, function, file;
    uint32_t number;
    bool
    operator<(const Line &other) const
    {
        return std::tie(kernel, function, file, number) <
               std::tie(other.kernel, other.function, other.file, other.number);
    }
};

struct CountTables {
    std::map<std::string, KernelCounts> kernels; /* copies are "memset" and "memcpy" */
    std::map<Line, LineCounts> lines;
};

/* Set while nothing runs: are accesses counted, and source lines? From the environment at first. */
extern bool counting, counting_lines;
/* Counted since the last call, or the start. */
CountTables take_counts();

void add_launch(const Kernel &kernel, const Counts &counts, uint64_t longest, uint32_t threads,
                uint32_t dynamic_bytes);
void add_lines(const Kernel &kernel, const std::vector<InstructionCounts> &executed);
void add_copy(const char *name, uint64_t loaded, uint64_t stored); /* bytes */
/* Write the files that the environment asks for. */
void write_counts();

} // namespace ptx

#endif
