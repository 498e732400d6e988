/* SPDX-License-Identifier: BSD-3-Clause
 * test_forever.c: chunks of all versions so far, tests/forever/VERSION, decode to what they were
 * made from. Run for each instruction set; golden/manifest.tsv says what is written today, which
 * may be other bytes one day. */
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long
number(const char *text)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    assert_true(end != text && *end == '\0');
    return value;
}

/* How many chunks there are by a codec's number, coded and stored raw. */
static unsigned seen[64][2];

/* Decode a copy of just the chunk's bytes. */
static void
check_chunk(const uint8_t *stored, size_t size, const char *spec, const char *sha256)
{
    char digest[65];
    struct h5twin_info info;
    struct h5twin_params params;
    uint8_t *const chunk = test_alloc(size);
    memcpy(chunk, stored, size);
    assert_int_equal(h5twin_inspect(chunk, size, &info), H5TWIN_OK);
    uint8_t *const array = test_alloc((size_t)info.raw_size);
    size_t array_size = 0;
    assert_int_equal(h5twin_decode(NULL, array, (size_t)info.raw_size, chunk, size, &array_size),
                     H5TWIN_OK);
    assert_true(array_size == info.raw_size);
    test_sha256(digest, array, array_size);
    assert_string_equal(digest, sha256);
    h5twin_params_init(&params, H5TWIN_SLEEK);
    assert_int_equal(h5twin_params_parse(&params, spec, NULL), H5TWIN_OK);
    assert_int_equal(info.codec, params.codec);
    seen[info.codec][info.stored_raw]++;
    free(array);
    free(chunk);
}

static unsigned
check_version(const char *version)
{
    char name[512], *fields[6];
    unsigned checked = 0;
    snprintf(name, sizeof name, "../forever/%s/chunks.bin", version);
    const struct test_bytes chunks = test_golden_read(name);
    snprintf(name, sizeof name, "../forever/%s/chunks.tsv", version);
    struct test_table table = test_table_open(name);
    while (test_table_next(&table, fields, 6)) {
        const unsigned long offset = number(fields[0]), size = number(fields[1]);
        assert_true(offset <= chunks.size && size <= chunks.size - offset);
        check_chunk(chunks.at + offset, size, fields[2], fields[5]);
        checked++;
    }
    test_table_close(&table);
    free(chunks.at);
    return checked;
}

static void
test_chunks_of_every_version_are_read(void **state)
{
    (void)state;
    char path[1024];
    unsigned versions = 0;
    DIR *const folder = opendir(test_golden_path(path, sizeof path, "../forever"));
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') {
            const unsigned checked = check_version(entry->d_name);
            print_message("%s: %u chunks\n", entry->d_name, checked);
            assert_true(checked >= 100);
            versions++;
        }
    }
    closedir(folder);
    assert_true(versions >= 1);
}

/* tests/forever/make.py adds what is missing. After the test above. */
static void
test_every_codec_is_kept(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        if (seen[codec->id][0] == 0 || seen[codec->id][1] == 0) {
            fail_msg("%s: %u coded chunks, %u raw ones", codec->name, seen[codec->id][0],
                     seen[codec->id][1]);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_of_every_version_are_read),
        cmocka_unit_test(test_every_codec_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
