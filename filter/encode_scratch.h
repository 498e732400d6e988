/* SPDX-License-Identifier: BSD-3-Clause
 * encode_scratch.h: room to encode a chunk in, kept from one chunk to the next.
 *
 * A chunk must be given room for the largest size it could take. Fresh from the system, such memory
 * costs more than encoding does: every page of it faults. So each thread keeps what it encoded the
 * last chunk in, up to H5TWIN_SCRATCH_KEPT bytes, until the thread ends. */
#ifndef H5TWIN_FILTER_ENCODE_SCRATCH_H
#define H5TWIN_FILTER_ENCODE_SCRATCH_H

#include <stddef.h>

#define H5TWIN_SCRATCH_KEPT ((size_t)64 << 20)

/* Room for size bytes, or NULL. A thread has at most one piece at a time; a thread that takes a
 * second one before it gives back the first loses the first. */
void *h5twin_scratch_take(size_t size);

/* size as it was asked for; memory may be NULL. */
void h5twin_scratch_give_back(void *memory, size_t size);

#endif
