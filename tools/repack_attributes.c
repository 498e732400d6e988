/* SPDX-License-Identifier: BSD-3-Clause
 * repack_attributes.c: `h5twin repack`: attributes of a dataset that say what was done to its
 * values. docs/pages/recipes/tools.md tells their names and what they owe to the CF conventions. */
#include "messages.h"
#include "repack_hdf5.h"
#include "said.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
put(hid_t dataset, const char *name, hid_t type, const void *value)
{
    const hid_t old = H5Aopen(dataset, name, H5P_DEFAULT);
    if (old >= 0) {
        H5Aclose(old);
        H5Adelete(dataset, name);
    }
    H5Eclear2(H5E_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t made = H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = made >= 0 && H5Awrite(made, type, value) >= 0;
    H5Aclose(made);
    H5Sclose(space);
    return done;
}

static bool
put_text(hid_t dataset, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool done = H5Tset_size(type, strlen(text) + 1) >= 0 && put(dataset, name, type, text);
    H5Tclose(type);
    return done;
}

static bool
put_number(hid_t dataset, const char *name, double value)
{
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(bits >> 8 * i);
    }
    return put(dataset, name, H5T_IEEE_F64LE, bytes);
}

static void
take_away(hid_t dataset, const char *name)
{
    const hid_t old = H5Aopen(dataset, name, H5P_DEFAULT);
    if (old >= 0) {
        H5Aclose(old);
        H5Adelete(dataset, name);
    }
    H5Eclear2(H5E_DEFAULT);
}

/* Whether the last of several specs is this one and nothing changed: values that lie on the grid of
 * an absolute bound keep their places. Other bounds are taken anew from what is in a chunk. */
static bool
changes_nothing(const char *specs, const char *spec, enum h5twin_mode mode)
{
    const size_t length = strlen(specs), own = strlen(spec);
    return mode == H5TWIN_ABS && strstr(spec, "stable=no") == NULL && length >= own &&
           strcmp(specs + length - own, spec) == 0 &&
           (length == own || specs[length - own - 1] == ' ');
}

/* One bound, of the kind that the dataset was coded with; those of another kind go, as they tell
 * of the values before. Errors of two passes add up. */
static bool
put_bound(hid_t dataset, const struct h5twin_params *params, const struct h5twin_said *before)
{
    static const char *const names[] = {[H5TWIN_ABS] = H5TWIN_SAID_ABS,
                                        [H5TWIN_NOA] = H5TWIN_SAID_NOA,
                                        [H5TWIN_REL] = H5TWIN_SAID_REL};
    const bool was_lossy = before->spec[0] != '\0';
    const bool adds_up = !was_lossy || (before->has_abs && params->mode == H5TWIN_ABS);
    for (unsigned mode = H5TWIN_ABS; mode <= H5TWIN_REL; mode++) {
        take_away(dataset, names[mode]);
    }
    return !adds_up || put_number(dataset, names[params->mode],
                                  params->error_bound + (was_lossy ? before->abs : 0));
}

bool
h5twin_repack_say(struct h5twin_repack *repack, const struct h5twin_object *object)
{
    const struct h5twin_params *const params = &object->choice.params;
    if (!object->is_coded || params->mode == H5TWIN_LOSSLESS || repack->args->leave_attributes) {
        return true;
    }
    struct h5twin_said before;
    char spec[256], all[sizeof before.spec + sizeof spec + 8], implementation[128];
    size_t size;
    H5T_order_t order;
    const hid_t dataset = H5Dopen2(repack->dst, object->path, H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    bool done = dataset >= 0;
    if (done && h5twin_hdf5_is_floats(type, &size, &order)) {
        h5twin_said_read(&before, dataset);
        h5twin_params_format(params, spec, sizeof spec);
        if (changes_nothing(before.spec, spec, params->mode)) {
            H5Tclose(type);
            return h5twin_repack_close(repack, object->path, dataset);
        }
        snprintf(all, sizeof all, "%s%s%s", before.spec, before.spec[0] == '\0' ? "" : ", then ",
                 spec);
        snprintf(implementation, sizeof implementation, "h5twin version %s (HDF5 filter %u)",
                 h5twin_version(), (unsigned)h5twin_codec_by_id(params->codec)->filter_id);
        done = put_text(dataset, H5TWIN_SAID_SPEC, all) &&
               put_text(dataset, H5TWIN_SAID_IMPLEMENTATION, implementation) &&
               put_bound(dataset, params, &before);
    }
    done = done || h5twin_repack_fail(repack, object->path, "given attributes");
    H5Tclose(type);
    return h5twin_repack_close(repack, object->path, dataset) && done;
}
