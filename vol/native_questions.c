/* SPDX-License-Identifier: BSD-3-Clause
 * native_questions.c: see native_questions.h. */
#include "native_questions.h"

#include <string.h>

#define SWMR_WRITE 0x20u /* H5F_ACC_SWMR_WRITE */

void
h5twin_vol_object_name(const struct h5twin_vol_connector *connector, void *object, int object_type,
                       h5twin_hid dxpl, char *name, size_t capacity)
{
    const struct h5twin_vol_location location = {.object_type = object_type};
    size_t length = 0;
    struct h5twin_vol_object_question question = {
        .what = H5TWIN_VOL_OBJECT_NAME,
        .answer.name = {.capacity = capacity, .text = name, .length = &length}};
    if (connector->native->object.get(object, &location, &question, dxpl, NULL) < 0 ||
        length == 0 || length >= capacity) {
        name[0] = '\0';
    }
}

void
h5twin_vol_file_name(const struct h5twin_vol_connector *connector, void *object, int object_type,
                     h5twin_hid dxpl, char *name, size_t capacity)
{
    size_t length = 0;
    struct h5twin_vol_file_question question = {
        .what = H5TWIN_VOL_FILE_NAME,
        .answer.name = {
            .object_type = object_type, .capacity = capacity, .text = name, .length = &length}};
    if (connector->native->file.get(object, &question, dxpl, NULL) < 0 || length == 0 ||
        length >= capacity) {
        name[0] = '\0';
    }
}

bool
h5twin_vol_is_parallel(const struct h5twin_vol_connector *connector, void *object, int object_type,
                       h5twin_hid dxpl)
{
    if (connector->get_mpio == NULL) {
        return false;
    }
    const struct h5twin_vol_location location = {.object_type = object_type};
    void *file = NULL;
    struct h5twin_vol_object_question whose = {.what = H5TWIN_VOL_OBJECT_FILE,
                                               .answer.file = &file};
    struct h5twin_vol_file_question how = {.what = H5TWIN_VOL_FILE_ACCESS};
    if (connector->native->object.get(object, &location, &whose, dxpl, NULL) < 0 || file == NULL ||
        connector->native->file.get(file, &how, dxpl, NULL) < 0) {
        return true; /* to be careful */
    }
    /* It fails where the driver is another one. */
    const bool is_parallel = connector->get_mpio(how.answer.access_list, NULL, NULL) >= 0;
    connector->functions.H5Pclose(how.answer.access_list);
    return is_parallel;
}

bool
h5twin_vol_identity_of(const struct h5twin_vol_connector *connector, void *dataset, h5twin_hid dxpl,
                       struct h5twin_vol_identity *identity)
{
    const struct h5twin_vol_location location = {.object_type = H5TWIN_HDF5_ID_DATASET};
    struct h5twin_vol_object_info info;
    struct h5twin_vol_object_question question = {
        .what = H5TWIN_VOL_OBJECT_INFO,
        .answer.info = {.fields = H5TWIN_VOL_INFO_BASIC, .info = &info}};
    if (connector->native->object.get(dataset, &location, &question, dxpl, NULL) < 0) {
        return false;
    }
    identity->file_number = info.file_number;
    memcpy(identity->token, info.token, sizeof identity->token);
    return true;
}

bool
h5twin_vol_is_plainly_written(const struct h5twin_vol_connector *connector, void *dataset,
                              h5twin_hid dxpl)
{
    const struct h5twin_vol_location location = {.object_type = H5TWIN_HDF5_ID_DATASET};
    void *file = NULL;
    unsigned flags = 0;
    struct h5twin_vol_object_question whose = {.what = H5TWIN_VOL_OBJECT_FILE,
                                               .answer.file = &file};
    struct h5twin_vol_file_question how = {.what = H5TWIN_VOL_FILE_INTENT, .answer.flags = &flags};
    return connector->native->object.get(dataset, &location, &whose, dxpl, NULL) >= 0 &&
           file != NULL && connector->native->file.get(file, &how, dxpl, NULL) >= 0 &&
           (flags & H5TWIN_HDF5_READ_WRITE) != 0 && (flags & SWMR_WRITE) == 0;
}

bool
h5twin_vol_is_virtual(const struct h5twin_vol_connector *connector, void *dataset, h5twin_hid dxpl)
{
    struct h5twin_vol_dataset_question question = {.what = H5TWIN_VOL_DATASET_LIST};
    if (connector->native->dataset.get(dataset, &question, dxpl, NULL) < 0) {
        return true; /* to be careful */
    }
    const int layout = connector->functions.H5Pget_layout(question.answer.list);
    connector->functions.H5Pclose(question.answer.list);
    return layout == H5TWIN_HDF5_VIRTUAL;
}
