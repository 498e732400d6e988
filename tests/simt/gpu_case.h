/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_case.h: a CUDA back end against its CPU codec, batch by batch.
 *
 * The same tests run on the emulator and, compiled by nvcc, on a GPU: device memory is touched by
 * CUDA calls only. On the emulator each case runs under several orders and numbers of resident
 * blocks. Every difference fails the cmocka test with the case's name. */
#ifndef H5TWIN_TESTS_GPU_CASE_H
#define H5TWIN_TESTS_GPU_CASE_H

#include "gpu.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cmath>
#include <csetjmp>
#include <cstdarg>
extern "C" {
#include "support.h"
}

using Bytes = std::vector<uint8_t>;

/* What to encode: chunks of one size. */
struct GpuCase {
    const char *spec; /* "sleek:abs=1e-3" */
    const char *type; /* "f32", "i16", ... */
    const char *dims; /* "37x40x45", "-": one row */
    std::vector<Bytes> chunks;
    bool zeros_are_padding = false; /* struct h5twin_params */
    double declared_fill = NAN;     /* the same; NaN: none */
};

/* One chunk of `size` bytes per pattern, see support.h; seeds differ. */
GpuCase gpu_case(const char *spec, const char *type, const char *dims, size_t size,
                 const std::vector<test_pattern> &patterns);

/* Run body once per order and number of resident blocks (once on a GPU, and under sanitizers, which
 * look at accesses and not at results); of large cases each takes the next order. */
void gpu_each_order(const std::function<void()> &body, bool is_large = false);

struct Encoded {
    std::vector<Bytes> payloads;
    std::vector<uint32_t> parameters;
};

/* For each order: encoding the batch with this back end, registered or not, gives the CPU's
 * payloads, sizes and parameter words; returns them. */
Encoded gpu_case_check_encode(const GpuCase &gpu_case, const struct h5twin_gpu_codec *gpu);

/* The share of lattice's coded payloads that an encoder left to the CPU though it need not; and how
 * many payloads had folds. */
double gpu_case_left_in_vain(void);
unsigned long gpu_case_folded(void);

/* For each order: encoding the batch, if the back end does, gives the CPU's payloads, sizes and
 * parameter words; decoding the CPU's payloads gives the CPU's arrays, and nothing behind them is
 * written. */
void gpu_case_check(const GpuCase &gpu_case);

/* The CPU's payload of a chunk; *job is filled for decoding it. */
Bytes gpu_case_payload(const GpuCase &gpu_case, const Bytes &chunk, struct h5twin_job *job);

/* Decode payloads, damaged or not, in one batch: each chunk's status is the CPU's, and so are the
 * words of those that are good. parameters may be empty: then job->parameter holds for all. */
void gpu_check_decode(enum h5twin_codec_id codec, const struct h5twin_job &job,
                      const std::vector<Bytes> &payloads, const std::vector<uint32_t> &parameters);

/* The case's first chunk cut short at many lengths, with bits flipped and with bytes added: all
 * in batches. At most `limit` damages, spread evenly, the ends among them. */
void gpu_case_check_damaged(const GpuCase &gpu_case, unsigned limit);

/* What lies behind chunks: as numbers small, and on no grid of a bound. */
#define GPU_PADDING 0x3B

/* The chunks one after the other, each at a multiple of stride. */
Bytes gpu_lay_out(const std::vector<Bytes> &chunks, size_t stride);

/* In main: skips where the tests were built for a GPU and there is none. */
#define GPU_RUN_TESTS(tests)                                                                       \
    (gpu_is_missing() ? TEST_SKIPPED : cmocka_run_group_tests(tests, nullptr, nullptr))
bool gpu_is_missing(void);

/* True under ThreadSanitizer, where tests should do much less. */
bool gpu_is_slow(void);

/* True under any sanitizer, where tests should do less. */
bool gpu_is_instrumented(void);

/* True in the interpreter of PTX, where tests should do less, but not with H5TWIN_TEST_LONG=1. */
bool gpu_is_interpreted(void);

#endif
