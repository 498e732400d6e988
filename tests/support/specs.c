/* SPDX-License-Identifier: BSD-3-Clause
 * specs.c: see specs.h. */
#include "specs.h"

#include "h5twin.h"

#include "codec.h"
#include "common/bytes.h"
#include "isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CRC_OFFSET 20

/* Beside the plain names, which stand for the defaults. New ones go to the end: fuzzers' seeds
 * choose by position. */
static const char *const more_specs[] = {
    "sleek:abs=1e-3",
    "sleek:noa=1e-4",
    "fpcompress:mode=speed",
    "fpcompress:mode=ratio",
    "ndzip:layout=reference",
    "ndzip:layout=extended",
    "gfc:dimensionality=1",
    "gfc:dimensionality=3",
    "gfc:dimensionality=32",
    "e2mc:profile=paper",
    "e2mc:symbol_bits=4,ways=2,pre=1",
    "e2mc:symbol_bits=8,ways=8,sampling=1",
    "e2mc:symbol_bits=32,ways=1,block_log2=12,seg_log2=14",
    "cascade:effort=fast",
    "cascade:effort=quick",
    "lattice:abs=1e-3",
    "lattice:noa=1e-4,effort=fast",
    "lattice:rel=1e-3,stable=yes",
    "lattice:abs=1e-2,min=0,max=1",
    ("e2mc:block_log2=7,gran_log2=5,seg_log2=0,word_bytes=8,max_len=20,mfv=1,policy=1,stride=3,"
     "sample_log2=2"),
};

/* The codec that H5TWIN_TEST_CODEC names, or NULL. A name that no codec has would leave nothing to
 * test, and so all tests well. */
static const char *
only_codec(void)
{
    const char *const only = getenv("H5TWIN_TEST_CODEC");
    if (only != NULL && h5twin_codec_by_name(only) == NULL) {
        fprintf(stderr, "H5TWIN_TEST_CODEC=%s is no codec of this build\n", only);
        abort();
    }
    return only;
}

bool
test_spec_is_wanted(const char *spec)
{
    const char *const only = only_codec();
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    return h5twin_codec_by_name(name) != NULL && (only == NULL || strcmp(name, only) == 0);
}

/* The spec of a codec's defaults, or nearly. */
static const char *
plain_spec(const struct h5twin_codec_info *info)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(info->id);
    /* Without loss it would only store arrays as they are. */
    const bool lacks_companion =
        codec->companion != 0 && h5twin_codec_find(codec->companion) == NULL;
    return lacks_companion ? "lattice:abs=1e-3" : info->name;
}

const char *
test_spec_at(unsigned index)
{
    const unsigned codec_count = h5twin_codec_count();
    unsigned position = 0;
    for (unsigned i = 0; i < codec_count + sizeof more_specs / sizeof more_specs[0]; i++) {
        const char *const spec =
            i < codec_count ? plain_spec(h5twin_codec_at(i)) : more_specs[i - codec_count];
        if (test_spec_is_wanted(spec) && position++ == index) {
            return spec;
        }
    }
    return NULL;
}

void
test_reseal(uint8_t *chunk, size_t chunk_size)
{
    h5twin_store32(chunk + CRC_OFFSET, 0);
    h5twin_store32(chunk + CRC_OFFSET,
                   h5twin_crc32c_kernels_for(h5twin_isa_available())->crc32c(0, chunk, chunk_size));
}
