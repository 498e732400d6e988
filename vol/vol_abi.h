/* SPDX-License-Identifier: BSD-3-Clause
 * vol_abi.h: HDF5's class of a VOL connector, declared anew.
 *
 * Building needs no HDF5 headers, and one binary serves every HDF5 that has such classes. From 1.14
 * to 2.2 they have one layout (class version 3), and so do the few questions asked here. 1.12 has
 * an older one, of which only the beginning is told here. Callbacks that nobody here looks into are
 * addresses without a type. */
#ifndef H5TWIN_VOL_ABI_H
#define H5TWIN_VOL_ABI_H

#include "hdf5_abi.h"

/* What H5PLget_plugin_type answers (H5PLextern.h). */
#define H5TWIN_HDF5_PLUGIN_VOL 1

/* Class versions (H5VLpublic.h: H5VL_VERSION). */
#define H5TWIN_VOL_CLASS_1_12 0u
#define H5TWIN_VOL_CLASS_1_14 3u

/* H5VL_get_conn_lvl_t: the connector at the end of a stack. */
#define H5TWIN_VOL_LEVEL_TERMINAL 1

/* H5I_type_t. */
#define H5TWIN_HDF5_ID_FILE    1
#define H5TWIN_HDF5_ID_DATASET 5

/* H5VL_loc_params_t: where an object is, here always the object itself. */
struct h5twin_vol_location {
    int object_type;
    int by; /* H5VL_OBJECT_BY_SELF is 0 */
    const void *more[4];
};

/* H5O_info2_t: the file's number and the object's address tell it from all others that are open. */
struct h5twin_vol_object_info {
    unsigned long file_number;
    uint8_t token[16];
    uint64_t more[16]; /* at least as much as HDF5 has */
};
#define H5TWIN_VOL_INFO_BASIC 1u /* H5O_INFO_BASIC */

/* H5VL_object_get_args_t, of what is asked here. */
enum { H5TWIN_VOL_OBJECT_FILE = 0, H5TWIN_VOL_OBJECT_NAME = 1, H5TWIN_VOL_OBJECT_INFO = 3 };
struct h5twin_vol_object_question {
    int what;
    union {
        void **file;
        struct {
            size_t capacity;
            char *text;
            size_t *length;
        } name;
        struct {
            unsigned fields;
            struct h5twin_vol_object_info *info;
        } info;
    } answer;
};

/* H5VL_dataset_get_args_t, H5VL_dataset_specific_args_t: what is asked, what is done. */
enum {
    H5TWIN_VOL_DATASET_LIST = 1,
    H5TWIN_VOL_DATASET_SPACE_STATUS = 3,
    H5TWIN_VOL_DATASET_STORAGE_SIZE = 4,
};
struct h5twin_vol_dataset_question {
    int what;
    union {
        h5twin_hid list;
        const void *more[2];
    } answer;
};
enum { H5TWIN_VOL_DATASET_SET_EXTENT = 0 };
struct h5twin_vol_dataset_action {
    int what;
    union {
        const uint64_t *dims;
        h5twin_hid dataset;
    } argument;
};

/* H5VL_object_specific_t from here on: H5VL_OBJECT_FLUSH, H5VL_OBJECT_REFRESH. */
#define H5TWIN_VOL_OBJECT_FLUSH 4

/* H5VL_file_specific_t: H5VL_FILE_FLUSH. */
#define H5TWIN_VOL_FILE_FLUSH 0

/* Of the optional calls of native's files: what H5Fopen makes for the file that it has opened. */
#define H5TWIN_VOL_FILE_POST_OPEN 28 /* H5VL_NATIVE_FILE_POST_OPEN */

/* H5VL_file_get_args_t. */
enum {
    H5TWIN_VOL_FILE_ACCESS = 1,
    H5TWIN_VOL_FILE_NUMBER = 3,
    H5TWIN_VOL_FILE_INTENT = 4,
    H5TWIN_VOL_FILE_NAME = 5,
};
struct h5twin_vol_file_question {
    int what;
    union {
        h5twin_hid access_list;
        unsigned long *number;
        unsigned *flags;
        struct {
            int object_type;
            size_t capacity;
            char *text;
            size_t *length;
        } name;
        const void *more[8];
    } answer;
};

/* Dataspaces up to this number are H5S_ALL, H5S_BLOCK and H5S_PLIST, no identifiers. */
#define H5TWIN_HDF5_LAST_SPECIAL_SPACE 2

typedef void (*h5twin_vol_function)(void);

