/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_mask.c: see cascade_mask.h. */
#include "cascade_mask.h"

#include "../common/bytes.h"
#include "../common/prefetch.h"

#include <string.h>

#define SLOTS_LOG2 12u /* at most */
#define FETCHED    32u /* samples that are fetched before they are counted */

/* Words that were found, in the order in which they came. */
struct found_words {
    unsigned count;
    unsigned slot_bits;                       /* 2^slot_bits slots are in use, twice the samples */
    uint64_t words[CASCADE_MASK_SAMPLES + 1]; /* one place more, for a word that may be new */
    uint16_t counts[CASCADE_MASK_SAMPLES];
    uint16_t slots[1u << SLOTS_LOG2]; /* number of a word + 1, or 0 */
};

/* Count a word; returns how often it was found. Only words that share a slot make a branch. */
static inline unsigned
count_word(struct found_words *found, uint64_t word)
{
    found->words[found->count] = word;
    const size_t mask = ((size_t)1 << found->slot_bits) - 1;
    for (size_t slot = (size_t)(word * CASCADE_MULTIPLIER >> (64 - found->slot_bits));;
         slot = (slot + 1) & mask) {
        const unsigned last = found->slots[slot];
        const unsigned number = last == 0 ? found->count : last - 1;
        if (found->words[number] == word) {
            found->slots[slot] = (uint16_t)(number + 1);
            found->count += last == 0;
            return ++found->counts[number];
        }
    }
}

uint64_t
h5twin_cascade_frequent_word(const uint8_t *src, size_t value_count, unsigned word_size,
                             unsigned most_samples, bool jitters, unsigned *found_count)
{
    struct found_words found;
    const size_t count = cascade_mask_samples(value_count, most_samples);
    unsigned most = 0;
    uint64_t frequent = 0;
    found.count = 0;
    found.slot_bits = h5twin_bit_length64(count) + 1;
    found.slot_bits = found.slot_bits < SLOTS_LOG2 ? found.slot_bits : SLOTS_LOG2;
    memset(found.counts, 0, count * sizeof found.counts[0]);
    memset(found.slots, 0, sizeof found.slots[0] << found.slot_bits);
    for (size_t begin = 0; begin < count; begin += FETCHED) {
        const size_t size = count - begin < FETCHED ? count - begin : FETCHED;
        const uint8_t *places[FETCHED];
        for (size_t i = 0; i < size; i++) {
            places[i] =
                src + cascade_sample_place(value_count, count, begin + i, jitters) * word_size;
            H5TWIN_PREFETCH(places[i]);
        }
        for (size_t i = 0; i < size; i++) {
            const uint64_t word = h5twin_load_word(places[i], word_size);
            const unsigned own = count_word(&found, word);
            if (own > most || (own == most && word < frequent)) {
                most = own;
                frequent = word;
            }
        }
    }
    *found_count = most;
    return frequent;
}

size_t
h5twin_cascade_mask_count(const uint8_t *mask, size_t value_count)
{
    size_t masked = 0, i = 0;
    for (; i + 8 <= value_count; i += 8) { /* all bytes add up in the highest one */
        masked += (size_t)(h5twin_load64(mask + i) * UINT64_C(0x0101010101010101) >> 56);
    }
    for (; i < value_count; i++) {
        masked += mask[i];
    }
    return masked;
}

/* ---- XOR along an axis ---- */

/* Alone, so that the compiler knows that nothing else lies where it writes: else it would go byte
 * by byte. */
static void
xor_bytes(uint8_t *restrict bytes, const uint8_t *restrict others, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= others[i];
    }
}

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
        for (size_t i = begin + stride; i < begin + period; i += stride) {
            xor_bytes(mask + i, mask + i - stride, stride);
        }
    }
}

#define RUN 4096u /* bits, whole nibbles */

/* Go through a mask as it is sent. */
struct sent {
    const uint8_t *mask;
    size_t left;           /* values */
    size_t stride, period; /* along the axis */
    size_t in_period;      /* of the next value */
};

static struct sent
send(const uint8_t *mask, const struct h5twin_cascade_shape *shape, unsigned mask_axis)
{
    const size_t count = cascade_count(shape);
    const size_t stride = mask_axis == 0 ? count : cascade_stride(shape, mask_axis - 1);
    const size_t extent = mask_axis == 0 ? 1 : shape->extent[mask_axis - 1];
    return (struct sent){.mask = mask, .left = count, .stride = stride, .period = stride * extent};
}

/* The next bits, a byte each, with zeros up to a whole nibble; returns how many nibbles. */
static size_t
next_run(struct sent *sent, uint8_t bits[RUN + CASCADE_MASK_NIBBLE])
{
    const size_t count = sent->left < RUN ? sent->left : RUN;
    for (size_t done = 0; done < count;) {
        const bool is_first = sent->in_period < sent->stride;
        const size_t up_to = (is_first ? sent->stride : sent->period) - sent->in_period;
        const size_t size = up_to < count - done ? up_to : count - done;
        memcpy(bits + done, sent->mask, size);
        if (!is_first) {
            xor_bytes(bits + done, sent->mask - sent->stride, size);
        }
        sent->mask += size;
        sent->in_period = size == up_to && !is_first ? 0 : sent->in_period + size;
        sent->in_period = sent->in_period == sent->period ? 0 : sent->in_period;
        done += size;
    }
    memset(bits + count, 0, CASCADE_MASK_NIBBLE);
    sent->left -= count;
    return (count + CASCADE_MASK_NIBBLE - 1) / CASCADE_MASK_NIBBLE;
}

static size_t
count_nibbles(const uint8_t *mask, const struct h5twin_cascade_shape *shape, unsigned mask_axis)
{
    struct sent sent = send(mask, shape, mask_axis);
    uint8_t bits[RUN + CASCADE_MASK_NIBBLE];
    size_t nibbles = 0;
    while (sent.left != 0) {
        const size_t count = next_run(&sent, bits);
        uint32_t found = 0;
        for (size_t i = 0; i < count; i++) {
            found += h5twin_load32(bits + CASCADE_MASK_NIBBLE * i) != 0;
        }
        nibbles += found;
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
    uint8_t bits[RUN + CASCADE_MASK_NIBBLE];
    while (sent.left != 0) {
        const size_t count = next_run(&sent, bits);
        for (size_t i = 0; i < count; i++) {
            const uint32_t spread = h5twin_load32(bits + CASCADE_MASK_NIBBLE * i);
            nibbles[i] = (spread | spread >> 7 | spread >> 14 | spread >> 21) & 15;
        }
        nibbles += count;
    }
}
