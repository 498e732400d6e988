# nvcc: machine code for each generation from A100 on, PTX for newer ones.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;86-real;89-real;90")
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY Static) # it opens the driver at its first call, not at load time
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

add_library(h5twin_cuda OBJECT ${cuda_sources})
set_target_properties(h5twin_cuda PROPERTIES
    CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF CUDA_VISIBILITY_PRESET hidden)
target_compile_definitions(h5twin_cuda PRIVATE H5TWIN_BUILD)
target_include_directories(h5twin_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include .)
target_compile_options(h5twin_cuda PRIVATE
    --fmad=false # as -ffp-contract=off on the CPU
    -Xcompiler=-ffp-contract=off,-fno-exceptions,-fno-rtti,-Wall,-Wextra)
if(H5TWIN_WERROR)
    target_compile_options(h5twin_cuda PRIVATE --Werror=all-warnings -Xcompiler=-Werror)
endif()
# What everything that contains the objects is linked with: the runtime, and no C++ library.
add_library(h5twin_cuda_link INTERFACE)
target_link_libraries(h5twin_cuda_link INTERFACE CUDA::cudart_static Threads::Threads ${CMAKE_DL_LIBS})
target_compile_definitions(h5twin_core PRIVATE H5TWIN_HAVE_CUDA)
