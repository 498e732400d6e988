/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_launch.cuh: what the files of cascade's CUDA encoder tell each other. */
#ifndef H5TWIN_CASCADE_ENCODE_LAUNCH_CUH
#define H5TWIN_CASCADE_ENCODE_LAUNCH_CUH

#include "cascade_encode_work.cuh"

/* Blocks that share a slab of so many values. */
static inline uint32_t
cascade_team_parts(uint64_t values)
{
    const uint64_t parts = values / CASCADE_TEAM_SHARE;
    return parts == 0 ? 1 : parts < CASCADE_MOST_TEAM ? (uint32_t)parts : CASCADE_MOST_TEAM;
}

/* cascade_encode_fast.cu: bytes of scratch for each slab at work beside struct
 * cascade_encode_memory, */
extern "C" size_t h5twin_cascade_fast_slab_size(void);
/* and all launches, where there is memory for `slabs_at_once`; whether they were accepted. */
extern "C" bool h5twin_cascade_launch_fast(const struct cascade_encode_batch *all,
                                           size_t slabs_at_once, uint8_t *d_slabs,
                                           cudaStream_t stream);

#endif
