/* SPDX-License-Identifier: BSD-3-Clause
 * check_chunks.c: `h5twin check`: what is in the chunks of a dataset. They are read where they lie
 * in the file and decoded on all cores; those behind filters that are not known here are left to
 * HDF5, one after the other. */
#include "check.h"

#include "chunk_check.h"
#include "common/crc32c.h"
#include "common/number.h"
#include "common/parallel.h"
#include "deflate.h"
#include "frame.h"
#include "posix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MEMORY    ((uint64_t)512 << 20) /* of the chunks in work, unless one takes more */
#define MOST_SLOTS     (2 * H5TWIN_MAX_THREADS)
#define FLETCHER_BYTES 4
#define ROUNDED        1.006 /* three digits, as streams describe their bounds */

/* One chunk in work. What is wrong with it is told in order, when all of the batch are done. */
struct slot {
    const struct h5twin_check_chunk *chunk;
    uint8_t *stored, *between, *raw;
    size_t stored_capacity, between_capacity, raw_capacity;
    size_t size; /* of what is in stored */
    bool is_read, is_summed;
    uint32_t sum;            /* CRC-32C of its bytes in the file */
    const char *kind, *cure; /* kind NULL: nothing is wrong */
    char cause[512];
};

struct work {
    struct h5twin_check *check;
    const struct h5twin_check_dataset *dataset;
    struct slot slots[MOST_SLOTS];
    size_t slot_count;
};

static const char restore_chunk[] =
    "restore the file from a copy, or write this part of the dataset again";

static void
find(struct slot *slot, const char *kind, const char *cause)
{
    slot->kind = kind;
    slot->cure = restore_chunk;
    snprintf(slot->cause, sizeof slot->cause, "%s", cause);
}

/* The sentence of a status, or of a check, without its end. */
static void
find_sentence(struct slot *slot, const char *kind, const char *sentence)
{
    find(slot, kind, sentence);
    size_t length = strlen(slot->cause);
    while (length > 0 && (slot->cause[length - 1] == '.' || slot->cause[length - 1] == ' ')) {
        slot->cause[--length] = '\0';
    }
    if (slot->cause[0] >= 'A' && slot->cause[0] <= 'Z' && slot->cause[1] >= 'a') {
        slot->cause[0] = (char)(slot->cause[0] - 'A' + 'a');
    }
}

static bool
has_room(uint8_t **memory, size_t *capacity, size_t size)
{
    if (size > *capacity || *memory == NULL) {
        free(*memory);
        *memory = malloc(size == 0 ? 1 : size);
        *capacity = *memory == NULL ? 0 : size;
    }
    return *memory != NULL;
}

/* ---- filters of HDF5 behind ours ---- */

static uint32_t
fold(uint32_t sum)
{
    return (sum & 0xFFFF) + (sum >> 16);
}

/* HDF5's sum of big-endian words of 16 bits, a last odd byte being the upper half of one. */
static uint32_t
fletcher32(const uint8_t *bytes, size_t size)
{
    uint32_t low = 0, high = 0;
    size_t words = size / 2;
    while (words > 0) {
        const size_t run = words < 360 ? words : 360; /* as many cannot overflow */
        for (size_t i = 0; i < run; i++, bytes += 2) {
            low += (uint32_t)(bytes[0] << 8 | bytes[1]);
            high += low;
        }
        low = fold(low);
        high = fold(high);
        words -= run;
    }
    if (size % 2 != 0) {
        low = fold(low + (uint32_t)(bytes[0] << 8));
        high = fold(high + low);
    }
    return fold(high) << 16 | fold(low);
}

