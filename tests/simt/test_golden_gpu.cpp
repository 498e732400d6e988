/* SPDX-License-Identifier: BSD-3-Clause
 * test_golden_gpu.cpp CODEC: the back end makes and reads the golden streams: those that the CPU
 * codec makes of the golden inputs, and test_golden.c compares with the authors'. On the emulator
 * only inputs that take it a fraction of a second. */
#include "device_memory.h"

#include <cstdlib>

namespace
{

const char *codec_name;

/* H5TWIN_GOLDEN_BYTES is for the interpreter of tests/ptx. */
size_t
size_limit(void)
{
#ifdef H5TWIN_SIMT
    return 40000;
#else
    const char *const text = getenv("H5TWIN_GOLDEN_BYTES");
    return text == nullptr ? SIZE_MAX : strtoul(text, nullptr, 10);
#endif
}

/* The codec's rows of a table; how many. */
unsigned
check_table(const char *name)
{
    char *fields[7];
    const std::string prefix = codec_name;
    unsigned checked = 0;
    struct test_table table = test_table_open(name);
    while (test_table_next(&table, fields, 7)) {
        const std::string spec = fields[1];
        if (spec != prefix && spec.rfind(prefix + ":", 0) != 0) {
            continue;
        }
        struct test_bytes input = test_golden_read((std::string("inputs/") + fields[0]).c_str());
        if (input.size <= size_limit()) {
            gpu_case_check(
                {fields[1], fields[2], fields[3], {Bytes(input.at, input.at + input.size)}});
            checked++;
        }
        free(input.at);
    }
    test_table_close(&table);
    return checked;
}

void
test_golden_inputs(void **)
{
    const unsigned of_authors = check_table("manifest.tsv");
    const unsigned own = check_table("own.tsv");
    assert_int_not_equal(of_authors, 0);
    print_message("%u golden streams of %s\n", of_authors + own, codec_name);
}

} // namespace

int
main(int argument_count, char **arguments)
{
    codec_name = argument_count > 1 ? arguments[1] : "sleek";
    const struct h5twin_codec_info *const info = h5twin_codec_by_name(codec_name);
    if (info == nullptr || h5twin_gpu_codec_find(info->id) == nullptr) {
        print_message("SKIP: %s has no GPU back end\n", codec_name);
        return TEST_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_inputs),
    };
    return GPU_RUN_TESTS(tests);
}
