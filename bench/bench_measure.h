/* SPDX-License-Identifier: BSD-3-Clause
 * bench_measure.h: one array through all contenders, in turns; a row of the CSV file for each. */
#ifndef H5TWIN_BENCH_MEASURE_H
#define H5TWIN_BENCH_MEASURE_H

#include "contender.h"

#include <stdio.h>

#define MAX_REPETITIONS 1001
#define MAX_SIZES       16

struct settings {
    size_t sizes[MAX_SIZES]; /* bytes of the generated fields */
    unsigned size_count;
    size_t working_set; /* bytes of all copies of an array together */
    unsigned word_size; /* 0 = both */
    unsigned repetitions;
    bool wall; /* time by the clock on the wall, not by processor time */
    FILE *csv;
};

/* The names of the columns, see README.md. */
void bench_print_head(FILE *csv);

/* False with a message if a contender fails, or a lossless one gives another array. The first
 * contender is memcpy. */
bool bench_run_array(const struct settings *settings, struct contenders *contenders,
                     const struct bench_array *array);

#endif
