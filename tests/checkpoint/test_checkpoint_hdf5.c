/* SPDX-License-Identifier: BSD-3-Clause
 * test_checkpoint_hdf5.c: what checkpoint/loaded declares of HDF5 itself, against the installed
 * headers: types and structures as this file is compiled, numbers as it runs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../checkpoint/loaded/hdf5_calls.h"

#define H5_USE_110_API
#include <hdf5.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME_FIELD(our_type, their_type, field)                                                    \
    SAME(offsetof(struct our_type, field), offsetof(their_type, field));                           \
    SAME(sizeof(((struct our_type *)0)->field), sizeof(((their_type *)0)->field))

SAME(sizeof(unsigned long long), sizeof(hsize_t));
SAME(sizeof(long long), sizeof(hssize_t));
SAME(sizeof(int64_t), sizeof(hid_t));
SAME(sizeof(int), sizeof(herr_t));
SAME(sizeof(int), sizeof(htri_t));
SAME(sizeof(int), sizeof(H5T_class_t)); /* as any enumeration */
SAME(sizeof(bool), sizeof(hbool_t));

SAME(sizeof(struct checkpoint_hdf5_error), sizeof(H5E_error2_t));
SAME_FIELD(checkpoint_hdf5_error, H5E_error2_t, line);
SAME_FIELD(checkpoint_hdf5_error, H5E_error2_t, desc);

SAME(sizeof(struct checkpoint_hdf5_group), sizeof(H5G_info_t));
SAME_FIELD(checkpoint_hdf5_group, H5G_info_t, nlinks);

SAME(sizeof(struct checkpoint_hdf5_image_callbacks), sizeof(H5FD_file_image_callbacks_t));
SAME_FIELD(checkpoint_hdf5_image_callbacks, H5FD_file_image_callbacks_t, image_malloc);
SAME_FIELD(checkpoint_hdf5_image_callbacks, H5FD_file_image_callbacks_t, image_memcpy);
SAME_FIELD(checkpoint_hdf5_image_callbacks, H5FD_file_image_callbacks_t, image_realloc);
SAME_FIELD(checkpoint_hdf5_image_callbacks, H5FD_file_image_callbacks_t, image_free);
SAME_FIELD(checkpoint_hdf5_image_callbacks, H5FD_file_image_callbacks_t, udata_copy);
SAME_FIELD(checkpoint_hdf5_image_callbacks, H5FD_file_image_callbacks_t, udata_free);
SAME_FIELD(checkpoint_hdf5_image_callbacks, H5FD_file_image_callbacks_t, udata);

/* The compiler compares the types of all functions. */
static void
functions_have_these_types(void **state)
{
    (void)state;
#define COMPARE(type, name, parameters)                                                            \
    {                                                                                              \
        type(*const function) parameters = name;                                                   \
        assert_true(function != NULL);                                                             \
    }
    CHECKPOINT_HDF5_CALLS(COMPARE)
#undef COMPARE
}

static void
numbers_and_identifiers_are_these(void **state)
{
    (void)state;
#define COMPARE(name, number) assert_int_equal(name, number);
    CHECKPOINT_HDF5_ENUMERATORS(COMPARE)
#undef COMPARE
    assert_int_equal(H5open(), 0);
#define COMPARE(name, variable) assert_true(name == variable);
    CHECKPOINT_HDF5_IDS(COMPARE)
#undef COMPARE
    assert_int_equal(H5E_DEFAULT, 0);
    assert_int_equal(H5P_DEFAULT, 0);
    assert_int_equal(H5S_ALL, 0);
    assert_int_equal(H5I_INVALID_HID, -1);
    assert_int_equal(H5S_MAX_RANK, 32);
    assert_int_equal(H5F_ACC_RDONLY, 0);
    assert_int_equal(H5F_ACC_TRUNC, 2);
    assert_int_equal(H5Z_FLAG_MANDATORY, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_these_types),
        cmocka_unit_test(numbers_and_identifiers_are_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
