/* SPDX-License-Identifier: BSD-3-Clause
 * native_questions.c: see native_questions.h. */
#include "native_questions.h"

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
