/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin.h: compress arrays of numbers, losslessly or within a guaranteed error bound.
 *
 * One call turns an array into one self-describing chunk, one call turns it back. The chunk is what
 * the HDF5 filters of this project store, byte for byte, whatever device, thread count or
 * instruction set made it. This header needs neither HDF5 nor CUDA.
 *
 *     struct h5twin_params params;
 *     h5twin_params_init(&params, H5TWIN_SLEEK);
 *     h5twin_params_parse(&params, "sleek:abs=1e-3", NULL);
 *     h5twin_params_set_array(&params, H5TWIN_FLOAT, sizeof(float), 3, (uint64_t[]){64, 128, 128});
 *     size_t capacity = h5twin_bound(&params, src_size), chunk_size;
 *     enum h5twin_status status =
 *         h5twin_encode(&params, NULL, chunk, capacity, src, src_size, &chunk_size);
 *     ...
 *     status = h5twin_decode(NULL, dst, dst_capacity, chunk, chunk_size, &dst_size);
 *
 * Units   sizes in bytes, counts in elements, error bounds in data units.
 * Errors  every function that can fail returns an enum h5twin_status; on failure the caller's
 *         output size is unchanged and the output bytes are unspecified. Nothing is printed.
 * Threads every function may be called from any number of threads at once. A thread may be
 *         cancelled; a call that is coding finishes first.
 * ABI     structures keep their size: they end with reserved words. In those that callers fill, the
 *         words must be 0, or the call returns H5TWIN_ERR_ARG; in the others the library sets them.
 * Stack   a call takes at most 120 KiB of the caller's stack. */
#ifndef H5TWIN_H
#define H5TWIN_H

#include "h5twin_codecs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(H5TWIN_BUILD) && defined(_WIN32)
#    define H5TWIN_API __declspec(dllexport)
#elif defined(H5TWIN_BUILD) && defined(__GNUC__)
#    define H5TWIN_API __attribute__((visibility("default")))
#else
#    define H5TWIN_API
#endif

/* Each has one sentence with cause and cure: h5twin_status_message(). */
enum h5twin_status {
    H5TWIN_OK = 0,
    /* the caller's parameters */
    H5TWIN_ERR_ARG,     /* a pointer is NULL or an argument contradicts another */
    H5TWIN_ERR_CODEC,   /* no codec has this name or number */
    H5TWIN_ERR_SPEC,    /* the string is not CODEC[:KEY=VALUE[,KEY=VALUE]...], or has two bounds */
    H5TWIN_ERR_OPTION,  /* the codec has no such option, or not with this value */
    H5TWIN_ERR_MODE,    /* unknown error mode, or a lossy one on a lossless codec */
    H5TWIN_ERR_BOUND,   /* error bound not a positive finite number */
    H5TWIN_ERR_ELEMENT, /* element size or kind that does not exist */
    H5TWIN_ERR_DIMS,    /* rank above the limit, or dims that do not give the array's size */
    H5TWIN_ERR_TOO_BIG, /* the format's size field cannot hold this array */
    /* buffers */
    H5TWIN_ERR_DST_SMALL, /* output buffer smaller than needed */
    H5TWIN_ERR_SRC_SHORT, /* the chunk ends before its own sizes say */
    /* the chunk */
    H5TWIN_ERR_MAGIC,    /* does not start with an h5twin frame */
    H5TWIN_ERR_VERSION,  /* written by a newer h5twin */
    H5TWIN_ERR_CHECKSUM, /* bytes changed since they were written */
    H5TWIN_ERR_CORRUPT,  /* contradicts FORMAT.md */
    /* the machine */
    H5TWIN_ERR_MEMORY,
    H5TWIN_ERR_DEVICE,      /* a GPU was demanded and could not be used */
    H5TWIN_ERR_ENVIRONMENT, /* H5TWIN_DEVICE is not auto, cpu or gpu */
    H5TWIN_ERR_FORKED,      /* a GPU was demanded in a child of a process that uses CUDA */
};

enum h5twin_mode {
    H5TWIN_LOSSLESS = 0,
    H5TWIN_ABS = 1, /* |x - x'| <= error_bound */
    H5TWIN_NOA = 2, /* |x - x'| <= error_bound * (max - min), over the chunk's finite values */
    H5TWIN_REL = 3, /* |x - x'| <= error_bound * |x|; zeros and subnormals exactly */
};

