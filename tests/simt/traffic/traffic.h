/* SPDX-License-Identifier: BSD-3-Clause
 * traffic.h: bytes of device memory that kernels load and store, by kernel.
 *
 * Counted are the bytes that the code asks for, so a value that thirty threads load counts thirty
 * times; caches and the width of a memory transaction are a GPU's own. Shared memory does not
 * count. */
#ifndef H5TWIN_TESTS_TRAFFIC_H
#define H5TWIN_TESTS_TRAFFIC_H

#include <cstdint>
#include <map>
#include <string>

struct Traffic {
    uint64_t launches = 0;
    uint64_t loaded = 0; /* bytes */
    uint64_t stored = 0;
};

/* Forget all, and count from here on. */
void traffic_begin();
/* What was put on streams since, by kernel name; cudaMemsetAsync and cudaMemcpyAsync have theirs.
 */
std::map<std::string, Traffic> traffic_end();

#endif
