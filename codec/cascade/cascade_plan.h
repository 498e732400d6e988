/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_plan.h: how an encoder codes a slab, decided from tiles of it.
 *
 * Integers that do not depend on the order in which they were summed: every device decides alike.
 * Source  FORMAT.md section 10. */
#ifndef H5TWIN_CASCADE_PLAN_H
#define H5TWIN_CASCADE_PLAN_H

#include "cascade.h"
#include "cascade_copies.h"
#include "cascade_dictionary.h"

/* What an effort means. */
struct h5twin_cascade_effort_plan {
    bool packed;         /* residuals; else rANS */
    bool chooses_slabs;  /* among several numbers of them, */
    bool tries_slabs;    /* by coding each */
    bool references;     /* and if so: */
    bool all_references; /* more candidates, no screen */
    bool copies;         /* looked for, too */
    bool exponents;      /* of soft maps: several are tried */
    bool is_trial;       /* only to compare numbers of slabs */
    bool jitters;        /* samples for the fill word, of which there are: */
    unsigned fill_samples;
    unsigned tile_share;   /* 0, or at most one tile for so many values of the array, */
    unsigned shared_tiles; /* but so many */
    unsigned tiles;        /* of the array, */
    unsigned least_tiles;  /* and of a slab */
    unsigned grid;         /* of orders */
    uint64_t slab_bytes;   /* goal; UINT64_MAX: as many values as a slab can have */
};

extern const struct h5twin_cascade_effort_plan h5twin_cascade_efforts[4];
extern const struct h5twin_cascade_effort_plan h5twin_cascade_trial;

struct h5twin_cascade_plan {
    bool is_constant;
    struct h5twin_cascade_map map; /* of the words, or of the dictionary's keys */
    unsigned order[CASCADE_MAX_RANK];
    bool has_mask;
    bool has_fill;                              /* the fill word is masked, wherever it stands; */
    const struct h5twin_cascade_copies *copies; /* and these; NULL: none */
    unsigned mask_axis;
    uint64_t fill;
    bool has_dictionary;
    unsigned dictionary_order;
    struct h5twin_cascade_dictionary dictionary; /* if so: the plan's own, or freed meanwhile */
    uint64_t cost;                               /* bits, estimated */
};

/* Decide about a slab; whoever has the plan frees its dictionary. copies: these values are not
 * sent; NULL: none. keeps_memory: in the thread that called the codec. */
enum h5twin_status h5twin_cascade_plan_make(struct h5twin_cascade_plan *plan,
                                            const struct h5twin_cascade_effort_plan *effort,
                                            unsigned tiles,
                                            const struct h5twin_cascade_shape *shape,
                                            enum h5twin_kind kind, unsigned word_size,
                                            h5twin_isa isa, bool keeps_memory, const uint8_t *words,
                                            const struct h5twin_cascade_copies *copies);

/* The mask of a plan that has one. */
void h5twin_cascade_plan_mask(uint8_t *mask, const struct h5twin_cascade_plan *plan,
                              const struct h5twin_cascade_kernels *kernels, const uint8_t *words,
                              size_t value_count, unsigned word_size);

#endif
