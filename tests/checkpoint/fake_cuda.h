/* SPDX-License-Identifier: BSD-3-Clause
 * fake_cuda.h: memory that no program can touch, as that of a GPU, and the functions of CUDA that
 * know it. fake_runtime.c has them as CUDA's runtime has, fake_driver.c as the driver has. */
#ifndef H5TWIN_TEST_FAKE_CUDA_H
#define H5TWIN_TEST_FAKE_CUDA_H

#include <stddef.h>

#define FAKE_MOST 64

/* A piece of device memory: its address, which faults, and where its bytes are. */
struct fake_piece {
    unsigned char *device, *bytes;
    size_t size;
};

extern struct fake_piece fake_pieces[FAKE_MOST];
extern size_t fake_copies, fake_largest_copy; /* calls, and bytes of one */
extern int fake_failure;                      /* of every copy, if not 0 */

void *fake_malloc(size_t size);
/* Where the bytes of this address are, NULL if it is no device's. */
unsigned char *fake_bytes(const void *address);
/* As cudaMemcpy in any direction: 0, or an error. */
int fake_copy(void *dst, const void *src, size_t size);

#endif
