h5twin_codec_sources(C toy.c)
