/* SPDX-License-Identifier: BSD-3-Clause
 * connector.h: the connector of one HDF5 library of this process. */
#ifndef H5TWIN_VOL_CONNECTOR_H
#define H5TWIN_VOL_CONNECTOR_H

#include "dataset_notes.h"
#include "held_rows.h"
#include "policy.h"
#include "vol_abi.h"
#include "vol_hdf5.h"

/* Constant once it can be seen, but for the notes and what is held. */
struct h5twin_vol_connector {
    struct h5twin_hdf5 *hdf5;
    struct h5twin_vol_hdf5 functions;
    const struct h5twin_vol_class *native; /* HDF5's own class; NULL with 1.12 */
    bool takes_over;                       /* H5TWIN_VOL is not off */
    /* H5Pget_fapl_mpio; NULL: an HDF5 without MPI. */
    int (*get_mpio)(h5twin_hid fapl, void *communicator, void *info);
    struct h5twin_vol_notes notes;
    const struct h5twin_policy *policy; /* NULL: none, or this HDF5 cannot follow it */
    struct h5twin_policy_hdf5 policy_functions;
    struct h5twin_held_rows held; /* where a rule says append=hold */
    union {
        struct h5twin_vol_class now;
        struct h5twin_vol_class_1_12 of_1_12;
    } class_given;
    struct h5twin_vol_connector *next;
};

/* That of the library which holds an address. NULL if h5twin_vol_class() has not been called for it
 * with success. */
struct h5twin_vol_connector *h5twin_vol_connector_of(const void *in_hdf5);

#endif
