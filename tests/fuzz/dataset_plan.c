/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_plan.c: see dataset_plan.h. */
#include "dataset_plan.h"

#include "specs.h"

#include <math.h>

/* ---- type and shape ---- */

enum type_kind {
    F32_LE,
    F32_BE,
    F64_LE,
    F64_BE,
    PAIR_F32_LE,
    PAIR_F64_BE,
    ARRAY_F64_LE,
    FLOAT_KINDS, /* those before consist of floats */
    I8 = FLOAT_KINDS,
    I16_BE,
    U32_LE,
    I64_BE,
    TEXT,
    OPAQUE,
    HALF_FLOAT,
    FLOAT_AND_INTEGER,
    BITS,
    TYPE_KINDS
};

static hid_t
pair_of(hid_t first, hid_t second)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, H5Tget_size(first) + H5Tget_size(second));
    FUZZ_REQUIRE(H5Tinsert(type, "a", 0, first) >= 0 &&
                 H5Tinsert(type, "b", H5Tget_size(first), second) >= 0);
    return type;
}

static hid_t
half_float(void)
{
    const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    FUZZ_REQUIRE(H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
                 H5Tset_ebias(type, 15) >= 0);
    return type;
}

static hid_t
text(void)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    FUZZ_REQUIRE(H5Tset_size(type, 7) >= 0);
    return type;
}

static hid_t
make_type(enum type_kind kind)
{
    switch (kind) {
    case F32_LE:
        return H5Tcopy(H5T_IEEE_F32LE);
    case F32_BE:
        return H5Tcopy(H5T_IEEE_F32BE);
    case F64_LE:
        return H5Tcopy(H5T_IEEE_F64LE);
    case F64_BE:
        return H5Tcopy(H5T_IEEE_F64BE);
    case PAIR_F32_LE:
        return pair_of(H5T_IEEE_F32LE, H5T_IEEE_F32LE);
    case PAIR_F64_BE:
        return pair_of(H5T_IEEE_F64BE, H5T_IEEE_F64BE);
    case ARRAY_F64_LE:
        return H5Tarray_create2(H5T_IEEE_F64LE, 1, (hsize_t[]){3});
    case I8:
        return H5Tcopy(H5T_STD_I8LE);
    case I16_BE:
        return H5Tcopy(H5T_STD_I16BE);
    case U32_LE:
        return H5Tcopy(H5T_STD_U32LE);
    case I64_BE:
        return H5Tcopy(H5T_STD_I64BE);
    case TEXT:
        return text();
    case OPAQUE:
        return H5Tcreate(H5T_OPAQUE, 5);
    case HALF_FLOAT:
        return half_float();
    case FLOAT_AND_INTEGER:
        return pair_of(H5T_IEEE_F32LE, H5T_STD_I32LE);
    default:
        return H5Tcopy(H5T_STD_B8LE);
    }
}

static void
choose_type(struct dataset_plan *plan, struct choices *choices)
{
    const enum type_kind kind = (enum type_kind)choose(choices, TYPE_KINDS);
    plan->type = make_type(kind);
    plan->element_size = H5Tget_size(plan->type);
    plan->float_size = kind >= FLOAT_KINDS                                       ? 0
                       : kind == F32_LE || kind == F32_BE || kind == PAIR_F32_LE ? 4
                                                                                 : 8;
    plan->big_endian = kind == F32_BE || kind == F64_BE || kind == PAIR_F64_BE;
    FUZZ_REQUIRE(plan->element_size > 0 && plan->element_size <= PLAN_MAX_ELEMENT);
}

static void
choose_shape(struct dataset_plan *plan, struct choices *choices)
{
    static const unsigned largest[PLAN_MAX_RANK] = {255, 70, 17, 8}; /* extent, by rank */
    plan->rank = 1 + (int)choose(choices, PLAN_MAX_RANK);
    const unsigned limit = largest[plan->rank - 1];
    plan->count = 1;
    for (int axis = 0; axis < plan->rank; axis++) {
        plan->chunk[axis] = 1 + choose(choices, limit);
        plan->dims[axis] = 1 + choose(choices, limit);
        plan->dims[axis] = plan->rank == 1 ? plan->dims[axis] * 8 : plan->dims[axis];
        /* HDF5 allows no chunk larger than a dataset that cannot grow. */
        plan->chunk[axis] =
            plan->chunk[axis] > plan->dims[axis] ? plan->dims[axis] : plan->chunk[axis];
        plan->count *= plan->dims[axis];
    }
    FUZZ_REQUIRE(plan->count <= PLAN_MAX_COUNT);
}

/* ---- properties ---- */

/* A float such as stands in data where nothing was measured, over the whole element. */
static double
choose_mark(const struct dataset_plan *plan, struct choices *choices, uint8_t *element)
{
    static const double marks[] = {-9999.9, 1e36, 1e20, -32767, 9.96921e36, 0.1, INFINITY, NAN};
    const double mark = marks[choose(choices, sizeof marks / sizeof marks[0])];
    const float narrow = (float)mark;
    uint8_t bytes[8];
    memcpy(bytes, plan->float_size == 4 ? (const void *)&narrow : &mark, plan->float_size);
    for (size_t i = 0; i < plan->element_size; i++) {
        const size_t byte = i % plan->float_size;
        element[i] = bytes[plan->big_endian ? plan->float_size - 1 - byte : byte];
    }
    return mark;
}

