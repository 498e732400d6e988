/* SPDX-License-Identifier: BSD-3-Clause
 * draft.c: a checkpoint that is being put together in memory. */
#include "checkpoint.h"

#include <h5twin_hdf5.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
h5twin_checkpoint_draft_drop(struct h5twin_checkpoints *checkpoints)
{
    struct draft *const draft = &checkpoints->draft;
    if (draft->master >= 0) {
        h5twin_image_finish(&draft->master_image, draft->master);
    }
    if (draft->part >= 0) {
        h5twin_image_finish(&draft->part_image, draft->part);
    }
    h5twin_image_free(&draft->master_image);
    h5twin_image_free(&draft->part_image);
    for (size_t i = 0; i < draft->field_count; i++) {
        free(draft->fields[i].name);
        free(draft->fields[i].parts);
    }
    free(draft->fields);
    *draft = (struct draft){.master = H5I_INVALID_HID, .part = H5I_INVALID_HID};
}

/* ---- begin ---- */

static hid_t
open_image(struct h5twin_checkpoints *checkpoints, struct image *image, char *path)
{
    const hid_t file = path == NULL ? H5I_INVALID_HID : h5twin_image_create(image, path);
    if (file < 0) {
        h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot begin a checkpoint in memory");
        h5twin_checkpoint_fail_draft(checkpoints);
    }
    free(path);
    return file;
}

static void
open_files(struct h5twin_checkpoints *checkpoints)
{
    struct draft *const draft = &checkpoints->draft;
    const int format = FORMAT, processes = checkpoints->team.size;
    if (processes > 1) {
        draft->part = open_image(
            checkpoints, &draft->part_image,
            h5twin_folder_part(&checkpoints->folder, draft->serial, checkpoints->team.rank));
        if (draft->part >= 0 && !h5twin_checkpoint_put_number(
                                    draft->part, "serial", H5T_NATIVE_UINT64, 1, &draft->serial)) {
            h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot begin a checkpoint in memory");
            h5twin_checkpoint_fail_draft(checkpoints);
        }
    }
    if (checkpoints->team.rank == 0) {
        draft->master =
            open_image(checkpoints, &draft->master_image,
                       h5twin_folder_file(&checkpoints->folder, draft->serial, FOLDER_TEMPORARY));
        if (draft->master >= 0 &&
            !(h5twin_checkpoint_put_number(draft->master, "h5twin_checkpoint", H5T_NATIVE_INT, 1,
                                           &format) &&
              h5twin_checkpoint_put_number(draft->master, "serial", H5T_NATIVE_UINT64, 1,
                                           &draft->serial) &&
              h5twin_checkpoint_put_number(draft->master, "step", H5T_NATIVE_UINT64, 1,
                                           &draft->step) &&
              h5twin_checkpoint_put_number(draft->master, "time", H5T_NATIVE_DOUBLE, 1,
                                           &draft->time) &&
              h5twin_checkpoint_put_number(draft->master, "processes", H5T_NATIVE_INT, 1,
                                           &processes))) {
            h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot begin a checkpoint in memory");
            h5twin_checkpoint_fail_draft(checkpoints);
        }
    }
}

/* Process 0 chooses the number, and makes the folder of a team's parts. */
static bool
choose_serial(struct h5twin_checkpoints *checkpoints, uint64_t *serial)
{
    struct store_error error = {.step = NULL};
    bool is_chosen = true;
    if (checkpoints->team.rank == 0) {
        is_chosen = h5twin_folder_next_serial(&checkpoints->folder, serial, &error);
        if (is_chosen && checkpoints->team.size > 1) {
            char *const parts = h5twin_folder_file(&checkpoints->folder, *serial, FOLDER_PARTS);
            is_chosen = parts != NULL && h5twin_folder_make(parts, &error);
            free(parts);
        }
        if (!is_chosen) {
            error.step = error.step == NULL ? "begin a checkpoint in" : error.step;
            error.code = error.code == 0 ? ENOMEM : error.code;
            h5twin_checkpoint_fail_store(checkpoints, &error, checkpoints->path);
        }
    }
    return h5twin_checkpoint_agree(checkpoints, is_chosen) &&
           h5twin_checkpoint_share(checkpoints, serial, sizeof *serial);
}

