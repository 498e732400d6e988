/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_hdf5.h: set the filters of this project on a dataset creation property list.
 *
 *     hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
 *     H5Pset_chunk(dcpl, 3, (hsize_t[]){64, 128, 128});
 *     H5Pset_h5twin_sleek(dcpl, H5TWIN_ABS, 1e-3);
 *
 * Include it after or instead of hdf5.h. The typed calls are header-only: they need the plugin on
 * HDF5_PLUGIN_PATH when the program runs, and nothing of this project when it is linked. With
 * libh5twin linked, h5twin_hdf5_register() makes the filters known without any plugin, also where
 * HDF5 itself is linked into the program, and H5Pset_h5twin() takes the string form.
 *
 * All return a negative value on failure, with the reason on HDF5's error stack. H5Dcreate()
 * refuses what a dataset cannot have, a bound that is not positive for example. */
#ifndef H5TWIN_HDF5_H
#define H5TWIN_HDF5_H

#include "h5twin.h"

#include <hdf5.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The words that users give; filter/CD_VALUES.md. Mandatory: HDF5 must not store a chunk
 * without the filter when it fails. */
static inline herr_t
h5twin_hdf5_set(hid_t dcpl, int filter_id, unsigned mode, double error_bound, uint64_t options,
                const double *fill)
{
    uint64_t bound_bits = 0, fill_bits = 0;
    if (mode != H5TWIN_LOSSLESS) {
        memcpy(&bound_bits, &error_bound, sizeof bound_bits);
    }
    if (fill != NULL) {
        memcpy(&fill_bits, fill, sizeof fill_bits);
    }
    const unsigned cd_values[H5TWIN_USER_CD_VALUES] = {mode,
                                                       (unsigned)bound_bits,
                                                       (unsigned)(bound_bits >> 32),
                                                       (unsigned)options,
                                                       (unsigned)(options >> 32),
                                                       (unsigned)fill_bits,
                                                       (unsigned)(fill_bits >> 32)};
    return H5Pset_filter(dcpl, filter_id, H5Z_FLAG_MANDATORY, fill != NULL ? 7 : 5, cd_values);
}

/* error_bound is in data units for H5TWIN_ABS, a share of each chunk's range for H5TWIN_NOA, and
 * not looked at for H5TWIN_LOSSLESS. */
static inline herr_t
H5Pset_h5twin_sleek(hid_t dcpl, enum h5twin_mode mode, double error_bound)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_SLEEK, (unsigned)mode, error_bound, 0, NULL);
}

/* The same with all options of sleek. Members that are not named are 0, their defaults; later
 * versions may add some. */
struct h5twin_sleek_options {
    enum h5twin_mode mode;
    double error_bound; /* read unless mode is H5TWIN_LOSSLESS */
    bool has_fill;
    /* Stands for missing data: it comes back bit for bit and counts for no range. Needed where the
     * data have such values and the dataset has no fill value of this kind (H5Pset_fill_value),
     * which comes before it. */
    double fill;
};

static inline herr_t
H5Pset_h5twin_sleek_options(hid_t dcpl, const struct h5twin_sleek_options *options)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_SLEEK, (unsigned)options->mode, options->error_bound,
                           0, options->has_fill ? &options->fill : NULL);
}

/* In all calls that follow, 0 means the codec's default. */
enum h5twin_fpcompress_mode { H5TWIN_FPCOMPRESS_SPEED = 1, H5TWIN_FPCOMPRESS_RATIO = 2 };

static inline herr_t
H5Pset_h5twin_fpcompress(hid_t dcpl, unsigned mode)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_FPCOMPRESS, H5TWIN_LOSSLESS, 0, mode, NULL);
}

enum h5twin_ndzip_layout { H5TWIN_NDZIP_REFERENCE = 1, H5TWIN_NDZIP_EXTENDED = 2 };

static inline herr_t
H5Pset_h5twin_ndzip(hid_t dcpl, unsigned layout)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_NDZIP, H5TWIN_LOSSLESS, 0, layout, NULL);
}

/* dimensionality 1..32: how many interleaved components the values have. */
static inline herr_t
H5Pset_h5twin_gfc(hid_t dcpl, unsigned dimensionality)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_GFC, H5TWIN_LOSSLESS, 0, dimensionality, NULL);
}

