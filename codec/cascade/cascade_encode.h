/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode.h: the encoder's functions that the codec is made of. */
#ifndef H5TWIN_CASCADE_ENCODE_H
#define H5TWIN_CASCADE_ENCODE_H

#include "cascade.h"

/* What the options say. */
enum cascade_effort h5twin_cascade_effort_of(uint64_t options);

size_t h5twin_cascade_bound(const struct h5twin_job *job);

#endif