/* H5VL_dataset_class_t. Arrays have `count` entries, one for each dataset of the call. */
struct h5twin_vol_dataset_class {
    void *(*create)(void *parent, const struct h5twin_vol_location *location, const char *name,
                    h5twin_hid lcpl, h5twin_hid type, h5twin_hid space, h5twin_hid dcpl,
                    h5twin_hid dapl, h5twin_hid dxpl, void **request);
    h5twin_vol_function open;
    int (*read)(size_t count, void *datasets[], h5twin_hid mem_types[], h5twin_hid mem_spaces[],
                h5twin_hid file_spaces[], h5twin_hid dxpl, void *buffers[], void **request);
    int (*write)(size_t count, void *datasets[], h5twin_hid mem_types[], h5twin_hid mem_spaces[],
                 h5twin_hid file_spaces[], h5twin_hid dxpl, const void *buffers[], void **request);
    int (*get)(void *dataset, struct h5twin_vol_dataset_question *question, h5twin_hid dxpl,
               void **request);
    int (*specific)(void *dataset, struct h5twin_vol_dataset_action *action, h5twin_hid dxpl,
                    void **request);
    int (*optional)(void *dataset, void *action, h5twin_hid dxpl, void **request);
    int (*close)(void *dataset, h5twin_hid dxpl, void **request);
};

/* H5VL_class_t from 1.14 on. */
struct h5twin_vol_class {
    unsigned version;
    int value;
    const char *name;
    unsigned connector_version;
    uint64_t capabilities;
    int (*initialize)(h5twin_hid plist);
    int (*terminate)(void);
    size_t info_size;
    h5twin_vol_function info[5];
    h5twin_vol_function wrapping[5];
    h5twin_vol_function attribute[8];
    struct h5twin_vol_dataset_class dataset;
    h5twin_vol_function datatype[6];
    struct h5twin_vol_file_class {
        void *(*create)(const char *name, unsigned flags, h5twin_hid fcpl, h5twin_hid fapl,
                        h5twin_hid dxpl, void **request);
        void *(*open)(const char *name, unsigned flags, h5twin_hid fapl, h5twin_hid dxpl,
                      void **request);
        int (*get)(void *object, struct h5twin_vol_file_question *question, h5twin_hid dxpl,
                   void **request);
        int (*specific)(void *object, const int *action, h5twin_hid dxpl, void **request);
        int (*optional)(void *object, const int *action, h5twin_hid dxpl, void **request);
        int (*close)(void *file, h5twin_hid dxpl, void **request);
    } file;
    struct h5twin_vol_group_class {
        h5twin_vol_function create, open, get;
        int (*specific)(void *group, void *action, h5twin_hid dxpl, void **request);
        h5twin_vol_function others[2];
    } group;
    h5twin_vol_function link[6];
    struct h5twin_vol_object_class {
        h5twin_vol_function open;
        int (*copy)(void *source, const struct h5twin_vol_location *source_location,
                    const char *source_name, void *target,
                    const struct h5twin_vol_location *target_location, const char *target_name,
                    h5twin_hid ocpypl, h5twin_hid lcpl, h5twin_hid dxpl, void **request);
        int (*get)(void *object, const struct h5twin_vol_location *location,
                   struct h5twin_vol_object_question *question, h5twin_hid dxpl, void **request);
        int (*specific)(void *object, const struct h5twin_vol_location *location, const int *action,
                        h5twin_hid dxpl, void **request);
        int (*optional)(void *object, const struct h5twin_vol_location *location, void *action,
                        h5twin_hid dxpl, void **request);
    } object;
    h5twin_vol_function introspection[3];
    h5twin_vol_function request[6];
    h5twin_vol_function blob[4];
    h5twin_vol_function token[3];
    h5twin_vol_function optional;
};

/* H5VL_class_t of 1.12. */
struct h5twin_vol_class_1_12 {
    unsigned version;
    int value;
    const char *name;
    unsigned capabilities;
    int (*initialize)(h5twin_hid plist);
    int (*terminate)(void);
    h5twin_vol_function callbacks[72];
};

/* What HDF5 copies of a class: a word more or less would be another layout. */
#define H5TWIN_VOL_CLASS_WORDS      79u
#define H5TWIN_VOL_CLASS_1_12_WORDS 77u
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(struct h5twin_vol_class) == 8u * H5TWIN_VOL_CLASS_WORDS, "H5VL_class_t");
_Static_assert(offsetof(struct h5twin_vol_class, dataset) == 8u * 25u, "H5VL_class_t.dataset_cls");
_Static_assert(offsetof(struct h5twin_vol_class, file) == 8u * 39u, "H5VL_class_t.file_cls");
_Static_assert(offsetof(struct h5twin_vol_class, object) == 8u * 57u, "H5VL_class_t.object_cls");
_Static_assert(sizeof(struct h5twin_vol_location) == 40, "H5VL_loc_params_t");
_Static_assert(sizeof(struct h5twin_vol_class_1_12) == 8u * H5TWIN_VOL_CLASS_1_12_WORDS,
               "H5VL_class_t of 1.12");
#endif

#endif
