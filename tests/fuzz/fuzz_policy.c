/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_policy.c: any text as a policy, on any dataset: it is refused with a place in it, or decides
 * by one of its rules; and what it decides HDF5 can take. */
#include "fuzz.h"
#include "policy_rules.h"

/* Where the message says the policy is wrong lies in it. */
static void
check_error(const char *error, const uint8_t *text, size_t size)
{
    unsigned line = 0, column = 0;
    size_t lines = 1;
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
    }
    FUZZ_REQUIRE(sscanf(error, "p:%u:%u: ", &line, &column) == 2);
    FUZZ_REQUIRE(line >= 1 && line <= lines && column >= 1 && column <= size + 1);
    FUZZ_REQUIRE(strlen(error) < H5TWIN_POLICY_SENTENCE);
}

static uint64_t
choose_extent(struct choices *choices)
{
    static const uint64_t extents[] = {0, 1, 2, 63, 1000, 65537, 5000000000, UINT64_MAX - 1};
    return extents[choose(choices, sizeof extents / sizeof extents[0])];
}

static struct h5twin_policy_dataset
choose_dataset(struct choices *choices, const char *path)
{
    static const uint32_t sizes[H5TWIN_POLICY_TYPES] = {3, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
    struct h5twin_policy_dataset dataset = {.path = path};
    dataset.type = (enum h5twin_policy_type)choose(choices, H5TWIN_POLICY_TYPES);
    dataset.element_size = sizes[dataset.type];
    dataset.rank = choose(choices, H5TWIN_HDF5_MAX_RANK + 1);
    dataset.has_chunk = choose(choices, 2) == 1;
    dataset.is_parallel = choose(choices, 2) == 1;
    for (uint32_t axis = 0; axis < dataset.rank; axis++) {
        dataset.dims[axis] = choose_extent(choices);
        dataset.most_dims[axis] =
            choose(choices, 2) == 1 ? H5TWIN_POLICY_UNLIMITED : dataset.dims[axis];
        dataset.chunk[axis] = 1 + choose(choices, 256);
    }
    return dataset;
}

static void
check_outcome(const struct h5twin_policy *policy, const struct h5twin_policy_dataset *dataset,
              const struct h5twin_policy_outcome *outcome)
{
    bool is_rule = outcome->line == 0;
    for (size_t i = 0; i < policy->rule_count; i++) {
        is_rule = is_rule || policy->rules[i].line == outcome->line;
    }
    FUZZ_REQUIRE(is_rule);
    FUZZ_REQUIRE(outcome->is_coded == (outcome->why[0] == '\0'));
    if (!outcome->is_coded) {
        return;
    }
    uint64_t size = dataset->element_size;
    FUZZ_REQUIRE(outcome->line > 0 && outcome->rank == dataset->rank && dataset->rank > 0);
    FUZZ_REQUIRE(dataset->type != H5TWIN_POLICY_OTHER);
    for (uint32_t axis = 0; axis < outcome->rank; axis++) {
        FUZZ_REQUIRE(outcome->chunk[axis] >= 1 && outcome->chunk[axis] <= UINT32_MAX / size);
        FUZZ_REQUIRE(!outcome->is_new_chunk || outcome->chunk[axis] <= dataset->most_dims[axis]);
        size *= outcome->chunk[axis];
    }
    FUZZ_REQUIRE(size >= 1024);
    struct h5twin_params params;
    h5twin_params_init(&params, (enum h5twin_codec_id)0);
    FUZZ_REQUIRE(h5twin_params_parse(&params, outcome->spec, NULL) == H5TWIN_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    /* Choices, a zero, a path, a zero, the policy. */
    struct choices choices = {input, input + input_size};
    const uint8_t *const first =
        input_size == 0 ? NULL : memchr(input, '\0', input_size < 200 ? input_size : 200);
    const uint8_t *const end = input + input_size;
    const uint8_t *const path_at = first == NULL ? end : first + 1;
    const uint8_t *const second =
        path_at == end ? NULL : memchr(path_at, '\0', (size_t)(end - path_at));
    if (second == NULL) {
        return 0;
    }
    choices.end = first;
    const uint8_t *const text_at = second + 1;
    const size_t size = (size_t)(end - text_at);
    uint8_t *const text = fuzz_copy(text_at, size);
    char error[H5TWIN_POLICY_SENTENCE] = "";
    struct h5twin_policy *const policy = h5twin_policy_parse("p", (char *)text, size, error);
    free(text); /* nothing of it is kept */
    if (policy == NULL) {
        check_error(error, text_at, size);
        return 0;
    }
    const struct h5twin_policy_dataset dataset = choose_dataset(&choices, (const char *)path_at);
    struct h5twin_policy_outcome outcome;
    h5twin_policy_choose(policy, &dataset, &outcome);
    check_outcome(policy, &dataset, &outcome);
    h5twin_policy_free(policy);
    return 0;
}
