/* SPDX-License-Identifier: BSD-3-Clause
 * policy_explain.c: `h5twin policy --explain`: the datasets of a file as a policy would see them,
 * were they created now. */
#include "commands.h"
#include "hdf5_file.h"
#include "messages.h"
#include "policy_command.h"

#include <stdio.h>
#include <string.h>

/* Those of the HDF5 that the command uses. What creates datasets is not among them. */
static void
take_functions(struct h5twin_policy_hdf5 *hdf5)
{
    *hdf5 = (struct h5twin_policy_hdf5){.H5Pcopy = NULL};
    /* memcpy: enumerations and hsize_t are other types of the same size. */
#define TAKE(name)                                                                                 \
    {                                                                                              \
        void (*const function)(void) = (void (*)(void))name;                                       \
        memcpy(&hdf5->name, &function, sizeof function);                                           \
    }
    TAKE(H5Pget_layout)
    TAKE(H5Pget_chunk)
    TAKE(H5Pget_nfilters)
    TAKE(H5Pget_external_count)
    TAKE(H5Pget_alloc_time)
    TAKE(H5Pget_attr_creation_order)
    TAKE(H5Sget_simple_extent_type)
    TAKE(H5Sget_simple_extent_ndims)
    TAKE(H5Sget_simple_extent_dims)
    TAKE(H5Tget_class)
    TAKE(H5Tget_size)
    TAKE(H5Tget_order)
    TAKE(H5Tget_sign)
    TAKE(H5Tget_precision)
    TAKE(H5Tget_fields)
    TAKE(H5Tget_nmembers)
    TAKE(H5Tget_member_type)
    TAKE(H5Tget_member_offset)
    TAKE(H5Tget_super)
    TAKE(H5Tclose)
#undef TAKE
}

bool
h5twin_policy_dataset_of(int64_t dataset, const char *path, struct h5twin_policy_dataset *described,
                         const char **why)
{
    struct h5twin_policy_hdf5 hdf5;
    take_functions(&hdf5);
    const hid_t dcpl = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    const hid_t space = H5Dget_space(dataset);
    if (H5Pget_nfilters(dcpl) > 0) {
        H5Premove_filter(dcpl, H5Z_FILTER_ALL);
    }
    *why = h5twin_policy_describe(&hdf5, dcpl, type, space, described);
    described->path = path;
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(dcpl);
    H5Eclear2(H5E_DEFAULT);
    return *why == NULL;
}

static void
print_line(const char *path, const char *array, const char *result, const char *detail)
{
    const char *const columns[] = {path, array, result, detail};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        h5twin_put_text(stdout, columns[i]);
        putchar(i + 1 < sizeof columns / sizeof columns[0] ? '\t' : '\n');
    }
}

static int
explain_dataset(void *context, hid_t dataset, const char *name)
{
    const struct h5twin_policy *const policy = context;
    struct h5twin_policy_dataset described;
    struct h5twin_policy_outcome outcome;
    char detail[H5TWIN_POLICY_SENTENCE];
    const char *why;
    const bool is_usual = h5twin_policy_dataset_of(dataset, name, &described, &why);
    h5twin_policy_choose(policy, &described, &outcome);
    h5twin_policy_detail(&outcome, detail);
    if (is_usual) {
        print_line(name, outcome.array, outcome.is_coded ? outcome.spec : "left alone", detail);
    } else {
        print_line(name, outcome.array, "left alone", why);
    }
    return 0;
}

int
h5twin_policy_explain(const struct h5twin_policy *policy, const char *path)
{
    const hid_t file = h5twin_hdf5_open(path);
    if (file < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    const int result = h5twin_hdf5_each(file, explain_dataset, (void *)(uintptr_t)policy) == 0
                           ? H5TWIN_EXIT_OK
                           : h5twin_hdf5_fail(path, "", "read");
    H5Fclose(file);
    return result;
}
