/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_search.h: the orders of differences that make a slab's tiles smallest.
 * Source  FORMAT.md section 10. */
#ifndef H5TWIN_CASCADE_SEARCH_H
#define H5TWIN_CASCADE_SEARCH_H

#include "cascade_tiles.h"

#define CASCADE_ORDER_SETS 2401u /* (6 + 1)^4 */

struct h5twin_cascade_search {
    const struct h5twin_cascade_tiles *tiles;
    unsigned grid;                     /* all orders up to here are tried; */
    unsigned top;                      /* then single steps up to here, */
    bool steps;                        /* if so */
    bool in_groups;                    /* cost of packed groups instead of rANS */
    uint8_t *words;                    /* room for the words of a box */
    void *level[CASCADE_MAX_RANK + 1]; /* room for the lanes of a box, each */
    uint64_t cost[CASCADE_ORDER_SETS]; /* bits in all tiles; */
    bool known[CASCADE_ORDER_SETS];    /* if so */
};

/* The least cost, and its orders: the first of equals as if each axis, slowest first, counted up.
 */
uint64_t h5twin_cascade_search_orders(struct h5twin_cascade_search *search,
                                      const struct h5twin_cascade_source *source,
                                      unsigned order[CASCADE_MAX_RANK]);

/* The cost of these orders alone. */
uint64_t h5twin_cascade_search_cost(struct h5twin_cascade_search *search,
                                    const struct h5twin_cascade_source *source,
                                    const unsigned order[CASCADE_MAX_RANK]);

#endif
