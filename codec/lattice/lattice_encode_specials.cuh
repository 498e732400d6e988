/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_encode_specials.cuh: the section of specials, by one block of threads: the choices and
 * bytes of lattice_specials_write.c.
 * Source  FORMAT.md sections 2 and 8. */
#ifndef H5TWIN_LATTICE_ENCODE_SPECIALS_CUH
#define H5TWIN_LATTICE_ENCODE_SPECIALS_CUH

#include "lattice_encode_batch.cuh"

#define LATTICE_NO_BEST UINT64_MAX

/* A chunk at work; the same for all threads. */
struct lattice_writer {
    const struct lattice_encoding *all;
    uint64_t chunk;
    const uint8_t *words, *mask;
    uint8_t *dst;
    struct h5twin_residuals_rans_memory rans;
    struct h5twin_residuals_packed_plan *packed; /* in memory that all threads see */
    uint8_t *widths, *head;
    uint32_t *numbers, *positions; /* rooms for as many as values, and one more */
};

/* ---- numbers ---- */

/* How a stream of numbers is coded, and its bytes, with the one that makes them even. */
struct lattice_numbers {
    uint32_t is_rans;
    uint64_t count, size;
};

/* Counts of a stream at work must be zero at its start. */
static __device__ void
lattice_clear_counts(struct h5twin_residuals_rans_work *work)
{
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < RESIDUALS_CLASSES * (RESIDUALS_TOKENS + 1);
         i += blockDim.x) {
        if (i < RESIDUALS_CLASSES) {
            work->blocks[i] = 0;
        } else {
            work->tokens[i / RESIDUALS_TOKENS - 1][i % RESIDUALS_TOKENS] = 0;
        }
    }
    __syncthreads();
}

static __device__ __forceinline__ uint64_t
lattice_even(uint64_t size)
{
    return size + size % 2;
}

static __device__ uint64_t
lattice_plan_packed(struct lattice_writer *writer, uint64_t count)
{
    __syncthreads();
    h5twin_residuals_packed_widths(writer->widths, writer->numbers, count, 0, 1);
    __syncthreads();
    return h5twin_residuals_packed_plan(writer->packed, writer->rans.notes, writer->widths, count);
}

/* Up to the head, which goes to writer->head. */
static __device__ uint64_t
lattice_plan_rans(struct lattice_writer *writer, uint64_t count)
{
    lattice_clear_counts(writer->rans.work);
    h5twin_residuals_rans_count(writer->rans, writer->numbers, count, 0, 1);
    __syncthreads();
    (void)h5twin_residuals_rans_model(writer->rans, count);
    h5twin_residuals_rans_put(writer->rans, writer->numbers, count, 0, 1);
    __syncthreads();
    return h5twin_residuals_rans_head(writer->rans, writer->head, count);
}

/* The smaller way for the writer's numbers. */
static __device__ struct lattice_numbers
lattice_measure_numbers(struct lattice_writer *writer, uint64_t count)
{
    struct lattice_numbers found;
    const uint64_t packed = lattice_even(lattice_plan_packed(writer, count));
    const uint64_t rans = lattice_even(lattice_plan_rans(writer, count));
    found.is_rans = rans < packed;
    found.count = count;
    found.size = found.is_rans != 0 ? rans : packed;
    __syncthreads();
    return found;
}

/* Bytes of a head that was written to scratch, to their place. */
static __device__ __forceinline__ uint64_t
lattice_head_size(struct h5twin_residuals_rans_memory memory)
{
    return memory.work->kind_count == 0 ? 1 : memory.notes.offsets[0];
}

static __device__ void
lattice_write_numbers(struct lattice_writer *writer, uint8_t *dst,
                      const struct lattice_numbers *numbers)
{
    uint64_t size;
    if (numbers->is_rans != 0) {
        size = lattice_plan_rans(writer, numbers->count);
        const uint64_t head = lattice_head_size(writer->rans);
        for (uint64_t i = threadIdx.x; i < head; i += blockDim.x) {
            dst[i] = writer->head[i];
        }
        h5twin_residuals_rans_write(writer->rans, dst, writer->numbers, numbers->count, 0, 1);
    } else {
        size = lattice_plan_packed(writer, numbers->count);
        h5twin_residuals_packed_write(writer->packed, writer->rans.notes, writer->widths, dst,
                                      writer->numbers, numbers->count, 0, 1);
    }
    if (threadIdx.x == 0 && size % 2 != 0) {
        dst[size] = 0;
    }
    __syncthreads();
}

/* ---- which ---- */

/* Lengths of runs of equal bits in the mask, or in its changes from `lag` values before, become
 * the writer's numbers; returns how many. */
