/* SPDX-License-Identifier: BSD-3-Clause
 * check_seal.c: `h5twin check`: the chunks of a dataset against its seal, and new seals. */
#include "check.h"

#include "commands.h"
#include "new_file.h"
#include "posix.h"
#include "replace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TOLD 8 /* findings of one sort in a dataset; the others are counted */
#define MOST_SEEK 64

static const char seal_anew[] =
    "restore the file from a copy; if a program wrote it on purpose, `h5twin check --seal-anew`";

/* ---- before the chunks are read ---- */

static void
note_outdated(struct h5twin_check *check, const struct h5twin_check_dataset *dataset,
              const char *reason)
{
    char time[H5TWIN_SEAL_TIME] = "";
    if (dataset->seal_state == H5TWIN_SEAL_FOUND) {
        h5twin_seal_time(&dataset->seal, time);
    }
    h5twin_check_note_outdated(check->state, dataset->name, time, reason);
}

void
h5twin_check_seal_begin(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    dataset->seal_state = check->args->seal_anew
                              ? H5TWIN_SEAL_NONE
                              : h5twin_seal_read(dataset->dataset, &dataset->seal);
    if (dataset->seal_state == H5TWIN_SEAL_DAMAGED) {
        h5twin_check_tell(check->state, check->path, "seal", dataset->name, NULL, seal_anew,
                          "its seal is damaged");
    } else if (dataset->seal_state == H5TWIN_SEAL_NEWER) {
        note_outdated(check, dataset, "its seal was written by a newer h5twin");
    } else if (dataset->seal_state == H5TWIN_SEAL_FOUND &&
               (dataset->seal.rank != dataset->rank ||
                memcmp(dataset->seal.extents, dataset->extents,
                       (size_t)dataset->rank * sizeof dataset->extents[0]) != 0 ||
                dataset->seal.filters != h5twin_seal_filters(dataset->dcpl))) {
        note_outdated(check, dataset, "its chunks have another shape or other filters now");
        h5twin_seal_free(&dataset->seal);
        dataset->seal_state = H5TWIN_SEAL_NONE;
    }
    dataset->is_summed = check->args->seal || dataset->seal_state == H5TWIN_SEAL_FOUND;
}

/* ---- against the seal ---- */

/* A word of the seal, and what is there now. */
struct place {
    uint32_t now;
    bool is_left;                        /* not compared: damaged, or it may have changed */
    const struct h5twin_check_chunk *at; /* the last chunk of the group; NULL: none */
};

struct comparison {
    struct h5twin_check *check;
    const struct h5twin_check_dataset *dataset;
    const struct h5twin_seal *seal;
    struct place *places;
    uint64_t moved, lost, changed, sought;
    char time[H5TWIN_SEAL_TIME];
};

/* Whether a chunk that was sealed, and is still there, lies across the end of an axis whose length
 * has changed: HDF5 pads it anew. */
static bool
is_at_new_end(const struct comparison *comparison, const hsize_t *offset)
{
    const struct h5twin_check_dataset *const dataset = comparison->dataset;
    for (int axis = 0; axis < dataset->rank; axis++) {
        const hsize_t sealed = comparison->seal->dims[axis], now = dataset->dims[axis];
        const hsize_t end = sealed < now ? sealed : now, extent = dataset->extents[axis];
        if (sealed != now && offset[axis] / extent == end / extent) {
            return true;
        }
    }
    return false;
}

static bool
is_outside_now(const struct comparison *comparison, uint64_t place)
{
    unsigned long long offset[H5S_MAX_RANK];
    bool outside = false;
    h5twin_seal_offset(comparison->seal, place, offset);
    for (int axis = 0; axis < comparison->dataset->rank; axis++) {
        outside = outside || offset[axis] >= comparison->dataset->dims[axis];
    }
    return outside;
}

/* Words of the chunks that are there. */
static void
take_chunks(struct comparison *comparison)
{
    const struct h5twin_check_dataset *const dataset = comparison->dataset;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        const struct h5twin_check_chunk *const chunk = &dataset->chunks[i];
        uint64_t place;
        if (h5twin_seal_place(comparison->seal, chunk->offset, &place)) {
            struct place *const at = &comparison->places[place / comparison->seal->group];
            at->now = h5twin_seal_add(at->now, place, chunk->size, chunk->sum);
            at->at = chunk;
            at->is_left =
                at->is_left || !chunk->is_summed || is_at_new_end(comparison, chunk->offset);
        }
    }
}

/* The place that a chunk was sealed for; false if there is none. */
static bool
seek_place(struct comparison *comparison, const struct h5twin_check_chunk *chunk, uint64_t *place)
{
    const struct h5twin_seal *const seal = comparison->seal;
    if (seal->group != 1 || comparison->sought++ >= MOST_SEEK) {
        return false;
    }
    for (*place = 0; *place < seal->word_count; ++*place) {
        if (seal->words[*place] == h5twin_seal_add(0, *place, chunk->size, chunk->sum)) {
            return true;
        }
    }
    return false;
}

