/* SPDX-License-Identifier: BSD-3-Clause
 * repack_hdf5.c: `h5twin repack`: the new file, from its name to its end. */
#include "repack_hdf5.h"

#include "check.h"
#include "commands.h"
#include "json.h"
#include "messages.h"
#include "new_file.h"
#include "posix.h"
#include "replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures ---- */

static bool
fail(struct h5twin_repack *repack, const char *file, const char *path, const char *action)
{
    if (!repack->failed) { /* the first one says why */
        h5twin_progress_clear(&repack->progress);
        h5twin_hdf5_fail(file, path, action);
    }
    repack->failed = true;
    return false;
}

bool
h5twin_repack_fail(struct h5twin_repack *repack, const char *path, const char *action)
{
    return fail(repack, repack->args->src_path, path, action);
}

bool
h5twin_repack_fail_to_write(struct h5twin_repack *repack, const char *path)
{
    return fail(repack, repack->args->dst_path, path, "written");
}

bool
h5twin_repack_close(struct h5twin_repack *repack, const char *path, hid_t dataset)
{
    return dataset < 0 || H5Dclose(dataset) >= 0 || h5twin_repack_fail_to_write(repack, path);
}

bool
h5twin_repack_fail_memory(struct h5twin_repack *repack)
{
    if (!repack->failed) {
        h5twin_fail("there is no memory for the names of the objects.");
    }
    repack->failed = true;
    return false;
}

/* ---- the new file ---- */

/* As the old one: user block, sizes, and how its root group keeps links and attributes. Negative on
 * a failure. */
static hid_t
create_file(hid_t src, const char *path)
{
    const hid_t fcpl = H5Fget_create_plist(src), fapl = H5Fget_access_plist(src);
    const hid_t root = H5Gopen2(src, "/", H5P_DEFAULT), gcpl = H5Gget_create_plist(root);
    unsigned links, attributes, compact, dense;
    H5F_libver_t oldest, latest;
    const bool alike = H5Pget_link_creation_order(gcpl, &links) >= 0 &&
                       H5Pset_link_creation_order(fcpl, links) >= 0 &&
                       H5Pget_attr_creation_order(gcpl, &attributes) >= 0 &&
                       H5Pset_attr_creation_order(fcpl, attributes) >= 0 &&
                       H5Pget_attr_phase_change(gcpl, &compact, &dense) >= 0 &&
                       H5Pset_attr_phase_change(fcpl, compact, dense) >= 0 &&
                       /* Of 1.8: attributes may be larger than 64 KiB. */
                       H5Pget_libver_bounds(fapl, &oldest, &latest) >= 0 &&
                       H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, latest) >= 0;
    const hid_t file = alike ? H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl) : H5I_INVALID_HID;
    H5Pclose(gcpl);
    H5Gclose(root);
    H5Pclose(fapl);
    H5Pclose(fcpl);
    return file;
}

static bool
copy_user_block(const struct h5twin_repack *repack, int file)
{
    hsize_t size = 0;
    const hid_t fcpl = H5Fget_create_plist(repack->src);
    const bool known = H5Pget_userblock(fcpl, &size) >= 0;
    H5Pclose(fcpl);
    if (!known || size == 0) {
        errno = EIO;
        return known;
    }
    FILE *const src = fopen(repack->args->src_path, "rb");
    bool copied = src != NULL;
    for (hsize_t at = 0; at < size && copied; at += 512) { /* a multiple of that */
        char piece[512];
        copied = fread(piece, 1, sizeof piece, src) == sizeof piece &&
                 pwrite(file, piece, sizeof piece, (off_t)at) == (ssize_t)sizeof piece;
    }
    if (src != NULL) {
        fclose(src);
    }
    return copied;
}

static void
print_head(const struct h5twin_repack *repack)
{
    if (!repack->args->quiet && !repack->args->json) {
        h5twin_print("%15s %15s %9s  %s\n", "raw bytes", "stored bytes", "ratio",
                     repack->args->dst_path);
    }
}

