/* SPDX-License-Identifier: BSD-3-Clause
 * plain_decoder.h: the decoders of decoders/, asked beside those of the library. */
#ifndef H5TWIN_TESTS_PLAIN_DECODER_H
#define H5TWIN_TESTS_PLAIN_DECODER_H

#include "h5twin.h"

/* Decode a chunk of cascade or lattice with both; fails the test unless both refuse it for the same
 * reason (of two faults, one of which is a newer version, either), or both decode it to the same
 * bytes. Source and destination end at pages that cannot be
 * touched. Returns the verdict. If H5TWIN_DECODER_CORPUS names a folder, chunk and array (none, if
 * it was refused) are left there as NUMBER.STATUS.chunk and NUMBER.array. */
enum h5twin_status test_plain_decoder(const uint8_t *chunk, size_t chunk_size);

/* What the plain decoder alone says of a chunk of a small array. */
int test_plain_verdict(const uint8_t *chunk, size_t chunk_size);

/* The same of a payload, with a frame before it. Payloads that are too large for one are left out.
 * parameter is the frame's word. */
void test_plain_decoder_of_payload(enum h5twin_codec_id codec, unsigned word_size, size_t raw_size,
                                   uint32_t parameter, const uint8_t *payload, size_t size);

#endif
