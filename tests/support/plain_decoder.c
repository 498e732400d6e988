/* SPDX-License-Identifier: BSD-3-Clause
 * plain_decoder.c: see plain_decoder.h. */
#include "plain_decoder.h"

#include "frame_core.h"
#include "page_guard.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What decoders/cascade.c says of itself. */
enum h5twin_decoder_status {
    H5TWIN_DECODER_OK = 0,
    H5TWIN_DECODER_FOREIGN = 1,
    H5TWIN_DECODER_CORRUPT = 2,
    H5TWIN_DECODER_NEWER = 3,
    H5TWIN_DECODER_CHECKSUM = 4,
    H5TWIN_DECODER_CODEC = 5,
};
int h5twin_decoder_sizes(const uint8_t *chunk, size_t chunk_size, uint64_t sizes[2]);
int h5twin_decoder_decode(uint8_t *dst, void *work, const uint8_t *chunk, size_t chunk_size);

#define LARGEST ((uint64_t)1 << 26) /* bytes of an array that is decoded here */

static int
expected_of(enum h5twin_status status)
{
    switch (status) {
    case H5TWIN_OK:
        return H5TWIN_DECODER_OK;
    case H5TWIN_ERR_MAGIC:
        return H5TWIN_DECODER_FOREIGN;
    case H5TWIN_ERR_VERSION:
        return H5TWIN_DECODER_NEWER;
    case H5TWIN_ERR_CHECKSUM:
        return H5TWIN_DECODER_CHECKSUM;
    default:
        return H5TWIN_DECODER_CORRUPT;
    }
}

/* Of a chunk that is both damaged and of a newer version. */
static bool
may_be_either(int said, int expected)
{
    return said + expected == H5TWIN_DECODER_CORRUPT + H5TWIN_DECODER_NEWER &&
           (said == H5TWIN_DECODER_NEWER || expected == H5TWIN_DECODER_NEWER);
}

static void
write_file(const char *folder, unsigned number, const char *name, const uint8_t *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%u.%s", folder, number, name);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
keep(const uint8_t *chunk, size_t chunk_size, int status, const uint8_t *array, size_t array_size)
{
    static unsigned number;
    const char *const folder = getenv("H5TWIN_DECODER_CORPUS");
    if (folder != NULL) {
        char name[32];
        snprintf(name, sizeof name, "%d.chunk", status);
        write_file(folder, number, name, chunk, chunk_size);
        if (status == H5TWIN_DECODER_OK) {
            write_file(folder, number, "array", array, array_size);
        }
        number++;
    }
}

enum h5twin_status
test_plain_decoder(const uint8_t *chunk, size_t chunk_size)
{
    uint64_t sizes[2] = {0, 0};
    const int sized = h5twin_decoder_sizes(chunk, chunk_size, sizes);
    const bool is_large = sizes[0] > LARGEST;
    const size_t raw_size = is_large ? 0 : (size_t)sizes[0];
    const size_t work_size = is_large ? 0 : (size_t)(sizes[1] + 7) / 8 * 8;
    uint8_t *const src = test_page_copy(chunk, chunk_size);
    uint8_t *const ours = test_page_alloc(raw_size), *const theirs = test_page_alloc(raw_size);
    void *const work = test_page_alloc(work_size);
    size_t decoded;
    const enum h5twin_status status =
        h5twin_decode(NULL, ours, raw_size, src, chunk_size, &decoded);
    if (is_large) { /* no chunk here has so large an array: its size is a lie */
        assert_int_not_equal(status, H5TWIN_OK);
    } else {
        const int said = sized != H5TWIN_DECODER_OK
                             ? sized
                             : h5twin_decoder_decode(theirs, work, src, chunk_size);
        if (said != expected_of(status) && !may_be_either(said, expected_of(status))) {
            fail_msg("a chunk of %zu bytes: %d, the plain decoder says %d", chunk_size, (int)status,
                     said);
        }
        if (status == H5TWIN_OK) {
            assert_int_equal(decoded, raw_size);
            assert_memory_equal(ours, theirs, raw_size);
        }
        keep(chunk, chunk_size, said, ours, raw_size);
    }
    test_page_free(src, chunk_size);
    test_page_free(ours, raw_size);
    test_page_free(theirs, raw_size);
    test_page_free(work, work_size);
    return status;
}

int
test_plain_verdict(const uint8_t *chunk, size_t chunk_size)
{
    uint64_t sizes[2];
    int status = h5twin_decoder_sizes(chunk, chunk_size, sizes);
    if (status == H5TWIN_DECODER_OK) {
        uint8_t *const dst = test_alloc((size_t)sizes[0]);
        void *const work = test_alloc((size_t)sizes[1]);
        status = h5twin_decoder_decode(dst, work, chunk, chunk_size);
        free(dst);
        free(work);
    }
    return status;
}

void
test_plain_decoder_of_payload(enum h5twin_codec_id codec, unsigned word_size, size_t raw_size,
                              uint32_t parameter, const uint8_t *payload, size_t size)
{
    const struct h5twin_info info = {.codec = codec,
                                     .word_size = word_size,
                                     .raw_size = raw_size,
                                     .frame_size = H5TWIN_FRAME_BYTES,
                                     .parameter = parameter};
    if (!h5twin_frame_is_raw(raw_size, H5TWIN_FRAME_BYTES, size)) {
        uint8_t *const chunk = test_alloc(H5TWIN_FRAME_BYTES + size);
        h5twin_frame_put(chunk, &info);
        memcpy(chunk + H5TWIN_FRAME_BYTES, payload, size);
        test_reseal(chunk, H5TWIN_FRAME_BYTES + size);
        (void)test_plain_decoder(chunk, H5TWIN_FRAME_BYTES + size);
        free(chunk);
    }
}
