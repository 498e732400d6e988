h5twin_codec_sources(
    C
        e2mc.c
        e2mc_block_decode.c
        e2mc_block_encode.c
        e2mc_book_read.c
        e2mc_book_write.c
        e2mc_describe.c
        e2mc_encoder.c
        e2mc_header.c
        e2mc_histogram.c
        e2mc_histogram16.c
        e2mc_options.c
        e2mc_segment.c
        e2mc_segment_decode.c
        e2mc_segment_encode.c
        e2mc_select.c
        e2mc_step_decode.c
        e2mc_transform.c
        e2mc_way_decode.c
        e2mc_way_encode.c
    CUDA
        e2mc.cu
        e2mc_decode.cu
        e2mc_encode.cu)

# The segments once more for each instruction set: see e2mc_variant.h.
set(e2mc_parts block_decode block_encode book_read book_write encoder histogram histogram16 segment
    segment_decode segment_encode select step_decode transform way_decode way_encode)
foreach(suffix avx2 avx512)
    foreach(part IN LISTS e2mc_parts)
        set(source e2mc_${part}.c)
        set(variant ${CMAKE_CURRENT_BINARY_DIR}/e2mc_${part}_${suffix}.c)
        if(is_x86)
            configure_file(${CMAKE_CURRENT_LIST_DIR}/e2mc_variant.c.in ${variant} @ONLY)
            h5twin_add_variant("${${suffix}_flags}" ${variant})
        endif()
    endforeach()
endforeach()
# Positions of several bit strings that advance side by side: in a vector they would only wait.
foreach(part way_decode step_decode)
    set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/e2mc_${part}.c
        ${CMAKE_CURRENT_BINARY_DIR}/e2mc_${part}_avx2.c ${CMAKE_CURRENT_BINARY_DIR}/e2mc_${part}_avx512.c
        APPEND PROPERTY COMPILE_OPTIONS -fno-tree-slp-vectorize)
endforeach()
