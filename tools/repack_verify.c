/* SPDX-License-Identifier: BSD-3-Clause
 * repack_verify.c: `h5twin repack --verify`: the new file against the old one, before it takes its
 * place. */
#include "commands.h"
#include "compare_hdf5.h"
#include "messages.h"
#include "repack_hdf5.h"

/* What the dataset was coded with; all else is to be identical. */
static struct h5twin_promise
promise_of(const struct h5twin_object *object)
{
    return object != NULL && object->is_coded ? h5twin_promise_of(&object->choice.params)
                                              : (struct h5twin_promise){.kind = H5TWIN_BOUND_NONE};
}

static int
verify_pair(struct h5twin_repack *repack, struct h5twin_pairs *pairs,
            const struct h5twin_pair *pair)
{
    const struct h5twin_object *const object = h5twin_repack_find(repack, pair->keys[0].address);
    const hid_t datasets[2] = {h5twin_pairs_open(pairs, pair, 0),
                               pair->is_missing ? H5I_INVALID_HID
                                                : h5twin_pairs_open(pairs, pair, 1)};
    struct h5twin_dataset_pair both = {.datasets = {datasets[0], datasets[1]},
                                       .paths = {repack->args->src_path, repack->args->dst_path},
                                       .names = {pair->name, pair->name},
                                       .pairs = pairs};
    struct h5twin_comparison comparison = {.promise = promise_of(object)};
    const char *mismatch = NULL;
    bool is_float;
    int result = H5TWIN_EXIT_FAILED;
    if (datasets[0] < 0 || datasets[1] < 0) {
        h5twin_fail("%s is not in the new file: please report this.", pair->name);
    } else {
        result = h5twin_compare_datasets(&comparison, &both, &is_float, &mismatch);
    }
    if (result == H5TWIN_EXIT_OK && (mismatch != NULL || comparison.violation_count > 0)) {
        result = h5twin_fail("%s came back changed (%s): please report this.", pair->name,
                             mismatch != NULL ? mismatch : "values beyond what was promised");
    }
    for (int i = 0; i < 2; i++) {
        if (datasets[i] >= 0) {
            H5Dclose(datasets[i]);
        }
    }
    return result;
}

int
h5twin_repack_verify(struct h5twin_repack *repack, hid_t dst)
{
    struct h5twin_pairs pairs = {.count = 0};
    const hid_t files[2] = {repack->src, dst};
    int result = h5twin_pairs_find(&pairs, files, repack->args->src_path);
    for (size_t i = 0; i < pairs.count && result == H5TWIN_EXIT_OK; i++) {
        const struct h5twin_pair pair = pairs.list[i];
        if (pair.type == H5O_TYPE_DATASET) {
            result = verify_pair(repack, &pairs, &pair);
        }
    }
    h5twin_pairs_free(&pairs);
    return result;
}