static bool
may_write(struct h5twin_checkpoints *checkpoints)
{
    if (!checkpoints->is_usable || checkpoints->options.read_only) {
        h5twin_checkpoint_fail(checkpoints, "This folder was not opened for writing checkpoints.");
        return false;
    }
    return true;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_begin(struct h5twin_checkpoints *checkpoints, uint64_t step, double time)
{
    if (!may_write(checkpoints)) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    h5twin_checkpoint_draft_drop(checkpoints);
    const enum h5twin_checkpoint_status status = h5twin_checkpoint_complete(checkpoints);
    char message[MESSAGE_SIZE];
    memcpy(message, checkpoints->message, sizeof message);
    struct draft *const draft = &checkpoints->draft;
    draft->is_open = true;
    draft->step = step;
    draft->time = time;
    if (choose_serial(checkpoints, &draft->serial)) {
        open_files(checkpoints);
    } else {
        h5twin_checkpoint_fail_draft(checkpoints);
    }
    if (status != H5TWIN_CHECKPOINT_OK) { /* of the one before */
        memcpy(checkpoints->message, message, sizeof message);
    }
    h5twin_checkpoint_loud(before);
    return status != H5TWIN_CHECKPOINT_OK ? status
           : draft->has_failed            ? H5TWIN_CHECKPOINT_FAILED
                                          : H5TWIN_CHECKPOINT_OK;
}

void
h5twin_checkpoint_abort(struct h5twin_checkpoints *checkpoints)
{
    const struct quiet before = h5twin_checkpoint_quiet();
    if (checkpoints->draft.is_open && checkpoints->team.rank == 0) {
        h5twin_folder_discard(&checkpoints->folder, checkpoints->draft.serial);
    }
    h5twin_checkpoint_draft_drop(checkpoints);
    h5twin_checkpoint_loud(before);
}

/* ---- write ---- */

/* The codec of a field without one, by the policy or by default: of the whole field, so that all
 * processes choose the same. */
static void
choose_by_rules(const struct h5twin_checkpoints *checkpoints,
                const struct h5twin_checkpoint_field *field, const struct extent *extent,
                struct coding *coding)
{
    char path[1024];
    uint64_t chunk[MAX_RANK];
    uint32_t size;
    bool is_signed, is_whole = true;
    const bool is_float = h5twin_checkpoint_is_float(field->type, &is_signed, &size);
    memcpy(chunk, coding->chunk, sizeof chunk);
    const int length = snprintf(path, sizeof path, "/%s", field->name);
    if (checkpoints->policy == NULL || length < 0 || (size_t)length >= sizeof path ||
        !h5twin_policy_spec(checkpoints->policy, path, is_float ? H5TWIN_FLOAT : H5TWIN_INTEGER,
                            is_signed, size, extent->rank, extent->dims, chunk, coding->spec)) {
        snprintf(coding->spec, sizeof coding->spec, "%s", checkpoints->spec);
        return;
    }
    for (uint32_t axis = 0; axis < extent->rank; axis++) {
        const uint64_t most = extent->part.count[axis];
        is_whole = is_whole && chunk[axis] > 0;
        chunk[axis] = chunk[axis] < most ? chunk[axis] : most;
    }
    if (is_whole) {
        memcpy(coding->chunk, chunk, sizeof chunk);
    }
}

/* How a field is stored; false, with a message, if its codec may not be used. */
static bool
choose_coding(struct h5twin_checkpoints *checkpoints, const struct h5twin_checkpoint_field *field,
              const struct extent *extent, struct coding *coding)
{
    bool is_signed;
    uint32_t size;
    *coding = (struct coding){.spec = ""};
    h5twin_checkpoint_is_float(field->type, &is_signed, &size);
    if (extent->rank > 0 && !extent->is_empty) {
        h5twin_chunk_shape(extent->rank, extent->part.count, size, coding->chunk);
    }
    if (field->spec == NULL) {
        choose_by_rules(checkpoints, field, extent, coding);
    } else if (strlen(field->spec) < sizeof coding->spec) {
        strcpy(coding->spec, field->spec);
    } else {
        h5twin_checkpoint_fail(checkpoints,
                               "The field %s has a codec's name of %zu bytes: no codec has.",
                               field->name, strlen(field->spec));
        return false;
    }
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_CASCADE);
    const enum h5twin_status status = h5twin_params_parse(&params, coding->spec, NULL);
    if (status != H5TWIN_OK) {
        h5twin_checkpoint_fail(checkpoints, "The field %s cannot be compressed with \"%s\": %s",
                               field->name, coding->spec, h5twin_status_message(status));
        return false;
    }
    if (params.mode != H5TWIN_LOSSLESS && !field->may_lose) {
        h5twin_checkpoint_fail(
            checkpoints,
            "The field %s would not be restored exactly with \"%s\": set may_lose if the "
            "program can go on from such values, or choose a codec without a bound.",
            field->name, coding->spec);
        return false;
    }
    return true;
}

