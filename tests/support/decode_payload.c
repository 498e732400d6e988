/* SPDX-License-Identifier: BSD-3-Clause
 * decode_payload.c: see support.h. Alone in its file: tests of back ends bring their own. */
#include "support.h"

enum h5twin_status
test_decode_payload(const struct h5twin_params *params, void *dst, size_t dst_size, const void *src,
                    size_t src_size)
{
    return h5twin_decode_payload(params, NULL, dst, dst_size, src, src_size);
}
