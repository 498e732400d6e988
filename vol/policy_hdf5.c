/* SPDX-License-Identifier: BSD-3-Clause
 * policy_hdf5.c: a policy on what HDF5 is asked to create a dataset with. Numbers of HDF5's
 * enumerations have not changed since 1.10; tests/vol/test_policy_hdf5.c compares them. */
#include "policy_rules.h"

#include <stdio.h>
#include <string.h>

enum { /* H5D_layout_t, H5D_alloc_time_t, H5S_class_t, H5T_sign_t */
       LAYOUT_CONTIGUOUS = 1,
       LAYOUT_CHUNKED = 2,
       ALLOC_EARLY = 1,
       SPACE_SIMPLE = 1,
       SIGN_NONE = 0,
};

#define ORDER_TRACKED 1u /* H5P_CRT_ORDER_TRACKED: what netCDF-4 sets for all its datasets */

bool
h5twin_policy_hdf5_find(struct h5twin_policy_hdf5 *hdf5,
                        void *(*find)(void *context, const char *name), void *context)
{
    bool found = true;
    void *symbol;
    /* memcpy: C has no conversion from a data pointer to a function pointer. */
#define FIND(type, name, parameters)                                                               \
    symbol = find(context, #name);                                                                 \
    memcpy(&hdf5->name, &symbol, sizeof symbol);                                                   \
    found = found && symbol != NULL;
    H5TWIN_POLICY_FUNCTIONS(FIND)
#undef FIND
    return found;
}

/* ---- the type ---- */

static enum h5twin_policy_type
integer_type(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid type, size_t size)
{
    const bool is_unsigned = hdf5->H5Tget_sign(type) == SIGN_NONE;
    if (hdf5->H5Tget_precision(type) != 8 * size) {
        return H5TWIN_POLICY_OTHER;
    }
    switch (size) {
    case 1:
        return is_unsigned ? H5TWIN_POLICY_UINT8 : H5TWIN_POLICY_INT8;
    case 2:
        return is_unsigned ? H5TWIN_POLICY_UINT16 : H5TWIN_POLICY_INT16;
    case 4:
        return is_unsigned ? H5TWIN_POLICY_UINT32 : H5TWIN_POLICY_INT32;
    case 8:
        return is_unsigned ? H5TWIN_POLICY_UINT64 : H5TWIN_POLICY_INT64;
    default:
        return H5TWIN_POLICY_OTHER;
    }
}

/* IEEE binary32 and binary64 alone: what else has as many bytes is none of a codec's floats. */
static enum h5twin_policy_type
float_type(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid type, size_t size)
{
    size_t sign_at, exponent_at, exponent_bits, mantissa_at, mantissa_bits;
    const size_t mantissa = size == 4 ? 23 : 52;
    return (size == 4 || size == 8) && hdf5->H5Tget_precision(type) == 8 * size &&
                   hdf5->H5Tget_fields(type, &sign_at, &exponent_at, &exponent_bits, &mantissa_at,
                                       &mantissa_bits) >= 0 &&
                   sign_at == 8 * size - 1 && exponent_at == mantissa &&
                   exponent_bits == 8 * size - 1 - mantissa && mantissa_bits == mantissa
               ? (size == 4 ? H5TWIN_POLICY_FLOAT32 : H5TWIN_POLICY_FLOAT64)
               : H5TWIN_POLICY_OTHER;
}

static enum h5twin_policy_type
number_type(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid type)
{
    const int order = hdf5->H5Tget_order(type);
    const size_t size = hdf5->H5Tget_size(type);
    if (order != H5TWIN_HDF5_ORDER_LE && order != H5TWIN_HDF5_ORDER_BE) {
        return H5TWIN_POLICY_OTHER;
    }
    switch (hdf5->H5Tget_class(type)) {
    case H5TWIN_HDF5_INTEGER:
        return integer_type(hdf5, type, size);
    case H5TWIN_HDF5_FLOAT:
        return float_type(hdf5, type, size);
    default:
        return H5TWIN_POLICY_OTHER;
    }
}

static enum h5twin_policy_type
complex_of(enum h5twin_policy_type part, size_t part_size, size_t size)
{
    return size != 2 * part_size           ? H5TWIN_POLICY_OTHER
           : part == H5TWIN_POLICY_FLOAT32 ? H5TWIN_POLICY_COMPLEX64
           : part == H5TWIN_POLICY_FLOAT64 ? H5TWIN_POLICY_COMPLEX128
                                           : H5TWIN_POLICY_OTHER;
}

/* A compound of two equal floats without gaps: what h5py and others make of complex numbers. */
static enum h5twin_policy_type
pair_type(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid type)
{
    if (hdf5->H5Tget_nmembers(type) != 2) {
        return H5TWIN_POLICY_OTHER;
    }
    enum h5twin_policy_type parts[2];
    size_t sizes[2];
    int orders[2];
    for (unsigned i = 0; i < 2; i++) {
        const h5twin_hid part = hdf5->H5Tget_member_type(type, i);
        if (part < 0) {
            return H5TWIN_POLICY_OTHER;
        }
        parts[i] = number_type(hdf5, part);
        sizes[i] = hdf5->H5Tget_size(part);
        orders[i] = hdf5->H5Tget_order(part);
        hdf5->H5Tclose(part);
    }
    return parts[0] == parts[1] && orders[0] == orders[1] &&
                   hdf5->H5Tget_member_offset(type, 0) == 0 &&
                   hdf5->H5Tget_member_offset(type, 1) == sizes[0]
               ? complex_of(parts[0], sizes[0], hdf5->H5Tget_size(type))
               : H5TWIN_POLICY_OTHER;
}

static enum h5twin_policy_type
complex_type(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid type)
{
    const h5twin_hid part = hdf5->H5Tget_super(type);
    if (part < 0) {
        return H5TWIN_POLICY_OTHER;
    }
    const enum h5twin_policy_type part_type = number_type(hdf5, part);
    const size_t part_size = hdf5->H5Tget_size(part);
    hdf5->H5Tclose(part);
    return complex_of(part_type, part_size, hdf5->H5Tget_size(type));
}

static enum h5twin_policy_type
type_of(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid type)
{
    switch (hdf5->H5Tget_class(type)) {
    case H5TWIN_HDF5_COMPOUND:
        return pair_type(hdf5, type);
    case H5TWIN_HDF5_COMPLEX:
        return complex_type(hdf5, type);
    default:
        return number_type(hdf5, type);
    }
}

/* ---- the rest ---- */

static void
take_space(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid space,
           struct h5twin_policy_dataset *dataset)
{
    const int rank = hdf5->H5Sget_simple_extent_type(space) == SPACE_SIMPLE
                         ? hdf5->H5Sget_simple_extent_ndims(space)
                         : 0;
    if (rank > 0 && rank <= H5TWIN_HDF5_MAX_RANK &&
        hdf5->H5Sget_simple_extent_dims(space, dataset->dims, dataset->most_dims) == rank) {
        dataset->rank = (uint32_t)rank;
    }
}

/* The dimension of a netCDF-4 file that has no variable is a row of big-endian floats which stays
 * unwritten; its attributes are in order, as those of all that netCDF makes. */
static bool
is_placeholder(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid dcpl, h5twin_hid type,
               const struct h5twin_policy_dataset *dataset)
{
    unsigned order = 0;
    return dataset->rank == 1 && dataset->type == H5TWIN_POLICY_FLOAT32 &&
           hdf5->H5Tget_order(type) == H5TWIN_HDF5_ORDER_BE &&
           hdf5->H5Pget_attr_creation_order(dcpl, &order) >= 0 && (order & ORDER_TRACKED) != 0;
}

/* NULL, or why the program's list is to stay as it is. */
static const char *
take_list(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid dcpl,
          struct h5twin_policy_dataset *dataset)
{
    const int layout = hdf5->H5Pget_layout(dcpl);
    int alloc_time;
    if (hdf5->H5Pget_nfilters(dcpl) != 0) {
        return "the program sets a filter itself";
    }
    if (layout != LAYOUT_CONTIGUOUS && layout != LAYOUT_CHUNKED) {
        return "it is compact or virtual";
    }
    if (hdf5->H5Pget_external_count(dcpl) != 0) {
        return "its values are in other files";
    }
    dataset->has_chunk = layout == LAYOUT_CHUNKED;
    if (dataset->has_chunk && dataset->rank > 0 &&
        hdf5->H5Pget_chunk(dcpl, (int)dataset->rank, dataset->chunk) != (int)dataset->rank) {
        return "its chunks are of another rank";
    }
    if (!dataset->has_chunk && hdf5->H5Pget_alloc_time(dcpl, &alloc_time) >= 0 &&
        alloc_time == ALLOC_EARLY) {
        return "the program allocates it in one piece at once, as who reads or writes it without "
               "HDF5 does";
    }
    return NULL;
}

/* ---- the changed list ---- */

/* Whether this HDF5 has the filter, by a plugin or, after this, from here. */
static bool
has_filter(const struct h5twin_policy_hdf5 *hdf5, const struct h5twin_params *params)
{
    const int filter = (int)h5twin_codec_by_id(params->codec)->filter_id;
    const void *class;
    if (hdf5->H5Zfilter_avail(filter) > 0) {
        return true;
    }
    const void *address;
    memcpy(&address, &hdf5->H5Zregister, sizeof address);
    class = h5twin_hdf5_class_for((int)params->codec, address);
    return class != NULL && hdf5->H5Zregister(class) >= 0;
}

static h5twin_hid
change_list(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid dcpl,
            const struct h5twin_policy_outcome *outcome)
{
    unsigned words[H5TWIN_USER_CD_VALUES];
    const unsigned count = h5twin_params_to_cd_values(&outcome->params, words);
    const int filter = (int)h5twin_codec_by_id(outcome->params.codec)->filter_id;
    const h5twin_hid changed = hdf5->H5Pcopy(dcpl);
    if (changed >= 0 && has_filter(hdf5, &outcome->params) &&
        (!outcome->is_new_chunk ||
         hdf5->H5Pset_chunk(changed, (int)outcome->rank, outcome->chunk) >= 0) &&
        hdf5->H5Pset_filter(changed, filter, 0, count, words) >= 0) {
        return changed;
    }
    if (changed >= 0) {
        hdf5->H5Pclose(changed);
    }
    return H5TWIN_POLICY_LEAVE;
}

const char *
h5twin_policy_describe(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid dcpl, h5twin_hid type,
                       h5twin_hid space, struct h5twin_policy_dataset *dataset)
{
    *dataset = (struct h5twin_policy_dataset){.type = type_of(hdf5, type),
                                              .element_size = (uint32_t)hdf5->H5Tget_size(type)};
    take_space(hdf5, space, dataset);
    dataset->is_placeholder = is_placeholder(hdf5, dcpl, type, dataset);
    return take_list(hdf5, dcpl, dataset);
}

static void
leave(struct h5twin_policy_outcome *outcome, const char *why)
{
    outcome->is_coded = false;
    snprintf(outcome->why, sizeof outcome->why, "%s", why);
}

h5twin_hid
h5twin_policy_apply(const struct h5twin_policy_hdf5 *hdf5, const struct h5twin_policy *policy,
                    const char *path, bool is_parallel, h5twin_hid dcpl, h5twin_hid type,
                    h5twin_hid space, struct h5twin_policy_outcome *outcome)
{
    struct h5twin_policy_dataset dataset;
    const char *const why = h5twin_policy_describe(hdf5, dcpl, type, space, &dataset);
    dataset.path = path;
    dataset.is_parallel = is_parallel;
    h5twin_policy_choose(policy, &dataset, outcome);
    if (why != NULL) {
        outcome->line = 0;
        leave(outcome, why);
    }
    if (!outcome->is_coded) {
        return H5TWIN_POLICY_LEAVE;
    }
    const h5twin_hid changed = change_list(hdf5, dcpl, outcome);
    if (changed == H5TWIN_POLICY_LEAVE) {
        leave(outcome, "HDF5 does not take the filter or the chunks");
    }
    return changed;
}

void
h5twin_policy_refused(struct h5twin_policy_outcome *outcome)
{
    leave(outcome, "HDF5 does not create it with this codec and these chunks");
}