/* options as in struct h5twin_params; H5Pset_h5twin(dcpl, "e2mc:ways=4") makes them from names. */
static inline herr_t
H5Pset_h5twin_e2mc(hid_t dcpl, uint64_t options)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_E2MC, H5TWIN_LOSSLESS, 0, options, NULL);
}

enum h5twin_cascade_effort {
    H5TWIN_CASCADE_FAST = 1,
    H5TWIN_CASCADE_BALANCED = 2, /* the default */
    H5TWIN_CASCADE_MAX = 3,
    H5TWIN_CASCADE_QUICK = 4, /* between fast and balanced */
};

static inline herr_t
H5Pset_h5twin_cascade(hid_t dcpl, unsigned effort)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_CASCADE, H5TWIN_LOSSLESS, 0, effort, NULL);
}

enum h5twin_lattice_effort {
    H5TWIN_LATTICE_FAST = 1,
    H5TWIN_LATTICE_BALANCED = 2,
    H5TWIN_LATTICE_MAX = 3,
};

enum h5twin_lattice_stable {
    H5TWIN_LATTICE_STABLE_NO = 1,
    H5TWIN_LATTICE_STABLE_YES = 2,
    H5TWIN_LATTICE_STABLE_AUTO = 3, /* the default */
};

/* All options of lattice, by name:
 *
 *     H5Pset_h5twin_lattice_options(dcpl, &(struct h5twin_lattice_options){
 *         .mode = H5TWIN_ABS, .error_bound = 1e-3, .stable = H5TWIN_LATTICE_STABLE_YES});
 *
 * Members that are not named are 0, their defaults; later versions may add some. */
struct h5twin_lattice_options {
    enum h5twin_mode mode;
    double error_bound; /* as for H5Pset_h5twin_lattice */
    enum h5twin_lattice_effort effort;
    enum h5twin_lattice_stable stable; /* whether the bound holds in chunks written in parts */
    bool has_fill;
    double fill; /* as in struct h5twin_sleek_options */
};

static inline uint64_t
h5twin_lattice_option_bits(const struct h5twin_lattice_options *options)
{
    return (uint64_t)options->effort | (uint64_t)options->stable << 2;
}

static inline herr_t
H5Pset_h5twin_lattice_options(hid_t dcpl, const struct h5twin_lattice_options *options)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_LATTICE, (unsigned)options->mode,
                           options->error_bound, h5twin_lattice_option_bits(options),
                           options->has_fill ? &options->fill : NULL);
}

/* error_bound as for sleek, and a share of each value's magnitude for H5TWIN_REL. */
static inline herr_t
H5Pset_h5twin_lattice(hid_t dcpl, enum h5twin_mode mode, double error_bound, unsigned effort)
{
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_LATTICE, (unsigned)mode, error_bound, effort, NULL);
}

/* ---- the following need libh5twin ---- */

/* The class of a codec's filter for the HDF5 library that holds return_address: an H5Z_class2_t,
 * from HDF5 3 on an H5Z_class3_t. NULL if there is no such codec. */
H5TWIN_API const void *h5twin_hdf5_class_for(int codec, const void *return_address);

/* As H5Pset_h5twin_lattice_options, and values within the limits decode within them; NaN: no limit.
 * A limit has at most 6 significant digits: round one that has more outwards. */
static inline herr_t
H5Pset_h5twin_lattice_limits(hid_t dcpl, const struct h5twin_lattice_options *options, double least,
                             double most)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_LATTICE);
    if (h5twin_params_set_number(&params, "min", least) != H5TWIN_OK ||
        h5twin_params_set_number(&params, "max", most) != H5TWIN_OK || least > most) {
        H5Epush2(H5E_DEFAULT, "h5twin_hdf5.h", "H5Pset_h5twin_lattice_limits", 0, H5E_ERR_CLS,
                 H5E_ARGS, H5E_BADVALUE,
                 "h5twin: the limits %.17g and %.17g are in the wrong order or have more than 6 "
                 "significant digits: round them outwards, or give NaN for none",
                 least, most);
        return -1;
    }
    return h5twin_hdf5_set(dcpl, H5TWIN_FILTER_LATTICE, (unsigned)options->mode,
                           options->error_bound,
                           params.options | h5twin_lattice_option_bits(options),
                           options->has_fill ? &options->fill : NULL);
}

