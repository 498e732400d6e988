/* SPDX-License-Identifier: BSD-3-Clause
 * native_questions.h: what HDF5 knows of the objects that a connector's callbacks get.
 *
 * To be called inside a callback. What fails leaves messages on HDF5's error stack. */
#ifndef H5TWIN_VOL_NATIVE_QUESTIONS_H
#define H5TWIN_VOL_NATIVE_QUESTIONS_H

#include "connector.h"

/* A path within the file, "/" for the file itself; "" if the object has none (yet), or if it does
 * not fit. */
void h5twin_vol_object_name(const struct h5twin_vol_connector *connector, void *object,
                            int object_type, h5twin_hid dxpl, char *name, size_t capacity);

/* The file that it is in, as it was opened; "" if that is not known. */
void h5twin_vol_file_name(const struct h5twin_vol_connector *connector, void *object,
                          int object_type, h5twin_hid dxpl, char *name, size_t capacity);

/* Whether that file is open through MPI-IO. In calls that all its processes make together only: to
 * ask duplicates the communicator. */
bool h5twin_vol_is_parallel(const struct h5twin_vol_connector *connector, void *object,
                            int object_type, h5twin_hid dxpl);

/* Which dataset it is. */
bool h5twin_vol_identity_of(const struct h5twin_vol_connector *connector, void *dataset,
                            h5twin_hid dxpl, struct h5twin_vol_identity *identity);

/* Whether its file is open for writing, and not for readers beside (SWMR). */
bool h5twin_vol_is_plainly_written(const struct h5twin_vol_connector *connector, void *dataset,
                                   h5twin_hid dxpl);

/* Whether its values are in other datasets. */
bool h5twin_vol_is_virtual(const struct h5twin_vol_connector *connector, void *dataset,
                           h5twin_hid dxpl);

#endif