static __device__ uint64_t
lattice_find_runs(struct lattice_writer *writer, uint64_t lag)
{
    const uint64_t count = writer->all->value_count, pieces = lattice_piece_count(count);
    uint64_t borders = 0;
    for (uint64_t base = 0; base < pieces; base += blockDim.x) {
        const uint64_t piece = base + threadIdx.x;
        uint32_t bits = 0, step;
        if (piece < pieces) {
            const uint32_t changes =
                lattice_load_earlier(writer->mask, piece, 0) ^
                (lag > 0 ? lattice_load_earlier(writer->mask, piece, lag) : 0u);
            bits = (changes >> 1 ^ changes) & lattice_piece_valid(piece, count);
        }
        uint64_t rank =
            borders + h5twin_block_exclusive_sum(h5twin_popcount32(bits), LATTICE_WARPS, &step);
        for (; bits != 0; bits &= bits - 1) {
            writer->positions[rank++] =
                LATTICE_PIECE * (uint32_t)piece + (uint32_t)__ffs((int)bits) - 1;
        }
        borders += step;
    }
    __syncthreads();
    for (uint64_t i = threadIdx.x; i <= borders; i += blockDim.x) {
        const uint32_t begin = i == 0 ? 0 : writer->positions[i - 1];
        writer->numbers[i] = (i < borders ? writer->positions[i] : (uint32_t)count) - begin;
    }
    return borders + 1;
}

/* How the mask is stored. */
struct lattice_mask_form {
    struct lattice_numbers runs;
    uint32_t lag; /* number of it, 0..3 */
    uint64_t distance;
    bool is_bitmap;
};

static __device__ struct lattice_mask_form
lattice_choose_mask_form(struct lattice_writer *writer)
{
    const struct lattice_shape *const shape = &writer->all->shape;
    struct lattice_mask_form best = {};
    best.runs.size = LATTICE_NO_BEST;
    for (uint32_t lag = 0; lag < LATTICE_AXES; lag++) {
        const uint64_t distance = lag == 0 ? 0 : shape->stride[LATTICE_AXES - 1 - lag];
        if (lag > 0 && (distance >= shape->count ||
                        distance == (lag == 1 ? 1 : shape->stride[LATTICE_AXES - lag]))) {
            continue; /* as the one before */
        }
        const uint64_t count = lattice_find_runs(writer, distance);
        const struct lattice_numbers runs = lattice_measure_numbers(writer, count);
        if (runs.size < best.runs.size) {
            best.runs = runs;
            best.lag = lag;
            best.distance = distance;
        }
    }
    best.is_bitmap = (shape->count + 7) / 8 < best.runs.size;
    return best;
}

/* The values of a piece that are special. */
static __device__ __forceinline__ uint32_t
special_bits(const struct lattice_writer *writer, uint64_t piece)
{
    return piece < lattice_piece_count(writer->all->value_count)
               ? lattice_load_piece(writer->mask, piece) &
                     lattice_piece_valid(piece, writer->all->value_count)
               : 0;
}

static __device__ void
lattice_write_bitmap(struct lattice_writer *writer, uint8_t *dst)
{
    const uint64_t count = writer->all->value_count;
    for (uint64_t piece = threadIdx.x; piece < lattice_piece_count(count); piece += blockDim.x) {
        const uint32_t bits = special_bits(writer, piece);
        dst[2 * piece] = (uint8_t)bits;
        if (16 * piece + 8 < count) {
            dst[2 * piece + 1] = (uint8_t)(bits >> 8);
        }
    }
}

/* ---- their words ---- */

/* In ascending order. */
struct lattice_dictionary {
    uint32_t count; /* 0: too many */
    uint64_t words[LATTICE_MOST_DICTIONARY_WORDS];
};

/* The smallest special word above the dictionary's last one; false if there is none. */
static __device__ bool
lattice_next_word(const struct lattice_writer *writer, const struct lattice_dictionary *dictionary,
                  uint64_t *next)
{
    const uint64_t pieces = lattice_piece_count(writer->all->value_count);
    uint64_t best = 0; /* complement of the smallest one */
    bool found = false;
    for (uint64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
        for (uint32_t bits = special_bits(writer, piece); bits != 0; bits &= bits - 1) {
            const uint64_t word =
                lattice_word_at(writer->words, LATTICE_PIECE * piece + __ffs((int)bits) - 1,
                                writer->all->settings.word_size);
            if (dictionary->count == 0 || word > dictionary->words[dictionary->count - 1]) {
                best = ~word > best ? ~word : best;
                found = true;
            }
        }
    }
    *next = ~lattice_reduce(best, LATTICE_LARGEST);
    return __syncthreads_or(found) != 0;
}

static __device__ void
lattice_make_dictionary(const struct lattice_writer *writer, struct lattice_dictionary *dictionary)
{
    uint64_t next;
    dictionary->count = 0;
    while (lattice_next_word(writer, dictionary, &next)) {
        if (dictionary->count == LATTICE_MOST_DICTIONARY_WORDS) {
            dictionary->count = 0;
            return;
        }
        dictionary->words[dictionary->count++] = next;
    }
}