/* Any codec by its string form, as "sleek:abs=1e-3". */
static inline herr_t
H5Pset_h5twin(hid_t dcpl, const char *spec)
{
    struct h5twin_params params;
    const char *where = NULL;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    const enum h5twin_status status = h5twin_params_parse(&params, spec, &where);
    if (status != H5TWIN_OK) {
        H5Epush2(H5E_DEFAULT, "h5twin_hdf5.h", "H5Pset_h5twin", 0, H5E_ERR_CLS, H5E_ARGS,
                 H5E_BADVALUE, "h5twin: \"%s\", at \"%s\": %s", spec == NULL ? "" : spec,
                 where == NULL ? "" : where, h5twin_status_message(status));
        return -1;
    }
    const struct h5twin_codec_info *const codec = h5twin_codec_by_id(params.codec);
    return h5twin_hdf5_set(dcpl, (int)codec->filter_id, (unsigned)params.mode, params.error_bound,
                           params.options, params.has_fill ? &params.fill : NULL);
}

/* What the filter of an open dataset knows: codec, options, bound, fill values, type and shape of a
 * chunk. With these, h5twin_encode() makes from a whole chunk what the filter would store, for
 * H5Dwrite_chunk() with filter mask 0. The chunk is in the dataset's type, and holds the fill value
 * where it lies beyond the dataset's edge. Fails unless a filter of h5twin is the only one of the
 * dataset. */
static inline herr_t
h5twin_hdf5_params(hid_t dataset, struct h5twin_params *params)
{
    unsigned flags, config, cd_values[16];
    size_t cd_count = sizeof cd_values / sizeof cd_values[0];
    char name[1];
    const hid_t dcpl = H5Dget_create_plist(dataset);
    H5Z_filter_t filter = -1;
    if (dcpl < 0) {
        return -1;
    }
    if (H5Pget_nfilters(dcpl) == 1) {
        filter = H5Pget_filter2(dcpl, 0, &flags, &cd_count, cd_values, sizeof name, name, &config);
    }
    H5Pclose(dcpl);
    const struct h5twin_codec_info *const codec =
        filter < 0 ? NULL : h5twin_codec_by_filter((uint32_t)filter);
    const enum h5twin_status status =
        codec == NULL || cd_count > sizeof cd_values / sizeof cd_values[0]
            ? H5TWIN_ERR_CODEC
            : h5twin_params_from_cd_values(params, codec->id, cd_values, cd_count);
    if (status != H5TWIN_OK) {
        H5Epush2(H5E_DEFAULT, "h5twin_hdf5.h", "h5twin_hdf5_params", 0, H5E_ERR_CLS, H5E_ARGS,
                 H5E_BADVALUE, "h5twin: %s",
                 codec == NULL ? "A filter of h5twin is not the only one of this dataset, but "
                                 "chunks that are written directly go through none: create it with "
                                 "that filter alone."
                               : h5twin_status_message(status));
        return -1;
    }
    return 0;
}

/* The HDF5 that this program is compiled and linked with. A program that has found its HDF5 at run
 * time, by pointers with the names of the functions, defines H5TWIN_HDF5_FUNCTIONS before: what
 * fills the table then. */
