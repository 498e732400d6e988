/* SPDX-License-Identifier: BSD-3-Clause
 * vol_hdf5.c: see vol_hdf5.h. */
#include "vol_hdf5.h"

#include <string.h>

bool
h5twin_vol_hdf5_find(struct h5twin_vol_hdf5 *functions, const struct h5twin_hdf5 *hdf5)
{
    bool has_all = true;
    void *symbol;
    /* memcpy: C has no conversion from a data pointer to a function pointer. */
#define FIND(type, name, parameters)                                                               \
    symbol = h5twin_hdf5_symbol(hdf5, #name);                                                      \
    memcpy(&functions->name, &symbol, sizeof symbol);                                              \
    has_all = has_all && symbol != NULL;
    H5TWIN_VOL_FUNCTIONS(FIND)
#undef FIND
    return has_all;
}

void
h5twin_vol_errors_hold(const struct h5twin_vol_hdf5 *functions, struct h5twin_vol_errors *errors)
{
    const h5twin_hid stack = H5TWIN_HDF5_DEFAULT_STACK;
    *errors = (struct h5twin_vol_errors){.stack = -1};
    if (functions->H5Eget_num(stack) > 0) {
        errors->stack = functions->H5Eget_current_stack();
    }
    unsigned is_v2 = 0; /* what was set by H5Eset_auto1 cannot be set anew by H5Eset_auto2 */
    if (functions->H5Eauto_is_v2(stack, &is_v2) >= 0 && is_v2 != 0 &&
        functions->H5Eget_auto2(stack, &errors->print, &errors->data) >= 0 &&
        errors->print != NULL) {
        functions->H5Eset_auto2(stack, NULL, NULL);
    }
}

void
h5twin_vol_errors_release(const struct h5twin_vol_hdf5 *functions, struct h5twin_vol_errors *errors,
                          h5twin_hid new_stack)
{
    if (new_stack >= 0) {
        if (errors->stack >= 0) {
            functions->H5Eclose_stack(errors->stack);
        }
        errors->stack = new_stack;
    }
    if (errors->print != NULL) {
        functions->H5Eset_auto2(H5TWIN_HDF5_DEFAULT_STACK, errors->print, errors->data);
    }
    if (errors->stack >= 0) {
        functions->H5Eset_current_stack(errors->stack); /* and closes it */
    } else {
        functions->H5Eclear2(H5TWIN_HDF5_DEFAULT_STACK);
    }
}
