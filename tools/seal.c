/* SPDX-License-Identifier: BSD-3-Clause
 * seal.c: see seal.h. */
#include "seal.h"

#include "common/bytes.h"
#include "common/crc32c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VERSION    1
#define HEAD_BYTES 32 /* before dims */
#define MOST_BYTES (HEAD_BYTES + 16 * H5S_MAX_RANK + 4 * H5TWIN_SEAL_WORDS + 4)

static const uint8_t magic[4] = {'H', '5', 'T', 'S'};

static uint32_t
crc32c(uint32_t so_far, const uint8_t *bytes, size_t size)
{
    return h5twin_crc32c_kernels_for(h5twin_isa_available())->crc32c(so_far, bytes, size);
}

/* ---- places ---- */

static uint64_t
cells_of(const struct h5twin_seal *seal, int axis)
{
    return seal->dims[axis] / seal->extents[axis] + (seal->dims[axis] % seal->extents[axis] != 0);
}

/* False if the number does not fit. */
static bool
count_places(const struct h5twin_seal *seal, uint64_t *count)
{
    bool is_empty = false;
    *count = 1;
    for (int axis = 0; axis < seal->rank; axis++) {
        is_empty = is_empty || seal->dims[axis] == 0;
    }
    for (int axis = 0; axis < seal->rank && !is_empty; axis++) {
        if (*count > UINT64_MAX / cells_of(seal, axis)) {
            return false;
        }
        *count *= cells_of(seal, axis);
    }
    *count = is_empty ? 0 : *count;
    return true;
}

/* Groups as small as the words allow. */
static bool
set_groups(struct h5twin_seal *seal)
{
    uint64_t places;
    if (!count_places(seal, &places)) {
        return false;
    }
    seal->group = places / H5TWIN_SEAL_WORDS + (places % H5TWIN_SEAL_WORDS != 0);
    seal->group = seal->group == 0 ? 1 : seal->group;
    seal->word_count = (size_t)(places / seal->group + (places % seal->group != 0));
    return true;
}

bool
h5twin_seal_place(const struct h5twin_seal *seal, const hsize_t *offset, uint64_t *place)
{
    *place = 0;
    for (int axis = 0; axis < seal->rank; axis++) {
        const uint64_t cell = offset[axis] / seal->extents[axis], cells = cells_of(seal, axis);
        if (cell >= cells) {
            return false;
        }
        *place = *place * cells + cell;
    }
    return true;
}

void
h5twin_seal_offset(const struct h5twin_seal *seal, uint64_t place,
                   unsigned long long offset[H5S_MAX_RANK])
{
    for (int axis = seal->rank; axis-- > 0;) {
        offset[axis] = place % cells_of(seal, axis) * seal->extents[axis];
        place /= cells_of(seal, axis);
    }
}

/* ---- words ---- */

uint32_t
h5twin_seal_add(uint32_t word, uint64_t place, uint64_t size, uint32_t crc)
{
    uint8_t bytes[20];
    h5twin_store64(bytes, place);
    h5twin_store64(bytes + 8, size);
    h5twin_store32(bytes + 16, crc);
    const uint32_t sum = crc32c(word, bytes, sizeof bytes);
    return sum == 0 ? 1 : sum; /* 0 is for no chunk */
}

bool
h5twin_seal_begin(struct h5twin_seal *seal, int rank, const hsize_t *dims, const hsize_t *extents,
                  uint32_t filters)
{
    /* A file that is made anew is the same where the time is a given one. */
    const char *const given = getenv("SOURCE_DATE_EPOCH");
    const long long epoch = given == NULL ? 0 : strtoll(given, NULL, 10);
    *seal = (struct h5twin_seal){
        .rank = rank, .filters = filters, .time = epoch > 0 ? epoch : (int64_t)time(NULL)};
    memcpy(seal->dims, dims, (size_t)rank * sizeof *dims);
    memcpy(seal->extents, extents, (size_t)rank * sizeof *extents);
    if (!set_groups(seal)) {
        return false;
    }
    seal->words = calloc(seal->word_count + 1, sizeof *seal->words);
    return seal->words != NULL;
}

void
h5twin_seal_free(struct h5twin_seal *seal)
{
    free(seal->words);
    seal->words = NULL;
}

uint32_t
h5twin_seal_filters(hid_t dcpl)
{
    const int count = H5Pget_nfilters(dcpl);
    uint32_t crc = 0;
    for (int i = 0; i < count; i++) {
        unsigned flags, config, words[64] = {0};
        uint8_t bytes[4 * 66];
        size_t word_count = sizeof words / sizeof words[0];
        const H5Z_filter_t id =
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &word_count, words, 0, NULL, &config);
        const size_t known = word_count < 64 ? word_count : 64;
        h5twin_store32(bytes, (uint32_t)id);
        h5twin_store32(bytes + 4, (uint32_t)word_count);
        for (size_t k = 0; k < known; k++) {
            h5twin_store32(bytes + 8 + 4 * k, words[k]);
        }
        crc = crc32c(crc, bytes, 8 + 4 * known);
    }
    return crc;
}

const char *
h5twin_seal_time(const struct h5twin_seal *seal, char text[H5TWIN_SEAL_TIME])
{
    const time_t seconds = (time_t)seal->time;
    const struct tm *const utc = gmtime(&seconds);
    if (utc == NULL || strftime(text, H5TWIN_SEAL_TIME, "%Y-%m-%dT%H:%M:%SZ", utc) == 0) {
        snprintf(text, H5TWIN_SEAL_TIME, "an unknown time");
    }
    return text;
}