/* A number for a name (FNV-1a, 64 bits): enough to see that processes write different fields. */
static uint64_t
hash(const char *name)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (; *name != '\0'; name++) {
        sum = (sum ^ (uint8_t)*name) * 0x100000001b3u;
    }
    return sum;
}

static bool
overlap(const struct part *a, const struct part *b, uint64_t rank)
{
    for (uint64_t axis = 0; axis < rank; axis++) {
        if (a->offset[axis] + a->count[axis] <= b->offset[axis] ||
            b->offset[axis] + b->count[axis] <= a->offset[axis]) {
            return false;
        }
    }
    return true;
}

static uint64_t
volume(const uint64_t *extents, uint64_t rank)
{
    uint64_t values = 1;
    for (uint64_t axis = 0; axis < rank; axis++) {
        values *= extents[axis];
    }
    return values;
}

/* All processes write the same field, and their parts make it up: each value is in one of them. */
static bool
check_parts(struct h5twin_checkpoints *checkpoints, const char *name, const struct notice *notices)
{
    const int processes = checkpoints->team.size;
    uint64_t values = 0;
    for (int i = 0; i < processes; i++) {
        const struct notice *const notice = &notices[i];
        if (!notice->is_ok) {
            return true; /* that process has the reason */
        }
        if (notice->name != notices[0].name || notice->type != notices[0].type ||
            notice->rank != notices[0].rank ||
            memcmp(notice->dims, notices[0].dims, sizeof notice->dims) != 0) {
            h5twin_checkpoint_fail(
                checkpoints,
                "Process %d writes another field than process 0, which writes %s, or with "
                "another type or other dims: all processes write the same fields in the "
                "same order.",
                i, name);
            return false;
        }
        values += volume(notice->part.count, notice->rank);
        for (int k = 0; k < i; k++) {
            if (volume(notice->part.count, notice->rank) > 0 &&
                volume(notices[k].part.count, notice->rank) > 0 &&
                overlap(&notice->part, &notices[k].part, notice->rank)) {
                h5twin_checkpoint_fail(checkpoints,
                                       "Processes %d and %d write the same values of the field %s.",
                                       k, i, name);
                return false;
            }
        }
    }
    if (values != volume(notices[0].dims, notices[0].rank)) {
        h5twin_checkpoint_fail(checkpoints, "No process writes some values of the field %s.", name);
        return false;
    }
    return true;
}

static void
set_grid(struct draft_field *record, const struct h5twin_checkpoint_field *field)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        const bool is_given = field->rank <= 3 && axis < field->rank;
        record->origin[axis] = is_given && field->origin != NULL ? field->origin[axis] : 0;
        record->spacing[axis] = is_given && field->spacing != NULL ? field->spacing[axis] : 1;
    }
}

/* Process 0 remembers the field: to join its parts, and for the XDMF file. */
static bool
remember(struct h5twin_checkpoints *checkpoints, const struct h5twin_checkpoint_field *field,
         const struct extent *extent, const struct notice *notices)
{
    struct draft *const draft = &checkpoints->draft;
    const size_t processes = (size_t)checkpoints->team.size;
    struct draft_field *const fields =
        realloc(draft->fields, (draft->field_count + 1) * sizeof *fields);
    if (fields == NULL) {
        h5twin_checkpoint_fail(checkpoints, "There is no memory for the field %s.", field->name);
        return false;
    }
    draft->fields = fields;
    struct draft_field *const record = &fields[draft->field_count++];
    *record = (struct draft_field){.type = field->type, .rank = extent->rank};
    memcpy(record->dims, extent->dims, sizeof record->dims);
    set_grid(record, field);
    record->name = malloc(strlen(field->name) + 1);
    record->parts = notices == NULL ? NULL : calloc(processes, sizeof *record->parts);
    if (record->name == NULL || (notices != NULL && record->parts == NULL)) {
        h5twin_checkpoint_fail(checkpoints, "There is no memory for the field %s.", field->name);
        return false;
    }
    strcpy(record->name, field->name);
    for (size_t i = 0; notices != NULL && i < processes; i++) {
        record->parts[i] = notices[i].part;
    }
    return true;
}

