/* SPDX-License-Identifier: BSD-3-Clause
 * test_forgeries.c: each rule of the published codecs' FORMAT.md by a stream that breaks it alone
 * (tests/forgeries): refused with every instruction set, as a payload and as a chunk with a
 * checksum that fits; and what is just inside the rules, which is not. Buffers begin or end at a
 * page that cannot be touched. */
#include "frame_core.h"
#include "page_guard.h"
#include "support.h"

#include "../forgeries/forgeries.h"

#include <stdlib.h>
#include <string.h>

/* What all instruction sets say, which is the same, wherever there is memory that cannot be
 * touched. */
static enum h5twin_status
decode_payload(const struct h5twin_codec *codec, struct h5twin_job job, const uint8_t *payload,
               size_t size)
{
    bool is_first = true;
    enum h5twin_status first = H5TWIN_OK;
    for (unsigned i = 0; i < 2 * TEST_EDGES; i++) {
        const enum test_edge edge = (enum test_edge)(i % TEST_EDGES);
        uint8_t *const src = test_edge_copy(payload, size, edge);
        uint8_t *const dst = test_edge_alloc(job.raw_size, edge);
        job.threads = 1 + i / TEST_EDGES;
        for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
            job.isa = h5twin_isa_level_at(at)->isa;
            const enum h5twin_status status = codec->decode(&job, dst, src, size);
            first = is_first ? status : first;
            is_first = false;
            if (status != first) {
                fail_msg("%s, %u threads: status %d, not %d", h5twin_isa_level_at(at)->name,
                         job.threads, (int)status, (int)first);
            }
        }
        test_edge_free(src, size, edge);
        test_edge_free(dst, job.raw_size, edge);
    }
    return first;
}

/* With a frame before it, if such a chunk is smaller than a raw one, else `bare`. */
static enum h5twin_status
decode_chunk(const struct h5twin_codec *codec, const struct h5twin_job *job, const uint8_t *payload,
             size_t size, enum h5twin_status bare)
{
    const struct h5twin_crc32c_span nothing = h5twin_crc32c_span_empty(h5twin_isa_available());
    struct h5twin_info info = {
        .codec = codec->info.id,
        .kind = job->kind,
        .word_size = job->word_size,
        .raw_size = job->raw_size,
        .parameter = job->parameter,
        .extents = {job->extents[0], job->extents[1], job->extents[2]},
        .frame_size = codec->has_extents ? H5TWIN_FRAME_BYTES_EXTENTS : H5TWIN_FRAME_BYTES,
    };
    if (h5twin_frame_is_raw(info.raw_size, info.frame_size, size)) {
        return bare;
    }
    uint8_t *const dst = test_page_alloc(job->raw_size);
    uint8_t *const chunk = test_page_alloc(info.frame_size + size);
    size_t back_size;
    memcpy(chunk + info.frame_size, payload, size);
    h5twin_frame_write(chunk, &info, size, &nothing);
    const enum h5twin_status status =
        h5twin_decode(NULL, dst, job->raw_size, chunk, info.frame_size + size, &back_size);
    test_page_free(dst, job->raw_size);
    test_page_free(chunk, info.frame_size + size);
    return status;
}

static bool
is_refusal(enum h5twin_status status)
{
    return status == H5TWIN_ERR_CORRUPT || status == H5TWIN_ERR_SRC_SHORT;
}

/* Whether decoders say of it what they should. */
static bool
is_judged_right(const struct h5twin_codec *codec, const struct forgery *forgery, bool is_refused)
{
    static uint8_t payload[FORGERY_BYTES];
    struct h5twin_job job;
    uint64_t raw_size;
    const size_t size = forgery_make(forgery, &job, payload);
    const enum h5twin_status bare = decode_payload(codec, job, payload, size);
    const enum h5twin_status framed = decode_chunk(codec, &job, payload, size, bare);
    const enum h5twin_status sized = codec->raw_size(&job, payload, size, &raw_size);
    const bool is_right = is_refused ? is_refusal(bare) && is_refusal(framed) &&
                                           (!forgery->claims_no_size || is_refusal(sized))
                                     : bare == H5TWIN_OK && framed == H5TWIN_OK &&
                                           sized == H5TWIN_OK && raw_size == job.raw_size;
    if (!is_right) {
        print_error("%s: %s: payload %d, chunk %d, size %d\n", codec->info.name, forgery->rule,
                    (int)bare, (int)framed, (int)sized);
    }
    return is_right;
}

static void
check_codec(enum h5twin_codec_id id)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(id);
    const struct forgeries *const all = forgeries_of(id);
    unsigned failed = 0;
    assert_int_not_equal(all->refused_count, 0);
    for (size_t i = 0; i < all->refused_count; i++) {
        const struct forgery good = forgery_none(&all->refused[i]);
        assert_int_equal(all->refused[i].of->codec, id);
        failed += !is_judged_right(codec, &good, false);
        failed += !is_judged_right(codec, &all->refused[i], true);
    }
    for (size_t i = 0; i < all->accepted_count; i++) {
        failed += !is_judged_right(codec, &all->accepted[i], false);
    }
    assert_int_equal(failed, 0);
}

static void
test_sleek(void **state)
{
    (void)state;
    check_codec(H5TWIN_SLEEK);
}

static void
test_fpcompress(void **state)
{
    (void)state;
    check_codec(H5TWIN_FPCOMPRESS);
}

static void
test_ndzip(void **state)
{
    (void)state;
    check_codec(H5TWIN_NDZIP);
}

static void
test_gfc(void **state)
{
    (void)state;
    check_codec(H5TWIN_GFC);
}

static void
test_e2mc(void **state)
{
    (void)state;
    check_codec(H5TWIN_E2MC);
}

static void
test_lattice(void **state)
{
    (void)state;
    check_codec(H5TWIN_LATTICE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleek), cmocka_unit_test(test_fpcompress),
        cmocka_unit_test(test_ndzip), cmocka_unit_test(test_gfc),
        cmocka_unit_test(test_e2mc),  cmocka_unit_test(test_lattice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
