/* SPDX-License-Identifier: BSD-3-Clause
 * dataset.c: see dataset.h. Only attributes of types are compared, never identifiers of predefined
 * types: those are variables of the HDF5 library. */
#include "dataset.h"

#include "common/bits.h"
#include "common/byte_order.h"
#include "common/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting of compounds and arrays is taken as bytes. */
#define MAX_DEPTH 8

/* One element: count values of one kind and size, without gaps. */
struct element {
    enum h5twin_kind kind;
    size_t size; /* bytes of one value */
    bool big_endian;
    size_t count;
};

static struct element
opaque_element(size_t size)
{
    return (struct element){.kind = H5TWIN_OTHER, .size = size, .count = 1};
}

/* Whether a type of class float is exactly IEEE binary32 or binary64. */
static bool
is_ieee(const struct h5twin_hdf5 *hdf5, h5twin_hid type, size_t size)
{
    size_t sign_at, exponent_at, exponent_bits, mantissa_at, mantissa_bits;
    if (!hdf5->has[H5TWIN_HDF5_FLOATS]) {
        return size == 4 || size == 8; /* likely, and only used without loss */
    }
    if ((size != 4 && size != 8) || hdf5->H5Tget_precision(type) != 8 * size ||
        hdf5->H5Tget_offset(type) != 0 || hdf5->H5Tget_norm(type) != H5TWIN_HDF5_NORM_IMPLIED ||
        hdf5->H5Tget_fields(type, &sign_at, &exponent_at, &exponent_bits, &mantissa_at,
                            &mantissa_bits) < 0) {
        return false;
    }
    const size_t wanted_mantissa = size == 4 ? 23 : 52;
    return sign_at == 8 * size - 1 && exponent_at == wanted_mantissa &&
           exponent_bits == 8 * size - 1 - wanted_mantissa && mantissa_at == 0 &&
           mantissa_bits == wanted_mantissa &&
           hdf5->H5Tget_ebias(type) == (size == 4 ? 127u : 1023u);
}

static struct element
describe_number(const struct h5twin_hdf5 *hdf5, h5twin_hid type, int type_class, size_t size)
{
    const int order = hdf5->H5Tget_order(type);
    struct element element = opaque_element(size);
    if (order != H5TWIN_HDF5_ORDER_LE && order != H5TWIN_HDF5_ORDER_BE) {
        return element;
    }
    if (type_class == H5TWIN_HDF5_FLOAT && !is_ieee(hdf5, type, size)) {
        return element;
    }
    element.kind = type_class == H5TWIN_HDF5_FLOAT ? H5TWIN_FLOAT : H5TWIN_INTEGER;
    element.big_endian = order == H5TWIN_HDF5_ORDER_BE;
    return element;
}

static struct element describe_element(const struct h5twin_hdf5 *hdf5, h5twin_hid type,
                                       unsigned depth);

/* Array or complex number: repeats of its base type. */
static struct element
describe_repeated(const struct h5twin_hdf5 *hdf5, h5twin_hid type, size_t size, unsigned depth)
{
    const h5twin_hid base = hdf5->H5Tget_super(type);
    if (base < 0) {
        return opaque_element(size);
    }
    struct element element = describe_element(hdf5, base, depth + 1);
    hdf5->H5Tclose(base);
    if (element.kind != H5TWIN_FLOAT || size % element.size != 0) {
        return opaque_element(size);
    }
    element.count = size / element.size;
    return element;
}

/* Members that are all the same float, and leave no byte of the compound to padding. */
static struct element
describe_compound(const struct h5twin_hdf5 *hdf5, h5twin_hid type, size_t size, unsigned depth)
{
    const int member_count = hdf5->H5Tget_nmembers(type);
    struct element all = opaque_element(size);
    size_t members_size = 0;
    for (int i = 0; i < member_count; i++) {
        const h5twin_hid member_type = hdf5->H5Tget_member_type(type, (unsigned)i);
        if (member_type < 0) {
            return opaque_element(size);
        }
        const struct element member = describe_element(hdf5, member_type, depth + 1);
        hdf5->H5Tclose(member_type);
        if (member.kind != H5TWIN_FLOAT ||
            (i > 0 && (member.size != all.size || member.big_endian != all.big_endian))) {
            return opaque_element(size);
        }
        all = member;
        members_size += member.size * member.count;
    }
    if (all.kind != H5TWIN_FLOAT || members_size != size) {
        return opaque_element(size);
    }
    all.count = size / all.size;
    return all;
}

static struct element
describe_element(const struct h5twin_hdf5 *hdf5, h5twin_hid type, unsigned depth)
{
    const size_t size = hdf5->H5Tget_size(type);
    if (depth > MAX_DEPTH || size == 0) {
        return opaque_element(size);
    }
    const int type_class = hdf5->H5Tget_class(type);
    switch (type_class) {
    case H5TWIN_HDF5_INTEGER:
    case H5TWIN_HDF5_FLOAT:
        return describe_number(hdf5, type, type_class, size);
    case H5TWIN_HDF5_ARRAY:
    case H5TWIN_HDF5_COMPLEX:
        return describe_repeated(hdf5, type, size, depth);
    case H5TWIN_HDF5_COMPOUND:
        return describe_compound(hdf5, type, size, depth);
    default:
        return opaque_element(size);
    }
}

/* ---- fill value ---- */

