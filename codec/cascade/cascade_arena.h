/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_arena.h: working memory for one slab, cut from one piece. The thread that called the
 * codec keeps it for its next call; threads of the pool do not, as they live as long as the
 * process. */
#ifndef H5TWIN_CASCADE_ARENA_H
#define H5TWIN_CASCADE_ARENA_H

#include "../common/kept_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CASCADE_ALIGNMENT 64u

struct cascade_arena {
    void *memory;
    size_t size; /* bytes asked for */
    bool is_kept;
    uint8_t *at, *end;
};

/* What a piece of so many bytes takes in an arena. */
static inline size_t
cascade_arena_need(size_t size)
{
    return (size + CASCADE_ALIGNMENT - 1) / CASCADE_ALIGNMENT * CASCADE_ALIGNMENT;
}

/* False if there is no memory. */
static inline bool
cascade_arena_open(struct cascade_arena *arena, size_t size, bool is_kept)
{
    arena->size = size + CASCADE_ALIGNMENT;
    arena->is_kept = is_kept;
    arena->memory = is_kept ? h5twin_kept_take("cascade slab", arena->size) : malloc(arena->size);
    if (arena->memory == NULL) {
        return false;
    }
    const size_t misaligned = (uintptr_t)arena->memory % CASCADE_ALIGNMENT;
    arena->at = (uint8_t *)arena->memory + (misaligned == 0 ? 0 : CASCADE_ALIGNMENT - misaligned);
    arena->end = (uint8_t *)arena->memory + arena->size;
    return true;
}

static inline void
cascade_arena_close(struct cascade_arena *arena)
{
    if (arena->is_kept) {
        h5twin_kept_give_back(arena->memory, arena->size);
    } else {
        free(arena->memory);
    }
}

/* The next piece; what all take together is the size that the arena was opened with. */
static inline void *
cascade_arena_cut(struct cascade_arena *arena, size_t size)
{
    uint8_t *const piece = arena->at;
    arena->at += cascade_arena_need(size);
    return piece;
}

/* A pointer, of whatever type, and the size of what it is to point at. */
struct cascade_piece {
    void *place;
    size_t size;
};

/* Open an arena that has exactly these pieces, and cut them. False if there is no memory. */
static inline bool
cascade_arena_open_pieces(struct cascade_arena *arena, const struct cascade_piece *pieces,
                          size_t piece_count, bool is_kept)
{
    size_t size = 0;
    for (size_t i = 0; i < piece_count; i++) {
        size += cascade_arena_need(pieces[i].size);
    }
    if (!cascade_arena_open(arena, size, is_kept)) {
        return false;
    }
    for (size_t i = 0; i < piece_count; i++) {
        void *const piece = cascade_arena_cut(arena, pieces[i].size);
        memcpy(pieces[i].place, &piece, sizeof piece);
    }
    return true;
}

#endif
