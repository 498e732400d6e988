h5twin_codec_sources(
    C
        sleek.c
        sleek_bound.c
    EACH
        sleek_maps.c
    CUDA
        sleek.cu)
