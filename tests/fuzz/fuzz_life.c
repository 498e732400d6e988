/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_life.c: the life of a chunk (support/chunk_life.h), chosen by the input. */
#include "fuzz.h"

#include "chunk_life.h"

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    struct life_source source = {input, input + input_size, 0xCBF29CE484222325u};
    for (size_t i = 0; i < input_size; i++) { /* FNV-1a: what the input leaves open */
        source.state = (source.state ^ input[i]) * 0x100000001B3u;
    }
    const struct chunk_life_report report = chunk_life_run(&source);
    if (!report.kept) {
        fprintf(stderr, "%s: %s\n", report.kind, report.detail);
    }
    FUZZ_REQUIRE(report.kept);
    return 0;
}