/* HDF5 1.6.2 and older stored the bytes of each half swapped, which later ones accept. */
static bool
undo_fletcher(struct slot *slot)
{
    if (slot->size < FLETCHER_BYTES) {
        find(slot, "fletcher32", "it is shorter than the sum of HDF5's fletcher32");
        return false;
    }
    slot->size -= FLETCHER_BYTES;
    const uint8_t *const end = slot->stored + slot->size;
    const uint32_t stored =
        (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
    const uint32_t sum = fletcher32(slot->stored, slot->size);
    const uint32_t swapped = (sum & 0x00FF00FF) << 8 | (sum >> 8 & 0x00FF00FF);
    if (stored != sum && stored != swapped) {
        find(slot, "fletcher32", "the sum of HDF5's fletcher32 does not match its bytes");
        return false;
    }
    return true;
}

static bool
undo_deflate(const struct work *work, struct slot *slot)
{
    const size_t most = (size_t)work->dataset->chunk_size + 64; /* a chunk of ours grows by less */
    if (!has_room(&slot->between, &slot->between_capacity, most)) {
        find(slot, "memory", "there is no memory to decode it");
        return false;
    }
    const size_t size = h5twin_inflate(slot->between, most, slot->stored, slot->size);
    if (size == 0) {
        find(slot, "deflate", "it is no deflate stream of a chunk of this dataset");
        return false;
    }
    uint8_t *const between = slot->stored;
    const size_t capacity = slot->stored_capacity;
    slot->stored = slot->between;
    slot->stored_capacity = slot->between_capacity;
    slot->between = between;
    slot->between_capacity = capacity;
    slot->size = size;
    return true;
}

/* Whether all that lies over our filter can be taken off here. */
static bool
is_ours_to_read(const struct h5twin_check_dataset *dataset)
{
    bool can = dataset->ours >= 0;
    for (int i = dataset->ours + 1; i < dataset->filter_count && can; i++) {
        can = dataset->filters[i] == H5Z_FILTER_FLETCHER32 ||
              (dataset->filters[i] == H5Z_FILTER_DEFLATE && h5twin_has_deflate());
    }
    return can;
}

static bool
undo_others(const struct work *work, struct slot *slot)
{
    const struct h5twin_check_dataset *const dataset = work->dataset;
    bool undone = true;
    for (int i = dataset->filter_count; --i > dataset->ours && undone;) {
        if ((slot->chunk->mask >> i & 1u) == 0) {
            undone = dataset->filters[i] == H5Z_FILTER_FLETCHER32 ? undo_fletcher(slot)
                                                                  : undo_deflate(work, slot);
        }
    }
    return undone;
}

/* ---- bounds ---- */

/* What a stream says of its bound; 0: it is exact. */
struct stream_bound {
    bool is_relative;
    double bound;
};

static struct stream_bound
read_bound(const struct slot *slot)
{
    struct stream_bound found = {.bound = 0};
    char line[256], *end;
    const bool is_described =
        h5twin_describe(slot->stored, slot->size, line, sizeof line) < sizeof line;
    const char *const at = is_described ? strstr(line, "bound ") : NULL;
    if (at != NULL && strncmp(at, "bound 2^", 8) == 0) {
        found.bound = ldexp(1, (int)strtol(at + 8, &end, 10));
    } else if (at != NULL) {
        char number[64];
        snprintf(number, sizeof number, "%.*s", (int)strcspn(at + 6, " ,"), at + 6);
        h5twin_number_read(number, &found.bound);
    }
    found.is_relative = strncmp(line, "relative", 8) == 0;
    return found;
}

static void
check_bound(const struct work *work, struct slot *slot, const struct h5twin_info *info)
{
    const struct h5twin_params *const words = &work->dataset->cd.params;
    const struct stream_bound stream =
        info->stored_raw ? (struct stream_bound){.bound = 0} : read_bound(slot);
    if (!(stream.bound > 0)) {
        return;
    }
    const bool is_lossy = words->mode != H5TWIN_LOSSLESS && words->kind == H5TWIN_FLOAT;
    /* The bound may come from a range that the chunk had once: what is coded again stays. */
    const double most = words->mode == H5TWIN_NOA ? (double)INFINITY : words->error_bound;
    if (!is_lossy) {
        find(slot, "mode", "it is lossy, and the dataset lossless");
    } else if (stream.is_relative != (words->mode == H5TWIN_REL)) {
        find(slot, "mode",
             stream.is_relative ? "its bound is relative to each value, the dataset's is not"
                                : "its bound is absolute, the dataset's is relative to each value");
    } else if (stream.bound > most * ROUNDED) {
        char own[H5TWIN_NUMBER_TEXT], dataset[H5TWIN_NUMBER_TEXT], cause[256];
        h5twin_number_write_rounded(own, stream.bound, 3);
        h5twin_number_write_rounded(dataset, most, 3);
        snprintf(cause, sizeof cause, "its bound of %s is larger than the %s of the dataset", own,
                 dataset);
        find(slot, "bound", cause);
    }
}

/* ---- a chunk ---- */

static void
check_frame(const struct work *work, struct slot *slot)
{
    const struct h5twin_check_dataset *const dataset = work->dataset;
    struct h5twin_info info;
    char why[H5TWIN_CHECK_TEXT];
    enum h5twin_status status = h5twin_inspect(slot->stored, slot->size, &info);
    const bool is_summed = slot->size >= H5TWIN_FRAME_BYTES && memcmp(slot->stored, "H5TW", 4) == 0;
    if (is_summed && (status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT) &&
        h5twin_frame_verify(slot->stored, slot->size) != H5TWIN_OK) {
        status = H5TWIN_ERR_CHECKSUM;
    }
    if (status != H5TWIN_OK) {
        find_sentence(slot,
                      status == H5TWIN_ERR_CHECKSUM  ? "checksum"
                      : status == H5TWIN_ERR_VERSION ? "newer"
                                                     : "frame",
                      h5twin_status_message(status));
        return;
    }
    if (info.codec != dataset->codec->id) {
        snprintf(why, sizeof why, "it is one of %s in a dataset of %s",
                 h5twin_codec_by_id(info.codec)->name, dataset->codec->name);
        find(slot, "codec", why);
        return;
    }
    if (dataset->has_words && !h5twin_check_chunk(&dataset->cd, &info, why)) {
        find_sentence(slot, "foreign", why);
        slot->cure = h5twin_check_restore;
        char *const cure = strstr(slot->cause, ": it is another dataset's");
        if (cure != NULL) {
            *cure = '\0';
            strcat(slot->cause,
                   ": it is another dataset's, or the filter's parameters are damaged");
        }
        return;
    }
    if (dataset->ours == 0 && info.raw_size != dataset->chunk_size) {
        find(slot, "foreign", "it decodes to another size than a chunk of this dataset has");
        return;
    }
    slot->is_read = false;
    if (!work->check->args->quick) {
        size_t size = 0;
        const struct h5twin_exec one = {.threads = 1, .device = H5TWIN_DEVICE_CPU};
        if (info.raw_size > SIZE_MAX / 2 ||
            !has_room(&slot->raw, &slot->raw_capacity, (size_t)info.raw_size)) {
            find(slot, "memory", "there is no memory to decode it");
            return;
        }
        status =
            h5twin_decode(&one, slot->raw, (size_t)info.raw_size, slot->stored, slot->size, &size);
        if (status != H5TWIN_OK || size != info.raw_size) {
            find_sentence(slot, "stream", h5twin_status_message(status));
            return;
        }
        slot->is_read = true;
    }
    if (dataset->has_words) {
        check_bound(work, slot, &info);
    }
}

static bool
is_edge(const struct h5twin_check_dataset *dataset, const struct h5twin_check_chunk *chunk)
{
    bool is = false;
    for (int axis = 0; axis < dataset->rank; axis++) {
        is = is || chunk->offset[axis] + dataset->extents[axis] > dataset->dims[axis];
    }
    return is;
}

/* Which filters there are that a chunk did not go through. */
static void
check_mask(const struct work *work, struct slot *slot)
{
    const struct h5twin_check_dataset *const dataset = work->dataset;
    const unsigned mask = slot->chunk->mask;
    const unsigned all = dataset->filter_count >= 32 ? ~0u : (1u << dataset->filter_count) - 1u;
    bool is_mandatory = false;
    for (int i = 0; i < dataset->filter_count; i++) {
        is_mandatory = is_mandatory || ((mask >> i & 1u) != 0 && !dataset->are_optional[i]);
    }
    if ((mask & ~all) != 0) {
        find(slot, "mask", "its filter mask names filters that the dataset does not have");
        slot->cure = h5twin_check_restore;
    } else if (mask != 0 && mask == all && slot->chunk->size != dataset->chunk_size) {
        find(slot, "size", "it went through no filter, but has not the size of a chunk");
    } else if (is_mandatory) {
        find(slot, "mask", "its filter mask leaves out a filter that is not optional");
        slot->cure = h5twin_check_restore;
    }
}

/* One that no filter changed. */
static void
check_plain(const struct work *work, struct slot *slot)
{
    if (slot->size != work->dataset->chunk_size) {
        find(slot, "size", "it went through no filter, but has not the size of a chunk");
    }
}

static void
sum_stored(const struct work *work, struct slot *slot)
{
    if (work->dataset->is_summed && slot->kind == NULL) {
        slot->sum = h5twin_crc32c_kernels_for(h5twin_isa_available())
                        ->crc32c(0, slot->stored, (size_t)slot->chunk->size);
        slot->is_summed = true;
    }
}

static bool
read_stored(const struct work *work, struct slot *slot)
{
    const struct h5twin_check *const check = work->check;
    slot->size = (size_t)slot->chunk->size; /* no more than the file has */
    if (!has_room(&slot->stored, &slot->stored_capacity, slot->size)) {
        find(slot, "memory", "there is no memory to read it");
        return false;
    }
    size_t done = 0;
    while (check->base_is_known && work->dataset->has_addresses && done < slot->size) {
        const ssize_t count = pread(check->file, slot->stored + done, slot->size - done,
                                    (off_t)(check->base + slot->chunk->address + done));
        if (count <= 0 && !(count < 0 && errno == EINTR)) {
            find(slot, "address", "its bytes cannot be read from the file");
            return false;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    sum_stored(work, slot);
    return true;
}

static void
check_slot(void *context, size_t index)
{
    struct work *const work = context;
    struct slot *const slot = &work->slots[index];
    const struct h5twin_check_dataset *const dataset = work->dataset;
    const unsigned mask = slot->chunk->mask;
    if (slot->kind != NULL || !read_stored(work, slot)) {
        return;
    }
    if (dataset->edges_are_raw && is_edge(dataset, slot->chunk)) {
        check_plain(work, slot);
        return;
    }
    check_mask(work, slot);
    if (slot->kind != NULL || !undo_others(work, slot)) {
        return;
    }
    if ((mask >> dataset->ours & 1u) != 0) {
        const unsigned before = (1u << dataset->ours) - 1u;
        if (dataset->ours == 0 || (mask & before) == before) {
            check_plain(work, slot);
        }
        return;
    }
    check_frame(work, slot);
}

/* ---- by HDF5 ---- */

/* The chunk's bytes by HDF5's own call, where they are not read from the file here. */
static void
fetch(struct work *work, struct slot *slot)
{
    uint32_t mask = 0;
    struct h5twin_check_chunk *const chunk = (struct h5twin_check_chunk *)(uintptr_t)slot->chunk;
    if (!has_room(&slot->stored, &slot->stored_capacity, (size_t)chunk->size)) {
        find(slot, "memory", "there is no memory to read it");
    } else if (H5Dread_chunk(work->dataset->dataset, H5P_DEFAULT, chunk->offset, &mask,
                             slot->stored) < 0) {
        find(slot, "read", "HDF5 cannot read its bytes");
        H5Eclear2(H5E_DEFAULT);
    }
    chunk->mask = mask;
}

/* Through all filters. */
static void
read_values(struct work *work, struct slot *slot, hid_t space)
{
    const struct h5twin_check_dataset *const dataset = work->dataset;
    hsize_t counts[H5S_MAX_RANK];
    for (int axis = 0; axis < dataset->rank; axis++) {
        const hsize_t rest = dataset->dims[axis] - slot->chunk->offset[axis];
        counts[axis] = rest < dataset->extents[axis] ? rest : dataset->extents[axis];
    }
    const hid_t box = H5Screate_simple(dataset->rank, counts, NULL);
    if (!has_room(&slot->raw, &slot->raw_capacity, (size_t)dataset->chunk_size)) {
        find(slot, "memory", "there is no memory to decode it");
    } else if (box < 0 ||
               H5Sselect_hyperslab(space, H5S_SELECT_SET, slot->chunk->offset, NULL, counts, NULL) <
                   0 ||
               H5Dread(dataset->dataset, dataset->type, box, space, H5P_DEFAULT, slot->raw) < 0) {
        find(slot, "read", "HDF5 cannot decode it");
    }
    H5Sclose(box);
    H5Eclear2(H5E_DEFAULT);
}

/* Whether HDF5 has all filters, and values are in the chunks themselves. */
static bool
can_read_values(const struct h5twin_check_dataset *dataset)
{
    bool can = !h5twin_hdf5_is_variable(dataset->type) && dataset->chunk_size <= SIZE_MAX / 2 &&
               H5Tget_class(dataset->type) != H5T_REFERENCE;
    for (int i = 0; i < dataset->filter_count && can; i++) {
        can = H5Zfilter_avail(dataset->filters[i]) > 0;
    }
    return can;
}

/* ---- all chunks ---- */

static void
tell_finding(struct work *work, const struct slot *slot)
{
    struct h5twin_check_place place;
    h5twin_check_place_of(work->check, work->dataset, slot->chunk, &place);
    h5twin_progress_clear(&work->check->progress);
    h5twin_check_tell(work->check->state, work->check->path, slot->kind, work->dataset->name,
                      &place, slot->cure, "%s", slot->cause);
}

static void
begin_slot(struct work *work, struct slot *slot, size_t index)
{
    slot->chunk = &work->dataset->chunks[index];
    slot->kind = NULL;
    slot->is_read = false;
    slot->is_summed = false;
}

/* What the seal needs to know. */
static void
end_slot(const struct work *work, const struct slot *slot)
{
    struct h5twin_check_chunk *const chunk =
        &work->dataset->chunks[slot->chunk - work->dataset->chunks];
    chunk->is_summed = slot->is_summed && slot->kind == NULL;
    chunk->sum = slot->sum;
}

static void
free_slots(struct work *work)
{
    for (size_t i = 0; i < MOST_SLOTS; i++) {
        free(work->slots[i].stored);
        free(work->slots[i].between);
        free(work->slots[i].raw);
    }
    free(work);
}

/* As many as their memory allows. */
static size_t
slots_of(const struct h5twin_check_dataset *dataset, unsigned threads)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        largest = dataset->chunks[i].size > largest ? dataset->chunks[i].size : largest;
    }
    const uint64_t fitting = MOST_MEMORY / (largest + dataset->chunk_size + 1);
    const size_t wanted = 2 * (size_t)threads;
    return fitting < 1 ? 1 : fitting < wanted ? (size_t)fitting : wanted;
}

/* The chunks of ours, in batches. */
static void
check_ours(struct work *work, unsigned threads)
{
    const struct h5twin_check_dataset *const dataset = work->dataset;
    struct h5twin_check_state *const state = work->check->state;
    const size_t slot_count = slots_of(dataset, threads);
    const bool is_fetched = !work->check->base_is_known || !dataset->has_addresses;
    for (size_t first = 0; first < dataset->chunk_count; first += slot_count) {
        const size_t rest = dataset->chunk_count - first;
        const size_t count = rest < slot_count ? rest : slot_count;
        for (size_t i = 0; i < count; i++) {
            begin_slot(work, &work->slots[i], first + i);
            if (is_fetched) {
                fetch(work, &work->slots[i]);
            }
        }
        state->patience = 60 + count * dataset->chunk_size / 1000000;
        h5twin_parallel_for(threads, count, check_slot, work);
        for (size_t i = 0; i < count; i++) {
            if (work->slots[i].kind != NULL) {
                tell_finding(work, &work->slots[i]);
            }
            end_slot(work, &work->slots[i]);
            state->decoded += work->slots[i].is_read;
            h5twin_progress_add(&work->check->progress, work->slots[i].chunk->size);
        }
        state->beats++;
    }
}

/* Those of other filters, or none. */
static void
check_others(struct work *work)
{
    const struct h5twin_check_dataset *const dataset = work->dataset;
    struct h5twin_check_state *const state = work->check->state;
    const bool is_read = !work->check->args->quick && can_read_values(dataset);
    const hid_t space = H5Dget_space(dataset->dataset);
    struct slot *const slot = &work->slots[0];
    state->unread += is_read || work->check->args->quick ? 0 : dataset->chunk_count;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        begin_slot(work, slot, i);
        check_mask(work, slot);
        const bool is_plain =
            dataset->filter_count == 0 || (dataset->edges_are_raw && is_edge(dataset, slot->chunk));
        if (slot->kind == NULL && is_plain) {
            slot->size = (size_t)slot->chunk->size;
            check_plain(work, slot);
        }
        if (slot->kind == NULL && !is_plain && !is_read && slot->chunk->size > 4 &&
            work->check->base_is_known && dataset->has_addresses) {
            uint8_t start[4] = {0};
            if (pread(work->check->file, start, 4,
                      (off_t)(work->check->base + slot->chunk->address)) == 4 &&
                memcmp(start, "H5TW", 4) == 0) {
                find(slot, "filter", "it is one of h5twin, but the dataset names no filter of it");
            }
        }
        state->patience = 60 + dataset->chunk_size / 1000000;
        if (slot->kind == NULL && is_read) {
            read_values(work, slot, space);
            state->decoded++;
        }
        if (slot->kind == NULL && dataset->is_summed) {
            if (!work->check->base_is_known || !dataset->has_addresses) {
                fetch(work, slot);
            }
            if (slot->kind == NULL) {
                read_stored(work, slot);
            }
        }
        end_slot(work, slot);
        if (slot->kind != NULL) {
            tell_finding(work, slot);
        }
        state->beats++;
        h5twin_progress_add(&work->check->progress, slot->chunk->size);
    }
    H5Sclose(space);
}

