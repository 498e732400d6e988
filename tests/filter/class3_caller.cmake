# A plugin that gives HDF5 3 the class it takes, and two libraries that load it as HDF5 does: one that has what
# HDF5 3 brings, one that has not.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR H5TWIN_SANITIZE)
    return()
endif()
add_library(h5twin_class3_plugin MODULE ${PROJECT_SOURCE_DIR}/filter/plugin.c
    $<TARGET_OBJECTS:h5twin_filter> $<TARGET_OBJECTS:h5twin_core>)
h5twin_add_gpu(h5twin_class3_plugin)
target_compile_definitions(h5twin_class3_plugin
    PRIVATE H5TWIN_PLUGIN_CODEC=H5TWIN_NDZIP H5TWIN_HDF5_CLASS3)
target_include_directories(h5twin_class3_plugin PRIVATE ${h5twin_include_dirs})
target_link_libraries(h5twin_class3_plugin PRIVATE h5twin_flags Threads::Threads m ${CMAKE_DL_LIBS})
foreach(version 2 3)
    add_library(h5twin_fake_hdf5_${version} SHARED filter/fake_hdf5.c)
    target_compile_definitions(h5twin_fake_hdf5_${version} PRIVATE FAKE_VERSION=${version})
    set_target_properties(h5twin_fake_hdf5_${version} PROPERTIES C_VISIBILITY_PRESET default)
    target_link_libraries(h5twin_fake_hdf5_${version} PRIVATE ${CMAKE_DL_LIBS} h5twin_flags)
endforeach()
set_target_properties(h5twin_class3_plugin h5twin_fake_hdf5_2 h5twin_fake_hdf5_3 PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
h5twin_add_filter_test(test_class3_caller filter/test_class3_caller.c)
target_compile_definitions(test_class3_caller PRIVATE
    PLUGIN="$<TARGET_FILE:h5twin_class3_plugin>"
    FAKE_2="$<TARGET_FILE:h5twin_fake_hdf5_2>" FAKE_3="$<TARGET_FILE:h5twin_fake_hdf5_3>")
target_link_libraries(test_class3_caller PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(test_class3_caller h5twin_class3_plugin h5twin_fake_hdf5_2 h5twin_fake_hdf5_3)