static void
offset_text(const struct comparison *comparison, uint64_t place, char text[H5TWIN_SHAPE_TEXT])
{
    unsigned long long offset[H5S_MAX_RANK];
    size_t length = 0;
    h5twin_seal_offset(comparison->seal, place, offset);
    for (int axis = 0; axis < comparison->seal->rank; axis++) {
        length += (size_t)snprintf(text + length, H5TWIN_SHAPE_TEXT - length, "%s%llu",
                                   axis == 0 ? "" : ",", offset[axis]);
    }
}

static void
tell_place(struct comparison *comparison, uint64_t index, const char *kind, const char *cure,
           const char *cause)
{
    struct h5twin_check *const check = comparison->check;
    const struct h5twin_check_chunk *const chunk = comparison->places[index].at;
    struct h5twin_check_place place = {.rank = comparison->seal->rank};
    if (chunk != NULL) {
        h5twin_check_place_of(check, comparison->dataset, chunk, &place);
    } else {
        h5twin_seal_offset(comparison->seal, index * comparison->seal->group, place.offset);
    }
    h5twin_progress_clear(&check->progress);
    h5twin_check_tell(check->state, check->path, kind, comparison->dataset->name, &place, cure,
                      "%s %s", cause, comparison->time);
}

/* A word that is another one now. */
static void
compare_word(struct comparison *comparison, uint64_t index)
{
    const struct h5twin_seal *const seal = comparison->seal;
    const struct place *const place = &comparison->places[index];
    uint64_t home;
    char cause[H5TWIN_SHAPE_TEXT + 128], text[H5TWIN_SHAPE_TEXT];
    if (place->at == NULL) {
        if (comparison->lost++ < MOST_TOLD) {
            tell_place(comparison, index, "lost", h5twin_check_restore,
                       seal->group == 1 ? "there is no chunk, as there was when it was sealed at"
                                        : "the chunks from here on, which were sealed together, "
                                          "are gone; they were sealed at");
        }
    } else if (seal->group == 1 && seek_place(comparison, place->at, &home)) {
        offset_text(comparison, home, text);
        snprintf(cause, sizeof cause, "it is the chunk that was in place %s when it was sealed at",
                 text);
        if (comparison->moved++ < MOST_TOLD) {
            tell_place(comparison, index, "moved", h5twin_check_restore, cause);
        }
    } else if (comparison->changed++ < MOST_TOLD) {
        offset_text(comparison, index * seal->group, text);
        snprintf(cause, sizeof cause,
                 "one of the %llu chunks from %s to here has changed, moved or gone since they "
                 "were sealed at",
                 (unsigned long long)seal->group, text);
        tell_place(comparison, index, "changed", seal_anew,
                   seal->group != 1          ? cause
                   : seal->words[index] == 0 ? "it was written after the dataset was sealed at"
                                             : "it is not the chunk that was sealed here at");
    }
}

static void
tell_rest(const struct comparison *comparison, const char *kind, const char *cure, uint64_t count)
{
    if (count > MOST_TOLD) {
        h5twin_check_tell(comparison->check->state, comparison->check->path, kind,
                          comparison->dataset->name, NULL, cure,
                          "so are %llu more of its %zu places",
                          (unsigned long long)(count - MOST_TOLD), comparison->seal->word_count);
    }
}

static void
compare_seal(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    const struct h5twin_seal *const seal = &dataset->seal;
    struct comparison comparison = {.check = check, .dataset = dataset, .seal = seal};
    const bool has_grown =
        memcmp(seal->dims, dataset->dims, (size_t)seal->rank * sizeof seal->dims[0]) != 0;
    bool has_shrunk = false;
    for (int axis = 0; axis < seal->rank; axis++) {
        has_shrunk = has_shrunk || dataset->dims[axis] < seal->dims[axis];
    }
    if (has_grown) {
        note_outdated(check, dataset, "the shape of the dataset has changed since");
    }
    if (has_shrunk && seal->group > 1) {
        return;
    }
    comparison.places = calloc(seal->word_count + 1, sizeof *comparison.places);
    if (comparison.places == NULL) {
        check->out_of_memory = true;
        return;
    }
    h5twin_seal_time(seal, comparison.time);
    take_chunks(&comparison);
    for (size_t i = 0; i < seal->word_count; i++) {
        const struct place *const place = &comparison.places[i];
        check->state->beats++;
        if (place->now != seal->words[i] && !place->is_left &&
            !(place->at == NULL &&
              (dataset->is_index_damaged || (has_shrunk && is_outside_now(&comparison, i))))) {
            compare_word(&comparison, i);
        }
    }
    tell_rest(&comparison, "lost", h5twin_check_restore, comparison.lost);
    tell_rest(&comparison, "moved", h5twin_check_restore, comparison.moved);
    tell_rest(&comparison, "changed", seal_anew, comparison.changed);
    check->state->sealed += comparison.lost + comparison.moved + comparison.changed == 0;
    free(comparison.places);
}

