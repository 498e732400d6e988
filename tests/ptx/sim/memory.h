/* SPDX-License-Identifier: BSD-3-Clause
 * memory.h: what memory there is: of devices, pinned, and of modules' variables. Device addresses
 * are host addresses; what device a piece belongs to is known. */
#ifndef H5TWIN_PTX_MEMORY_H
#define H5TWIN_PTX_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace ptx
{

enum class Region { device, pinned, registered, module };

struct Allocation {
    uint64_t begin, end;
    Region region;
    int device;
};

/* Filled with random bytes if it is not too large for that; NULL if there is none, or if the device
 * would have more than it has. */
uint8_t *take_memory(size_t size, Region region, int device);
/* Memory of the host that is pinned from now on; false if some of it is already. */
bool register_memory(void *memory, size_t size, int device);
size_t forget_registered(); /* all of it; how many pieces */
/* False if nothing of that region begins there. Registered memory stays the host's. */
bool free_memory(void *memory, Region region);
/* The allocation that contains the address. */
bool find_allocation(uint64_t address, Allocation *found);
size_t count_allocations(); /* but for modules' */
size_t bytes_of_device(int device);

} // namespace ptx

#endif
