/* SPDX-License-Identifier: BSD-3-Clause
 * decode_payload_gpu.cpp: test_decode_payload() of tests/support for tests of back ends: what the
 * CPU says of a payload the back end must say, too. */
#include "device_memory.h"

extern "C" bool test_gpu_is_missing(void);

extern "C" enum h5twin_status
test_decode_payload(const struct h5twin_params *params, void *dst, size_t dst_size, const void *src,
                    size_t src_size)
{
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    const uint8_t *const payload = static_cast<const uint8_t *>(src);
    assert_int_equal(h5twin_job_from_params(&job, &codec, params, dst_size), H5TWIN_OK);
    assert_non_null(h5twin_gpu_codec_find(codec->info.id));
    gpu_check_decode(codec->info.id, job, {Bytes(payload, payload + src_size)}, {});
    return h5twin_decode_payload(params, nullptr, dst, dst_size, src, src_size);
}

extern "C" bool
test_gpu_is_missing(void)
{
    return gpu_is_missing();
}