/* Chunks that are read right may still be stored in a way that other releases of HDF5 refuse. */
static void
check_layout(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    const struct h5twin_check_layout layout = h5twin_check_layout_read(check, dataset->dataset);
    const size_t own = H5Tget_size(dataset->type);
    if (layout.element_size != 0 && layout.element_size != own) {
        h5twin_check_tell(check->state, check->path, "layout", dataset->name, NULL,
                          h5twin_check_restore,
                          "its layout has elements of %llu bytes, and its type of %zu",
                          (unsigned long long)layout.element_size, own);
    }
    if (layout.element_size != 0 && !h5twin_check_tree(check, dataset, layout.tree)) {
        h5twin_check_tell(check->state, check->path, "index", dataset->name, NULL,
                          h5twin_check_restore, "a key of its index is no offset of a chunk");
    }
}

void
h5twin_check_chunks(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    if (dataset->chunk_count == 0) {
        return;
    }
    struct work *const work = calloc(1, sizeof *work);
    if (work == NULL) {
        check->out_of_memory = true;
        return;
    }
    work->check = check;
    work->dataset = dataset;
    const uint64_t before = check->state->findings;
    const unsigned asked = check->args->exec.threads;
    if (is_ours_to_read(dataset)) {
        check_ours(work, asked != 0 ? asked : h5twin_threads_available());
    } else {
        check_others(work);
    }
    free_slots(work);
    if (check->base_is_known) {
        check_layout(check, dataset);
    }
    if (!check->args->quick && check->state->findings == before &&
        !h5twin_hdf5_end_chunks_are_right(dataset->dataset)) {
        h5twin_check_tell(check->state, check->path, "read", dataset->name, NULL,
                          h5twin_check_restore,
                          "HDF5 reads other values than its first or last chunk holds, so the "
                          "layout in its header has changed since it was made");
    }
}
