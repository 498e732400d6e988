/* SPDX-License-Identifier: BSD-3-Clause
 * restart.c: find, check and open complete checkpoints. */
#include "checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 3 /* that a list of checkpoints may be out of date */

void
h5twin_checkpoint_restart_end(struct h5twin_checkpoints *checkpoints)
{
    struct reading *const reading = &checkpoints->reading;
    const struct quiet before = h5twin_checkpoint_quiet();
    if (reading->file >= 0) {
        H5Fclose(reading->file);
    }
    if (reading->hold >= 0) {
        close(reading->hold);
    }
    *reading = (struct reading){.file = H5I_INVALID_HID, .hold = -1};
    h5twin_checkpoint_loud(before);
}

/* The file has so many numbers under this name, before memory is given for them. */
static bool
has_numbers(hid_t file, const char *name, size_t count)
{
    const hid_t attribute =
        H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    const bool has_them = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                          count <= H5Aget_storage_size(attribute) / sizeof(uint64_t);
    h5twin_checkpoint_release(space);
    h5twin_checkpoint_release(attribute);
    return has_them;
}

static bool
check_parts(struct h5twin_checkpoints *checkpoints, hid_t file, uint64_t serial, int processes)
{
    if (!has_numbers(file, "part_sizes", (size_t)processes)) {
        return false;
    }
    uint64_t *const sizes = malloc((size_t)processes * sizeof *sizes);
    bool is_whole =
        sizes != NULL && h5twin_checkpoint_get_number(file, "part_sizes", H5T_NATIVE_UINT64,
                                                      (size_t)processes, sizes);
    for (int rank = 0; rank < processes && is_whole; rank++) {
        struct stat part;
        char *const path = h5twin_folder_part(&checkpoints->folder, serial, rank);
        is_whole = path != NULL && stat(path, &part) == 0 && (uint64_t)part.st_size == sizes[rank];
        free(path);
    }
    free(sizes);
    return is_whole;
}

/* What a file says of itself; false, with a message, if it is not a complete checkpoint. */
static bool
check_file(struct h5twin_checkpoints *checkpoints, hid_t file, uint64_t serial,
           struct h5twin_checkpoint_info *info)
{
    int format = 0, complete = 0, processes = 0;
    *info = (struct h5twin_checkpoint_info){.serial = 0};
    if (!h5twin_checkpoint_get_number(file, "h5twin_checkpoint", H5T_NATIVE_INT, 1, &format) ||
        !h5twin_checkpoint_get_number(file, "complete", H5T_NATIVE_INT, 1, &complete) ||
        complete != 1 ||
        !h5twin_checkpoint_get_number(file, "serial", H5T_NATIVE_UINT64, 1, &info->serial) ||
        info->serial != serial ||
        !h5twin_checkpoint_get_number(file, "step", H5T_NATIVE_UINT64, 1, &info->step) ||
        !h5twin_checkpoint_get_number(file, "time", H5T_NATIVE_DOUBLE, 1, &info->time) ||
        !h5twin_checkpoint_get_number(file, "processes", H5T_NATIVE_INT, 1, &processes) ||
        processes < 1) {
        h5twin_checkpoint_fail(checkpoints, "Checkpoint %llu in %s is damaged, or was renamed.",
                               (unsigned long long)serial, checkpoints->path);
        return false;
    }
    if (format > FORMAT) {
        h5twin_checkpoint_fail(checkpoints,
                               "Checkpoint %llu was written by a newer h5twin: update this one.",
                               (unsigned long long)serial);
        return false;
    }
    if (processes > 1 && !check_parts(checkpoints, file, serial, processes)) {
        h5twin_checkpoint_fail(checkpoints,
                               "Parts of checkpoint %llu in %s are missing or damaged.",
                               (unsigned long long)serial, checkpoints->path);
        return false;
    }
    info->size = h5twin_folder_size(&checkpoints->folder, serial);
    return true;
}

/* Into *reading; its hold is set as soon as the file is there. */
static bool
open_one(struct h5twin_checkpoints *checkpoints, uint64_t serial, struct reading *reading,
         struct h5twin_checkpoint_info *info)
{
    *reading = (struct reading){.file = H5I_INVALID_HID,
                                .hold = h5twin_folder_hold(&checkpoints->folder, serial),
                                .serial = serial};
    if (reading->hold < 0) {
        h5twin_checkpoint_fail(checkpoints, "Checkpoint %llu is not in %s.",
                               (unsigned long long)serial, checkpoints->path);
        return false;
    }
    char *const path = h5twin_folder_file(&checkpoints->folder, serial, FOLDER_MASTER);
    reading->file = path == NULL ? H5I_INVALID_HID : H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    free(path);
    if (reading->file < 0) {
        h5twin_checkpoint_fail_hdf5(checkpoints, "Cannot open checkpoint %llu in %s",
                                    (unsigned long long)serial, checkpoints->path);
        return false;
    }
    return check_file(checkpoints, reading->file, serial, info);
}

