/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_marks.c: a value in the sample that looks like missing data nobody declared. */
#include "common/byte_order.h"
#include "common/values.h"
#include "suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
sample_value(const struct h5twin_sample *sample, size_t index)
{
    const uint32_t size = sample->params.element_size;
    const uint8_t *const word = sample->data + index * size;
    uint8_t swapped[8];
    if (!sample->params.big_endian) {
        return h5twin_value_at(word, 0, size);
    }
    h5twin_swap_words(swapped, word, size, size);
    return h5twin_value_at(swapped, 0, size);
}

/* The shortest text that reads back as this value of the sample's type. */
static void
print_value(char *text, size_t capacity, double value, uint32_t element_size)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, capacity, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (element_size == 4 ? (float)back == (float)value : back == value) {
            return;
        }
    }
}

/* The rule that the codecs have for relative bounds (codec/sleek/FORMAT.md): the value of largest
 * magnitude, on more than one in 64 places, above 16 times all others. */
bool
h5twin_sample_find_mark(const struct h5twin_sample *sample, char *text, size_t capacity,
                        double *share)
{
    const size_t count =
        sample->params.kind == H5TWIN_FLOAT
            ? sample->piece_size * sample->piece_count / sample->params.element_size
            : 0;
    double mark = 0, others = -1;
    size_t often = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = sample_value(sample, i);
        if (!isfinite(value)) {
            continue;
        }
        if (often != 0 && value == mark) {
            often++;
        } else if (often == 0 || fabs(value) > fabs(mark)) {
            others = often == 0 ? others : fabs(mark);
            mark = value;
            often = 1;
        } else {
            others = fabs(value) > others ? fabs(value) : others;
        }
    }
    if (often <= count / 64 || others < 0 || !(fabs(mark) / 16 > others)) {
        return false;
    }
    *share = (double)often / (double)count;
    print_value(text, capacity, mark, sample->params.element_size);
    return true;
}
