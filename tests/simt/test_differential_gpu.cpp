/* SPDX-License-Identifier: BSD-3-Clause
 * test_differential_gpu.cpp: kernels give the CPU's bytes, words and statuses over a grid of
 * shapes: every length and side next to those of blocks, for every codec, precision and layout.
 *
 * By default a part of it; H5TWIN_TEST_EXHAUSTIVE=1: all; H5TWIN_TEST_CODEC=NAME: of one codec. */
#include "gpu_case.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace
{

/* Lengths around the borders of a codec's blocks. */
struct Lengths {
    const char *spec;
    std::vector<const char *> types;
    std::vector<size_t> borders; /* bytes */
};

size_t shape_number, taken;

bool
is_exhaustive()
{
    return getenv("H5TWIN_TEST_EXHAUSTIVE") != nullptr && !gpu_is_slow();
}

/* How many times fewer shapes a sanitizer has time for. */
size_t
slowness()
{
#ifdef __SANITIZE_ADDRESS__
    return 3;
#else
    return gpu_is_slow() ? 40 : 1;
#endif
}

/* Of `of` neighbouring shapes one. */
bool
is_taken(size_t of)
{
    shape_number++;
    const bool is = is_exhaustive() || shape_number % (of * slowness()) == 0;
    taken += is;
    return is;
}

/* Another one for each shape that is taken. */
test_pattern
next_pattern()
{
    return (test_pattern)(taken % TEST_PATTERN_COUNT);
}

void
check(const char *spec, const char *type, const std::string &dims, size_t size)
{
    gpu_case_check(gpu_case(spec, type, dims.c_str(), size, {next_pattern(), TEST_RANDOM}));
}

void
check_lengths(const Lengths &lengths, size_t of)
{
    if (!test_spec_is_wanted(lengths.spec)) {
        return;
    }
    for (const char *type : lengths.types) {
        const size_t word = (size_t)atoi(type + 1) / 8;
        for (const size_t border : lengths.borders) {
            for (size_t i = 0; i < 7; i++) { /* -2, -1, 0, 1, 2 words; cut words at both sides */
                const size_t size = i < 5 ? border + i * word - 2 * word : border + 2 * i - 11;
                if (is_taken(of)) {
                    check(lengths.spec, type, "-", size);
                }
            }
        }
    }
}

void
test_lengths_around_blocks(void **)
{
    const std::vector<const char *> floats = {"f32", "f64"};
    const std::vector<size_t> blocks = {32, 512, 1024, 15872, 16384, 32768};
    const std::vector<Lengths> all = {
        {"sleek", floats, blocks},
        {"sleek:abs=1e-3", floats, blocks},
        {"sleek:noa=1e-4", floats, blocks},
        {"fpcompress:mode=speed", floats, blocks},
        {"fpcompress:mode=ratio", floats, {32, 128, 512, 4096, 8192, 16384, 32768}},
        {"gfc:dimensionality=1", floats, {128, 256, 8192, 16384}},
        {"gfc:dimensionality=5", floats, {128, 256, 8192, 16384}},
        {"gfc:dimensionality=32", floats, {128, 256, 8192, 16384}},
        {"ndzip:layout=reference", floats, {256, 512, 16384, 32768}},
        {"ndzip:layout=extended", floats, {256, 512, 16384, 32768}},
        {"e2mc:seg_log2=14", {"u8", "i16", "f32", "f64"}, {128, 1024, 16384, 32768}},
        {"e2mc:profile=paper", {"f32"}, {128, 4096}},
        {"cascade:effort=fast", {"u8", "i16", "f32", "f64"}, {1024, 4096, 16384}},
        {"cascade", {"u8", "i16", "f32", "f64"}, {1024, 4096}},
        {"lattice:abs=1e-3", floats, {1024, 8192}},
        {"lattice:abs=1e-3,effort=fast", floats, {1024, 8192}},
    };
    for (const Lengths &lengths : all) {
        check_lengths(lengths, 5);
    }
}

/* For tests of ndzip alone, which must not pass where nothing is tested. */
void
skip_without_ndzip()
{
    if (!test_spec_is_wanted("ndzip")) {
        skip();
    }
}

/* ndzip: blocks of 64 x 64 and of 16 x 16 x 16, clipped along each axis. */
void
check_boxes(const std::vector<size_t> &slowest, const std::vector<size_t> &sides, size_t of)
{
    for (const char *spec : {"ndzip:layout=reference", "ndzip:layout=extended"}) {
        for (const char *type : {"f32", "f64"}) {
            const size_t word = (size_t)atoi(type + 1) / 8;
            for (const size_t z : slowest) {
                for (const size_t y : sides) {
                    for (const size_t x : sides) {
                        const std::string plane = std::to_string(y) + "x" + std::to_string(x);
                        if (is_taken(of)) {
                            check(spec, type, z == 0 ? plane : std::to_string(z) + "x" + plane,
                                  (z == 0 ? 1 : z) * y * x * word);
                        }
                    }
                }
            }
        }
    }
}

void
test_planes_around_blocks(void **)
{
    skip_without_ndzip();
    check_boxes({0}, {1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 127}, 11);
}

void
test_boxes_around_blocks(void **)
{
    skip_without_ndzip();
    const std::vector<size_t> sides = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33};
    check_boxes(sides, sides, 67);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_around_blocks),
        cmocka_unit_test(test_planes_around_blocks),
        cmocka_unit_test(test_boxes_around_blocks),
    };
    const int status = GPU_RUN_TESTS(tests);
    print_message("%zu shapes of %zu\n", taken, shape_number);
    return status;
}
