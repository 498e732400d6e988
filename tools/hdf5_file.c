/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_file.c: see hdf5_file.h. */
#include "hdf5_file.h"

#include "array_args.h"
#include "cd_values.h"
#include "commands.h"
#include "messages.h"

#ifdef H5TWIN_HDF5_AT_RUN_TIME
#    include "hdf5_loaded.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So that datasets can be read without the plugins. */
static void
register_filters(void)
{
#ifdef H5TWIN_HAVE_FILTERS
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        H5Zregister(h5twin_hdf5_class(h5twin_codec_at(i)->id));
    }
#endif
}

bool
h5twin_hdf5_is_here(void)
{
#ifdef H5TWIN_HDF5_AT_RUN_TIME
    return h5twin_hdf5_is_loaded();
#else
    return true;
#endif
}

hid_t
h5twin_hdf5_open_silently(const char *path)
{
#ifdef H5TWIN_HDF5_AT_RUN_TIME
    if (!h5twin_hdf5_load(path)) {
        return H5I_INVALID_HID;
    }
#endif
    H5dont_atexit(); /* files are closed by then, and HDF5 crashes where that has failed */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    register_filters();
    return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

/* The innermost entry, the first when walking upwards, says what happened. */
static herr_t
take_first(unsigned index, const H5E_error2_t *error, void *text)
{
    if (index == 0 && error->desc != NULL && error->desc[0] != '\0') {
        char *const line = text;
        snprintf(line, H5TWIN_WHY_TEXT, "%s", error->desc);
        for (size_t i = strcspn(line, "\n"); line[i] != '\0'; i += strcspn(line + i, "\n")) {
            line[i] = ' '; /* as between a time and what happened */
        }
    }
    return 0;
}

void
h5twin_hdf5_why(char why[H5TWIN_WHY_TEXT])
{
    snprintf(why, H5TWIN_WHY_TEXT, "HDF5 does not say why");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, why);
    H5Eclear2(H5E_DEFAULT);
}

int
h5twin_hdf5_fail(const char *path, const char *dataset, const char *action)
{
    char text[H5TWIN_WHY_TEXT];
    h5twin_hdf5_why(text);
    return h5twin_fail("%s%s%s cannot be %s: %s.", path, dataset[0] == '\0' ? "" : ": ", dataset,
                       action, text);
}

hid_t
h5twin_hdf5_open(const char *path)
{
    const hid_t file = h5twin_hdf5_open_silently(path);
    if (file < 0 && h5twin_hdf5_is_here()) {
        h5twin_hdf5_fail(path, "", "opened");
    }
    return file;
}

#define COMPLEX ((H5T_class_t)11) /* from HDF5 2.0 */

struct visit {
    h5twin_dataset_visit each;
    void *context;
    int result;
};

static herr_t
visit_object(hid_t root, const char *name, const H5O_info_t *info, void *data)
{
    struct visit *const visit = data;
    if (info->type != H5O_TYPE_DATASET) {
        return 0;
    }
    const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    if (dataset < 0) {
        return -1;
    }
    char *const full_name = malloc(strlen(name) + 2);
    if (full_name != NULL) {
        sprintf(full_name, "/%s", name);
        visit->result = visit->each(visit->context, dataset, full_name);
    }
    free(full_name);
    H5Dclose(dataset);
    return full_name == NULL ? -1 : visit->result == 0 ? 0 : 1;
}

int
h5twin_hdf5_each(hid_t file, h5twin_dataset_visit each, void *context)
{
    struct visit visit = {.each = each, .context = context};
    const herr_t status = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, visit_object, &visit);
    return status < 0 ? -1 : visit.result;
}

/* Of the same size, others have another bias, precision or place. */
static bool
is_ieee(hid_t type)
{
    return H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F64LE) > 0 ||
           H5Tequal(type, H5T_IEEE_F32BE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
}

void
h5twin_hdf5_element(struct h5twin_params *params, hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset);
    const size_t size = H5Tget_size(type);
    const H5T_class_t class = H5Tget_class(type);
    const bool is_float = class == H5T_FLOAT && is_ieee(type);
    const bool is_integer = (class == H5T_INTEGER || class == H5T_BITFIELD || class == H5T_ENUM) &&
                            (size == 1 || size == 2 || size == 4 || size == 8);
    params->kind = is_float ? H5TWIN_FLOAT : is_integer ? H5TWIN_INTEGER : H5TWIN_OTHER;
    params->element_size = (uint32_t)size;
    params->big_endian = (is_float || is_integer) && size > 1 && H5Tget_order(type) == H5T_ORDER_BE;
    H5Tclose(type);
}

