/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_reject.c: payloads of lattice with random damage; what breaks one rule of FORMAT.md
 * is in tests/forgeries/lattice.c. Buffers end at a page that cannot be touched; run it under
 * sanitizers. */
#include "lattice_cases.h"
#include "page_guard.h"

#include "isa.h"

#include <stdlib.h>
#include <string.h>

static void
damage_and_decode(const struct lattice_case *item, const uint8_t *payload, size_t size,
                  uint64_t *seed)
{
    uint8_t *const copy = test_alloc(size);
    memcpy(copy, payload, size);
    size_t cut = size;
    if (test_random(seed) % 4 == 0) {
        cut = (size_t)(test_random(seed) % size);
    }
    for (unsigned count = (unsigned)(test_random(seed) % 4); count > 0; count--) {
        const size_t near = test_random(seed) % 2 ? 64 : size; /* headers are short */
        copy[test_random(seed) % (near < size ? near : size)] ^=
            (uint8_t)(1u << test_random(seed) % 8);
    }
    uint8_t *const src = test_page_copy(copy, cut);
    uint8_t *const dst = test_page_alloc(item->size);
    const enum h5twin_status status =
        h5twin_lattice_decode(h5twin_isa_available(), item->settings.threads,
                              item->settings.word_size, dst, item->shape.count, src, cut);
    assert_true(status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT ||
                status == H5TWIN_ERR_SRC_SHORT);
    test_page_free(src, cut);
    test_page_free(dst, item->size);
    free(copy);
}

static void
test_random_damage_stays_inside_the_buffers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    const uint64_t count = lattice_case_count(400);
    for (uint64_t number = 0; number < count; number++) {
        const struct lattice_case item = lattice_case_new(number);
        uint8_t *const payload = test_alloc(item.size + 1);
        size_t size;
        assert_int_equal(h5twin_lattice_encode(&item.settings, h5twin_isa_available(), payload,
                                               item.words, &item.shape, &size),
                         H5TWIN_OK);
        for (unsigned i = 0; i < 8 && payload[0] != LATTICE_VERBATIM; i++) {
            damage_and_decode(&item, payload, size, &seed);
        }
        free(payload);
        free(item.words);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_damage_stays_inside_the_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