enum h5twin_kind {
    H5TWIN_FLOAT = 0, /* IEEE binary32 or binary64 */
    H5TWIN_INTEGER = 1,
    H5TWIN_OTHER = 2,
};

enum h5twin_device {
    H5TWIN_DEVICE_AUTO = 0, /* environment variable H5TWIN_DEVICE, else what pays */
    H5TWIN_DEVICE_CPU = 1,
    H5TWIN_DEVICE_GPU = 2, /* or fail with H5TWIN_ERR_DEVICE */
};

#define H5TWIN_MAX_RANK 8

/* How to encode, and what the array is. Fill it with the functions below. */
struct h5twin_params {
    enum h5twin_codec_id codec;
    enum h5twin_mode mode;
    double error_bound;             /* read when mode is not H5TWIN_LOSSLESS */
    bool has_fill;                  /* whether fill, below, stands for missing data */
    uint64_t options;               /* bit fields of the codec; 0 = its defaults */
    enum h5twin_kind kind;          /* of one element */
    uint32_t element_size;          /* bytes, >= 1 */
    bool big_endian;                /* the array's byte order; only H5TWIN_FLOAT and _INTEGER */
    uint32_t rank;                  /* 0 = unknown: treated as one row */
    uint64_t dims[H5TWIN_MAX_RANK]; /* elements, slowest varying first */
    /* Missing data, for floats in a lossy mode. Rounded to the array's type, this value comes back
     * bit for bit, and counts for no range. NaN and infinities do, too, and need not be named. */
    double fill;
    /* The same for the fill value that the array's dataset declares, with which HDF5 fills what was
     * not written. It may differ from fill, as CF's missing_value may from _FillValue. */
    double declared_fill;
    bool has_declared_fill;
    bool zeros_are_padding; /* +0 counts for no range: HDF5 pads chunks with it */
    uint64_t reserved[8];   /* 0: room for what later versions add */
};

/* How to run. NULL or all zeros: choose. Never changes the bytes. */
struct h5twin_exec {
    enum h5twin_device device;
    uint32_t threads;     /* 0 = H5TWIN_NUM_THREADS, else OMP_NUM_THREADS, else the cores */
    uint64_t reserved[3]; /* 0: room for what later versions add */
};

/* What a chunk says of itself. */
struct h5twin_info {
    enum h5twin_codec_id codec;
    bool stored_raw; /* the payload is the input itself */
    enum h5twin_kind kind;
    uint32_t word_size; /* bytes of the words that the codec saw */
    bool big_endian;
    uint64_t raw_size;    /* bytes of the decoded array */
    uint32_t frame_size;  /* bytes before the payload */
    uint32_t parameter;   /* the codec's own word, see its FORMAT.md */
    uint32_t extents[3];  /* ndzip; else 1, 1, 1 */
    uint64_t reserved[4]; /* 0 today: room for what later versions tell */
};

/* One option of a codec, as in "ndzip:layout=reference" or --option layout=reference. */
struct h5twin_option_info {
    const char *name;
    const char *values; /* for people: "speed|ratio", "1..32 or auto" */
    const char *help;   /* one line, default named */
    /* The bit field of h5twin_params.options. Field value 0 always means the default. With names,
     * field value i + 1 is names[i]. Without, the number N in minimum..maximum is N - minimum + 1.
     */
    const char *const *names; /* NULL-terminated; NULL for a number */
    uint32_t shift;           /* lowest bit, 0..63 */
    uint32_t width_bits;
    uint32_t minimum, maximum;
    uint32_t default_value; /* the number, or the index in names, that field value 0 stands for */
    /* A decimal number of at most 6 significant digits instead, or none: h5twin_option_number(). */
    bool is_decimal;
    uint64_t reserved[4]; /* 0 today: room for what later versions tell */
};

struct h5twin_codec_info {
    const char *name;
    enum h5twin_codec_id id;
    uint32_t filter_id;
    bool lossy;          /* accepts H5TWIN_ABS and H5TWIN_NOA */
    bool relative;       /* accepts H5TWIN_REL, too */
    const char *summary; /* one line */
    uint32_t option_count;
    const struct h5twin_option_info *options;
};

H5TWIN_API const char *h5twin_version(void);

/* One English sentence with cause and cure; never NULL. */
H5TWIN_API const char *h5twin_status_message(enum h5twin_status status);

