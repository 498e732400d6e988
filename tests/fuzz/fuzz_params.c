/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_params.c: any text as a spec: what is accepted prints as a spec that means the same. */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    char *const spec = malloc(input_size + 1);
    FUZZ_REQUIRE(spec != NULL);
    if (input_size != 0) {
        memcpy(spec, input, input_size);
    }
    spec[input_size] = '\0';
    struct h5twin_params params, back;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    const char *where = NULL;
    const enum h5twin_status status = h5twin_params_parse(&params, spec, &where);
    FUZZ_REQUIRE(status == H5TWIN_OK ? where == NULL
                                     : where >= spec && where <= spec + strlen(spec));
    if (status == H5TWIN_OK) {
        char text[1024];
        FUZZ_REQUIRE(h5twin_params_check(&params) == H5TWIN_OK);
        FUZZ_REQUIRE(h5twin_params_format(&params, text, sizeof text) < sizeof text);
        h5twin_params_init(&back, H5TWIN_SLEEK);
        FUZZ_REQUIRE(h5twin_params_parse(&back, text, NULL) == H5TWIN_OK);
        FUZZ_REQUIRE(back.codec == params.codec && back.mode == params.mode &&
                     back.options == params.options && !(back.error_bound < params.error_bound) &&
                     !(back.error_bound > params.error_bound));
    }
    free(spec);
    return 0;
}
