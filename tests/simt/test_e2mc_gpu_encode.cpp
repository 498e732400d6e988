/* SPDX-License-Identifier: BSD-3-Clause
 * test_e2mc_gpu_encode.cpp: E2MC's encoder kernels give the CPU's bytes, for all parameters. */
#include "gpu_case.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace
{

const struct h5twin_gpu_codec *
encoder()
{
    return h5twin_gpu_codec_find(H5TWIN_E2MC);
}

void
check(const std::string &options, const char *type, size_t size,
      const std::vector<test_pattern> &patterns)
{
    const std::string spec = options.empty() ? "e2mc" : "e2mc:" + options;
    gpu_case_check_encode(gpu_case(spec.c_str(), type, "-", size, patterns), encoder());
}

/* Words between few symbols and noise: codes of many lengths, escapes, anything listed twice. */
Bytes
mixed(size_t size, unsigned word_size, uint64_t seed)
{
    Bytes bytes(size);
    uint64_t state = seed;
    uint64_t before = 0;
    for (size_t at = 0; at + word_size <= size; at += word_size) {
        const uint64_t random = test_random(&state);
        uint64_t word = before;
        switch (random % 8) {
        case 0:
            word = test_random(&state);
            break;
        case 1:
        case 2:
        case 3:
            word = before + (random >> 8) % 5 - 2;
            break;
        default:
            word = UINT64_C(0x3F80000040490FDB) + ((random >> 8) % (1 + (random >> 32) % 700));
            break;
        }
        before = word;
        memcpy(bytes.data() + at, &word, word_size);
    }
    return bytes;
}

void
check_mixed(const std::string &options, const char *type, size_t size, unsigned chunk_count)
{
    const std::string spec = options.empty() ? "e2mc" : "e2mc:" + options;
    GpuCase made = {spec.c_str(), type, "-", {}};
    const unsigned word_size = (unsigned)atoi(type + 1) / 8;
    for (unsigned i = 0; i < chunk_count; i++) {
        made.chunks.push_back(mixed(size, word_size, size + i));
    }
    gpu_case_check_encode(made, encoder());
}

void
test_every_symbol_length_and_word(void **)
{
    unsigned number = 0;
    for (const char *symbol : {"4", "8", "16", "32"}) {
        for (const char *type : {"u8", "i16", "f32", "f64"}) {
            if (gpu_is_instrumented() && number++ % 5 != 0) { /* each symbol and each type once */
                continue;
            }
            const std::string options = std::string("symbol_bits=") + symbol + ",seg_log2=14";
            check_mixed(options, type, gpu_is_slow() ? 800 : 2600, 1);
        }
    }
}

void
test_every_size(void **)
{
    for (const size_t size : {0, 1, 3, 4, 8, 12, 127, 128, 129, 1020, 1024, 1028, 4096 + 4, 16384,
                              16384 + 4, 16384 + 6}) {
        if (!gpu_is_slow() || size == 0 || size == 3 || size == 129) {
            check("seg_log2=14", "f32", size, {TEST_SMOOTH, TEST_ZERO});
            check("symbol_bits=8,ways=8,seg_log2=14,block_log2=7", "f64", size, {TEST_STEPS});
        }
    }
}

void
test_every_kind_in_one_batch(void **)
{
    const std::vector<test_pattern> all = {TEST_ZERO,    TEST_RANDOM, TEST_SMOOTH, TEST_STEPS,
                                           TEST_SPECIAL, TEST_ZERO,   TEST_SMOOTH};
    const size_t size = gpu_is_slow() ? 1000 : 3000;
    check("seg_log2=14", "f32", size, all);
    if (!gpu_is_slow()) { /* the last ones have two segments */
        check("seg_log2=14,symbol_bits=8,pre=0", "f32", size, all);
        check("seg_log2=0", "f64", size, all);
        check("seg_log2=14", "f32", 16384 + 1000, {TEST_ZERO, TEST_RANDOM, TEST_SMOOTH});
    }
}

void
test_blocks_and_ways(void **)
{
    const size_t size = gpu_is_slow() ? 804 : 4500;
    for (unsigned block = 7; block <= 12; block++) {
        for (const unsigned ways : {1u, 2u, 4u, 8u}) {
            for (const unsigned granule : {(block + ways) % 2 * 4, block - 1u}) {
                char options[96];
                snprintf(options, sizeof options, "block_log2=%u,ways=%u,gran_log2=%u,pre=%u",
                         block, ways, granule, (block + granule) % 3);
                const bool is_rare = block == 6u + ways && granule != 0;
                if (is_rare || !gpu_is_instrumented() || (!gpu_is_slow() && granule == 0)) {
                    check_mixed(options, "f32", size, 1);
                }
            }
        }
    }
    if (!gpu_is_slow()) { /* more blocks in a segment than threads lay out in one step: 256 */
        check_mixed("block_log2=7,gran_log2=0,seg_log2=0", "f32", 40000, 1);
    }
}

void
test_codebooks(void **)
{
    const size_t size = gpu_is_slow() ? 800 : 5000;
    unsigned count = 0;
    for (const char *options :
         {"mfv=1", "mfv=2,pre=0", "mfv=63", "mfv=64,policy=1", "mfv=65", "max_len=9,policy=1",
          "max_len=20,mfv=4096,policy=1,pre=1", "mfv=4096,symbol_bits=32,max_len=20",
          "symbol_bits=4,max_len=5,policy=1,pre=1", "symbol_bits=8,max_len=9,policy=1",
          "profile=paper", "profile=paper,symbol_bits=8", "profile=paper,symbol_bits=32",
          "profile=paper,symbol_bits=4"}) {
        if (gpu_is_slow() && count++ % 5 != 0) {
            continue;
        }
        check_mixed(options, "f32", size, 1);
        if (!gpu_is_slow()) {
            check(options, "f64", size, {TEST_SMOOTH});
        }
    }
}

void
test_samples_and_deltas(void **)
{
    const size_t size = gpu_is_slow() ? 2000 : 34000; /* a sample has at least 16 KiB */
    for (const char *options :
         {"sampling=1,sample_log2=1,seg_log2=0", "sampling=2,sample_log2=31,seg_log2=0,pre=1",
          "sampling=1,symbol_bits=32,pre=1,stride=3,seg_log2=15"}) {
        if (!gpu_is_instrumented() || strchr(options, '3') == nullptr) {
            check_mixed(options, "f32", size, 1);
        }
    }
    for (const char *options :
         {"pre=1,stride=255,block_log2=10", "pre=2,stride=3,symbol_bits=4",
          "pre=2,symbol_bits=32,seg_log2=0", "pre=2,stride=20,symbol_bits=8"}) {
        if (gpu_is_slow() && strchr(options, '4') != nullptr) {
            continue;
        }
        check_mixed(options, "f32", gpu_is_slow() ? 1000 : 4000, 1);
    }
}

/* More words in a segment than 16 bits count, most of them equal; the others with symbols of every
 * range that is counted at once. */
void
test_more_words_than_16_bits_count(void **)
{
    if (gpu_is_instrumented()) {
        return;
    }
    Bytes bytes(2 * 70000);
    uint64_t state = 65536;
    for (size_t i = 0; i < bytes.size() / 2; i++) {
        const uint16_t word = i % 40 == 0 ? (uint16_t)test_random(&state) : 0x3F80;
        memcpy(bytes.data() + 2 * i, &word, 2);
    }
    for (const char *spec : {"e2mc:pre=0,seg_log2=0", "e2mc:profile=paper"}) {
        gpu_case_check_encode(GpuCase{spec, "i16", "-", {bytes}}, encoder());
    }
}

/* Fewer symbols are listed than occur hundreds of times: each count then is looked at digit by
 * digit. */
void
test_listed_symbols_all_are_frequent(void **)
{
    const size_t counts[] = {300, 310, 310, 320, 513};
    Bytes bytes;
    for (uint16_t symbol = 0; symbol < 5; symbol++) {
        for (size_t i = 0; i < counts[symbol]; i++) {
            bytes.push_back((uint8_t)(7 * symbol));
            bytes.push_back(0x3F);
        }
    }
    for (const char *spec : {"e2mc:pre=0,mfv=3,policy=1", "e2mc:pre=0,mfv=2", "e2mc:mfv=4",
                             "e2mc:pre=0,mfv=3,policy=1,symbol_bits=8",
                             "e2mc:pre=0,mfv=2,symbol_bits=32,word_bytes=4"}) {
        gpu_case_check_encode(GpuCase{spec, "i16", "-", {bytes}}, encoder());
    }
}

/* Inputs of the golden streams with every spec that they come with. */
void
test_golden_inputs(void **)
{
    struct test_table table = test_table_open("manifest.tsv");
    char *row[7];
    unsigned index = 0, done = 0;
    while (test_table_next(&table, row, 7)) {
        const std::string spec = row[1];
        if (spec.compare(0, 4, "e2mc") != 0 || (gpu_is_slow() && index++ % 150 != 0)) {
            continue;
        }
        const std::string name = std::string("inputs/") + row[0];
        const struct test_bytes input = test_golden_read(name.c_str());
        if (input.size <= 2000 && (gpu_is_slow() || index++ % 3 == 0)) {
            GpuCase made = {row[1], row[2], row[3], {Bytes(input.at, input.at + input.size)}};
            gpu_case_check_encode(made, encoder());
            done++;
        }
        free(input.at);
    }
    test_table_close(&table);
    assert_true(done > 0);
}

void
test_random_parameters(void **)
{
    uint64_t state = 2017;
    for (unsigned i = 0; i < (gpu_is_slow() ? 2u : gpu_is_instrumented() ? 10u : 30u); i++) {
        const auto pick = [&](unsigned count) { return (unsigned)(test_random(&state) % count); };
        const unsigned block = 7 + pick(6);
        const char *const types[] = {"u8", "i16", "f32", "f64"};
        char options[256];
        snprintf(options, sizeof options,
                 "symbol_bits=%u,ways=%u,word_bytes=%u,block_log2=%u,gran_log2=%u,sampling=%u,"
                 "sample_log2=%u,max_len=%u,mfv=%u,policy=%u,pre=%u,stride=%u,seg_log2=%u",
                 4u << pick(4), 1u << pick(4), pick(2) << pick(4), block, pick(block), pick(3),
                 pick(6), 9 + pick(12), 1 + pick(pick(2) != 0 ? 4096 : 40), pick(2), pick(3),
                 1 + pick(16), pick(3) == 0 ? 0 : 14 + pick(2));
        check_mixed(options, types[pick(4)], 1 + pick(gpu_is_slow() ? 1000 : 5000), 1 + pick(2));
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_symbol_length_and_word),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_kind_in_one_batch),
        cmocka_unit_test(test_blocks_and_ways),
        cmocka_unit_test(test_codebooks),
        cmocka_unit_test(test_samples_and_deltas),
        cmocka_unit_test(test_more_words_than_16_bits_count),
        cmocka_unit_test(test_listed_symbols_all_are_frequent),
        cmocka_unit_test(test_golden_inputs),
        cmocka_unit_test(test_random_parameters),
    };
    return GPU_RUN_TESTS(tests);
}
