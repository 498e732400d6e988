# The proofs of error bounds, and equal bytes everywhere, need IEEE arithmetic. Options of a target come after
# those that a user sets for all (CMAKE_C_FLAGS), and so undo -ffast-math, -Ofast and their parts.
# codec/common/ieee.h refuses what is left.
set(h5twin_ieee_options
    -ffp-contract=off # a fused multiply-add would round differently from one device to the next
    -fno-fast-math -fno-unsafe-math-optimizations -fno-finite-math-only -fno-associative-math
    -fno-reciprocal-math -fsigned-zeros)
set(h5twin_ieee_link_options "")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND h5twin_ieee_options -fno-allow-store-data-races) # -Ofast allows them, threads do not
    # Else gcc before 13 links a start file into libraries that flushes subnormal numbers in whoever loads them.
    set(h5twin_ieee_link_options -fno-fast-math -fno-unsafe-math-optimizations)
    if("${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_RELEASE} ${CMAKE_C_FLAGS_RELWITHDEBINFO}" MATCHES "-Ofast")
        list(APPEND h5twin_ieee_link_options -O3)
    endif()
elseif(CMAKE_C_COMPILER_ID STREQUAL "IntelLLVM")
    list(PREPEND h5twin_ieee_options -fp-model=precise) # its default is fast
endif()
