/* SPDX-License-Identifier: BSD-3-Clause
 * test_lanes.c: every primitive of lanes.h, in every instruction set that the processor has,
 * against its meaning lane by lane: on random lanes, small ones, single bits and the ends of their
 * range. */
#include "isa.h"
#include "lanes_ops.h"
#include "page_guard.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LANES 16u
#define ROUNDS     1000u

/* ---- what the primitives mean ---- */

struct lanes {
    unsigned bits, count;
    uint64_t a[MOST_LANES], b[MOST_LANES], c[MOST_LANES], out[MOST_LANES];
    size_t n;
    uint8_t *bytes; /* of a, as they lie in memory */
};

static uint64_t
cut(const struct lanes *of, uint64_t lane)
{
    return of->bits == 64 ? lane : lane & UINT32_MAX;
}

static int64_t
as_signed(const struct lanes *of, uint64_t lane)
{
    return of->bits == 64 ? (int64_t)lane : (int64_t)(int32_t)(uint32_t)lane;
}

static unsigned
length(uint64_t lane)
{
    unsigned bits = 0;
    for (; lane != 0; lane >>= 1) {
        bits++;
    }
    return bits;
}

static uint64_t
shifted(const struct lanes *of, uint64_t lane, uint64_t by, bool up)
{
    return by >= of->bits ? 0 : up ? cut(of, lane << by) : lane >> by;
}