/* The codecs in a fixed order, for index 0 .. h5twin_codec_count() - 1; NULL beyond. */
H5TWIN_API uint32_t h5twin_codec_count(void);
H5TWIN_API const struct h5twin_codec_info *h5twin_codec_at(uint32_t index);
H5TWIN_API const struct h5twin_codec_info *h5twin_codec_by_name(const char *name);
H5TWIN_API const struct h5twin_codec_info *h5twin_codec_by_id(enum h5twin_codec_id id);

/* The codec of this HDF5 filter; NULL if there is none. */
H5TWIN_API const struct h5twin_codec_info *h5twin_codec_by_filter(uint32_t filter_id);

/* Lossless, default options, an array of bytes of unknown shape. */
H5TWIN_API void h5twin_params_init(struct h5twin_params *params, enum h5twin_codec_id codec);

/* Read "CODEC[:KEY=VALUE[,KEY=VALUE]...]" into codec, mode, error_bound, fill and options; the
 * array's fields keep what they hold. KEY is one of abs, noa, rel (error bounds) and fill, of lossy
 * codecs, or an option of the codec. On an error *params is unchanged and, if where is not NULL,
 * *where points at the offending character of spec. */
H5TWIN_API enum h5twin_status h5twin_params_parse(struct h5twin_params *params, const char *spec,
                                                  const char **where);

/* One "KEY=VALUE" of the above for the codec already in *params. */
H5TWIN_API enum h5twin_status h5twin_params_set_option(struct h5twin_params *params,
                                                       const char *key_value);

/* The number that a decimal option of the codec in *params has; NaN if it has none, or if the codec
 * has no such option. */
H5TWIN_API double h5twin_option_number(const struct h5twin_params *params, const char *name);

/* Sets a decimal option, or takes it away if the number is NaN. H5TWIN_ERR_OPTION if the codec has
 * no such option, or the number has more than 6 significant digits, is 1e37 or more, or is less
 * than 1e-32 and not 0. On an error *params is unchanged. */
H5TWIN_API enum h5twin_status h5twin_params_set_number(struct h5twin_params *params,
                                                       const char *name, double number);

/* The shortest spec that gives the same codec, mode, bound, fill and options. Writes at most
 * capacity bytes with the ending zero; returns the length without it, like snprintf. */
H5TWIN_API size_t h5twin_params_format(const struct h5twin_params *params, char *text,
                                       size_t capacity);

/* Describe a little-endian array. dims has rank entries, slowest varying first. */
H5TWIN_API void h5twin_params_set_array(struct h5twin_params *params, enum h5twin_kind kind,
                                        uint32_t element_size, uint32_t rank, const uint64_t *dims);

/* H5TWIN_OK if encode would accept *params for some array; else the reason. */
H5TWIN_API enum h5twin_status h5twin_params_check(const struct h5twin_params *params);

/* Bytes that a destination for src_size input bytes must have, for h5twin_encode and
 * h5twin_encode_payload alike; 0 if the parameters are refused or the size overflows.
 * (A finished chunk is never larger than src_size + 24.) */
H5TWIN_API size_t h5twin_bound(const struct h5twin_params *params, size_t src_size);

/* Encode src_size bytes as one chunk. dst_capacity must be at least h5twin_bound(); dst must not
 * overlap src. Any src is valid: data that do not shrink are stored raw.
 * src_size need not match dims: then the array is taken as one row. */
H5TWIN_API enum h5twin_status h5twin_encode(const struct h5twin_params *params,
                                            const struct h5twin_exec *exec, void *dst,
                                            size_t dst_capacity, const void *src, size_t src_size,
                                            size_t *dst_size);

/* Read a chunk's frame. Checks its fields and that the chunk is long enough to hold them, not the
 * checksum; raw_size has been checked against what src_size bytes can possibly decode to. */
H5TWIN_API enum h5twin_status h5twin_inspect(const void *src, size_t src_size,
                                             struct h5twin_info *info);

/* One line for people on what the codec did with this chunk ("absolute bound 2^-10", ...). Writes
 * at most capacity bytes with the ending zero; returns the length without it, 0 if there is nothing
 * to say or the chunk is not valid. */
H5TWIN_API size_t h5twin_describe(const void *src, size_t src_size, char *text, size_t capacity);

/* Decode one chunk, which must be exactly src_size bytes. dst_capacity must be at least the
 * chunk's raw_size. Any src is safe: it decodes to what was encoded, or fails; then what dst holds
 * is undefined. */
