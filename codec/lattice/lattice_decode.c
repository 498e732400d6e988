/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_decode.c: from a payload to words; FORMAT.md, all sections. */
#include "lattice.h"

#include "../common/bytes.h"
#include "../common/kept_memory.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "../residuals/residuals.h"
#include "lattice_header_core.h"
#include "lattice_loops.h"
#include "lattice_specials.h"

#include <string.h>

#define LIMITED_PIECE 4096u /* values: words are still in a cache */

/* Words of the finished array, by runs of them. */
struct restore_work {
    const struct h5twin_lattice_kernels *kernels;
    const struct lattice_loops *loops;
    const struct lattice_array *array;
    const struct lattice_map *map;
    uint8_t *words;
    size_t begins[H5TWIN_MAX_RUNS + 1];
};

static void
restore_run(void *context, size_t run)
{
    const struct restore_work *const work = context;
    const size_t end = work->begins[run + 1];
    if (!work->map->has_limit[0] && !work->map->has_limit[1]) {
        work->loops->restore(work->array, work->map, work->words, work->begins[run], end);
        return;
    }
    for (size_t at = work->begins[run]; at < end; at += LIMITED_PIECE) {
        const size_t next = end - at < LIMITED_PIECE ? end : at + LIMITED_PIECE;
        work->loops->restore(work->array, work->map, work->words, at, next);
        work->kernels->limit(work->map, work->words, at, next);
    }
}

static void
restore_words(const struct h5twin_lattice_kernels *kernels, const struct lattice_array *array,
              const struct lattice_map *map, uint8_t *words)
{
    struct restore_work work = {.kernels = kernels,
                                .loops = map->wide ? kernels->wide : kernels->narrow,
                                .array = array,
                                .map = map,
                                .words = words};
    const size_t count = array->shape->count;
    const size_t runs = h5twin_cut_runs(work.begins, count, count * map->word_size, array->threads);
    h5twin_parallel_for(array->threads, runs, restore_run, &work);
}

/* Memory for codes, levels, all bins if some mirror others, and scratch, one behind the other. */
struct decode_room {
    size_t codes, levels, bins, scratch; /* bytes */
};

static size_t
aligned(size_t size)
{
    return (size + 63) / 64 * 64;
}

static struct decode_room
room_for(const struct lattice_header *header, const struct lattice_shape *core, size_t integer_size)
{
    const size_t count = header->shape.count;
    struct decode_room room = {.codes = aligned(count * integer_size),
                               .scratch = aligned(h5twin_residuals_decode_scratch(count))};
    if (header->choice.predictor != LATTICE_LORENZO) {
        room.levels = aligned(h5twin_lattice_level_count(core, header->choice.arg) * integer_size);
    }
    room.bins = lattice_is_folded(&header->folds) ? aligned(count * integer_size) : 0;
    return room;
}

static enum h5twin_status
decode_residuals(const struct lattice_header *header, h5twin_isa isa, unsigned threads,
                 uint8_t *dst, const uint8_t *src, size_t src_size)
{
    const struct h5twin_lattice_kernels *const kernels = h5twin_lattice_kernels_for(isa);
    const struct lattice_loops *const loops = header->map.wide ? kernels->wide : kernels->narrow;
    const bool is_folded = lattice_is_folded(&header->folds);
    const struct lattice_shape core = lattice_core_shape(&header->shape, &header->folds);
    const struct decode_room room = room_for(header, &core, loops->integer_size);
    const size_t memory_size = room.codes + room.levels + room.bins + room.scratch;
    uint8_t *const memory = h5twin_kept_take("lattice", memory_size);
    if (memory == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    struct lattice_array array = {
        .shape = &core,
        .choice = header->choice,
        .width = header->map.width,
        .codes = memory,
        .levels = memory + room.codes,
        .threads = threads,
    };
    const struct h5twin_residuals how = {.word_bits = 8 * loops->integer_size,
                                         .threads = threads,
                                         .isa = isa,
                                         .scratch = memory + memory_size - room.scratch};
    size_t used = 0;
    enum h5twin_status status =
        h5twin_residuals_decode(&how, array.codes, header->shape.count, src, src_size, &used);
    if (status == H5TWIN_OK && used != src_size) {
        status = H5TWIN_ERR_CORRUPT;
    }
    if (status == H5TWIN_OK) {
        loops->decode(&array);
        if (is_folded) {
            uint8_t *const bins = memory + room.codes + room.levels;
            loops->spread(&array, &header->shape, bins);
            loops->unfold(&header->shape, &header->folds, header->map.width, bins,
                          memory + core.count * loops->integer_size);
            array.choice = (struct lattice_choice){.predictor = LATTICE_LORENZO};
            array.shape = &header->shape;
            array.codes = bins;
        }
        restore_words(kernels, &array, &header->map, dst);
    }
    h5twin_kept_give_back(memory, memory_size);
    return status;
}

static enum h5twin_status
decode_coded(h5twin_isa isa, unsigned threads, unsigned word_size, uint8_t *dst, size_t count,
             const uint8_t *src, size_t src_size)
{
    struct lattice_header header;
    struct lattice_specials specials = {.count = 0};
    size_t at = 0;
    enum h5twin_status status =
        h5twin_lattice_header_read(&header, word_size, count, src, src_size, &at);
    if (status == H5TWIN_OK && header.has_specials) {
        status = h5twin_lattice_specials_read(&specials, &header.shape, word_size, isa, threads,
                                              src, src_size, &at);
    }
    if (status == H5TWIN_OK && at % 2 != 0) {
        status = at >= src_size   ? H5TWIN_ERR_SRC_SHORT
                 : src[at++] != 0 ? H5TWIN_ERR_CORRUPT
                                  : H5TWIN_OK;
    }
    if (status == H5TWIN_OK) {
        status = decode_residuals(&header, isa, threads, dst, src + at, src_size - at);
    }
    if (status == H5TWIN_OK && header.has_specials) {
        h5twin_lattice_specials_restore(&specials, dst, count, word_size);
    }
    h5twin_lattice_specials_free(&specials);
    return status;
}

enum h5twin_status
h5twin_lattice_decode(h5twin_isa isa, unsigned threads, unsigned word_size, uint8_t *dst,
                      size_t count, const uint8_t *src, size_t src_size)
{
    if (src_size < 1) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    switch (src[0]) {
    case LATTICE_CONSTANT:
        if (count < 1 || src_size != 1 + word_size) {
            return src_size < 1 + word_size ? H5TWIN_ERR_SRC_SHORT : H5TWIN_ERR_CORRUPT;
        }
        for (size_t i = 0; i < count; i++) {
            memcpy(dst + i * word_size, src + 1, word_size);
        }
        return H5TWIN_OK;
    case LATTICE_CODED:
    case LATTICE_EXTENDED:
        if (word_size < 4) {
            return H5TWIN_ERR_CORRUPT;
        }
        return decode_coded(isa, threads, word_size, dst, count, src, src_size);
    default:
        return H5TWIN_ERR_CORRUPT;
    }
}
