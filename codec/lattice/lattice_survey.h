/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_survey.h: what a plan asks of an array's words, remembered: nearly all of it comes out of
 * one pass over them. */
#ifndef H5TWIN_LATTICE_SURVEY_H
#define H5TWIN_LATTICE_SURVEY_H

#include "lattice_plan.h"

#define LATTICE_SURVEY_PIECES 256u
#define LATTICE_SURVEYS       3u

/* All words but those of skip. */
struct lattice_survey {
    uint64_t skip[4];
    struct lattice_extremes extremes;
    uint64_t largest;                       /* magnitude; 0 unless it is that of a normal number */
    uint64_t pieces[LATTICE_SURVEY_PIECES]; /* the same of runs of words of one length */
};

/* Of the words of one array; the latest ones. */
struct lattice_surveys {
    uint64_t skip2; /* skip[2] where it does not matter: what extremes will be asked for without */
    unsigned count, next;
    struct lattice_survey list[LATTICE_SURVEYS];
};

/* The answers of lattice_loops.h's functions of these names. */
uint64_t h5twin_lattice_survey_largest(const struct lattice_values *values, uint64_t most);
size_t h5twin_lattice_survey_count_word(const struct lattice_values *values, uint64_t wanted);
struct lattice_extremes h5twin_lattice_survey_extremes(const struct lattice_values *values);

#endif
