/* SPDX-License-Identifier: BSD-3-Clause
 * frame.c: chunks that break one rule of codec/FORMAT.md each, and those that they are made of. */
#include "forgeries.h"

#include "frame.h"
#include "support.h"

#include <string.h>

/* Eight bytes in a raw chunk; 1 KiB by sleek; 20 floats by ndzip; checksums are set later. */
#define MAGIC "48 35 54 57 "
static const char raw_chunk[] = MAGIC "01 01 01 02  08 00*7  00*4 00*4  00 00 80 3F 00 00 00 40";
static const char coded_chunk[] = MAGIC "01 01 00 02  00 04 00*6  00*4 00*4"
                                        "  00 04 00*6 32 00  01 00*31 A5*16 00 04";
#define OF_20 MAGIC "01 04 00 02  50 00*7  01 01 00 00 00*4  01 00*3 01 00*3 14 00*3  00*4  "
static const char ndzip_chunk[] = OF_20 "02 00 00 00  00 00 00 80  00 00 00 80";
/* 100 bytes, and 104, as a raw chunk of this array has. */
static const char smaller_chunk[] = OF_20 "0E 00 00 00  FF 1F 00 00  (00 00 00 80)*13";
static const char no_smaller_chunk[] = OF_20 "0F 00 00 00  FF 3F 00 00  (00 00 00 80)*14";

#define BAD     .status = H5TWIN_ERR_CORRUPT
#define NEWER   .status = H5TWIN_ERR_VERSION
#define SHORTER .status = H5TWIN_ERR_SRC_SHORT
#define END     FORGERY_END
static const struct forged_chunk chunks[] = {
    {"a raw chunk", raw_chunk, .status = H5TWIN_OK},
    {"a coded chunk", coded_chunk, .status = H5TWIN_OK},
    {"a chunk with extents", ndzip_chunk, .status = H5TWIN_OK},
    {"a chunk that is a little smaller than a raw one", smaller_chunk, .status = H5TWIN_OK},
    {RULE("magic"), coded_chunk, AT(0, 1, "68"), .status = H5TWIN_ERR_MAGIC},
    {ALSO("magic"), raw_chunk, AT(3, 1, "77"), .status = H5TWIN_ERR_MAGIC},
    {RULE("frame-cut"), raw_chunk, AT(23, END, NULL), SHORTER},
    {RULE("version-zero"), coded_chunk, AT(4, 1, "00"), BAD},
    {RULE("version-newer"), coded_chunk, AT(4, 1, "02"), NEWER},
    {ALSO("version-newer"), raw_chunk, AT(4, 1, "FF"), NEWER},
    {RULE("codec"), coded_chunk, AT(5, 1, "3E"), NEWER},
    {ALSO("codec"), coded_chunk, AT(5, 1, "00"), NEWER},
    {ALSO("codec"), raw_chunk, AT(5, 1, "41"), NEWER},
    {RULE("flags"), coded_chunk, AT(6, 1, "02"), NEWER},
    {ALSO("flags"), raw_chunk, AT(6, 1, "81"), NEWER},
    {RULE("word-size"), raw_chunk, AT(7, 1, "04"), BAD},
    {ALSO("word-size"), raw_chunk, AT(7, 1, "0F"), BAD},
    {RULE("kind"), raw_chunk, AT(7, 1, "32"), BAD},
    {ALSO("kind"), coded_chunk, AT(7, 1, "72"), BAD},
    {RULE("raw-parameter"), raw_chunk, AT(16, 1, "01"), BAD},
    {ALSO("raw-parameter"), raw_chunk, AT(19, 1, "80"), BAD},
    {RULE("raw-longer"), raw_chunk, AT(END, 0, "00"), BAD},
    {RULE("raw-cut"), raw_chunk, AT(31, END, NULL), SHORTER},
    {RULE("small-word"), coded_chunk, AT(7, 1, "01"), BAD},
    {ALSO("small-word"), ndzip_chunk, AT(7, 1, "00"), BAD},
    {RULE("extents-cut"), ndzip_chunk, AT(39, END, NULL), SHORTER},
    {RULE("reserved"), ndzip_chunk, AT(36, 1, "01"), BAD},
    {ALSO("reserved"), ndzip_chunk, AT(39, 1, "80"), BAD},
    {RULE("no-smaller"), no_smaller_chunk, BAD},
    {ALSO("no-smaller"), coded_chunk, AT(8, END, "40 00*7  00*4 00*4  40 00*7 40 00 AA*64"), BAD},
    {ALSO("no-smaller"), coded_chunk, AT(5, END, "07 00 02  00*8  00*4 00*4  01 00*4"), BAD},
    {RULE("size"), coded_chunk, AT(8, 2, "FC 03"), BAD},
    {ALSO("size"), ndzip_chunk, AT(8, 1, "51"), SHORTER},
    {RULE("checksum"), coded_chunk, AT(16, 1, "01"), .status = H5TWIN_ERR_CHECKSUM,
     .is_unsealed = true},
    {ALSO("checksum"), raw_chunk, AT(20, 1, "00"), .status = H5TWIN_ERR_CHECKSUM,
     .is_unsealed = true},
    {ALSO("checksum"), raw_chunk, AT(31, 1, "41"), .status = H5TWIN_ERR_CHECKSUM,
     .is_unsealed = true},
};

const struct forged_chunk *
forged_chunks(size_t *count)
{
    *count = sizeof chunks / sizeof chunks[0];
    return chunks;
}

size_t
forged_chunk_make(const struct forged_chunk *forged, uint8_t chunk[FORGERY_BYTES])
{
    static uint8_t good[FORGERY_BYTES], replaced[FORGERY_BYTES];
    size_t size = forgery_bytes(good, forged->chunk);
    test_reseal(good, size);
    const size_t at = forged->at < size ? forged->at : size;
    const size_t removed = forged->removed < size - at ? forged->removed : size - at;
    const size_t put = forged->put == NULL ? 0 : forgery_bytes(replaced, forged->put);
    memcpy(chunk, good, at);
    memcpy(chunk + at, replaced, put);
    memcpy(chunk + at + put, good + at + removed, size - at - removed);
    size += put - removed;
    if (!forged->is_unsealed && size >= H5TWIN_FRAME_BYTES) {
        test_reseal(chunk, size);
    }
    return size;
}