static void
choose_fill(struct dataset_plan *plan, struct choices *choices)
{
    const unsigned kind = choose(choices, 5);
    plan->has_fill = kind == 1 || kind == 2;
    if (kind == 1 && plan->float_size != 0) {
        (void)choose_mark(plan, choices, plan->fill);
    } else if (plan->has_fill) {
        for (size_t i = 0; i < plan->element_size; i++) {
            plan->fill[i] = (uint8_t)choose(choices, 256);
        }
    }
    if (plan->has_fill) {
        FUZZ_REQUIRE(H5Pset_fill_value(plan->dcpl, plan->type, plan->fill) >= 0);
    } else if (kind == 3) {
        FUZZ_REQUIRE(H5Pset_fill_time(plan->dcpl, H5D_FILL_TIME_NEVER) >= 0);
    }
    if (choose(choices, 4) == 1) {
        FUZZ_REQUIRE(H5Pset_alloc_time(plan->dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
    }
}

/* Any words as parameters, small ones often. */
static void
choose_words(struct dataset_plan *plan, struct choices *choices, unsigned number)
{
    unsigned words[7];
    const size_t word_count = choose(choices, sizeof words / sizeof words[0] + 1);
    for (size_t i = 0; i < word_count; i++) {
        const bool is_small = choose(choices, 2) == 0;
        words[i] = choose(choices, is_small ? 4 : 256);
        for (unsigned byte = 1; !is_small && byte < 4; byte++) {
            words[i] = words[i] << 8 | choose(choices, 256);
        }
    }
    const unsigned flag = choose(choices, 2) == 0 ? H5Z_FLAG_MANDATORY : H5Z_FLAG_OPTIONAL;
    plan->filter_id = (int)h5twin_codec_at(number % h5twin_codec_count())->filter_id;
    FUZZ_REQUIRE(H5Pset_filter(plan->dcpl, plan->filter_id, flag, word_count, words) >= 0);
}

static void
choose_filter(struct dataset_plan *plan, struct choices *choices)
{
    const unsigned number = choose(choices, 64);
    const char *const spec = test_spec_at(number);
    if (spec == NULL) {
        choose_words(plan, choices, number);
        return;
    }
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    FUZZ_REQUIRE(h5twin_params_parse(&params, spec, NULL) == H5TWIN_OK);
    plan->filter_id = (int)h5twin_codec_by_id(params.codec)->filter_id;
    if (params.mode != H5TWIN_LOSSLESS && plan->float_size != 0 && choose(choices, 3) == 1) {
        char named[256];
        params.has_fill = plan->has_named_fill = true;
        params.fill = choose_mark(plan, choices, plan->named_fill);
        FUZZ_REQUIRE(h5twin_params_format(&params, named, sizeof named) < sizeof named);
        FUZZ_REQUIRE(H5Pset_h5twin(plan->dcpl, named) >= 0);
        return;
    }
    FUZZ_REQUIRE(H5Pset_h5twin(plan->dcpl, spec) >= 0);
}

void
dataset_plan_begin(struct dataset_plan *plan, struct choices *choices)
{
    memset(plan, 0, sizeof *plan);
    choose_type(plan, choices);
    choose_shape(plan, choices);
    plan->dcpl = H5Pcreate(H5P_DATASET_CREATE);
    FUZZ_REQUIRE(H5Pset_chunk(plan->dcpl, plan->rank, plan->chunk) >= 0);
    const unsigned others = choose(choices, 8);
    choose_fill(plan, choices);
    if (others == 1) {
        FUZZ_REQUIRE(H5Pset_shuffle(plan->dcpl) >= 0);
    }
    choose_filter(plan, choices);
    if (others == 2) {
        FUZZ_REQUIRE(H5Pset_fletcher32(plan->dcpl) >= 0);
    }
}

void
dataset_plan_end(struct dataset_plan *plan)
{
    H5Pclose(plan->dcpl);
    H5Tclose(plan->type);
}

/* ---- values ---- */

uint8_t *
dataset_plan_values(const struct dataset_plan *plan, const struct choices *choices)
{
    const size_t size = plan->count * plan->element_size;
    const size_t given = (size_t)(choices->end - choices->at);
    uint8_t *const values = malloc(size);
    FUZZ_REQUIRE(values != NULL);
    for (size_t i = 0; i < size; i++) { /* repeated with small changes, if there are not enough */
        values[i] = given == 0 ? (uint8_t)(i / 7)
                               : (uint8_t)(choices->at[i % given] + (i % 8 == 1 ? i / given : 0));
    }
    for (size_t i = 0; plan->has_fill && i < plan->count; i += 3) {
        memcpy(values + i * plan->element_size, plan->fill, plan->element_size);
    }
    for (size_t i = 1; plan->has_named_fill && i < plan->count; i += 5) {
        memcpy(values + i * plan->element_size, plan->named_fill, plan->element_size);
    }
    return values;
}
