/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz.c: see fuzz.h. */
#include "fuzz.h"

#include "specs.h"

uint8_t *
fuzz_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *const copy = malloc(size == 0 ? 1 : size);
    FUZZ_REQUIRE(copy != NULL);
    if (size != 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

unsigned
choose(struct choices *choices, unsigned count)
{
    return choices->at == choices->end ? 0 : *choices->at++ % count;
}

struct h5twin_params
fuzz_params(const uint8_t *selector, size_t raw_size)
{
    static const struct {
        enum h5twin_kind kind;
        uint32_t element_size;
    } types[] = {
        {H5TWIN_FLOAT, 4},   {H5TWIN_FLOAT, 8},   {H5TWIN_INTEGER, 1}, {H5TWIN_INTEGER, 2},
        {H5TWIN_INTEGER, 4}, {H5TWIN_INTEGER, 8}, {H5TWIN_OTHER, 3},   {H5TWIN_OTHER, 24},
    };
    unsigned spec_count = 0;
    while (test_spec_at(spec_count) != NULL) {
        spec_count++;
    }
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    FUZZ_REQUIRE(h5twin_params_parse(&params, test_spec_at(selector[0] % spec_count), NULL) ==
                 H5TWIN_OK);
    /* Up to three dims that multiply to the array's size, when that works out. */
    const unsigned type = selector[1] % 8u;
    const uint64_t value_count = raw_size / types[type].element_size;
    const uint64_t middle = selector[2] % 80u + 1u, fastest = selector[3] % 80u + 1u;
    uint64_t slowest = value_count / (middle * fastest);
    slowest = slowest == 0 ? selector[1] / 8u + 1u : slowest;
    const uint32_t rank = 1u + selector[1] / 64u;
    if (rank == 1 && value_count != 0) {
        slowest = value_count;
    }
    h5twin_params_set_array(&params, types[type].kind, types[type].element_size,
                            rank < 3 ? rank : 3, (uint64_t[]){slowest, middle, fastest});
    params.big_endian = rank == 4;
    return params;
}
