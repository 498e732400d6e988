/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_gpu.cpp: SLEEK's kernels give the CPU's bytes, words and statuses. */
#include "gpu_case.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace
{

const std::vector<test_pattern> all_patterns = {TEST_SMOOTH, TEST_RANDOM, TEST_ZERO, TEST_SPECIAL,
                                                TEST_STEPS};

void
test_every_size(void **)
{
    const std::vector<size_t> sizes = {0,   1,   7,    8,     33,    34,    35,    36,
                                       512, 519, 2048, 16383, 16384, 16385, 16420, 50000};
    for (const size_t size : sizes) {
        for (const char *type : {"f32", "f64"}) {
            gpu_case_check(gpu_case("sleek", type, "-", size, {TEST_SMOOTH, TEST_RANDOM}));
        }
    }
}

void
test_every_mode_and_type(void **)
{
    for (const char *type : {"f32", "f64", "i32", "i64", "i16"}) {
        for (const char *spec : {"sleek", "sleek:abs=1e-3", "sleek:abs=1e300", "sleek:noa=1e-4"}) {
            if (gpu_is_slow() && type[0] == 'i') {
                continue;
            }
            gpu_case_check(gpu_case(spec, type, "-", 16384 + 1600, all_patterns));
        }
    }
}

void
test_damaged_payloads(void **)
{
    const unsigned limit = gpu_is_slow() ? 30 : 150;
    gpu_case_check_damaged(gpu_case("sleek", "f32", "-", 2000, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(gpu_case("sleek:abs=1e-3", "f64", "-", 17000, {TEST_SMOOTH}), limit);
    gpu_case_check_damaged(gpu_case("sleek", "f32", "-", 0, {TEST_SMOOTH}), limit);
}

/* Widths that add up to the right size, one of them wider than a word. */
void
test_too_wide_a_width(void **)
{
    const GpuCase good = gpu_case("sleek", "f32", "-", 3000, {TEST_SMOOTH});
    struct h5twin_job job;
    Bytes payload = gpu_case_payload(good, good.chunks[0], &job);
    uint8_t *const widths = payload.data() + 8 + 2;
    assert_in_range(widths[0], 8, 32);
    widths[1] = (uint8_t)(widths[1] + widths[0] - 33);
    widths[0] = 33;
    gpu_check_decode(H5TWIN_SLEEK, job, {payload}, {});
}

/* The parameter word is part of what may be damaged. */
void
test_parameters_are_checked(void **)
{
    for (const char *type : {"f32", "f64", "i32"}) {
        const GpuCase good = gpu_case("sleek", type, "-", 3000, {TEST_SMOOTH});
        struct h5twin_job job;
        const Bytes payload = gpu_case_payload(good, good.chunks[0], &job);
        const std::vector<uint32_t> parameters = {0,
                                                  1,
                                                  2,
                                                  3,
                                                  0x100,
                                                  0x101,
                                                  0x102,
                                                  0x103,
                                                  230 << 8 | 1,
                                                  231 << 8 | 1,
                                                  1993 << 8 | 2,
                                                  1994 << 8 | 2,
                                                  0xFFFFFF01};
        gpu_check_decode(H5TWIN_SLEEK, job, std::vector<Bytes>(parameters.size(), payload),
                         parameters);
    }
}

/* The case, and the same with what its chunks decode to. */
void
check_twice(const GpuCase &once)
{
    GpuCase twice = once;
    gpu_case_check(once);
    for (size_t i = 0; i < once.chunks.size(); i++) {
        struct h5twin_job job;
        const Bytes payload = gpu_case_payload(once, once.chunks[i], &job);
        assert_int_equal(h5twin_codec_find(H5TWIN_SLEEK)
                             ->decode(&job, twice.chunks[i].data(), payload.data(), payload.size()),
                         H5TWIN_OK);
    }
    gpu_case_check(twice);
}

/* A second coding of what was decoded takes the same bound, or the one below. */
void
test_relative_bounds_are_kept(void **)
{
    for (const char *type : {"f32", "f64"}) {
        GpuCase once = gpu_case("sleek:noa=1e-3", type, "-", 70000, {TEST_SMOOTH, TEST_STEPS});
        check_twice(once);
        for (Bytes &chunk : once.chunks) { /* no finite value: NaN */
            memset(chunk.data(), 0xFF, chunk.size());
        }
        gpu_case_check(once);
    }
}

/* Put a value at each `step`-th place from `first` on, before `end` (a share of the chunk). */
void
put_marks(const GpuCase &into, Bytes &chunk, double value, size_t first, size_t step, double end)
{
    const size_t word_size = into.type[1] == '3' ? 4 : 8;
    const float single = (float)value;
    const size_t count = (size_t)((double)(chunk.size() / word_size) * end);
    for (size_t i = first; i < count; i += step) {
        memcpy(chunk.data() + i * word_size,
               word_size == 4 ? (const void *)&single : (const void *)&value, word_size);
    }
}

/* Marks in many places, in few, in one, in none, twice as many as not. */
void
add_marked(GpuCase &into, double value)
{
    const std::vector<size_t> steps = {63, 65, 1000000000};
    const Bytes plain = into.chunks[0];
    for (const size_t step : steps) {
        into.chunks.push_back(plain);
        put_marks(into, into.chunks.back(), value, 7, step, 1);
    }
    into.chunks.push_back(plain);
    put_marks(into, into.chunks.back(), value, 0, 1, 0.7);
}

void
test_missing_data(void **)
{
    if (gpu_is_slow()) {
        return; /* test_extreme_values goes through the same kernels */
    }
    const size_t size = 4 * 16384 + 1600;
    for (const char *type : {"f32", "f64"}) {
        for (const char *spec :
             {"sleek:noa=1e-3,fill=-9999.9", "sleek:abs=0.1,fill=0.7", "sleek:abs=1,fill=-0.0"}) {
            GpuCase marked = gpu_case(spec, type, "-", size, {TEST_SMOOTH});
            add_marked(marked, strtod(strstr(spec, "fill=") + 5, nullptr));
            check_twice(marked);
        }
    }
}

/* Nobody named the marks: whether they count depends on their number and size. */
void
test_extreme_values(void **)
{
    const size_t size = 4 * 16384 + 1600;
    for (const char *type : {"f32", "f64"}) {
        GpuCase marked = gpu_case("sleek:noa=1e-3,fill=7", type, "-", size, {TEST_SMOOTH});
        if (gpu_is_slow()) {
            put_marks(marked, marked.chunks[0], 1e35, 7, 63, 1);
            gpu_case_check(marked);
            continue;
        }
        for (const double value : {1e35, -300.0, 100.0}) {
            add_marked(marked, value);
        }
        marked.chunks.push_back(marked.chunks[1]);
        put_marks(marked, marked.chunks.back(), -1e35, 8, 100, 1);
        marked.chunks.push_back(marked.chunks[0]); /* the others are one value */
        put_marks(marked, marked.chunks.back(), 512, 0, 1, 1);
        put_marks(marked, marked.chunks.back(), -8192, 8, 40, 1);
        check_twice(marked);
    }
}

/* Incompressible blocks, which keep their values, among others. */
void
test_raw_blocks_among_coded_ones(void **)
{
    if (gpu_is_slow()) {
        return;
    }
    GpuCase mixed = gpu_case("sleek:noa=1e-8", "f32", "-", 5 * 16384 + 160, {TEST_SMOOTH});
    for (const double end : {0.4, 0.99}) {
        mixed.chunks.push_back(mixed.chunks[0]);
        put_marks(mixed, mixed.chunks.back(), (double)NAN, 0, 32, end);
    }
    check_twice(mixed);
}

/* Numbers between low and high, both of them among the last ones, each rounded by `rounding`. */
Bytes
make_numbers(const char *type, size_t count, double low, double high, const char *rounding)
{
    const size_t word_size = (size_t)atoi(type + 1) / 8;
    GpuCase made = {rounding, type, "-", {Bytes(count * word_size)}};
    Bytes &bytes = made.chunks[0];
    uint32_t state = 12345;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        const double fraction = i + 2 == count ? 0 : i + 1 == count ? 1 : (state >> 8) / 16777216.0;
        const double number = low + (high - low) * fraction;
        const float single = (float)number;
        memcpy(&bytes[i * word_size],
               word_size == 4 ? (const void *)&single : (const void *)&number, word_size);
    }
    struct h5twin_job job;
    const Bytes payload = gpu_case_payload(made, bytes, &job);
    assert_int_equal(
        h5twin_codec_find(H5TWIN_SLEEK)->decode(&job, bytes.data(), payload.data(), payload.size()),
        H5TWIN_OK);
    return bytes;
}

/* The range decides, wherever in the array its ends lie, in pieces of 32 KiB on the emulator; what
 * lies behind the array does not count, neither as range nor as a value that moves. */
void
test_ranges_in_pieces_with_tails(void **)
{
    for (const char *type : {"f32", "f64"}) {
        const size_t per_piece = 65536 / ((size_t)atoi(type + 1) / 8);
        for (const size_t count : {1u, 3u, 5u, 255u, 2047u, 2049u, 4096u + 1021u}) {
            GpuCase made = {"sleek:noa=1e-3", type, "-", {}};
            made.chunks.push_back(make_numbers(type, count + 2, 2, 3.02, "sleek"));
            made.chunks.push_back(made.chunks[0]);
            const Bytes wide = make_numbers(type, count + 2, -1e6, 70, "sleek");
            const size_t middle = count / 2 * (made.chunks[0].size() / (count + 2));
            memcpy(&made.chunks[1][middle], &wide[middle], 8); /* the range is wider in one place */
            gpu_case_check(made);
        }
        if (!gpu_is_slow()) {
            GpuCase made = {"sleek:noa=1e-3", type, "-", {}};
            for (const size_t last : {3u, 1u}) { /* ends of the range in the last piece */
                made.chunks.push_back(
                    make_numbers(type, 2 * per_piece + 3, 5 - (double)last, 6, "sleek"));
            }
            gpu_case_check(made);
        }
    }
}

/* Zeros that pad a chunk are in no range, neither of all words nor of those that are no mark. */
void
test_padding_is_in_no_range(void **)
{
    for (const char *type : {"f32", "f64"}) {
        GpuCase padded = {"sleek:noa=1e-3", type, "-", {make_numbers(type, 3000, 2, 2.3, "sleek")}};
        put_marks(padded, padded.chunks[0], 0, 5, 9, 1);
        padded.chunks.push_back(padded.chunks[0]);
        put_marks(padded, padded.chunks[1], 1e35, 7, 31, 1);
        GpuCase counted = padded;
        padded.zeros_are_padding = true;
        for (const Bytes &chunk : padded.chunks) {
            struct h5twin_job with, without;
            gpu_case_payload(padded, chunk, &with);
            gpu_case_payload(counted, chunk, &without);
            assert_int_not_equal(with.parameter, without.parameter); /* else this tests nothing */
        }
        gpu_case_check(padded);
        gpu_case_check(counted);
    }
}

/* Named missing data, the frequent word of largest magnitude, and what lies behind the array are no
 * part of the rest. A single word of half that magnitude, in one piece, says that it is ordinary.
 */
void
test_the_rest_decides(void **)
{
    const size_t count = gpu_is_slow() ? 3001 : 20001;
    for (const char *type : {"f32", "f64"}) {
        GpuCase marked = {
            "sleek:noa=1e-3,fill=7", type, "-", {make_numbers(type, count, 2, 2.3, "sleek")}};
        put_marks(marked, marked.chunks[0], 7, 5, 9, 1);
        put_marks(marked, marked.chunks[0], 1e35, 7, 31, 1);
        marked.chunks.push_back(marked.chunks[0]);
        put_marks(marked, marked.chunks[1], 5e34, count - 40, count, 1);
        struct h5twin_job rest, all;
        gpu_case_payload(marked, marked.chunks[0], &rest);
        gpu_case_payload(marked, marked.chunks[1], &all);
        assert_int_not_equal(rest.parameter, all.parameter); /* else this tests nothing */
        gpu_case_check(marked);
    }
}

/* Two marks, one or both of them there: neither counts for a range, and the bound becomes so small
 * that those that are there come back. */
void
test_two_marks_decide(void **)
{
    const size_t count = gpu_is_slow() ? 3001 : 20001;
    for (const char *type : {"f32", "f64"}) {
        for (const char *spec : {"sleek:noa=1e-3,fill=7.25", "sleek:abs=0.5,fill=7.25"}) {
            GpuCase marked = {spec, type, "-", {}, false, -9999.0625};
            const Bytes plain = make_numbers(type, count, 2, 2.3, "sleek");
            for (unsigned which = 0; which < 4; which++) {
                marked.chunks.push_back(plain);
                if ((which & 1u) != 0) {
                    put_marks(marked, marked.chunks[which], 7.25, 5, 9, 1);
                }
                if ((which & 2u) != 0) {
                    put_marks(marked, marked.chunks[which], -9999.0625, 11, 2000, 1);
                }
            }
            uint32_t parameters[4];
            for (unsigned which = 0; which < 4; which++) {
                struct h5twin_job job;
                gpu_case_payload(marked, marked.chunks[which], &job);
                parameters[which] = job.parameter;
            }
            if (spec[6] == 'a') { /* else this tests nothing */
                assert_int_not_equal(parameters[0], parameters[1]);
                assert_int_not_equal(parameters[1], parameters[2]);
                assert_int_equal(parameters[2], parameters[3]);
            } else {
                assert_int_equal(parameters[0], parameters[3]);
            }
            gpu_case_check(marked);
        }
    }
}

/* The range's widest number in each warp and lane's part in turn. */
void
test_the_range_is_that_of_all_lanes(void **)
{
    if (gpu_is_slow()) {
        skip();
    }
    for (const char *type : {"f32", "f64"}) {
        const Bytes narrow = make_numbers(type, 1024, 2, 3.02, "sleek");
        const Bytes wide = make_numbers(type, 1024, 2000, 3000, "sleek");
        const size_t word_size = narrow.size() / 1024;
        GpuCase made = {"sleek:noa=1e-3", type, "-", {}};
        for (size_t place = 3; place < 1024; place += 61) {
            made.chunks.push_back(narrow);
            memcpy(&made.chunks.back()[place * word_size], &wide[place * word_size], word_size);
        }
        gpu_case_check_encode(made, h5twin_gpu_codec_find(H5TWIN_SLEEK));
    }
}

/* All values on the grid of the bound below: that one is taken. Of a single value that is not, in
 * any row, it is not; what lies behind the array is on no grid, and does not count. */
void
test_a_finer_grid_is_kept(void **)
{
    for (const char *type : {"f32", "f64"}) {
        /* At most one block: a second, short one might be stored as it is, on no grid. */
        const size_t most = 16384 / ((size_t)atoi(type + 1) / 8) - 3;
        for (const size_t count : {(size_t)61, (size_t)1021, most}) {
            GpuCase made = {"sleek:noa=1e-3", type, "-", {}};
            const Bytes fine = make_numbers(type, count, 2, 3.02, "sleek:abs=0.0005");
            const Bytes rough = make_numbers(type, count, 2, 3.02, "sleek");
            const size_t word_size = fine.size() / count;
            made.chunks.push_back(fine);
            for (const size_t place : {(size_t)0, count / 2, count - 3}) {
                made.chunks.push_back(fine);
                memcpy(&made.chunks.back()[place * word_size], &rough[place * word_size],
                       word_size);
            }
            struct h5twin_job kept, changed;
            gpu_case_payload(made, made.chunks[0], &kept);
            gpu_case_payload(made, made.chunks[1], &changed);
            assert_int_not_equal(kept.parameter, changed.parameter); /* else this tests nothing */
            gpu_case_check(made);
        }
    }
}

/* Of several blocks in each of two pieces, each counts: one word that is on no grid, in the second
 * block or the last, moves it. Not one that is stored raw: NaNs, of full width, among such words.
 */
void
test_blocks_that_move(void **)
{
    if (gpu_is_slow()) {
        return;
    }
    for (const char *type : {"f32", "f64"}) {
        const size_t block = 16384, count = 4 * block / ((size_t)atoi(type + 1) / 8);
        const double low = ldexp(2, -60), high = ldexp(3.02, -60); /* NaN is far above */
        GpuCase made = {"sleek:noa=1e-3", type, "-", {}};
        const Bytes fine = make_numbers(type, count, low, high, "sleek:abs=4.3368e-22");
        Bytes rough = make_numbers(type, count, low, high, "sleek");
        made.chunks.assign(4, fine);
        memcpy(&made.chunks[1][block + 800], &rough[block + 800], 8);
        memcpy(&made.chunks[3][3 * block + 800], &rough[3 * block + 800], 8);
        put_marks(made, rough, (double)NAN, 0, 32, 1);
        memcpy(&made.chunks[2][block], &rough[block], block);
        struct h5twin_job on_grid, moved, raw;
        gpu_case_payload(made, made.chunks[0], &on_grid);
        gpu_case_payload(made, made.chunks[1], &moved);
        gpu_case_payload(made, made.chunks[2], &raw);
        assert_int_not_equal(on_grid.parameter, moved.parameter); /* else this tests nothing */
        assert_int_equal(on_grid.parameter, raw.parameter);
        gpu_case_check(made);
    }
}

/* More blocks than one step of the layout kernel takes on the emulator: 32. */
void
test_several_steps_of_layout(void **)
{
    if (!gpu_is_slow()) {
        gpu_case_check(gpu_case("sleek", "f32", "-", 33 * 16384 + 5, {TEST_SMOOTH}));
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_every_mode_and_type),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_too_wide_a_width),
        cmocka_unit_test(test_parameters_are_checked),
        cmocka_unit_test(test_relative_bounds_are_kept),
        cmocka_unit_test(test_missing_data),
        cmocka_unit_test(test_extreme_values),
        cmocka_unit_test(test_raw_blocks_among_coded_ones),
        cmocka_unit_test(test_ranges_in_pieces_with_tails),
        cmocka_unit_test(test_padding_is_in_no_range),
        cmocka_unit_test(test_the_rest_decides),
        cmocka_unit_test(test_two_marks_decide),
        cmocka_unit_test(test_the_range_is_that_of_all_lanes),
        cmocka_unit_test(test_a_finer_grid_is_kept),
        cmocka_unit_test(test_blocks_that_move),
        cmocka_unit_test(test_several_steps_of_layout),
    };
    return GPU_RUN_TESTS(tests);
}