/* Special number `rank`, a word: its index in the dictionary becomes the writer's number; or,
 * without one, it is written. */
static __device__ __forceinline__ void
lattice_take_special(struct lattice_writer *writer, const struct lattice_dictionary *dictionary,
                     uint8_t *dst, uint64_t rank, uint64_t word)
{
    const uint32_t size = writer->all->settings.word_size;
    if (dictionary->count == 0) {
        for (uint32_t byte = 0; byte < size; byte++) {
            dst[rank * size + byte] = (uint8_t)(word >> 8 * byte);
        }
        return;
    }
    uint32_t index = 0;
    while (dictionary->words[index] != word) {
        index++;
    }
    writer->numbers[rank] = index;
}

static __device__ void
lattice_take_specials(struct lattice_writer *writer, const struct lattice_dictionary *dictionary,
                      uint8_t *dst)
{
    const uint64_t pieces = lattice_piece_count(writer->all->value_count);
    uint64_t specials = 0;
    for (uint64_t base = 0; base < pieces; base += blockDim.x) {
        const uint64_t piece = base + threadIdx.x;
        uint32_t bits = special_bits(writer, piece), step;
        uint64_t rank =
            specials + h5twin_block_exclusive_sum(h5twin_popcount32(bits), LATTICE_WARPS, &step);
        for (; bits != 0; bits &= bits - 1) {
            const uint64_t word =
                lattice_word_at(writer->words, LATTICE_PIECE * piece + __ffs((int)bits) - 1,
                                writer->all->settings.word_size);
            lattice_take_special(writer, dictionary, dst, rank++, word);
        }
        specials += step;
    }
    __syncthreads();
}

/* ---- the section ---- */

static __device__ __forceinline__ uint64_t
lattice_put_varint(uint8_t *dst, uint32_t value)
{
    uint64_t size = 0;
    while (value >= 0x80u) {
        dst[size++] = (uint8_t)(value | 0x80u);
        value >>= 7;
    }
    dst[size++] = (uint8_t)value;
    return size;
}

static __device__ __forceinline__ uint64_t
lattice_varint_size(uint32_t value)
{
    uint64_t size = 1;
    for (; value >= 0x80u; value >>= 7) {
        size++;
    }
    return size;
}

/* Writes the section behind `begin` bytes of the payload, unless all then were no smaller than
 * the words themselves. Returns its end, or 0. */
static __device__ uint64_t
lattice_write_specials(struct lattice_writer *writer, uint64_t begin, uint64_t special_count)
{
    const uint64_t count = writer->all->value_count, size = writer->all->settings.word_size;
    struct lattice_dictionary dictionary;
    struct lattice_numbers indices = {};
    const struct lattice_mask_form form = lattice_choose_mask_form(writer);
    lattice_make_dictionary(writer, &dictionary);
    if (dictionary.count >= 2) {
        lattice_take_specials(writer, &dictionary, nullptr);
        indices = lattice_measure_numbers(writer, special_count);
    }
    const uint32_t run_count = form.is_bitmap ? 0 : (uint32_t)form.runs.count;
    const uint64_t mask_at =
        lattice_even(begin + lattice_varint_size(run_count) +
                     lattice_varint_size(dictionary.count) + (run_count != 0 ? 1 : 0));
    const uint64_t words_at =
        lattice_even(mask_at + (form.is_bitmap ? (count + 7) / 8 : form.runs.size));
    const uint64_t indices_at =
        words_at + size * (dictionary.count != 0 ? dictionary.count : special_count);
    const uint64_t end = indices_at + indices.size;
    if (end + 1 >= 1 + count * size) {
        return 0;
    }
    if (threadIdx.x == 0) {
        uint64_t at = begin;
        at += lattice_put_varint(writer->dst + at, run_count);
        at += lattice_put_varint(writer->dst + at, dictionary.count);
        if (run_count != 0) {
            writer->dst[at++] = (uint8_t)form.lag;
        }
        if (at < mask_at) {
            writer->dst[at] = 0;
        }
        if (form.is_bitmap && mask_at + (count + 7) / 8 < words_at) {
            writer->dst[words_at - 1] = 0;
        }
        for (uint64_t i = 0; i < size * dictionary.count; i++) {
            writer->dst[words_at + i] = (uint8_t)(dictionary.words[i / size] >> 8 * (i % size));
        }
    }
    if (form.is_bitmap) {
        lattice_write_bitmap(writer, writer->dst + mask_at);
    } else {
        (void)lattice_find_runs(writer, form.distance);
        lattice_write_numbers(writer, writer->dst + mask_at, &form.runs);
    }
    if (dictionary.count != 1) {
        __syncthreads();
        lattice_take_specials(writer, &dictionary, writer->dst + words_at);
    }
    if (dictionary.count >= 2) {
        lattice_write_numbers(writer, writer->dst + indices_at, &indices);
    }
    return end;
}

#endif
