/* SPDX-License-Identifier: BSD-3-Clause
 * test_forgeries_gpu.cpp: streams that break one rule of a FORMAT.md each (tests/forgeries): back
 * ends say of them what the CPU says, in one batch with the good streams that they are made of.
 * Those that only the frame of an ndzip chunk gives away do not get as far. */
#include "device_memory.h"

#include "../forgeries/forgeries.h"

namespace
{

/* Payloads that one job decodes. */
struct Batch {
    struct h5twin_job job;
    std::vector<Bytes> payloads;
    std::vector<uint32_t> parameters;
};

void
add(Batch *batch, const struct forgery &forgery)
{
    static uint8_t payload[FORGERY_BYTES];
    struct h5twin_job job;
    const size_t size = forgery_make(&forgery, &job, payload);
    batch->payloads.push_back(Bytes(payload, payload + size));
    batch->parameters.push_back(job.parameter);
}

bool
share_a_job(const struct forgery &a, const struct forgery &b)
{
    return a.of == b.of && a.raw_size_more == b.raw_size_more && a.kind == b.kind;
}

/* The good stream, then all that share the first one's job; they are taken out of the list. */
Batch
take_batch(std::vector<struct forgery> *forgeries)
{
    Batch batch;
    std::vector<struct forgery> others;
    const struct forgery first = forgeries->front();
    static uint8_t payload[FORGERY_BYTES];
    struct forgery good = forgery_none(&first);
    good.raw_size_more = first.raw_size_more;
    good.kind = first.kind;
    forgery_make(&good, &batch.job, payload);
    add(&batch, good);
    gpu_test_case = "forgeries after the good stream:";
    for (const struct forgery &forgery : *forgeries) {
        if (share_a_job(forgery, first)) {
            add(&batch, forgery);
            gpu_test_case += std::string(" ") + forgery.rule;
        } else {
            others.push_back(forgery);
        }
    }
    add(&batch, good);
    *forgeries = others;
    return batch;
}

void
check_codec(enum h5twin_codec_id codec)
{
    const struct forgeries *const all = forgeries_of(codec);
    std::vector<struct forgery> left;
    assert_non_null(h5twin_gpu_codec_find(codec));
    for (size_t i = 0; i < all->refused_count; i++) {
        if (all->refused[i].extents[2] == 0) {
            left.push_back(all->refused[i]);
        }
    }
    left.insert(left.end(), all->accepted, all->accepted + all->accepted_count);
    assert_int_not_equal(left.size(), all->accepted_count);
    while (!left.empty()) {
        const Batch batch = take_batch(&left);
        gpu_check_decode(codec, batch.job, batch.payloads, batch.parameters);
    }
}

void
test_sleek(void **)
{
    check_codec(H5TWIN_SLEEK);
}

void
test_fpcompress(void **)
{
    check_codec(H5TWIN_FPCOMPRESS);
}

void
test_ndzip(void **)
{
    check_codec(H5TWIN_NDZIP);
}

void
test_gfc(void **)
{
    check_codec(H5TWIN_GFC);
}

void
test_e2mc(void **)
{
    check_codec(H5TWIN_E2MC);
}

void
test_lattice(void **)
{
    check_codec(H5TWIN_LATTICE);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleek), cmocka_unit_test(test_fpcompress),
        cmocka_unit_test(test_ndzip), cmocka_unit_test(test_gfc),
        cmocka_unit_test(test_e2mc),  cmocka_unit_test(test_lattice),
    };
    return GPU_RUN_TESTS(tests);
}
