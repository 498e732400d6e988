/* SPDX-License-Identifier: BSD-3-Clause
 * verify_hdf5.c: `h5twin verify` of HDF5 files: each dataset of one with that of the other. */
#include "commands.h"
#include "compare_hdf5.h"
#include "messages.h"
#include "verify.h"

#include <stdio.h>

struct files {
    const struct h5twin_verify_args *args;
    struct h5twin_pairs pairs;
    uint64_t compared_count;
    int result;
};

static void
take_result(struct files *files, int result)
{
    files->result = result > files->result ? result : files->result;
}

/* One dataset with another. The exit code. */
static int
compare_pair(const struct h5twin_verify_args *args, struct h5twin_dataset_pair *pair)
{
    struct h5twin_comparison comparison = {.promise = args->promise};
    const char *mismatch;
    bool is_float;
    const int result = h5twin_compare_datasets(&comparison, pair, &is_float, &mismatch);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    if (mismatch != NULL) {
        h5twin_print("%s: %s\n", pair->names[0], mismatch);
        return H5TWIN_EXIT_FAILED;
    }
    return h5twin_verify_print(pair->names[0], &comparison, is_float);
}

/* Datasets with these names, of which either may turn out to be missing. */
static int
compare_opened(struct files *files, hid_t dataset, hid_t other, const char *name,
               const char *other_name)
{
    const struct h5twin_verify_args *const args = files->args;
    struct h5twin_dataset_pair pair = {.datasets = {dataset, other},
                                       .paths = {args->paths[0], args->paths[1]},
                                       .names = {name, other_name},
                                       .pairs = &files->pairs};
    int result = H5TWIN_EXIT_FAILED;
    if (dataset < 0) {
        result = h5twin_hdf5_fail(args->paths[0], name, "opened");
    } else if (other < 0) {
        H5Eclear2(H5E_DEFAULT);
        h5twin_print("%s: there is no dataset %s in %s\n", name, other_name, args->paths[1]);
    } else {
        files->compared_count++;
        result = compare_pair(args, &pair);
    }
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    if (other >= 0) {
        H5Dclose(other);
    }
    return result;
}

/* ---- all datasets ---- */

/* What the original does not have is no difference, but worth a line. */
static int
list_new(void *context, hid_t dataset, const char *name)
{
    const struct files *const files = context;
    if (h5twin_pairs_of_second(&files->pairs, dataset, NULL) == NULL) {
        h5twin_print("%s: there is no dataset %s in %s\n", name, name, files->args->paths[0]);
    }
    return 0;
}

static void
print_end(struct files *files)
{
    const struct h5twin_verify_args *const args = files->args;
    uint64_t total, kept;
    h5twin_pairs_count(&files->pairs, &total, &kept);
    printf("%llu of %llu dataset%s kept\n", (unsigned long long)kept, (unsigned long long)total,
           total == 1 ? "" : "s");
    if (files->compared_count == 0) {
        take_result(files, h5twin_pairs_fail_empty(&files->pairs, args->paths[0], args->paths[1]));
    }
}

static int
compare_files(struct files *files, const hid_t opened[2])
{
    const struct h5twin_verify_args *const args = files->args;
    struct h5twin_pairs *const pairs = &files->pairs;
    take_result(files, h5twin_pairs_find(pairs, opened, args->paths[0]));
    if (files->result != H5TWIN_EXIT_OK) {
        return files->result;
    }
    for (size_t i = 0; i < pairs->count; i++) { /* which references may make more */
        const struct h5twin_pair pair = pairs->list[i];
        if (pair.type == H5O_TYPE_DATASET) {
            const hid_t dataset = h5twin_pairs_open(pairs, &pair, 0);
            const hid_t other =
                pair.is_missing ? H5I_INVALID_HID : h5twin_pairs_open(pairs, &pair, 1);
            const int result = compare_opened(files, dataset, other, pair.name, pair.name);
            h5twin_pairs_judge(pairs, i, result == H5TWIN_EXIT_OK);
            take_result(files, result);
        }
    }
    if (h5twin_hdf5_each(opened[1], list_new, files) != 0) {
        take_result(files, h5twin_hdf5_fail(args->paths[1], "", "read"));
    }
    print_end(files);
    return files->result;
}

/* ---- one dataset ---- */

static int
compare_named(struct files *files, const hid_t opened[2])
{
    const struct h5twin_verify_args *const args = files->args;
    const char *const name = args->datasets[0];
    const char *const other_name = args->datasets[1] == NULL ? name : args->datasets[1];
    const hid_t dataset = H5Dopen2(opened[0], name, H5P_DEFAULT);
    if (dataset >= 0 && h5twin_has_references(dataset)) {
        take_result(files, h5twin_pairs_find(&files->pairs, opened, args->paths[0]));
    }
    const hid_t other =
        dataset < 0 ? H5I_INVALID_HID : H5Dopen2(opened[1], other_name, H5P_DEFAULT);
    take_result(files, compare_opened(files, dataset, other, name, other_name));
    return files->result;
}

int
h5twin_verify_hdf5(const struct h5twin_verify_args *args)
{
    struct files files = {.args = args, .result = H5TWIN_EXIT_OK};
    hid_t opened[2] = {h5twin_hdf5_open(args->paths[0]), H5I_INVALID_HID};
    if (opened[0] < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    opened[1] = h5twin_hdf5_open(args->paths[1]);
    const int result = opened[1] < 0               ? H5TWIN_EXIT_FAILED
                       : args->datasets[0] == NULL ? compare_files(&files, opened)
                                                   : compare_named(&files, opened);
    h5twin_pairs_free(&files.pairs);
    if (opened[1] >= 0) {
        H5Fclose(opened[1]);
    }
    H5Fclose(opened[0]);
    return result;
}