bool
h5twin_hdf5_is_floats(hid_t type, size_t *size, H5T_order_t *order)
{
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_FLOAT) {
        *size = H5Tget_size(type);
        *order = H5Tget_order(type);
        return is_ieee(type);
    }
    if (class == H5T_ARRAY || class == COMPLEX) {
        const hid_t super = H5Tget_super(type);
        const bool result = h5twin_hdf5_is_floats(super, size, order);
        H5Tclose(super);
        return result;
    }
    const int member_count = class == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    bool result = member_count > 0;
    size_t total = 0;
    for (int i = 0; i < member_count && result; i++) {
        size_t member_size = 0;
        H5T_order_t member_order = H5T_ORDER_NONE;
        const hid_t member = H5Tget_member_type(type, (unsigned)i);
        result = h5twin_hdf5_is_floats(member, &member_size, &member_order) &&
                 (i == 0 || (member_size == *size && member_order == *order));
        total += H5Tget_size(member);
        *size = member_size;
        *order = member_order;
        H5Tclose(member);
    }
    return result && total == H5Tget_size(type);
}

const char *
h5twin_hdf5_element_text(hid_t dataset, char text[H5TWIN_ELEMENT_TEXT])
{
    static const char *const class_names[] = {
        [H5T_INTEGER] = "integer",   [H5T_FLOAT] = "float",         [H5T_TIME] = "time",
        [H5T_STRING] = "string",     [H5T_BITFIELD] = "bits",       [H5T_OPAQUE] = "opaque",
        [H5T_COMPOUND] = "compound", [H5T_REFERENCE] = "reference", [H5T_ENUM] = "enum",
        [H5T_VLEN] = "sequence",     [H5T_ARRAY] = "array",
    };
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(type);
    const unsigned long long size = H5Tget_size(type);
    const bool is_known = class >= 0 && (size_t) class < sizeof class_names / sizeof class_names[0];
    struct h5twin_params params = {.kind = H5TWIN_OTHER};
    h5twin_hdf5_element(&params, dataset);
    if (params.kind == H5TWIN_FLOAT || class == H5T_INTEGER) {
        char name[16];
        const bool is_unsigned = class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
        h5twin_type_name(&params, name);
        if (is_unsigned && name[0] == 'i') {
            name[0] = 'u';
        }
        snprintf(text, H5TWIN_ELEMENT_TEXT, "%s", name);
    } else {
        snprintf(text, H5TWIN_ELEMENT_TEXT, "%s of %llu bytes",
                 is_known ? class_names[class] : "type", size);
    }
    H5Tclose(type);
    return text;
}

const char *
h5twin_hdf5_shape_text(int rank, const hsize_t *dims, char text[H5TWIN_SHAPE_TEXT])
{
    size_t length = 0;
    snprintf(text, H5TWIN_SHAPE_TEXT, "scalar");
    for (int axis = 0; axis < rank; axis++) {
        length += (size_t)snprintf(text + length, H5TWIN_SHAPE_TEXT - length, "%s%llu",
                                   axis == 0 ? "" : "x", (unsigned long long)dims[axis]);
    }
    return text;
}

const struct h5twin_codec_info *
h5twin_hdf5_codec(H5Z_filter_t filter_id)
{
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        if ((H5Z_filter_t)codec->filter_id == filter_id) {
            return codec;
        }
    }
    return NULL;
}

uint64_t
h5twin_hdf5_raw_size(hid_t dataset)
{
    const hid_t space = H5Dget_space(dataset);
    const hid_t type = H5Dget_type(dataset);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const uint64_t size = (uint64_t)(count < 0 ? 0 : count) * H5Tget_size(type);
    H5Tclose(type);
    H5Sclose(space);
    return size;
}

bool
h5twin_hdf5_is_variable(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    bool found = class == H5T_VLEN || (class == H5T_STRING && H5Tis_variable_str(type) > 0);
    const int member_count = class == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    for (int i = 0; i < member_count && !found; i++) {
        const hid_t member = H5Tget_member_type(type, (unsigned)i);
        found = h5twin_hdf5_is_variable(member);
        H5Tclose(member);
    }
    if (class == H5T_ARRAY) {
        const hid_t super = H5Tget_super(type);
        found = h5twin_hdf5_is_variable(super);
        H5Tclose(super);
    }
    return found;
}

