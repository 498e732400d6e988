h5twin_codec_sources(
    C
        e2mc.c
        e2mc_describe.c
        e2mc_options.c
        huffman.c
    EACH
        e2mc_segment_decode.c
        e2mc_segment_encode.c
    CUDA
        e2mc.cu
        e2mc_decode.cu)

# Positions of several bit strings that advance side by side: in a vector they would only wait.
h5twin_each_option(e2mc_segment_decode.c -fno-tree-slp-vectorize)