static void
print_json(const struct h5twin_repack *repack)
{
    fputs("{\"input\": ", stdout);
    h5twin_json_string(repack->args->src_path);
    fputs(", \"output\": ", stdout);
    h5twin_json_string(repack->args->dst_path);
    printf(
        ", \"verified\": %s, \"coded\": %llu, \"as_it_was\": %llu, \"raw_size\": %llu, "
        "\"old_size\": %llu, \"new_size\": %llu, \"sealed\": %llu, \"lost_references\": %llu,\n ",
        repack->args->verify ? "true" : "false", (unsigned long long)repack->coded_count,
        (unsigned long long)repack->copied_count, (unsigned long long)repack->raw_size,
        (unsigned long long)repack->old_size, (unsigned long long)repack->new_size,
        (unsigned long long)repack->sealed, (unsigned long long)repack->lost_references);
    h5twin_repack_report_json(&repack->report);
    puts("}");
}

static void
print_end(struct h5twin_repack *repack)
{
    h5twin_progress_clear(&repack->progress);
    if (repack->args->json) {
        print_json(repack);
    } else if (!repack->args->quiet) {
        printf("%15llu %15llu %9.3f  %llu dataset%s coded (%llu bytes before), %llu as %s\n",
               (unsigned long long)repack->raw_size, (unsigned long long)repack->new_size,
               repack->new_size == 0 ? 0 : (double)repack->raw_size / (double)repack->new_size,
               (unsigned long long)repack->coded_count, repack->coded_count == 1 ? "" : "s",
               (unsigned long long)repack->old_size, (unsigned long long)repack->copied_count,
               repack->copied_count == 1 ? "it is" : "they are");
        if (repack->lost_references > 0) {
            printf("%llu reference%s pointed to no object that has a name, and now to nothing\n",
                   (unsigned long long)repack->lost_references,
                   repack->lost_references == 1 ? "" : "s");
        }
    }
}

/* What may point to any object. */
static bool
copy_rest(struct h5twin_repack *repack)
{
    bool copied = true;
    for (size_t i = 0; i < repack->object_count && copied; i++) {
        const struct h5twin_object *const object = &repack->objects[i];
        if (object->later) {
            const hid_t src = H5Dopen2(repack->src, object->path, H5P_DEFAULT);
            const hid_t dst = H5Dopen2(repack->dst, object->path, H5P_DEFAULT);
            copied = h5twin_repack_values(repack, object->path, src, dst);
            copied = h5twin_repack_close(repack, object->path, dst) && copied;
            H5Dclose(src);
        }
        copied =
            copied && h5twin_repack_attributes(repack, object) && h5twin_repack_say(repack, object);
    }
    return copied;
}

/* How much there is to do; only for who looks. */
static void
measure(struct h5twin_repack *repack)
{
    for (size_t i = 0; i < repack->object_count && repack->progress.shown; i++) {
        struct h5twin_object *const object = &repack->objects[i];
        const hid_t dataset = object->type == H5O_TYPE_DATASET
                                  ? H5Oopen_by_addr(repack->src, object->address)
                                  : H5I_INVALID_HID;
        if (dataset >= 0 && H5Dget_storage_size(dataset) > 0) {
            object->raw_size = h5twin_hdf5_raw_size(dataset);
            repack->progress.total += object->raw_size;
        }
        H5Oclose(dataset);
    }
}

/* Whether all that was made can be opened: what HDF5 copies from a damaged header it may write so
 * that it cannot be read. */
static bool
open_again(struct h5twin_repack *repack, const char *name)
{
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) { /* also where another one was put in its place */
        return h5twin_repack_fail_to_write(repack, "");
    }
    bool opened = true;
    for (size_t i = 0; i < repack->object_count && opened; i++) {
        const char *const path = repack->objects[i].path;
        const hid_t object = H5Oopen(file, path, H5P_DEFAULT);
        opened = object >= 0;
        if (opened && repack->objects[i].type == H5O_TYPE_DATASET) {
            const hid_t dcpl = H5Dget_create_plist(object);
            opened = dcpl >= 0;
            H5Pclose(dcpl);
        }
        if (!opened) { /* before another call clears what HDF5 says */
            fail(repack, repack->args->dst_path, path, "read again");
        }
        H5Oclose(object);
    }
    if (opened && repack->args->verify) {
        opened = h5twin_repack_verify(repack, file) == H5TWIN_EXIT_OK;
    }
    H5Fclose(file);
    return opened;
}