/* ---- bytes ---- */

static size_t
size_of(const struct h5twin_seal *seal)
{
    return HEAD_BYTES + 16 * (size_t)seal->rank + 4 * seal->word_count + 4;
}

static void
pack(const struct h5twin_seal *seal, uint8_t *bytes)
{
    const size_t size = size_of(seal);
    memset(bytes, 0, HEAD_BYTES);
    memcpy(bytes, magic, sizeof magic);
    bytes[4] = VERSION;
    bytes[5] = (uint8_t)seal->rank;
    h5twin_store64(bytes + 8, (uint64_t)seal->time);
    h5twin_store32(bytes + 16, seal->filters);
    h5twin_store32(bytes + 20, (uint32_t)seal->word_count);
    h5twin_store64(bytes + 24, seal->group);
    uint8_t *at = bytes + HEAD_BYTES;
    for (int axis = 0; axis < seal->rank; axis++, at += 16) {
        h5twin_store64(at, seal->dims[axis]);
        h5twin_store64(at + 8, seal->extents[axis]);
    }
    for (size_t i = 0; i < seal->word_count; i++, at += 4) {
        h5twin_store32(at, seal->words[i]);
    }
    h5twin_store32(at, crc32c(0, bytes, size - 4));
}

/* Nothing is believed that does not follow from the shape. */
static enum h5twin_seal_state
unpack(const uint8_t *bytes, size_t size, struct h5twin_seal *seal)
{
    *seal = (struct h5twin_seal){.rank = 0};
    if (size < HEAD_BYTES + 4 || memcmp(bytes, magic, sizeof magic) != 0) {
        return H5TWIN_SEAL_DAMAGED;
    }
    if (bytes[4] != VERSION) {
        return H5TWIN_SEAL_NEWER;
    }
    seal->rank = bytes[5];
    if (crc32c(0, bytes, size - 4) != h5twin_load32(bytes + size - 4) || seal->rank < 1 ||
        seal->rank > H5S_MAX_RANK || size < HEAD_BYTES + 16 * (size_t)seal->rank + 4) {
        return H5TWIN_SEAL_DAMAGED;
    }
    seal->time = (int64_t)h5twin_load64(bytes + 8);
    seal->filters = h5twin_load32(bytes + 16);
    const uint8_t *at = bytes + HEAD_BYTES;
    for (int axis = 0; axis < seal->rank; axis++, at += 16) {
        seal->dims[axis] = h5twin_load64(at);
        seal->extents[axis] = h5twin_load64(at + 8);
        if (seal->extents[axis] == 0) {
            return H5TWIN_SEAL_DAMAGED;
        }
    }
    if (!set_groups(seal) || seal->word_count != h5twin_load32(bytes + 20) ||
        seal->group != h5twin_load64(bytes + 24) || size != size_of(seal)) {
        return H5TWIN_SEAL_DAMAGED;
    }
    seal->words = malloc((seal->word_count + 1) * sizeof *seal->words);
    if (seal->words == NULL) {
        return H5TWIN_SEAL_DAMAGED;
    }
    for (size_t i = 0; i < seal->word_count; i++, at += 4) {
        seal->words[i] = h5twin_load32(at);
    }
    return H5TWIN_SEAL_FOUND;
}

/* ---- the attribute: opaque bytes, which netCDF neither shows nor copies to other data ---- */

static bool
has_seal(hid_t dataset)
{
    const hid_t old = H5Aopen(dataset, H5TWIN_SEAL_NAME, H5P_DEFAULT);
    H5Eclear2(H5E_DEFAULT);
    return old >= 0 && H5Aclose(old) >= 0;
}

enum h5twin_seal_state
h5twin_seal_read(hid_t dataset, struct h5twin_seal *seal)
{
    *seal = (struct h5twin_seal){.rank = 0};
    if (!has_seal(dataset)) {
        return H5TWIN_SEAL_NONE;
    }
    enum h5twin_seal_state state = H5TWIN_SEAL_DAMAGED;
    const hid_t attribute = H5Aopen(dataset, H5TWIN_SEAL_NAME, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const size_t size = H5Tget_size(type);
    uint8_t *const bytes = size > 0 && size <= MOST_BYTES ? malloc(size) : NULL;
    if (bytes != NULL && H5Tget_class(type) == H5T_OPAQUE &&
        H5Sget_simple_extent_npoints(space) == 1 && H5Aread(attribute, type, bytes) >= 0) {
        state = unpack(bytes, size, seal);
    }
    free(bytes);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Eclear2(H5E_DEFAULT);
    return state;
}

bool
h5twin_seal_write(hid_t dataset, const struct h5twin_seal *seal)
{
    uint8_t *const bytes = malloc(size_of(seal));
    if (bytes == NULL || (has_seal(dataset) && H5Adelete(dataset, H5TWIN_SEAL_NAME) < 0)) {
        free(bytes);
        return false;
    }
    pack(seal, bytes);
    const hid_t type = H5Tcreate(H5T_OPAQUE, size_of(seal)), space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(dataset, H5TWIN_SEAL_NAME, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool is_written = attribute >= 0 && H5Awrite(attribute, type, bytes) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    free(bytes);
    return is_written;
}