H5TWIN_API enum h5twin_status h5twin_decode(const struct h5twin_exec *exec, void *dst,
                                            size_t dst_capacity, const void *src, size_t src_size,
                                            size_t *dst_size);

/* A box of the array in a chunk, and where its elements go. Axes are slowest first. */
#define H5TWIN_BOX_MAX_RANK 32 /* that of HDF5 */
struct h5twin_box {
    uint32_t element_size;               /* bytes, >= 1 */
    uint32_t rank;                       /* 0: one element */
    uint64_t dims[H5TWIN_BOX_MAX_RANK];  /* of the array that was encoded, elements */
    uint64_t start[H5TWIN_BOX_MAX_RANK]; /* start + count <= dims */
    uint64_t count[H5TWIN_BOX_MAX_RANK];
    /* Bytes at the destination from one element of the box to the next along each axis. They may be
     * negative. Bytes between elements are not touched. */
    int64_t dst_strides[H5TWIN_BOX_MAX_RANK];
    uint64_t reserved[4]; /* 0: room for what later versions add */
};

/* A box of the array `dims` (elements of element_size bytes) at `start`, of `count` elements, which
 * fill the destination without gaps in row-major order. rank is at most H5TWIN_BOX_MAX_RANK. */
H5TWIN_API void h5twin_box_set(struct h5twin_box *box, uint32_t element_size, uint32_t rank,
                               const uint64_t *dims, const uint64_t *start, const uint64_t *count);

/* Decode only a box of one chunk, which must be exactly src_size bytes: the same values as
 * h5twin_decode gives there. dst is where the box's first element goes; there must be room for all
 * that the strides reach, and elements must not overlap. A chunk does not know its array's dims:
 * the caller gives them, and H5TWIN_ERR_DIMS is returned if they do not give its raw_size.
 *
 * Blocks that the box does not touch are not decoded where the codec can do that: sleek,
 * fpcompress, ndzip, gfc, e2mc by segments, cascade by slabs. Any src is safe. The checksum of the
 * whole chunk is compared all the same, also if the box is empty, so that a changed byte is an
 * error wherever it is. A chunk with a right checksum that contradicts its FORMAT.md is refused if
 * the contradiction is in what the box needs; elsewhere it may stay unnoticed. On an error what the
 * box's elements at dst hold is undefined. */
H5TWIN_API enum h5twin_status h5twin_decode_box(const struct h5twin_exec *exec, void *dst,
                                                const struct h5twin_box *box, const void *src,
                                                size_t src_size);

/* The payload alone, without frame, raw fallback or checksum: the stream that the authors' program
 * writes. It does not say what it is: decoding needs the same *params, and dst_size must be exactly
 * the array's size. NOA streams of sleek, and lossy ones with a fill, cannot be decoded this way
 * unless the effective bound is given as H5TWIN_ABS, and no fill. */
H5TWIN_API enum h5twin_status h5twin_encode_payload(const struct h5twin_params *params,
                                                    const struct h5twin_exec *exec, void *dst,
                                                    size_t dst_capacity, const void *src,
                                                    size_t src_size, size_t *dst_size);
H5TWIN_API enum h5twin_status h5twin_decode_payload(const struct h5twin_params *params,
                                                    const struct h5twin_exec *exec, void *dst,
                                                    size_t dst_size, const void *src,
                                                    size_t src_size);

/* Size of the array that a payload decodes to, from the payload or, where the format does not hold
 * it (ndzip), from params->dims. */
H5TWIN_API enum h5twin_status h5twin_payload_raw_size(const struct h5twin_params *params,
                                                      const void *src, size_t src_size,
                                                      uint64_t *raw_size);

/* ---- HDF5 filters; h5twin_hdf5.h has the calls that take HDF5's own types ---- */

#define H5TWIN_USER_CD_VALUES 7

/* cd_values as users give them: the shortest that say codec options, mode, bound and fill. Returns
 * their number, 0..5, or 7 with a fill. filter/CD_VALUES.md says what each is. */
H5TWIN_API unsigned h5twin_params_to_cd_values(const struct h5twin_params *params,
                                               unsigned cd_values[H5TWIN_USER_CD_VALUES]);

/* The way back, from the user's form or from the form stored in a file, which also describes the
 * array and its declared fill value: h5twin_encode then makes the chunks that the filter makes. On
 * an error *params is unchanged. */
