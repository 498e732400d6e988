/* SPDX-License-Identifier: BSD-3-Clause
 * test_hdf5_calls.c: what the command declares of HDF5 itself, against the installed headers: types
 * and structures as this file is compiled, numbers as it runs. */
#include "hdf5_calls.h"
#include "hdf5_structures.h"

#define H5_USE_110_API
#include <hdf5.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME_FIELD(our_type, ours, their_type, theirs)                                             \
    SAME(offsetof(struct our_type, ours), offsetof(their_type, theirs));                           \
    SAME(sizeof(((struct our_type *)0)->ours), sizeof(((their_type *)0)->theirs))

SAME(sizeof(unsigned long long), sizeof(hsize_t));
SAME(sizeof(unsigned long long), sizeof(haddr_t));
SAME(sizeof(long long), sizeof(hssize_t));
SAME(sizeof(int64_t), sizeof(hid_t));
SAME(sizeof(int), sizeof(herr_t));
SAME(sizeof(int), sizeof(htri_t));
SAME(sizeof(int), sizeof(H5Z_filter_t));
SAME(sizeof(int), sizeof(H5T_class_t)); /* as any enumeration */
SAME(sizeof(unsigned long long) + 4, sizeof(hdset_reg_ref_t));
SAME(sizeof(unsigned long long), sizeof(hobj_ref_t));

SAME(sizeof(struct h5twin_hdf5_sequence), sizeof(hvl_t));
SAME_FIELD(h5twin_hdf5_sequence, len, hvl_t, len);
SAME_FIELD(h5twin_hdf5_sequence, p, hvl_t, p);

SAME(sizeof(struct h5twin_hdf5_error_entry), sizeof(H5E_error2_t));
SAME_FIELD(h5twin_hdf5_error_entry, line, H5E_error2_t, line);
SAME_FIELD(h5twin_hdf5_error_entry, desc, H5E_error2_t, desc);

SAME(sizeof(struct h5twin_hdf5_link_info), sizeof(H5L_info_t));
SAME_FIELD(h5twin_hdf5_link_info, type, H5L_info_t, type);
SAME_FIELD(h5twin_hdf5_link_info, cset, H5L_info_t, cset);
SAME_FIELD(h5twin_hdf5_link_info, u.address, H5L_info_t, u.address);
SAME_FIELD(h5twin_hdf5_link_info, u.val_size, H5L_info_t, u.val_size);

SAME(sizeof(struct h5twin_hdf5_object_info), sizeof(H5O_info_t));
SAME_FIELD(h5twin_hdf5_object_info, addr, H5O_info_t, addr);
SAME_FIELD(h5twin_hdf5_object_info, type, H5O_info_t, type);
SAME_FIELD(h5twin_hdf5_object_info, rc, H5O_info_t, rc);
SAME_FIELD(h5twin_hdf5_object_info, num_attrs, H5O_info_t, num_attrs);
SAME_FIELD(h5twin_hdf5_object_info, hdr, H5O_info_t, hdr);
SAME_FIELD(h5twin_hdf5_object_info, meta_size, H5O_info_t, meta_size);

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
    H5TWIN_HDF5_CALLS(COMPARE)
#undef COMPARE
}

static void
numbers_are_these(void **state)
{
    (void)state;
#define COMPARE(name, number) assert_int_equal(name, number);
    H5TWIN_HDF5_ENUMERATORS(COMPARE)
#undef COMPARE
    assert_int_equal(H5E_DEFAULT, 0);
    assert_int_equal(H5P_DEFAULT, 0);
    assert_int_equal(H5I_INVALID_HID, -1);
    assert_true(HADDR_UNDEF == ~(haddr_t)0);
    assert_true(H5S_UNLIMITED == ~(hsize_t)0);
    assert_int_equal(H5S_MAX_RANK, 32);
    assert_int_equal(H5F_ACC_RDONLY, 0);
    assert_int_equal(H5F_ACC_TRUNC, 2);
    assert_int_equal(H5O_INFO_BASIC, 1);
    assert_int_equal(H5O_COPY_WITHOUT_ATTR_FLAG, 0x10);
    assert_int_equal(H5P_CRT_ORDER_TRACKED, 1);
    assert_int_equal(H5Z_FILTER_ALL, 0);
    assert_int_equal(H5Z_FILTER_FLETCHER32, 3);
    assert_int_equal(H5Z_FLAG_MANDATORY, 0);
}

/* Which name stands for which variable. */
static void
identifiers_are_these(void **state)
{
    (void)state;
    assert_int_equal(H5open(), 0);
    assert_true(H5P_GROUP_CREATE == H5P_CLS_GROUP_CREATE_ID_g);
    assert_true(H5P_LINK_CREATE == H5P_CLS_LINK_CREATE_ID_g);
    assert_true(H5P_OBJECT_COPY == H5P_CLS_OBJECT_COPY_ID_g);
    assert_true(H5T_IEEE_F32BE == H5T_IEEE_F32BE_g);
    assert_true(H5T_IEEE_F32LE == H5T_IEEE_F32LE_g);
    assert_true(H5T_IEEE_F64BE == H5T_IEEE_F64BE_g);
    assert_true(H5T_IEEE_F64LE == H5T_IEEE_F64LE_g);
    assert_true(H5T_STD_REF_OBJ == H5T_STD_REF_OBJ_g);
    assert_true(H5T_STD_REF_DSETREG == H5T_STD_REF_DSETREG_g);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_these_types),
        cmocka_unit_test(numbers_are_these),
        cmocka_unit_test(identifiers_are_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
