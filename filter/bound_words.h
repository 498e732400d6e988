/* SPDX-License-Identifier: BSD-3-Clause
 * bound_words.h: an error bound whose two words were given in the wrong order.
 *
 * The words of a double mean another double the other way round: 0.01, high word first, reads as
 * 2.04e37, which no value exceeds, so that nothing would be left of the data. */
#ifndef H5TWIN_BOUND_WORDS_H
#define H5TWIN_BOUND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether error_bound, which is positive and finite, is not to be believed: if it is subnormal, as
 * are all those of a round number in binary the wrong way round, or if its words the other way
 * round are a short decimal number (of at most 4 digits) from 1e-30 to 1e30, as those of no short
 * decimal number are. Then sentence says which bound was read, and how to give it. One in 10^13
 * other bounds is refused by chance. */
bool h5twin_bound_is_doubtful(double error_bound, char *sentence, size_t capacity);

#endif
