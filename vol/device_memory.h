/* SPDX-License-Identifier: BSD-3-Clause
 * device_memory.h: whether an address is a GPU's, and copies from and to it, by the CUDA that the
 * program has loaded. Nothing is linked or loaded for it, and no CUDA is started: where none runs
 * there is no such address.
 *
 * The driver is asked if it is loaded (libcuda.so.1, nvcuda.dll); else a runtime that stands for
 * one, by cudaPointerGetAttributes and cudaMemcpy. Managed memory counts as the host's. */
#ifndef H5TWIN_VOL_DEVICE_MEMORY_H
#define H5TWIN_VOL_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

bool h5twin_is_device_memory(const void *address);

/* Copies wait for what is on the default stream, as cudaMemcpy does, and return when they are done.
 * False if CUDA failed. */
bool h5twin_device_read(void *host, const void *device, size_t size);
bool h5twin_device_write(void *device, const void *host, size_t size);

/* Make the context that the memory is of the thread's current one, until leave, which takes what
 * enter returned. Where no driver is asked there is but one. */
bool h5twin_device_enter(const void *address);
void h5twin_device_leave(bool entered);

#endif
