# nvcc: machine code for each generation from A100 on, PTX for newer ones.
if(H5TWIN_PTX)
    # Kernels as PTX only, which is what tests/ptx runs; its runtime instead of nvcc's.
    set(CMAKE_CUDA_ARCHITECTURES "90-virtual" CACHE STRING "The PTX to compile to")
    set(CMAKE_CUDA_RUNTIME_LIBRARY None)
    set(h5twin_cudart ptxsim)
else()
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static) # it opens the driver at its first call, not at load time
    set(h5twin_cudart CUDA::cudart_static)
endif()
find_package(CUDAToolkit REQUIRED)
set(h5twin_cuda_architectures 80-real 86-real 89-real 90)
if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8) # which knows Blackwell
    list(APPEND h5twin_cuda_architectures 100-real 120)
endif()
set(CMAKE_CUDA_ARCHITECTURES "${h5twin_cuda_architectures}" CACHE STRING "GPUs to compile for")
enable_language(CUDA)

add_library(h5twin_cuda_flags INTERFACE)
if(NOT H5TWIN_PTX) # generations side by side: the longest file takes minutes for each
    set(H5TWIN_NVCC_THREADS 2 CACHE STRING "How many generations nvcc compiles a file for at once")
    target_compile_options(h5twin_cuda_flags INTERFACE --threads=${H5TWIN_NVCC_THREADS})
endif()
list(JOIN h5twin_ieee_options "," h5twin_ieee_host_options)
target_compile_options(h5twin_cuda_flags INTERFACE
    --fmad=false # as -ffp-contract=off on the CPU
    --ftz=false --prec-div=true --prec-sqrt=true # whatever --use_fast_math says
    # Nothing that would need a C++ library at run time; statics in nvcc's stubs need no lock.
    -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
    -Xcompiler=${h5twin_ieee_host_options},-Wall,-Wextra)
if(H5TWIN_PTX)
    target_compile_options(h5twin_cuda_flags INTERFACE --no-compress -lineinfo)
    enable_language(CXX)
    add_subdirectory(tests/ptx/sim)
endif()
if(H5TWIN_WERROR)
    target_compile_options(h5twin_cuda_flags INTERFACE --Werror=all-warnings -Xcompiler=-Werror)
endif()