/* Process 0 hears of all parts. Collective, whether or not this process's part is fine. */
static bool
tell_parts(struct h5twin_checkpoints *checkpoints, const struct h5twin_checkpoint_field *field,
           const struct extent *extent, bool is_ok)
{
    const bool is_first = checkpoints->team.rank == 0;
    struct notice notice = {.is_ok = is_ok, .type = field->type, .rank = extent->rank};
    notice.name = field->name == NULL ? 0 : hash(field->name);
    memcpy(notice.dims, extent->dims, sizeof notice.dims);
    notice.part = extent->part;
    struct notice *const notices = checkpoints->notices;
    bool is_told = h5twin_checkpoint_collect(checkpoints, &notice, sizeof notice, notices);
    if (is_told && is_first && is_ok) {
        is_told = check_parts(checkpoints, field->name, notices) &&
                  remember(checkpoints, field, extent, notices);
    }
    return is_told;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_write(struct h5twin_checkpoints *checkpoints,
                        const struct h5twin_checkpoint_field *field)
{
    struct draft *const draft = &checkpoints->draft;
    if (!draft->is_open) {
        return h5twin_checkpoint_fail(
            checkpoints, "No checkpoint was begun: call h5twin_checkpoint_begin() first.");
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    const bool is_team = checkpoints->team.size > 1;
    const hid_t file = is_team ? draft->part : draft->master;
    struct extent extent;
    struct coding coding;
    bool is_ok = h5twin_checkpoint_extent(checkpoints, field, &extent) &&
                 choose_coding(checkpoints, field, &extent, &coding) && file >= 0;
    if (is_ok && !is_team && memcmp(extent.part.count, extent.dims, sizeof extent.dims) != 0) {
        h5twin_checkpoint_fail(
            checkpoints,
            "Only a part of the field %s is written, and there is no team whose other "
            "processes write the rest.",
            field->name);
        is_ok = false;
    }
    is_ok = is_ok && h5twin_checkpoint_write_dataset(checkpoints, file, field, &extent, &coding);
    if (is_team) {
        is_ok = tell_parts(checkpoints, field, &extent, is_ok) && is_ok;
    } else {
        is_ok = is_ok && remember(checkpoints, field, &extent, NULL);
    }
    h5twin_checkpoint_loud(before);
    return is_ok ? H5TWIN_CHECKPOINT_OK : h5twin_checkpoint_fail_draft(checkpoints);
}

/* ---- finish ---- */

static void
close_image(struct h5twin_checkpoints *checkpoints, struct image *image, hid_t *file)
{
    if (*file >= 0 && !h5twin_image_finish(image, *file)) {
        h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot finish a checkpoint in memory");
        h5twin_checkpoint_fail_draft(checkpoints);
    }
    *file = H5I_INVALID_HID;
}

/* Process 0: virtual datasets, and what the parts' files must have. */
static void
join(struct h5twin_checkpoints *checkpoints, const uint64_t *part_sizes)
{
    struct draft *const draft = &checkpoints->draft;
    bool is_joined = true;
    for (size_t i = 0; i < draft->field_count && is_joined; i++) {
        is_joined = h5twin_checkpoint_join_parts(checkpoints, draft->master, &draft->fields[i]);
    }
    if (is_joined && !h5twin_checkpoint_put_number(draft->master, "part_sizes", H5T_NATIVE_UINT64,
                                                   (size_t)checkpoints->team.size, part_sizes)) {
        h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot write the attribute part_sizes");
        is_joined = false;
    }
    if (!is_joined) {
        h5twin_checkpoint_fail_draft(checkpoints);
    }
}

void
h5twin_checkpoint_draft_finish(struct h5twin_checkpoints *checkpoints)
{
    struct draft *const draft = &checkpoints->draft;
    const bool is_first = checkpoints->team.rank == 0;
    close_image(checkpoints, &draft->part_image, &draft->part);
    if (checkpoints->team.size > 1) {
        const uint64_t size = draft->part_image.size;
        if (!h5twin_checkpoint_collect(checkpoints, &size, sizeof size, checkpoints->part_sizes)) {
            h5twin_checkpoint_fail_draft(checkpoints);
        } else if (is_first && !draft->has_failed) {
            join(checkpoints, checkpoints->part_sizes);
        }
    }
    if (draft->master >= 0 && !draft->has_failed) {
        const int complete = 1;
        if (!h5twin_checkpoint_put_number(draft->master, "complete", H5T_NATIVE_INT, 1,
                                          &complete)) {
            h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot write the attribute complete");
            h5twin_checkpoint_fail_draft(checkpoints);
        }
    }
    close_image(checkpoints, &draft->master_image, &draft->master);
}
