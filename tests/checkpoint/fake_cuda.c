/* SPDX-License-Identifier: BSD-3-Clause
 * fake_cuda.c: see fake_cuda.h. */
#define _GNU_SOURCE /* memfd_create */
#include "fake_cuda.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fake_piece fake_pieces[FAKE_MOST];
size_t fake_copies, fake_largest_copy;
int fake_failure;

void *
fake_malloc(size_t size)
{
    for (size_t i = 0; i < FAKE_MOST; i++) {
        struct fake_piece *const piece = &fake_pieces[i];
        if (piece->device == NULL) {
            const int file = memfd_create("device", 0);
            if (file < 0 || ftruncate(file, (off_t)size) != 0) {
                return NULL;
            }
            piece->size = size;
            piece->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            piece->device = mmap(NULL, size, PROT_NONE, MAP_SHARED, file, 0);
            close(file);
            return piece->device;
        }
    }
    return NULL;
}

unsigned char *
fake_bytes(const void *address)
{
    const unsigned char *const at = address;
    for (size_t i = 0; i < FAKE_MOST; i++) {
        const struct fake_piece *const piece = &fake_pieces[i];
        if (piece->device != NULL && at >= piece->device && at < piece->device + piece->size) {
            return piece->bytes + (at - piece->device);
        }
    }
    return NULL;
}

int
fake_copy(void *dst, const void *src, size_t size)
{
    unsigned char *const to = fake_bytes(dst);
    const unsigned char *const from = fake_bytes(src);
    fake_copies++;
    fake_largest_copy = size > fake_largest_copy ? size : fake_largest_copy;
    if (fake_failure == 0) {
        memcpy(to != NULL ? (void *)to : dst, from != NULL ? (const void *)from : src, size);
    }
    return fake_failure;
}