static inline void
h5twin_hdf5_linked(struct h5twin_hdf5_functions *functions)
{
#ifdef H5TWIN_HDF5_FUNCTIONS
    H5TWIN_HDF5_FUNCTIONS(functions);
#else
    memset(functions, 0, sizeof *functions);
    functions->size = sizeof *functions;
#    define H5TWIN_TAKE(name) functions->name = (h5twin_hdf5_function)name
    H5TWIN_TAKE(H5Pget_filter_by_id2);
    H5TWIN_TAKE(H5Pmodify_filter);
    H5TWIN_TAKE(H5Pget_nfilters);
    H5TWIN_TAKE(H5Pget_filter2);
    H5TWIN_TAKE(H5Pfill_value_defined);
    H5TWIN_TAKE(H5Pget_fill_time);
    H5TWIN_TAKE(H5Pget_fill_value);
    H5TWIN_TAKE(H5Tget_class);
    H5TWIN_TAKE(H5Tget_size);
    H5TWIN_TAKE(H5Tget_order);
    H5TWIN_TAKE(H5Tget_precision);
    H5TWIN_TAKE(H5Tget_offset);
    H5TWIN_TAKE(H5Tget_fields);
    H5TWIN_TAKE(H5Tget_ebias);
    H5TWIN_TAKE(H5Tget_norm);
    H5TWIN_TAKE(H5Tget_super);
    H5TWIN_TAKE(H5Tget_nmembers);
    H5TWIN_TAKE(H5Tget_member_type);
    H5TWIN_TAKE(H5Tclose);
    H5TWIN_TAKE(H5Sget_simple_extent_ndims);
    H5TWIN_TAKE(H5Sget_simple_extent_dims);
    H5TWIN_TAKE(H5Eregister_class);
    H5TWIN_TAKE(H5Ecreate_msg);
    H5TWIN_TAKE(H5Epush2);
    H5TWIN_TAKE(H5Ecreate_stack);
    H5TWIN_TAKE(H5Eset_current_stack);
#    if H5_VERSION_GE(1, 14, 5)
    H5TWIN_TAKE(H5Eis_paused);
#    endif
#    if !H5_VERSION_GE(2, 0, 0) /* from then on it has the C library's heap */
    H5TWIN_TAKE(H5allocate_memory);
    H5TWIN_TAKE(H5free_memory);
#    endif
#    if H5_VERSION_GE(1, 10, 5)
    H5TWIN_TAKE(H5Dget_type);
    H5TWIN_TAKE(H5Dget_space);
    H5TWIN_TAKE(H5Dget_create_plist);
    H5TWIN_TAKE(H5Dget_access_plist);
    H5TWIN_TAKE(H5Dget_chunk_storage_size);
    H5TWIN_TAKE(H5Dget_chunk_info_by_coord);
    H5TWIN_TAKE(H5Dwrite_chunk);
    H5TWIN_TAKE(H5Dwrite);
    H5TWIN_TAKE(H5Dread);
    H5TWIN_TAKE(H5Pget_layout);
    H5TWIN_TAKE(H5Pget_chunk);
    H5TWIN_TAKE(H5Pget_chunk_opts);
    H5TWIN_TAKE(H5Pget_alloc_time);
    H5TWIN_TAKE(H5Pget_chunk_cache);
    H5TWIN_TAKE(H5Pget_data_transform);
    H5TWIN_TAKE(H5Pclose);
    H5TWIN_TAKE(H5Tequal);
    H5TWIN_TAKE(H5Tdetect_class);
    H5TWIN_TAKE(H5Screate_simple);
    H5TWIN_TAKE(H5Sselect_hyperslab);
    H5TWIN_TAKE(H5Sget_select_type);
    H5TWIN_TAKE(H5Sget_select_bounds);
    H5TWIN_TAKE(H5Sget_select_npoints);
    H5TWIN_TAKE(H5Sclose);
    H5TWIN_TAKE(H5Eget_auto2);
    H5TWIN_TAKE(H5Eset_auto2);
    H5TWIN_TAKE(H5Eget_current_stack);
    H5TWIN_TAKE(H5Ewalk2);
    H5TWIN_TAKE(H5Iget_file_id);
    H5TWIN_TAKE(H5Fget_intent);
    H5TWIN_TAKE(H5Fclose);
#        if H5_VERSION_GE(2, 0, 0)
    H5TWIN_TAKE(H5Dread_chunk2);
#        else
    functions->H5Dread_chunk1 = (h5twin_hdf5_function)H5Dread_chunk;
#        endif
#        ifdef H5_HAVE_PARALLEL
    H5TWIN_TAKE(H5Fget_mpi_atomicity);
    H5TWIN_TAKE(H5Pget_dxpl_mpio);
    H5TWIN_TAKE(H5Zregister);
#        endif
#    endif
#    undef H5TWIN_TAKE
#endif
}

/* Where HDF5 is in this program. The filters could find a shared one by themselves, but not one
 * that is linked into the program. */
static inline enum h5twin_status
h5twin_hdf5_use_linked(void)
{
    struct h5twin_hdf5_functions functions;
    h5twin_hdf5_linked(&functions);
    return h5twin_hdf5_use(&functions);
}

/* Make all codecs known to HDF5 in this program, without plugins. */
static inline herr_t
h5twin_hdf5_register(void)
{
    if (h5twin_hdf5_use_linked() != H5TWIN_OK) {
        return -1;
    }
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        if (H5Zregister(h5twin_hdf5_class(h5twin_codec_at(i)->id)) < 0) {
            return -1;
        }
    }
    return 0;
}

#ifdef __cplusplus
}
#endif
#endif
