/* SPDX-License-Identifier: BSD-3-Clause
 * verify_hdf5.c: `h5twin verify` of HDF5 files: each dataset of one with that of the other. */
#include "commands.h"
#include "compare_hdf5.h"
#include "messages.h"
#include "verify.h"

#include <stdio.h>

struct files {
    const struct h5twin_verify_args *args;
    hid_t other;
    int result;
};

static int
compare_pair(const struct h5twin_verify_args *args, const struct h5twin_dataset_pair *pair)
{
    struct h5twin_comparison comparison = {.promise = args->promise};
    const char *mismatch;
    bool is_float;
    const int result = h5twin_compare_datasets(&comparison, pair, &is_float, &mismatch);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    if (mismatch != NULL) {
        printf("%s: %s\n", pair->names[0], mismatch);
        return H5TWIN_EXIT_FAILED;
    }
    return h5twin_verify_print(pair->names[0], &comparison, is_float);
}

/* One of the original; goes on whatever comes. */
static int
verify_dataset(void *context, hid_t dataset, const char *name)
{
    struct files *const files = context;
    const struct h5twin_verify_args *const args = files->args;
    const char *const other_name = args->datasets[1] == NULL ? name : args->datasets[1];
    const hid_t other = H5Dopen2(files->other, other_name, H5P_DEFAULT);
    int result;
    if (other < 0) {
        H5Eclear2(H5E_DEFAULT);
        printf("%s: there is no dataset %s in %s\n", name, other_name, args->paths[1]);
        result = H5TWIN_EXIT_FAILED;
    } else {
        const struct h5twin_dataset_pair pair = {.datasets = {dataset, other},
                                                 .paths = {args->paths[0], args->paths[1]},
                                                 .names = {name, other_name}};
        result = compare_pair(args, &pair);
        H5Dclose(other);
    }
    files->result = result > files->result ? result : files->result;
    return 0;
}

static int
verify_files(struct files *files, hid_t file)
{
    const struct h5twin_verify_args *const args = files->args;
    if (args->datasets[0] == NULL) {
        return h5twin_hdf5_each(file, verify_dataset, files) == 0
                   ? files->result
                   : h5twin_hdf5_fail(args->paths[0], "", "read");
    }
    const hid_t dataset = H5Dopen2(file, args->datasets[0], H5P_DEFAULT);
    if (dataset < 0) {
        return h5twin_hdf5_fail(args->paths[0], args->datasets[0], "opened");
    }
    verify_dataset(files, dataset, args->datasets[0]);
    H5Dclose(dataset);
    return files->result;
}

int
h5twin_verify_hdf5(const struct h5twin_verify_args *args)
{
    const hid_t file = h5twin_hdf5_open(args->paths[0]);
    if (file < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    struct files files = {.args = args, .other = h5twin_hdf5_open(args->paths[1])};
    const int result = files.other < 0 ? H5TWIN_EXIT_FAILED : verify_files(&files, file);
    if (files.other >= 0) {
        H5Fclose(files.other);
    }
    H5Fclose(file);
    return result;
}
