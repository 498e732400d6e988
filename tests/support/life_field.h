/* SPDX-License-Identifier: BSD-3-Clause
 * life_field.h: random choices, from a fuzzer's bytes or from a seed, and random fields of numbers
 * as people have them, with what stands for missing data. */
#ifndef H5TWIN_TESTS_LIFE_FIELD_H
#define H5TWIN_TESTS_LIFE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIFE_AXES 4u

/* Bytes first, while there are any; then pseudo-random numbers. */
struct life_source {
    const uint8_t *at, *end;
    uint64_t state;
};

/* 0 .. count - 1; count is at most 256. */
unsigned life_choose(struct life_source *source, unsigned count);
bool life_happens(struct life_source *source, unsigned one_in);
uint64_t life_random(struct life_source *source); /* never from the bytes: 64 bits */
double life_uniform(struct life_source *source);  /* the same, 0 <= x < 1 */

/* One of n, listed. */
#define LIFE_PICK(source, list)                                                                    \
    (list)[life_choose((source), (unsigned)(sizeof(list) / sizeof(list)[0]))]

/* What a field's numbers are about. */
struct life_numbers {
    unsigned word_size;
    double base, scale;         /* numbers lie about the base, as far away as the scale */
    double bound;               /* what a lossy mode is told; of the scale if it is relative */
    bool is_named, is_declared; /* whether the next ones stand for missing data */
    double named, declared;     /* to the filter; by the dataset, so that HDF5 fills with it */
};

struct life_numbers life_choose_numbers(struct life_source *source, unsigned word_size);

/* Words in the processor's order, count of them in C order of the extents. */
void life_fill_field(struct life_source *source, const struct life_numbers *numbers,
                     const size_t extent[LIFE_AXES], uint64_t *words);

/* A number as a word, rounded to nearest; what overflows becomes the largest finite one. */
uint64_t life_word(double value, unsigned word_size);
double life_value(uint64_t word, unsigned word_size);

#endif