static void
close_one(struct reading *reading)
{
    if (reading->file >= 0) {
        H5Fclose(reading->file);
    }
    if (reading->hold >= 0) {
        close(reading->hold);
    }
    *reading = (struct reading){.file = H5I_INVALID_HID, .hold = -1};
}

/* By all processes or by none. */
static bool
open_together(struct h5twin_checkpoints *checkpoints, uint64_t serial,
              struct h5twin_checkpoint_info *info, bool *was_there)
{
    struct reading *const reading = &checkpoints->reading;
    const bool is_open = open_one(checkpoints, serial, reading, info);
    *was_there = reading->hold >= 0;
    if (h5twin_checkpoint_agree(checkpoints, is_open)) {
        return true;
    }
    close_one(reading);
    return false;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_select(struct h5twin_checkpoints *checkpoints, uint64_t serial,
                         struct h5twin_checkpoint_info *info)
{
    if (!checkpoints->is_usable) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    struct h5twin_checkpoint_info found;
    bool was_there;
    const struct quiet before = h5twin_checkpoint_quiet();
    h5twin_checkpoint_restart_end(checkpoints);
    const bool is_open = open_together(checkpoints, serial, &found, &was_there);
    if (is_open && info != NULL) {
        *info = found;
    }
    h5twin_checkpoint_loud(before);
    return is_open     ? H5TWIN_CHECKPOINT_OK
           : was_there ? H5TWIN_CHECKPOINT_FAILED
                       : H5TWIN_CHECKPOINT_NONE;
}

/* The newest one before `before`; 0 if there is none. Process 0 looks. */
static bool
next_candidate(struct h5twin_checkpoints *checkpoints, uint64_t before, uint64_t *serial)
{
    *serial = 0;
    bool is_listed = true;
    if (checkpoints->team.rank == 0) {
        struct store_error error = {.step = NULL};
        uint64_t *serials;
        size_t count;
        is_listed = h5twin_folder_list(&checkpoints->folder, &serials, &count, &error);
        for (size_t i = 0; i < count && *serial == 0; i++) {
            *serial = serials[i] < before ? serials[i] : 0;
        }
        free(serials);
        if (!is_listed) {
            h5twin_checkpoint_fail_store(checkpoints, &error, checkpoints->path);
        }
    }
    return h5twin_checkpoint_agree(checkpoints, is_listed) &&
           h5twin_checkpoint_share(checkpoints, serial, sizeof *serial);
}

enum h5twin_checkpoint_status
h5twin_checkpoint_restart(struct h5twin_checkpoints *checkpoints, uint64_t before,
                          struct h5twin_checkpoint_info *info)
{
    if (!checkpoints->is_usable) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    const uint64_t limit = before == 0 ? UINT64_MAX : before;
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_NONE;
    const struct quiet quiet = h5twin_checkpoint_quiet();
    h5twin_checkpoint_restart_end(checkpoints);
    /* Whoever writes here may prune while we look: then there is a newer one. */
    for (int tries = 0; tries < TRIES && status == H5TWIN_CHECKPOINT_NONE; tries++) {
        bool all_were_there = true;
        for (uint64_t serial = limit;;) {
            struct h5twin_checkpoint_info found;
            bool was_there;
            if (!next_candidate(checkpoints, serial, &serial)) {
                status = H5TWIN_CHECKPOINT_FAILED;
                break;
            }
            if (serial == 0) {
                break;
            }
            if (open_together(checkpoints, serial, &found, &was_there)) {
                status = H5TWIN_CHECKPOINT_OK;
                if (info != NULL) {
                    *info = found;
                }
                break;
            }
            all_were_there = all_were_there && was_there;
        }
        uint8_t is_final = all_were_there;
        if (status == H5TWIN_CHECKPOINT_NONE) {
            if (!h5twin_checkpoint_share(checkpoints, &is_final, sizeof is_final)) {
                status = H5TWIN_CHECKPOINT_FAILED;
            } else if (is_final) {
                break;
            }
        }
    }
    h5twin_checkpoint_loud(quiet);
    return status;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_list(struct h5twin_checkpoints *checkpoints, struct h5twin_checkpoint_info *infos,
                       size_t capacity, size_t *count)
{
    struct store_error error = {.step = NULL};
    uint64_t *serials;
    size_t files;
    *count = 0;
    if (!h5twin_folder_list(&checkpoints->folder, &serials, &files, &error)) {
        return h5twin_checkpoint_fail_store(checkpoints, &error, checkpoints->path);
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    for (size_t i = 0; i < files; i++) {
        struct reading reading;
        struct h5twin_checkpoint_info info;
        if (open_one(checkpoints, serials[i], &reading, &info)) {
            if (*count < capacity) {
                infos[*count] = info;
            }
            ++*count;
        }
        close_one(&reading);
    }
    h5twin_checkpoint_loud(before);
    free(serials);
    return H5TWIN_CHECKPOINT_OK;
}
