/* SPDX-License-Identifier: BSD-3-Clause
 * decode_payload.c: see support.h. Alone in its file: tests of back ends bring their own. Payloads
 * of our own codecs are put before the plain decoders, too. */
#include "plain_decoder.h"
#include "support.h"

enum h5twin_status
test_decode_payload(const struct h5twin_params *params, void *dst, size_t dst_size, const void *src,
                    size_t src_size)
{
    if (params->codec == H5TWIN_CASCADE) {
        test_plain_decoder_of_payload(H5TWIN_CASCADE, params->element_size, dst_size, 0, src,
                                      src_size);
    }
    return h5twin_decode_payload(params, NULL, dst, dst_size, src, src_size);
}
