/* SPDX-License-Identifier: BSD-3-Clause
 * kept_memory.h: large working memory of a call, kept by its thread for the next call.
 *
 * Fresh from the system, such memory costs more than coding a chunk does: every page of it faults.
 * So each thread keeps what it worked in last, up to a limit, until the thread ends. */
#ifndef H5TWIN_COMMON_KEPT_MEMORY_H
#define H5TWIN_COMMON_KEPT_MEMORY_H

#include <stddef.h>

/* Bytes; a larger piece is not kept. Two chunks of 32 MiB, with what is noted of them. */
#define H5TWIN_KEPT_LIMIT (((size_t)64 << 20) + ((size_t)64 << 10))

/* Room for size bytes, with anything in them, or NULL. A thread keeps one piece for each use: a
 * constant string that no other caller has, such as the name of a codec and what the memory is for.
 * If a thread takes a second piece for a use before it gives back the first, the first is lost. */
void *h5twin_kept_take(const char *use, size_t size);

/* size as it was asked for; memory may be NULL. */
void h5twin_kept_give_back(void *memory, size_t size);

#endif
