/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_bitmap.cuh: the bitmaps of RZE, RAZE and RARE on a GPU: bytes like the one before are
 * left out, and a bitmap says which, down to 4 bytes.
 *
 * A lane has eight bytes. All three coders have a bitmap of 256 bytes, which is one warp's work:
 * its own bitmap is a byte per lane, and that one's a ballot. */
#ifndef H5TWIN_FPCOMPRESS_BITMAP_CUH
#define H5TWIN_FPCOMPRESS_BITMAP_CUH

#include "fpcompress_rows.cuh"
#include "zero_elim_core.h"

#define FPC_BITMAP_BYTES 256u
#define FPC_FINAL_BYTES  4u

/* Store those of eight bytes that mask names, one after the other. */
static __device__ __forceinline__ void
fpc_keep8(uint8_t *dst, uint64_t bytes, uint32_t mask)
{
    for (uint32_t j = 0; j < 8; j++) {
        if (((mask >> j) & 1u) != 0) {
            *dst++ = (uint8_t)(bytes >> 8 * j);
        }
    }
}

/* Eight bytes, of which mask says which are new; rank of the kept ones come before them. */
static __device__ __forceinline__ uint64_t
fpc_repeat8(const uint8_t *kept, uint32_t rank, uint32_t mask)
{
    uint64_t bytes = 0, byte = rank == 0 ? 0 : kept[rank - 1];
    for (uint32_t j = 0; j < 8; j++) {
        byte = ((mask >> j) & 1u) != 0 ? kept[rank++] : byte;
        bytes |= byte << 8 * j;
    }
    return bytes;
}

/* A bitmap of 256 bytes, shortened; each lane has its part. */
struct fpc_bitmap {
    uint64_t bytes;
    uint32_t mask;        /* which of them are new */
    uint32_t offset;      /* new ones of the lanes below */
    uint32_t kept;        /* of all lanes */
    uint32_t final_bytes; /* which of the masks are new, for all lanes */
};

/* Called by one warp, as all below. */
static __device__ __forceinline__ struct fpc_bitmap
fpc_bitmap_shorten(uint64_t bytes)
{
    const uint32_t lane = threadIdx.x % 32u;
    struct fpc_bitmap bitmap;
    const uint64_t bytes_below = __shfl_up_sync(H5TWIN_ALL_LANES, bytes, 1);
    bitmap.bytes = bytes;
    bitmap.mask = h5twin_new_bytes(bytes, lane == 0 ? 0 : bytes_below >> 56);
    const uint32_t count = h5twin_popcount32(bitmap.mask);
    const uint32_t mask_below = __shfl_up_sync(H5TWIN_ALL_LANES, bitmap.mask, 1);
    bitmap.offset = h5twin_warp_exclusive_sum(count);
    bitmap.kept = __shfl_sync(H5TWIN_ALL_LANES, bitmap.offset + count, 31);
    bitmap.final_bytes =
        __ballot_sync(H5TWIN_ALL_LANES, bitmap.mask != (lane == 0 ? 0 : mask_below));
    return bitmap;
}

static __device__ __forceinline__ uint32_t
fpc_bitmap_size(const struct fpc_bitmap *bitmap)
{
    return bitmap->kept + h5twin_popcount32(bitmap->final_bytes) + FPC_FINAL_BYTES;
}

static __device__ __forceinline__ void
fpc_bitmap_write(uint8_t *dst, const struct fpc_bitmap *bitmap)
{
    const uint32_t lane = threadIdx.x % 32u;
    fpc_keep8(dst + bitmap->offset, bitmap->bytes, bitmap->mask);
    dst += bitmap->kept;
    if (((bitmap->final_bytes >> lane) & 1u) != 0) {
        const uint32_t below = bitmap->final_bytes & ((1u << lane) - 1u);
        dst[h5twin_popcount32(below)] = (uint8_t)bitmap->mask;
    }
    if (lane < FPC_FINAL_BYTES) {
        dst[h5twin_popcount32(bitmap->final_bytes) + lane] =
            (uint8_t)(bitmap->final_bytes >> 8 * lane);
    }
}

/* A lane's eight bytes of the bitmap that ends at src + *src_size, which becomes the size of what
 * is before it. False, for all lanes, if there are too few bytes. */
static __device__ __forceinline__ bool
fpc_bitmap_read(uint64_t *bytes, const uint8_t *src, uint32_t *src_size)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint32_t left = *src_size;
    if (left < FPC_FINAL_BYTES) {
        return false;
    }
    left -= FPC_FINAL_BYTES;
    uint32_t final_bytes = 0;
    for (uint32_t i = 0; i < FPC_FINAL_BYTES; i++) {
        final_bytes |= (uint32_t)src[left + i] << 8 * i;
    }
    if (h5twin_popcount32(final_bytes) > left) {
        return false;
    }
    left -= h5twin_popcount32(final_bytes);
    const uint32_t rank = h5twin_popcount32(final_bytes & (0xFFFFFFFFu >> (31 - lane)));
    const uint32_t mask = rank == 0 ? 0 : src[left + rank - 1];
    const uint32_t count = h5twin_popcount32(mask);
    const uint32_t offset = h5twin_warp_exclusive_sum(count);
    const uint32_t kept = __shfl_sync(H5TWIN_ALL_LANES, offset + count, 31);
    if (kept > left) {
        return false;
    }
    left -= kept;
    *bytes = fpc_repeat8(src + left, offset, mask);
    *src_size = left;
    return true;
}

#endif
