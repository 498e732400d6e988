# What differs between Linux (and other systems with ELF), macOS and Windows.

# Whether the linker takes -z and version scripts.
set(H5TWIN_ELF ON)
set(h5twin_origin "$ORIGIN") # the folder of a library, for those that it needs
if(APPLE)
    set(H5TWIN_ELF OFF)
    set(h5twin_origin "@loader_path")
elseif(WIN32)
    set(H5TWIN_ELF OFF)
    if(NOT MINGW)
        message(FATAL_ERROR "h5twin: on Windows it is built with mingw-w64 (posix threads), not with this compiler")
    endif()
    set(CMAKE_C_EXTENSIONS ON)         # else mingw-w64 hides what POSIX has
    set(CMAKE_SHARED_LIBRARY_PREFIX "") # h5twin.dll
endif()

# h5twin_platform_flags(TARGET): flags for all who link it.
function(h5twin_platform_flags target)
    if(WIN32)
        target_compile_definitions(${target} INTERFACE
            __USE_MINGW_ANSI_STDIO=1 # %zu
            _WIN32_WINNT=0x0601)
        target_compile_options(${target} INTERFACE -Wno-float-conversion) # its isinf() casts to float
        target_link_options(${target} INTERFACE -static) # its runtime and threads come with the file
    endif()
endfunction()