static uint64_t
float_bits(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static uint64_t
double_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Lane i of the result of a primitive that looks at each lane alone. False: it is none of them. */
static bool
alone(const char *name, const struct lanes *of, unsigned i, uint64_t *out)
{
    const uint64_t a = of->a[i], b = of->b[i], c = of->c[i];
    const int64_t sa = as_signed(of, a), sb = as_signed(of, b);
    const bool m = c != 0;
    const struct {
        const char *name;
        uint64_t lane;
    } meanings[] = {
        {"set", of->a[0] + of->n},
        {"numbers", a + i},
        {"first", i < of->n},
        {"zero", a == 0},
        {"nonzero", a != 0},
        {"equal", a == b},
        {"below", a < b},
        {"negative", sa < 0},
        {"greater", sa > sb},
        {"and", m && sa < 0},
        {"or", m || sa < 0},
        {"not", !m},
        {"select", m ? a : b},
        {"keep", m ? a : 0},
        {"add_where", m ? a + b : a},
        {"sub_where", m ? a - b : a},
        {"permute", of->a[b % of->count]},
        {"gather", of->a[b % of->count]},
        {"shift_in", i == 0 ? of->b[of->count - 1] : of->a[i - (i != 0)]},
        {"up", shifted(of, a, b & 127, true)},
        {"down", shifted(of, a, b & 127, false)},
        {"double_shift", c % of->bits == 0 ? a
                                           : shifted(of, a, c % of->bits, false) |
                                                 shifted(of, b, of->bits - c % of->bits, true)},
        {"zeros_before", of->bits - length(a)},
        {"abs", sa < 0 ? 0 - a : a},
        {"max", sa > sb ? a : b},
        {"min", sa < sb ? a : b},
        {"transpose", of->a[of->n % of->count] * i + of->b[of->n % of->count]},
        {"last", of->a[of->count - 1]},
        {"last_everywhere", of->a[of->count - 1]},
        {"load_first", i < of->n ? a : 0},
        {"evens", 2 * i < of->count ? of->a[2 * i % of->count] : of->b[2 * i % of->count]},
        {"odds", 2 * i < of->count ? of->a[2 * i % of->count + 1] : of->b[2 * i % of->count + 1]},
        {"multiply_high", a * b >> 32},
        {"load_bytes", of->bytes[i]},
        {"load_halves", of->bytes[2 * i] + 256u * of->bytes[2 * i + 1]},
        {"to_float", float_bits((float)(int32_t)(uint32_t)a)},
        {"to_nearest", (uint64_t)llrintf((float)(int32_t)(uint32_t)a * 0.125f)},
        {"multiply_halves", (a & UINT32_MAX) * (b & UINT32_MAX)},
        {"to_double", double_bits((double)(sa >> 13))},
        {"to_nearest_integer", (uint64_t)llrint((double)(sa >> 13) * 0.125)},
    };
    for (size_t k = 0; k < TEST_LENGTH(meanings); k++) {
        if (strcmp(meanings[k].name, name) == 0) {
            *out = cut(of, meanings[k].lane);
            return true;
        }
    }
    return false;
}

/* Of one that looks at all lanes together. */
static bool
together(const char *name, struct lanes *of)
{
    uint64_t sum = 0, any = 0, bits = 0, to[MOST_LANES] = {0}, scan[MOST_LANES] = {0};
    uint64_t from[MOST_LANES] = {0}, within[MOST_LANES] = {0};
    unsigned found = 0;
    for (unsigned i = 0; i < of->count; i++) {
        sum += of->a[i];
        any |= of->a[i];
        scan[i] = sum;
        if (of->c[i] != 0) {
            bits |= UINT64_C(1) << i;
            from[i] = of->a[found];
            to[found++] = of->a[i];
        }
        for (unsigned byte = 0; byte < of->bits / 8; byte++) {
            const size_t at = i * (of->bits / 8) + byte;
            within[i] |= (at < of->n ? (uint64_t)of->bytes[at] : 0) << 8 * byte;
        }
    }
    const struct {
        const char *name;
        const uint64_t *lanes;
        uint64_t all;
    } meanings[] = {
        {"count", NULL, found},     {"is_none", NULL, found == 0},
        {"bits", NULL, bits},       {"compress", to, 0},
        {"expand", from, 0},        {"scan", scan, 0},
        {"sum", NULL, sum},         {"any", NULL, any},
        {"load_within", within, 0},
    };
    for (size_t k = 0; k < TEST_LENGTH(meanings); k++) {
        if (strcmp(meanings[k].name, name) == 0) {
            for (unsigned i = 0; i < of->count; i++) {
                of->out[i] =
                    cut(of, meanings[k].lanes != NULL ? meanings[k].lanes[i] : meanings[k].all);
            }
            return true;
        }
    }
    return false;
}

/* ---- lanes to try ---- */

static uint64_t
random_lane(const struct lanes *of, uint64_t *state)
{
    const uint64_t any = test_random(state), kind = test_random(state) % 8;
    const uint64_t all = cut(of, UINT64_MAX);
    switch (kind) {
    case 0:
        return any % 130;
    case 1:
        return all >> any % of->bits; /* ones below */
    case 2:
        return cut(of, UINT64_C(1) << any % of->bits);
    case 3:
        return cut(of, (UINT64_C(1) << any % of->bits) + any / 64 % 3 - 1);
    case 4:
        return 0;
    case 5:
        return cut(of, 0 - any % 3);
    default:
        return cut(of, any) >> any % of->bits;
    }
}

static void
put_lanes(uint8_t *at, const struct lanes *of, const uint64_t *lanes)
{
    for (unsigned i = 0; i < of->count; i++) {
        memcpy(at + i * (of->bits / 8), &lanes[i], of->bits / 8); /* little-endian */
    }
}

static void
fill(struct lanes *of, uint64_t *state)
{
    for (unsigned i = 0; i < of->count; i++) {
        of->a[i] = random_lane(of, state);
        of->b[i] = test_random(state) % 4 == 0 ? of->a[i] : random_lane(of, state);
        of->c[i] = random_lane(of, state);
    }
    of->n = test_random(state) % (of->count * of->bits / 8 + 3);
}

/* How many bytes at a, or at out, a primitive may touch. */
static size_t
touched(const char *name, const struct lanes *of)
{
    const size_t word = of->bits / 8, all = of->count * word;
    return strstr(name, "_bytes") != NULL    ? of->count
           : strstr(name, "_halves") != NULL ? 2 * of->count
           : strstr(name, "_within") != NULL ? (of->n < all ? of->n : all)
           : strstr(name, "_first") != NULL  ? (of->n < of->count ? of->n * word : all)
                                             : all;
}

/* What stores write: all of lanes, or their lowest bytes. */
static void
stored(uint8_t *expected, size_t size, const char *name, const struct lanes *of)
{
    const size_t each = strstr(name, "_bytes") != NULL    ? 1
                        : strstr(name, "_halves") != NULL ? 2
                                                          : of->bits / 8;
    for (size_t i = 0; i < size; i++) {
        expected[i] = (uint8_t)(of->a[i / each] >> 8 * (i % each));
    }
}

static void
check_op(const struct lanes_named_op *op, lanes_op *run, struct lanes *of, const char *isa)
{
    uint8_t b[MOST_LANES * 8], c[MOST_LANES * 8], expected[MOST_LANES * 8];
    const bool is_load = strncmp(op->name, "load_", 5) == 0;
    const bool is_store = strncmp(op->name, "store_", 6) == 0;
    const size_t all = (size_t)of->count * of->bits / 8, some = touched(op->name, of);
    const size_t read = is_load ? some : all, written = is_store ? some : all;
    put_lanes(of->bytes, of, of->a);
    put_lanes(b, of, of->b);
    put_lanes(c, of, of->c);
    uint8_t *const from = test_page_copy(of->bytes, read);
    uint8_t *const out = test_page_alloc(written);
    run(out, from, b, c, of->n);
    if (is_store) {
        stored(expected, written, op->name, of);
    } else {
        for (unsigned i = 0; i < of->count; i++) {
            if (!alone(op->name, of, i, &of->out[i]) && !together(op->name, of)) {
                fail_msg("nothing is known of v_%s", op->name);
            }
        }
        put_lanes(expected, of, of->out);
    }
    if (memcmp(out, expected, written) != 0) {
        fail_msg("%s: %s%u differs, n = %zu", isa, op->name, of->bits, of->n);
    }
    test_page_free(from, read);
    test_page_free(out, written);
}

static void
check_all(const struct lanes_ops *ops, unsigned bits, const char *isa)
{
    uint64_t state = bits;
    uint8_t bytes[MOST_LANES * 8];
    struct lanes of = {.bits = bits, .count = ops->vector_bytes * 8 / bits, .bytes = bytes};
    for (unsigned round = 0; round < ROUNDS / TEST_SLOWNESS; round++) {
        fill(&of, &state);
        for (const struct lanes_named_op *op = ops->ops; op->name != NULL; op++) {
            lanes_op *const run = bits == 32 ? op->of32 : op->of64;
            if (run != NULL) {
                check_op(op, run, &of, isa);
            }
        }
    }
}

extern const struct lanes_ops lanes_ops_avx2, lanes_ops_avx512, lanes_ops_neon;

static void
test_primitives_do_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *isa;
        const struct lanes_ops *ops;
    } variants[] = {
#ifdef H5TWIN_X86
        {"avx2", &lanes_ops_avx2},
        {"avx512", &lanes_ops_avx512},
#endif
#ifdef H5TWIN_ARM64
        {"neon", &lanes_ops_neon},
#endif
        {NULL, NULL}, /* other processors have no vectors */
    };
    for (size_t i = 0; variants[i].isa != NULL; i++) {
        if (test_cpu_has(variants[i].isa)) {
            check_all(variants[i].ops, 32, variants[i].isa);
            check_all(variants[i].ops, 64, variants[i].isa);
        } else {
            print_message("not run: %s, which this processor lacks\n", variants[i].isa);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primitives_do_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