H5TWIN_API enum h5twin_status h5twin_params_from_cd_values(struct h5twin_params *params,
                                                           enum h5twin_codec_id codec,
                                                           const unsigned *cd_values,
                                                           size_t cd_count);

/* A shape of chunks that suits an array of rank dims, slowest first: at most 1 MiB, or one element
 * that is larger, and similar to the array's shape. An axis that is cut is divided evenly. The
 * extents are multiples of the sides of the blocks that codecs work on (16, with two dims 64, with
 * one 4096), unless that left more than a 32nd of the axis empty in the last chunk. Dims of 0, as
 * unlimited ones may be, count as 1. rank may be 0. */
H5TWIN_API void h5twin_chunk_shape(uint32_t rank, const uint64_t *dims, size_t element_size,
                                   uint64_t *chunk);

/* The codec's filter, for H5Zregister(): a const H5Z_class2_t *. NULL if there is no such codec. */
H5TWIN_API const void *h5twin_hdf5_class(enum h5twin_codec_id codec);

/* Functions of one HDF5 library, for where the filters cannot find them by themselves: inside a
 * program that HDF5 is linked into. NULL: this HDF5 has none, or it is not to be used. New ones
 * come at the end; size says how many a caller knows of. */
typedef void (*h5twin_hdf5_function)(void);
struct h5twin_hdf5_functions {
    size_t size; /* sizeof(struct h5twin_hdf5_functions) where the table was made */
    h5twin_hdf5_function H5Pget_filter_by_id2, H5Pmodify_filter, H5Pget_nfilters, H5Pget_filter2,
        H5Pfill_value_defined, H5Pget_fill_time, H5Pget_fill_value;
    h5twin_hdf5_function H5Tget_class, H5Tget_size, H5Tget_order, H5Tget_precision, H5Tget_offset,
        H5Tget_fields, H5Tget_ebias, H5Tget_norm, H5Tget_super, H5Tget_nmembers, H5Tget_member_type,
        H5Tclose;
    h5twin_hdf5_function H5Sget_simple_extent_ndims, H5Sget_simple_extent_dims;
    h5twin_hdf5_function H5Eregister_class, H5Ecreate_msg, H5Epush2;
    h5twin_hdf5_function H5Eis_paused, H5Ecreate_stack, H5Eset_current_stack;
    h5twin_hdf5_function H5allocate_memory, H5free_memory;
    /* for h5twin_io.h */
    h5twin_hdf5_function H5Dget_type, H5Dget_space, H5Dget_create_plist, H5Dget_access_plist,
        H5Dget_chunk_storage_size, H5Dget_chunk_info_by_coord, H5Dwrite_chunk, H5Dwrite, H5Dread;
    h5twin_hdf5_function H5Pget_layout, H5Pget_chunk, H5Pget_chunk_opts, H5Pget_alloc_time,
        H5Pget_chunk_cache, H5Pget_data_transform, H5Pclose;
    h5twin_hdf5_function H5Tequal, H5Tdetect_class;
    h5twin_hdf5_function H5Screate_simple, H5Sselect_hyperslab, H5Sget_select_type,
        H5Sget_select_bounds, H5Sget_select_npoints, H5Sclose;
    h5twin_hdf5_function H5Eget_auto2, H5Eset_auto2, H5Eget_current_stack, H5Ewalk2;
    h5twin_hdf5_function H5Dread_chunk1, H5Dread_chunk2; /* until 2.0, H5Dread_chunk is the first */
    h5twin_hdf5_function H5Fget_mpi_atomicity, H5Iget_file_id, H5Fclose;
    h5twin_hdf5_function H5Fget_intent, H5Pget_dxpl_mpio, H5Zregister;
};

/* Tell the filters of this library about one HDF5, before it first calls them; the table is copied.
 * It is used only for the HDF5 in which its functions lie. h5twin_hdf5_register() does this. */
H5TWIN_API enum h5twin_status h5twin_hdf5_use(const struct h5twin_hdf5_functions *functions);

/* Fill in the table of the shared HDF5 whose code holds an address, that of any of its functions:
 * for languages that do not compile h5twin_hdf5.h. functions->size is set before; H5TWIN_ERR_ARG if
 * there is no HDF5. */
H5TWIN_API enum h5twin_status h5twin_hdf5_find(struct h5twin_hdf5_functions *functions,
                                               const void *address);

#ifdef __cplusplus
}
#endif
#endif
