/* SPDX-License-Identifier: BSD-3-Clause
 * consumer.c: the smallest program that uses an installed h5twin. */
#include <h5twin.h>

#include <stdio.h>
#include <string.h>

#define VALUES 1000u

int
main(void)
{
    float values[VALUES], back[VALUES];
    unsigned char chunk[2 * sizeof values];
    size_t chunk_size, back_size;
    struct h5twin_params params;
    for (unsigned i = 0; i < VALUES; i++) {
        values[i] = (float)i;
    }
    h5twin_params_init(&params, H5TWIN_SLEEK);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, sizeof values[0], 1, (uint64_t[]){VALUES});
    enum h5twin_status status =
        h5twin_encode(&params, NULL, chunk, sizeof chunk, values, sizeof values, &chunk_size);
    if (status == H5TWIN_OK) {
        status = h5twin_decode(NULL, back, sizeof back, chunk, chunk_size, &back_size);
    }
    if (status != H5TWIN_OK || memcmp(values, back, sizeof values) != 0) {
        printf("h5twin %s: %s\n", h5twin_version(), h5twin_status_message(status));
        return 1;
    }
    printf("h5twin %s: %u codecs, %zu bytes became %zu\n", h5twin_version(),
           (unsigned)h5twin_codec_count(), sizeof values, chunk_size);
    return 0;
}
