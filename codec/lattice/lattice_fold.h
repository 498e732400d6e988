/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_fold.h: axes whose second half mirrors the first; FORMAT.md sections 5 and 8. */
#ifndef H5TWIN_LATTICE_FOLD_H
#define H5TWIN_LATTICE_FOLD_H

#include "lattice_search.h"

/* Looks for mirrors, and whether codes with them cost less than those in workspaces[0], which they
 * replace then. *folds and *choice say how they were made. */
enum h5twin_status h5twin_lattice_try_folds(struct lattice_search *search,
                                            struct lattice_choice *choice,
                                            struct lattice_folds *folds);

#endif