/* The bits of the one float that all values of a filled element have; false if they differ. */
static bool
same_float(const uint8_t *values, const struct element *element, uint64_t *bits)
{
    *bits = 0;
    for (size_t i = 0; i < element->count; i++) {
        uint8_t value[8];
        if (element->big_endian) {
            h5twin_swap_words(value, values + i * element->size, element->size,
                              (unsigned)element->size);
        } else {
            memcpy(value, values + i * element->size, element->size);
        }
        const uint64_t found = element->size == 4 ? h5twin_load32(value) : h5twin_load64(value);
        if (i > 0 && found != *bits) {
            return false;
        }
        *bits = found;
    }
    return true;
}

/* The one float that the dataset's own fill value consists of. */
static const char *
get_fill_value(const struct h5twin_hdf5 *hdf5, h5twin_hid dcpl, h5twin_hid type,
               const struct element *element, double *fill)
{
    uint64_t bits;
    uint8_t *const values = calloc(element->count, element->size);
    if (values == NULL) {
        return h5twin_status_message(H5TWIN_ERR_MEMORY);
    }
    const char *why = NULL;
    if (hdf5->H5Pget_fill_value(dcpl, type, values) < 0) {
        why = "HDF5 does not tell the fill value, which a lossy filter must keep as it is: use the "
              "lossless mode.";
    } else if (!same_float(values, element, &bits)) {
        why = "The members of the fill value differ, and a lossy filter can keep only one value as "
              "it is: use the lossless mode, or the same fill value for all members.";
    } else {
        *fill = h5twin_double_of_bits(element->size == 4 ? h5twin_widen_float_bits((uint32_t)bits)
                                                         : bits);
    }
    free(values);
    return why;
}

/* Whether the dataset's fill value needs words beside those of the one that the filter was told:
 * not if it is the same, nor if it is exact anyway. */
static bool
is_another(const struct h5twin_params *params, const struct element *element)
{
    const uint64_t named = h5twin_bits_of_double(params->fill);
    const uint64_t own = h5twin_bits_of_double(params->declared_fill);
    return isfinite(params->declared_fill) &&
           (element->size == 4 ? h5twin_narrow_double_bits(named) != h5twin_narrow_double_bits(own)
                               : named != own);
}

/* Lossy floats: what stands for missing data, and what HDF5 pads the chunks at the dataset's edges
 * with. That is the user's fill value, zeros if there is none or it is never written; such zeros
 * matter to a range. The filter may have been told of another value. */
static const char *
describe_fill(const struct h5twin_hdf5 *hdf5, h5twin_hid dcpl, h5twin_hid type,
              const struct element *element, struct h5twin_cd *cd)
{
    int defined, fill_time;
    if (hdf5->H5Pfill_value_defined(dcpl, &defined) < 0 ||
        hdf5->H5Pget_fill_time(dcpl, &fill_time) < 0) {
        return "HDF5 does not tell whether there is a fill value, which a lossy filter must keep "
               "as it is: use the lossless mode.";
    }
    const bool is_relative = cd->params.mode == H5TWIN_NOA;
    const bool has_own = defined == H5TWIN_HDF5_FILL_USER_DEFINED;
    const bool pads_zeros = !has_own || fill_time == H5TWIN_HDF5_FILL_TIME_NEVER;
    struct h5twin_params *const params = &cd->params;
    params->zeros_are_padding = is_relative && pads_zeros && (has_own || params->has_fill);
    params->has_declared_fill = has_own || (is_relative && !params->has_fill);
    params->declared_fill = 0;
    const char *const why =
        has_own ? get_fill_value(hdf5, dcpl, type, element, &params->declared_fill) : NULL;
    if (has_own && params->has_fill && why == NULL) {
        params->has_declared_fill = is_another(params, element);
    }
    return why;
}

const char *
h5twin_dataset_describe(const struct h5twin_hdf5 *hdf5, h5twin_hid dcpl, h5twin_hid type,
                        h5twin_hid space, bool is_new, struct h5twin_cd *cd)
{
    if (cd->params.mode != H5TWIN_LOSSLESS && !hdf5->has[H5TWIN_HDF5_FLOATS]) {
        return "The HDF5 library inside this program cannot tell whether these are IEEE floats, "
               "which an error bound needs: call h5twin_hdf5_register() of libh5twin, link a "
               "shared "
               "libhdf5, or use the lossless mode.";
    }
    const struct element element = describe_element(hdf5, type, 0);
    const int rank = hdf5->H5Sget_simple_extent_ndims(space);
    uint64_t dims[H5TWIN_HDF5_MAX_RANK];
    if (element.size == 0 || rank < 0 || rank > H5TWIN_HDF5_MAX_RANK ||
        hdf5->H5Sget_simple_extent_dims(space, dims, NULL) < 0) {
        return "HDF5 does not tell the dataset's type or chunk shape: use a chunked layout.";
    }
    const bool is_lossy = cd->params.mode != H5TWIN_LOSSLESS && element.kind == H5TWIN_FLOAT;
    if (is_new && is_lossy) {
        const char *const why = describe_fill(hdf5, dcpl, type, &element, cd);
        if (why != NULL) {
            return why;
        }
    } else if (!is_lossy) {
        cd->params.has_fill = cd->params.has_declared_fill = cd->params.zeros_are_padding = false;
    }
    h5twin_cd_set_array(cd, element.kind, element.size, element.big_endian, element.count,
                        (unsigned)rank, dims);
    return NULL;
}
