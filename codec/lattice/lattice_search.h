/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_search.h: which predictor; FORMAT.md section 8. */
#ifndef H5TWIN_LATTICE_SEARCH_H
#define H5TWIN_LATTICE_SEARCH_H

#include "lattice_loops.h"

/* Room to code the array in under one predictor. */
struct lattice_workspace {
    void *codes;
    void *levels; /* also for what is made of the codes afterwards */
};

/* The best two, and the next one; long arrays have no third. */
#define LATTICE_WORKSPACES 3u

/* An array whose integers are known. */
struct lattice_search {
    h5twin_isa isa;
    const struct lattice_loops *loops;
    const struct lattice_shape *shape;
    const struct lattice_settings *settings; /* effort, threads */
    uint32_t width;
    const void *integers;
    const uint8_t *specials;       /* NULL: none */
    const void *bins;              /* of the integers, while they are known; else NULL */
    bool is_binned;                /* the integers are bins: only predictors of bins are tried */
    bool is_bounded;               /* as in lattice_array */
    const struct lattice_map *map; /* of bins, and the words that they were made of */
    const uint8_t *words;
    bool stable; /* predictors whose values lie on one lattice */
    struct lattice_workspace workspaces[LATTICE_WORKSPACES];
};

/* How many workspaces a search needs. */
unsigned h5twin_lattice_workspace_count(const struct lattice_settings *settings, size_t count);

/* Chooses, and leaves the codes in workspaces[0], with interpolation's values in its levels. */
enum h5twin_status h5twin_lattice_search(struct lattice_search *search,
                                         struct lattice_choice *choice);

/* Codes under this choice, to workspaces[0]. */
void h5twin_lattice_apply(struct lattice_search *search, const struct lattice_choice *choice);

/* Integers that workspace.levels must hold for any choice. */
size_t h5twin_lattice_most_levels(const struct lattice_shape *shape, bool stable);

/* Bytes that workspace.levels must have beside that for the search: what coding them takes. */
size_t h5twin_lattice_coding_room(size_t count, const struct lattice_loops *loops,
                                  const struct lattice_settings *settings);

/* Code the codes of a workspace to its levels; returns the stream's size. */
size_t h5twin_lattice_code(const struct lattice_search *search,
                           const struct lattice_workspace *workspace);

#endif