/* ---- new seals ---- */

/* They are kept until all of the file has been looked at. */
static bool
keep_seal(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    struct h5twin_check_seal *const made = calloc(1, sizeof *made);
    if (made == NULL || !h5twin_seal_begin(&made->seal, dataset->rank, dataset->dims,
                                           dataset->extents, h5twin_seal_filters(dataset->dcpl))) {
        free(made);
        return false;
    }
    made->next = check->seals;
    check->seals = made;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        const struct h5twin_check_chunk *const chunk = &dataset->chunks[i];
        uint64_t place;
        if (h5twin_seal_place(&made->seal, chunk->offset, &place)) {
            uint32_t *const word = &made->seal.words[place / made->seal.group];
            *word = h5twin_seal_add(*word, place, chunk->size, chunk->sum);
        }
    }
    made->name = malloc(strlen(dataset->name) + 1);
    if (made->name != NULL) {
        strcpy(made->name, dataset->name);
    }
    return made->name != NULL;
}

void
h5twin_check_seal_end(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    if (dataset->seal_state == H5TWIN_SEAL_FOUND) {
        compare_seal(check, dataset);
    }
    if (check->args->seal && !keep_seal(check, dataset)) {
        check->out_of_memory = true;
    }
    h5twin_seal_free(&dataset->seal);
}

void
h5twin_check_free_seals(struct h5twin_check *check)
{
    while (check->seals != NULL) {
        struct h5twin_check_seal *const next = check->seals->next;
        h5twin_seal_free(&check->seals->seal);
        free(check->seals->name);
        free(check->seals);
        check->seals = next;
    }
}

bool
h5twin_check_write_seals(struct h5twin_check *check, const char *name)
{
    bool is_written = true;
    const hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
    for (const struct h5twin_check_seal *made = check->seals; made != NULL && file >= 0;
         made = made->next) {
        const hid_t dataset = H5Dopen2(file, made->name, H5P_DEFAULT);
        is_written = is_written && dataset >= 0 && h5twin_seal_write(dataset, &made->seal);
        check->state->sealed_now++;
        check->state->beats++;
        H5Dclose(dataset);
    }
    is_written = file >= 0 && H5Fclose(file) >= 0 && is_written;
    if (!is_written) {
        h5twin_hdf5_fail(check->path, "", "sealed");
    }
    return is_written;
}

/* ---- in place: a copy gets the seals, and then the name ---- */

static bool
copy_bytes(struct h5twin_check *check, int src, int dst)
{
    const size_t piece = (size_t)4 << 20;
    uint8_t *const bytes = malloc(piece);
    ssize_t count = bytes == NULL ? -1 : 1;
    for (off_t at = 0; count > 0; at += count) {
        count = pread(src, bytes, piece, at);
        check->state->beats++;
        for (ssize_t done = 0; done < count;) {
            const ssize_t wrote = pwrite(dst, bytes + done, (size_t)(count - done), at + done);
            if (wrote <= 0) {
                free(bytes);
                return false;
            }
            done += wrote;
        }
    }
    free(bytes);
    return count == 0;
}

int
h5twin_check_seal_file(struct h5twin_check *check, const struct stat *before)
{
    char name[H5TWIN_NEW_FILE_NAME];
    struct h5twin_new_file file;
    const int src = open(check->path, O_RDONLY | O_CLOEXEC);
    if (src < 0 || !h5twin_new_file_begin(&file, check->path, check->path, true)) {
        const int error = errno;
        if (src >= 0) {
            close(src);
        }
        h5twin_fail("%s cannot be sealed: %s.", check->path, strerror(error));
        return H5TWIN_EXIT_USAGE;
    }
    bool is_ready = copy_bytes(check, src, file.file);
    if (!is_ready) {
        h5twin_fail("%s cannot be sealed: %s.", check->path, strerror(errno));
    }
    close(src);
    is_ready = is_ready && h5twin_check_write_seals(check, h5twin_new_file_name(&file, name)) &&
               h5twin_replace_ready(check->path, before, file.file);
    if (!is_ready) {
        h5twin_new_file_abandon(&file);
    } else if (!h5twin_new_file_commit(&file)) {
        h5twin_fail("%s cannot be sealed: %s.", check->path, strerror(errno));
        is_ready = false;
    }
    check->state->sealed_now = is_ready ? check->state->sealed_now : 0;
    return is_ready ? H5TWIN_EXIT_OK : H5TWIN_EXIT_USAGE;
}
