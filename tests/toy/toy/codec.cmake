h5twin_codec_sources(C toy.c EACH toy_runs.c)
