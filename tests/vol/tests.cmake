# Policies; included by tests/CMakeLists.txt.
function(h5twin_add_policy_test name)
    h5twin_add_filter_test(${name} vol/${name}.c)
    target_link_libraries(${name} PRIVATE h5twin_policy)
endfunction()

h5twin_add_policy_test(test_policy_glob)
h5twin_add_policy_test(test_policy_parse)
h5twin_add_policy_test(test_policy_choose)
h5twin_add_policy_test(test_policy_log)
target_compile_definitions(test_policy_log PRIVATE _XOPEN_SOURCE=700)
if(HDF5_FOUND)
    h5twin_add_policy_test(test_policy_hdf5)
    target_include_directories(test_policy_hdf5 SYSTEM PRIVATE ${HDF5_C_INCLUDE_DIRS})
    target_link_libraries(test_policy_hdf5 PRIVATE ${HDF5_C_LIBRARIES})
endif()

# Rows that are held.
h5twin_add_filter_test(test_held_box vol/test_held_box.c)
target_link_libraries(test_held_box PRIVATE h5twin_dataset_io)
