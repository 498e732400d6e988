/* SPDX-License-Identifier: BSD-3-Clause
 * device.h: where a chunk is coded. The only reader of H5TWIN_DEVICE. */
#ifndef H5TWIN_DEVICE_H
#define H5TWIN_DEVICE_H

#include "../codec.h"

/* Processor or GPU, and what happens if a GPU cannot. */
enum h5twin_device_choice {
    H5TWIN_USE_CPU,
    H5TWIN_TRY_GPU,  /* the CPU does it if the GPU fails: same bytes */
    H5TWIN_MUST_GPU, /* H5TWIN_ERR_DEVICE if the GPU fails: it was demanded */
};

/* "auto", "cpu" or "gpu", in small or capital letters; false if it is none of them. */
bool h5twin_device_parse(enum h5twin_device *device, const char *text);

/* What H5TWIN_DEVICE says; auto if it is not set or empty. False: it is none of the three words. */
bool h5twin_device_from_environment(enum h5twin_device *device);

/* From how many bytes of host memory on auto takes a GPU, if there is one. */
#define H5TWIN_GPU_NEVER_PAYS SIZE_MAX
size_t h5twin_device_gpu_pays_from(enum h5twin_codec_id id, bool decoding);

/* The device for one call. H5TWIN_ERR_DEVICE if a GPU was demanded, by the call or by the
 * environment, and there is none for this codec, or H5TWIN_ERR_FORKED; H5TWIN_ERR_ENVIRONMENT if
 * the call leaves it to H5TWIN_DEVICE and that makes no sense. Whether a GPU pays is asked only
 * where there is one. */
enum h5twin_status h5twin_device_choose(const struct h5twin_exec *exec, enum h5twin_codec_id id,
                                        size_t raw_size, bool decoding,
                                        enum h5twin_device_choice *choice);

/* The codec's encode and decode, where it was chosen to. dst_capacity: at least bound(job). */
enum h5twin_status h5twin_device_encode(enum h5twin_device_choice choice,
                                        const struct h5twin_codec *codec, struct h5twin_job *job,
                                        uint8_t *dst, const uint8_t *src, size_t *dst_size);
enum h5twin_status h5twin_device_decode(enum h5twin_device_choice choice,
                                        const struct h5twin_codec *codec,
                                        const struct h5twin_job *job, uint8_t *dst,
                                        const uint8_t *src, size_t src_size);

/* Decode a box, which is not empty. A GPU decodes all of the array, and is only taken where it is
 * demanded or the codec has no way of its own to do less. */
enum h5twin_status h5twin_device_decode_box(enum h5twin_device_choice choice,
                                            const struct h5twin_codec *codec,
                                            const struct h5twin_job *job,
                                            const struct h5twin_box_runs *box, const uint8_t *src,
                                            size_t src_size);

#endif
