/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_copies.c: see cascade_copies.h. */
#include "cascade_copies.h"

#include "../common/bytes.h"

#include <string.h>

#define SHORT 8u /* values of a stretch that are copied one by one */

/* ---- values of one number, one after the other ---- */

struct stretch {
    size_t begin, end; /* the same: no more */
    unsigned number;
};

/* The next values that are copies, from `at` on. */
static struct stretch
next_stretch(const uint8_t *number, size_t at, size_t value_count)
{
    while (at + 8 <= value_count && h5twin_load64(number + at) == 0) {
        at += 8;
    }
    while (at < value_count && number[at] == 0) {
        at++;
    }
    struct stretch stretch = {.begin = at, .end = at};
    if (at < value_count) {
        stretch.number = number[at];
        while (stretch.end < value_count && number[stretch.end] == stretch.number) {
            stretch.end++;
        }
    }
    return stretch;
}

/* ---- check ---- */

bool
h5twin_cascade_copies_numbers(const struct h5twin_cascade_copies *copies, const uint32_t *words,
                              const uint8_t *mask, size_t value_count)
{
    const unsigned entry_count = copies->entry_count;
    unsigned number = 0;
    bool is_good = true;
    for (size_t i = 0; i < value_count; i++) {
        if (!mask[i]) {
            copies->number[i] = 0;
            continue;
        }
        const uint32_t word = *words++;
        is_good &= word <= entry_count;
        number += is_good ? word : 0;
        number -= number > entry_count ? entry_count + 1 : 0;
        copies->number[i] = (uint8_t)number;
    }
    return is_good;
}

uint32_t
h5twin_cascade_copies_depth(const struct h5twin_cascade_copies *copies,
                            const struct h5twin_cascade_shape *shape, uint32_t *steps)
{
    const size_t value_count = cascade_count(shape);
    uint32_t most = 0;
    memset(steps, 0, value_count * sizeof *steps);
    for (struct stretch stretch = next_stretch(copies->number, 0, value_count);
         stretch.begin != stretch.end;
         stretch = next_stretch(copies->number, stretch.end, value_count)) {
        const struct cascade_source source =
            cascade_source_of(copies->entry[stretch.number - 1], shape);
        struct cascade_source_run run =
            cascade_next_run(&source, (uint32_t)stretch.begin, (uint32_t)stretch.end);
        while (run.count != 0) {
            for (uint32_t k = 0; k < run.count; k++) {
                const uint32_t from = run.is_mirrored ? run.source - k : run.source + k;
                const uint32_t own = 1 + steps[from];
                steps[run.begin + k] = own;
                most = own > most ? own : most;
            }
            run = cascade_next_run(&source, run.begin + run.count, (uint32_t)stretch.end);
        }
    }
    return most;
}

bool
h5twin_cascade_copies_check(const struct h5twin_cascade_copies *copies,
                            const struct h5twin_cascade_shape *shape, unsigned version,
                            size_t masked, uint32_t *steps)
{
    for (unsigned i = 0; i < copies->entry_count; i++) {
        if ((copies->entry[i] & 1) != 0 ||
            !cascade_is_good_entry(copies->entry[i], shape, version, 1)) {
            return false;
        }
    }
    return masked >> copies->rounds == 0 || /* no chain has more steps */
           h5twin_cascade_copies_depth(copies, shape, steps) >> copies->rounds == 0;
}

/* ---- copy ---- */

/* Word after word: from copies, too, where they overlap. */
static void
copy_ascending(uint8_t *words, size_t lag, size_t size)
{
    for (size_t done = 0; done < size;) { /* twice as much each time */
        const size_t most = lag + done;
        const size_t count = most < size - done ? most : size - done;
        memcpy(words + done, words - lag, count);
        done += count;
    }
}

static inline void
copy_mirrored(uint8_t *words, const uint8_t *source, size_t count, unsigned word_size)
{
    for (size_t i = 0; i < count; i++) {
        h5twin_store_word(words + i * word_size,
                          h5twin_load_word(source - i * word_size, word_size), word_size);
    }
}

/* Copies of one entry after the other, whose words are of a size that the compiler knows. */
static inline void
make_copies(const struct h5twin_cascade_copies *copies, const struct h5twin_cascade_shape *shape,
            uint8_t *words, unsigned word_size)
{
    struct cascade_source sources[CASCADE_MAX_LAGS];
    const size_t value_count = cascade_count(shape);
    for (unsigned k = 0; k < copies->entry_count; k++) {
        sources[k] = cascade_source_of(copies->entry[k], shape);
    }
    for (struct stretch stretch = next_stretch(copies->number, 0, value_count);
         stretch.begin != stretch.end;
         stretch = next_stretch(copies->number, stretch.end, value_count)) {
        const struct cascade_source *const source = &sources[stretch.number - 1];
        if (stretch.end - stretch.begin < SHORT) {
            for (size_t i = stretch.begin; i < stretch.end; i++) {
                const uint32_t from = cascade_source_at(source, (uint32_t)i);
                if (from != CASCADE_NO_SOURCE) {
                    memcpy(words + i * word_size, words + (size_t)from * word_size, word_size);
                }
            }
            continue;
        }
        struct cascade_source_run run =
            cascade_next_run(source, (uint32_t)stretch.begin, (uint32_t)stretch.end);
        while (run.count != 0) {
            uint8_t *const first = words + (size_t)run.begin * word_size;
            const size_t lag = (size_t)(run.begin - run.source) * word_size;
            if (run.is_mirrored) {
                copy_mirrored(first, first - lag, run.count, word_size);
            } else {
                copy_ascending(first, lag, (size_t)run.count * word_size);
            }
            run = cascade_next_run(source, run.begin + run.count, (uint32_t)stretch.end);
        }
    }
}

void
h5twin_cascade_copies_make(const struct h5twin_cascade_copies *copies,
                           const struct h5twin_cascade_shape *shape, uint8_t *words,
                           unsigned word_size)
{
    switch (word_size) {
    case 1:
        make_copies(copies, shape, words, 1);
        break;
    case 2:
        make_copies(copies, shape, words, 2);
        break;
    case 4:
        make_copies(copies, shape, words, 4);
        break;
    default:
        make_copies(copies, shape, words, 8);
        break;
    }
}
