/* SPDX-License-Identifier: BSD-3-Clause
 * status.c: one sentence per status: what happened, what to do. */
#include "h5twin.h"

#define AND_NAME(name, NAME) " " #name

const char *
h5twin_status_message(enum h5twin_status status)
{
    switch (status) {
    case H5TWIN_OK:
        return "No error.";
    case H5TWIN_ERR_ARG:
        return "A required argument is missing or contradicts another: check the call.";
    case H5TWIN_ERR_CODEC:
        return "There is no such codec; these are known:" H5TWIN_CODECS(AND_NAME) ".";
    case H5TWIN_ERR_SPEC:
        return "The specification is not CODEC[:KEY=VALUE[,KEY=VALUE]...] with one error bound at "
               "most: write for example \"sleek:abs=1e-3\".";
    case H5TWIN_ERR_OPTION:
        return "The codec has no such option, or not with this value, or not with the others or "
               "for such elements: `h5twin codecs` lists them.";
    case H5TWIN_ERR_MODE:
        return "This codec is lossless only, or has no such error mode (1 absolute, 2 "
               "range-relative, 3 point-wise relative): drop the error bound, or take a codec "
               "that has it, see `h5twin codecs`.";
    case H5TWIN_ERR_BOUND:
        return "The error bound must be a positive finite number: give for example abs=1e-3, or "
               "no bound for lossless.";
    case H5TWIN_ERR_ELEMENT:
        return "The element size or kind does not exist: sizes start at 1 byte, and floats have 4 "
               "or 8.";
    case H5TWIN_ERR_DIMS:
        return "The dimensions do not fit: at most 8, none of them 0, and their product times the "
               "element size must be the array's size where the codec needs the shape.";
    case H5TWIN_ERR_TOO_BIG:
        return "The array is too big for this codec's size field: use smaller chunks.";
    case H5TWIN_ERR_DST_SMALL:
        return "The output buffer is too small: give h5twin_bound() bytes to encode, the chunk's "
               "raw size to decode.";
    case H5TWIN_ERR_SRC_SHORT:
        return "The chunk is cut short: the file is truncated or torn; restore it from a copy.";
    case H5TWIN_ERR_MAGIC:
        return "This is not an h5twin chunk: it was not written by this filter, or its start is "
               "overwritten.";
    case H5TWIN_ERR_VERSION:
        return "The chunk was written by a newer h5twin: update the plugin.";
    case H5TWIN_ERR_CHECKSUM:
        return "The chunk's checksum is wrong: its bytes changed after they were written; restore "
               "the file from a copy.";
    case H5TWIN_ERR_CORRUPT:
        return "The chunk contradicts the format: its bytes are damaged, or were decoded with "
               "other parameters than they were encoded with.";
    case H5TWIN_ERR_MEMORY:
        return "Out of memory: use smaller chunks or free memory.";
    case H5TWIN_ERR_DEVICE:
        return "A GPU was demanded but cannot be used: `h5twin info --devices` says why; set "
               "H5TWIN_DEVICE=auto or cpu.";
    case H5TWIN_ERR_ENVIRONMENT:
        return "The environment variable H5TWIN_DEVICE is not auto, cpu or gpu: correct it or "
               "unset it.";
    case H5TWIN_ERR_FORKED:
        return "A GPU was demanded in a process that was forked after its parent began to use "
               "CUDA, "
               "which a child cannot use: fork earlier, start a new program instead (in Python "
               "'spawn'), or set H5TWIN_DEVICE=auto or cpu.";
    }
    return "Unknown status: the library and its caller are of different versions.";
}
