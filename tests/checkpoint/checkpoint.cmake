# The checkpoint library: a program whose checkpoints are known, which python_tests/test_checkpoint.py
# kills and starves, and tests in C.
add_executable(checkpoint_run checkpoint/checkpoint_run.c checkpoint/fork_team.c)
set_target_properties(checkpoint_run PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_compile_definitions(checkpoint_run PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
target_link_libraries(checkpoint_run PRIVATE h5twin_checkpoint h5twin_flags)

add_executable(test_checkpoint checkpoint/test_checkpoint.c)
set_target_properties(test_checkpoint PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_compile_definitions(test_checkpoint PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
target_include_directories(test_checkpoint PRIVATE support)
target_link_libraries(test_checkpoint PRIVATE h5twin_checkpoint h5twin_cmocka h5twin_flags m)
add_test(NAME test_checkpoint COMMAND test_checkpoint)
set_tests_properties(test_checkpoint PROPERTIES TIMEOUT 120)

# What the library of the Python package, which is built without HDF5, declares of it.
add_executable(test_checkpoint_hdf5 checkpoint/test_checkpoint_hdf5.c)
set_target_properties(test_checkpoint_hdf5 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_include_directories(test_checkpoint_hdf5 SYSTEM PRIVATE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(test_checkpoint_hdf5 PRIVATE h5twin_cmocka h5twin_flags ${HDF5_C_LIBRARIES})
add_test(NAME test_checkpoint_hdf5 COMMAND test_checkpoint_hdf5)

if(TARGET h5twin_checkpoint_fortran)
    add_executable(test_checkpoint_fortran checkpoint/test_checkpoint_fortran.f90)
    set_target_properties(test_checkpoint_fortran PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
        Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fortran)
    target_compile_options(test_checkpoint_fortran PRIVATE "$<$<Fortran_COMPILER_ID:GNU>:-fcheck=bounds,pointer>")
    target_link_libraries(test_checkpoint_fortran PRIVATE h5twin_checkpoint_fortran)
    add_test(NAME test_checkpoint_fortran COMMAND sh -c
        "folder=$(mktemp -d) && $<TARGET_FILE:test_checkpoint_fortran> $folder; status=$?; rm -rf $folder; exit $status")
endif()

# Fields on grids, for python_tests/test_checkpoint_vtk.py.
add_executable(checkpoint_pictures checkpoint/checkpoint_pictures.c checkpoint/fork_team.c)
set_target_properties(checkpoint_pictures PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_compile_definitions(checkpoint_pictures PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
target_link_libraries(checkpoint_pictures PRIVATE h5twin_checkpoint h5twin_flags)

# Arrays in memory that only CUDA can reach: the program has CUDA's runtime, a library its driver.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND BUILD_SHARED_LIBS)
    add_library(h5twin_fake_driver SHARED checkpoint/fake_driver.c)
    set_target_properties(h5twin_fake_driver PROPERTIES OUTPUT_NAME fake_cuda_driver C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests NO_SONAME ON)
    target_link_options(h5twin_fake_driver PRIVATE -Wl,-soname,libcuda.so.1)
    # For python_tests/test_vol_device.py.
    add_library(h5twin_fake_runtime SHARED checkpoint/fake_runtime.c checkpoint/fake_cuda.c)
    set_target_properties(h5twin_fake_runtime PROPERTIES OUTPUT_NAME fake_gpu_runtime C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_executable(test_device_memory checkpoint/test_device_memory.c checkpoint/fake_cuda.c)
    set_target_properties(test_device_memory PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
        ENABLE_EXPORTS ON C_VISIBILITY_PRESET default)
    target_compile_definitions(test_device_memory PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE
        "FAKE_DRIVER=\"$<TARGET_FILE:h5twin_fake_driver>\"")
    target_link_libraries(test_device_memory PRIVATE h5twin_checkpoint h5twin_cmocka h5twin_flags m ${CMAKE_DL_LIBS})
    add_dependencies(test_device_memory h5twin_fake_driver)
    add_test(NAME test_device_memory COMMAND test_device_memory)
    set_tests_properties(test_device_memory PROPERTIES TIMEOUT 300)
endif()

# The example for GPUs, in the interpreter.
if(TARGET gray_scott_cuda AND H5TWIN_PTX)
    add_test(NAME ptx_gray_scott_cuda COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/checkpoint/gray_scott_cuda.sh
        $<TARGET_FILE:gray_scott_cuda> $<TARGET_FILE:gray_scott>)
    set_tests_properties(ptx_gray_scott_cuda PROPERTIES LABELS ptx TIMEOUT 900 ENVIRONMENT H5TWIN_PTX_THREADS=1)
endif()
