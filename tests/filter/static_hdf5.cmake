# A program that HDF5 is linked into, as Debian's h5cc makes them: with libh5twin, and with plugins.
find_library(H5TWIN_STATIC_HDF5 NAMES libhdf5_serial.a libhdf5.a)
set(static_hdf5_libraries ${H5TWIN_STATIC_HDF5})
foreach(library crypto curl sz z) # what Debian's was built with, if it is here
    find_library(H5TWIN_STATIC_HDF5_${library} NAMES ${library})
    if(H5TWIN_STATIC_HDF5_${library})
        list(APPEND static_hdf5_libraries ${H5TWIN_STATIC_HDF5_${library}})
    endif()
endforeach()
list(APPEND static_hdf5_libraries Threads::Threads ${CMAKE_DL_LIBS} m)

set(static_hdf5_links FALSE)
if(H5TWIN_STATIC_HDF5 AND NOT H5TWIN_SANITIZE)
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${HDF5_C_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LIBRARIES ${static_hdf5_libraries})
    check_c_source_compiles("#include <hdf5.h>\nint main(void) { return H5open(); }"
        H5TWIN_STATIC_HDF5_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(static_hdf5_links ${H5TWIN_STATIC_HDF5_LINKS})
endif()
if(NOT static_hdf5_links)
    message(STATUS "tests: SKIP static_hdf5: no static HDF5 that a program can be linked with")
    return()
endif()

add_executable(static_hdf5 filter/static_hdf5.c)
set_target_properties(static_hdf5 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
    ENABLE_EXPORTS OFF)
target_include_directories(static_hdf5 SYSTEM PRIVATE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(static_hdf5 PRIVATE h5twin ${static_hdf5_libraries} h5twin_flags)
add_test(NAME static_hdf5_registered COMMAND static_hdf5 register)
add_test(NAME static_hdf5_plugin COMMAND static_hdf5 plugin)
add_dependencies(static_hdf5 h5twin_plugin_sleek)
set_tests_properties(static_hdf5_registered PROPERTIES ENVIRONMENT HDF5_PLUGIN_PATH=/nonexistent)
set_tests_properties(static_hdf5_plugin PROPERTIES
    ENVIRONMENT "HDF5_PLUGIN_PATH=${PROJECT_BINARY_DIR}/plugins;H5TWIN_VERBOSE=1"
    PASS_REGULAR_EXPRESSION "h5twin sleek: .*linked into the program and exports nothing")
foreach(test static_hdf5_registered static_hdf5_plugin)
    set_tests_properties(${test} PROPERTIES TIMEOUT 60 RUN_SERIAL ON)
endforeach()
