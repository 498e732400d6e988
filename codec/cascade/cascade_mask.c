/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_mask.c: see cascade_mask.h. */
#include "cascade_mask.h"

#include "../common/bytes.h"

#include <string.h>

#define SLOTS_LOG2 12u /* twice the samples */

uint64_t
h5twin_cascade_frequent_word(const uint8_t *words, size_t value_count, unsigned word_size)
{
    struct {
        uint64_t word;
        uint32_t count; /* 0: free */
    } slots[1u << SLOTS_LOG2];
    const size_t count = value_count < CASCADE_MASK_SAMPLES ? value_count : CASCADE_MASK_SAMPLES;
    uint32_t most = 0;
    uint64_t frequent = 0;
    memset(slots, 0, sizeof slots);
    for (size_t i = 0; i < count; i++) {
        const size_t place = (size_t)((uint64_t)value_count * i / count);
        const uint64_t word = h5twin_load_word(words + place * word_size, word_size);
        size_t slot = (size_t)(word * CASCADE_MULTIPLIER >> (64 - SLOTS_LOG2));
        while (slots[slot].count != 0 && slots[slot].word != word) {
            slot = (slot + 1) % (1u << SLOTS_LOG2);
        }
        slots[slot].word = word;
        slots[slot].count++;
        if (slots[slot].count > most || (slots[slot].count == most && word < frequent)) {
            most = slots[slot].count;
            frequent = word;
        }
    }
    return frequent;
}

H5TWIN_FORCE_INLINE size_t
mark(uint8_t *restrict mask, const uint8_t *restrict words, size_t value_count, uint64_t fill,
     unsigned word_size)
{
    size_t masked = 0;
    for (size_t i = 0; i < value_count; i++) {
        mask[i] = h5twin_load_word(words + i * word_size, word_size) == fill;
        masked += mask[i];
    }
    return masked;
}

size_t
h5twin_cascade_mask_make(uint8_t *restrict mask, const uint8_t *restrict words, size_t value_count,
                         unsigned word_size, uint64_t fill)
{
    switch (word_size) {
    case 1:
        return mark(mask, words, value_count, fill, 1);
    case 2:
        return mark(mask, words, value_count, fill, 2);
    case 4:
        return mark(mask, words, value_count, fill, 4);
    default:
        return mark(mask, words, value_count, fill, 8);
    }
}

/* ---- XOR along an axis ---- */

void
h5twin_cascade_mask_back(uint8_t *mask, const struct h5twin_cascade_shape *shape,
                         unsigned mask_axis)
{
    if (mask_axis == 0) {
        return;
    }
    const size_t stride = cascade_stride(shape, mask_axis - 1), count = cascade_count(shape);
    const size_t period = stride * shape->extent[mask_axis - 1];
    for (size_t begin = 0; begin < count; begin += period) {
        for (size_t i = begin + stride; i < begin + period; i++) {
            mask[i] ^= mask[i - stride];
        }
    }
}

/* Go through a mask as it is sent. */
struct sent {
    const uint8_t *mask;
    size_t stride, period; /* 0: no axis */
    size_t in_period;      /* of the next value */
};

static struct sent
send(const uint8_t *mask, const struct h5twin_cascade_shape *shape, unsigned mask_axis)
{
    if (mask_axis == 0) {
        return (struct sent){.mask = mask, .period = SIZE_MAX, .stride = SIZE_MAX};
    }
    const size_t stride = cascade_stride(shape, mask_axis - 1);
    return (struct sent){
        .mask = mask, .stride = stride, .period = stride * shape->extent[mask_axis - 1]};
}

static uint8_t
next_bit(struct sent *sent)
{
    const bool has_one_before = sent->in_period >= sent->stride;
    const uint8_t bit =
        (uint8_t)(*sent->mask ^ (has_one_before ? *(sent->mask - sent->stride) : 0));
    sent->mask++;
    sent->in_period = sent->in_period + 1 == sent->period ? 0 : sent->in_period + 1;
    return bit;
}

static uint32_t
next_nibble(struct sent *sent, size_t left)
{
    uint32_t nibble = 0;
    for (size_t i = 0; i < CASCADE_MASK_NIBBLE && i < left; i++) {
        nibble |= (uint32_t)next_bit(sent) << i;
    }
    return nibble;
}

static size_t
count_nibbles(const uint8_t *mask, const struct h5twin_cascade_shape *shape, unsigned mask_axis)
{
    struct sent sent = send(mask, shape, mask_axis);
    size_t nibbles = 0;
    for (size_t left = cascade_count(shape); left != 0;) {
        nibbles += next_nibble(&sent, left) != 0;
        left -= left < CASCADE_MASK_NIBBLE ? left : CASCADE_MASK_NIBBLE;
    }
    return nibbles;
}

unsigned
h5twin_cascade_mask_axis(const uint8_t *mask, const struct h5twin_cascade_shape *shape,
                         size_t *nibble_count)
{
    unsigned best = 0;
    *nibble_count = count_nibbles(mask, shape, 0);
    /* only the two axes next to the fastest one */
    for (unsigned axis = 1; axis < shape->rank; axis++) {
        if (axis + 2 >= shape->rank) {
            const size_t nibbles = count_nibbles(mask, shape, axis);
            if (nibbles < *nibble_count) {
                *nibble_count = nibbles;
                best = axis;
            }
        }
    }
    return best;
}

void
h5twin_cascade_mask_nibbles(uint32_t *restrict nibbles, const uint8_t *restrict mask,
                            const struct h5twin_cascade_shape *shape, unsigned mask_axis)
{
    struct sent sent = send(mask, shape, mask_axis);
    for (size_t left = cascade_count(shape); left != 0;) {
        *nibbles++ = next_nibble(&sent, left);
        left -= left < CASCADE_MASK_NIBBLE ? left : CASCADE_MASK_NIBBLE;
    }
}