bool
h5twin_hdf5_unwritten(hid_t dcpl, hid_t type, uint8_t *element, bool *by_hdf5)
{
    H5D_fill_value_t defined;
    H5D_fill_time_t fill_time;
    memset(element, 0, H5Tget_size(type));
    if (H5Pget_fill_time(dcpl, &fill_time) < 0 || H5Pfill_value_defined(dcpl, &defined) < 0) {
        return false;
    }
    *by_hdf5 = fill_time != H5D_FILL_TIME_NEVER && defined != H5D_FILL_VALUE_UNDEFINED;
    return defined == H5D_FILL_VALUE_UNDEFINED || h5twin_hdf5_is_variable(type) ||
           H5Pget_fill_value(dcpl, type, element) >= 0;
}

void
h5twin_hdf5_fill(uint8_t *values, size_t size, const uint8_t *element, size_t element_size)
{
    for (size_t at = 0; at < size; at += element_size) {
        memcpy(values + at, element, element_size);
    }
}

uint64_t
h5twin_hdf5_file_size(hid_t dataset)
{
    hsize_t size = 0;
    const hid_t file = H5Iget_file_id(dataset);
    if (file < 0 || H5Fget_filesize(file, &size) < 0) {
        size = 0;
    }
    H5Fclose(file);
    return size;
}

/* Whether the words of a filter of ours tell of such chunks. */
static bool
describes(const unsigned *words, size_t word_count, enum h5twin_codec_id codec, int rank,
          const hsize_t *chunk, size_t type_size)
{
    struct h5twin_cd cd, other;
    const char *why;
    uint64_t dims[H5S_MAX_RANK];
    if (h5twin_cd_read(&cd, codec, words, word_count, &why) != H5TWIN_OK || !cd.has_array ||
        cd.params.rank == 0) {
        return true; /* they tell of none */
    }
    for (int axis = 0; axis < rank; axis++) {
        dims[axis] = chunk[axis];
    }
    const size_t element_size = cd.params.element_size;
    other = cd;
    h5twin_cd_set_array(&other, cd.params.kind, element_size, cd.params.big_endian,
                        type_size / element_size, (unsigned)rank, dims);
    bool same = type_size % element_size == 0 && other.params.rank == cd.params.rank;
    for (uint32_t axis = 0; axis < cd.params.rank && same; axis++) {
        same = other.params.dims[axis] == cd.params.dims[axis];
    }
    return same;
}

bool
h5twin_hdf5_chunks_are_right(hid_t dataset)
{
    hsize_t chunk[H5S_MAX_RANK];
    const hid_t dcpl = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    const hid_t space = H5Dget_space(dataset);
    const bool is_chunked = H5Pget_layout(dcpl) == H5D_CHUNKED;
    const int rank = is_chunked ? H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk) : 0;
    const int filter_count = is_chunked ? H5Pget_nfilters(dcpl) : 0;
    bool right = !is_chunked || rank == H5Sget_simple_extent_ndims(space);
    for (int axis = 0; axis < rank; axis++) {
        right = right && chunk[axis] > 0;
    }
    for (int i = 0; i < filter_count && right; i++) {
        unsigned flags, config, words[H5TWIN_CD_MAX];
        size_t word_count = H5TWIN_CD_MAX;
        const H5Z_filter_t id =
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &word_count, words, 0, NULL, &config);
        const struct h5twin_codec_info *const codec = h5twin_hdf5_codec(id);
        right = codec == NULL || word_count > H5TWIN_CD_MAX ||
                describes(words, word_count, codec->id, rank, chunk, H5Tget_size(type));
    }
    H5Eclear2(H5E_DEFAULT);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(dcpl);
    return right;
}

int
h5twin_hdf5_check_chunks(hid_t dataset, const char *path, const char *name)
{
    return h5twin_hdf5_chunks_are_right(dataset)
               ? H5TWIN_EXIT_OK
               : h5twin_fail("%s: %s: the shape of its chunks is not that of its filter's "
                             "parameters, so one of them has changed since it was made: take "
                             "the file from a copy.",
                             path, name);
}

int
h5twin_hdf5_check_filters(hid_t dataset, const char *path, const char *name)
{
    const int result = h5twin_hdf5_check_chunks(dataset, path, name);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    int missing = 0;
    const hid_t dcpl = H5Dget_create_plist(dataset);
    const int filter_count = H5Pget_nfilters(dcpl);
    for (int i = 0; i < filter_count; i++) {
        unsigned flags, config;
        size_t word_count = 0;
        const H5Z_filter_t id =
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &word_count, NULL, 0, NULL, &config);
        missing = H5Zfilter_avail(id) > 0 ? missing : (int)id;
    }
    H5Pclose(dcpl);
    return missing == 0 ? h5twin_hdf5_check_end_chunks(dataset, path, name)
                        : h5twin_fail("%s: %s is stored with filter %d, which is not here: set "
                                      "HDF5_PLUGIN_PATH to where its plugin is.",
                                      path, name, missing);
}