/* As `h5twin check --quick --seal-anew` does. */
static bool
seal_file(struct h5twin_repack *repack, const char *name)
{
    const struct h5twin_check_args args = {
        .exec = repack->args->exec, .quick = true, .quiet = true, .seal = true, .seal_anew = true};
    struct h5twin_check_state *const state = calloc(1, sizeof *state);
    struct h5twin_check check = {.args = &args, .path = name, .state = state};
    if (state == NULL) {
        return h5twin_repack_fail_memory(repack);
    }
    bool is_sealed = h5twin_check_file(&check) == H5TWIN_EXIT_OK;
    if (is_sealed && state->findings > 0) {
        h5twin_fail("the new file is damaged: please report this.");
        is_sealed = false;
    }
    is_sealed = is_sealed && h5twin_check_write_seals(&check, name);
    repack->sealed = state->sealed_now;
    repack->failed = repack->failed || !is_sealed;
    h5twin_check_free_seals(&check);
    free(state);
    return is_sealed;
}

/* All but the file's name. */
static bool
write_file(struct h5twin_repack *repack, const struct h5twin_new_file *file)
{
    char name[H5TWIN_NEW_FILE_NAME];
    repack->dst = create_file(repack->src, h5twin_new_file_name(file, name));
    if (repack->dst < 0) {
        return h5twin_repack_fail_to_write(repack, "");
    }
    print_head(repack);
    h5twin_progress_begin(&repack->progress, !repack->args->quiet && !repack->args->json);
    measure(repack);
    bool written =
        h5twin_repack_make_types(repack) && h5twin_repack_groups(repack) && copy_rest(repack);
    if (written && H5Fflush(repack->dst, H5F_SCOPE_LOCAL) < 0) {
        written = h5twin_repack_fail_to_write(repack, "");
    }
    if (H5Fclose(repack->dst) < 0 && written) {
        written = h5twin_repack_fail_to_write(repack, "");
    }
    h5twin_progress_clear(&repack->progress);
    const char *const path = h5twin_new_file_name(file, name);
    return written && (!repack->args->seal || seal_file(repack, path)) && open_again(repack, path);
}

static int
repack_file(struct h5twin_repack *repack, const struct stat *before)
{
    const struct h5twin_repack_args *const args = repack->args;
    struct h5twin_new_file file;
    if (!h5twin_repack_survey(repack)) {
        return H5TWIN_EXIT_FAILED;
    }
    if (!h5twin_new_file_begin(&file, args->dst_path, args->src_path,
                               args->force || args->replace)) {
        return h5twin_fail("%s cannot be created: %s.", args->dst_path, strerror(errno));
    }
    const bool written = write_file(repack, &file);
    int result = written ? H5TWIN_EXIT_OK : H5TWIN_EXIT_FAILED;
    if (!written) {
        h5twin_new_file_abandon(&file);
    } else if (!copy_user_block(repack, file.file)) {
        result = h5twin_fail("%s: its user block cannot be copied: %s.", args->dst_path,
                             strerror(errno));
        h5twin_new_file_abandon(&file);
    } else if (args->replace && !h5twin_replace_ready(args->src_path, before, file.file)) {
        result = H5TWIN_EXIT_FAILED;
        h5twin_new_file_abandon(&file);
    } else if (!h5twin_new_file_commit(&file)) {
        result = h5twin_fail("%s cannot be written: %s.", args->dst_path, strerror(errno));
    }
    if (result == H5TWIN_EXIT_OK) {
        print_end(repack);
    }
    return result;
}

int
h5twin_repack_hdf5(const struct h5twin_repack_args *args)
{
    struct stat before;
    if (args->replace && !h5twin_replace_check(args->src_path, &before)) {
        return H5TWIN_EXIT_FAILED;
    }
    struct h5twin_repack repack = {.args = args, .src = h5twin_hdf5_open(args->src_path)};
    if (repack.src < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    const int result = repack_file(&repack, &before);
    h5twin_repack_report_free(&repack.report);
    for (size_t i = 0; i < repack.object_count; i++) {
        free(repack.objects[i].path);
        free(repack.objects[i].why_not);
    }
    free(repack.objects);
    H5Fclose(repack.src);
    return result;
}
