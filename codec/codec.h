/* SPDX-License-Identifier: BSD-3-Clause
 * codec.h: what a codec is to the rest of the library.
 *
 * A codec is one folder that defines `const struct h5twin_codec h5twin_<name>_codec`, with a
 * codec.cmake that lists its files, and one line in codecs.def.
 * It sees little-endian words and knows nothing of frames, checksums, byte order, HDF5 or devices.
 *
 * Life of a chunk: plan.c fills a job from the parameters, calls prepare (which fixes what the
 * decoder will need: parameter word and extents), then encode. To decode, it fills the job from
 * the frame instead, and calls decode, which checks all of it: nothing in a chunk is trusted. */
#ifndef H5TWIN_CODEC_H
#define H5TWIN_CODEC_H

#include "common/box.h"
#include "common/crc32c.h"
#include "h5twin.h"
#include "isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Below this much input per thread, waking a thread costs the fast codecs as much as it saves: two
 * threads of Zen 4 are 0.8 to 1.2 times as fast as one on 512 KiB, 1.1 to 1.7 times on 1 MiB. */
#define H5TWIN_BYTES_PER_THREAD (512u * 1024u)

/* One chunk at work. */
struct h5twin_job {
    /* what the chunk is */
    uint64_t options; /* encode and payload decode only */
    enum h5twin_mode mode;
    double error_bound;
    /* Encoding in a lossy mode only: the words of missing data, finite numbers, which must come
     * back bit for bit and count for no range; and whether +0 counts for none either. A second one
     * is there only beside the first, and differs from it. */
    bool has_fill, has_second_fill;
    uint64_t fill_bits, second_fill_bits;
    bool zeros_are_padding;
    enum h5twin_kind kind;
    unsigned word_size; /* bytes, 4 or 8 (also 1 or 2 if the codec's min_word_size allows it) */
    size_t raw_size;    /* bytes */
    unsigned rank;      /* encode and payload decode only: 0..H5TWIN_MAX_RANK, unit dims kept; */
    uint64_t dims[H5TWIN_MAX_RANK]; /* in words; their product times word_size is raw_size */
    bool is_bare; /* a payload without a frame: the extents are the dims as they are given */
    /* what the frame tells the decoder besides the payload; prepare or the frame fills it */
    uint32_t parameter;
    uint32_t extents[3]; /* 1, 1, 1 unless the codec has_extents */
    /* how to run */
    unsigned threads; /* >= 1 */
    h5twin_isa isa;   /* what kernels are chosen by: H5TWIN_KERNELS_FOR */
    /* The codec's companion, lossless and without a parameter, or NULL if this build has none: a
     * codec's own way to another one. */
    const struct h5twin_codec *companion;
    /* NULL, or where the CRC of a part of the payload may go, which the codec has in a cache: that
     * part must then not change any more. */
    struct h5twin_crc32c_span *crc;
};

/* In a codec's info: what codecs.def says of it, and its options, an array. */
#define H5TWIN_CODEC_AS_LISTED(codec, CODEC)                                                       \
    .name = #codec, .id = H5TWIN_##CODEC, .filter_id = H5TWIN_FILTER_##CODEC
#define H5TWIN_CODEC_OPTIONS(list) .option_count = sizeof(list) / sizeof(list)[0], .options = (list)

struct h5twin_codec {
    struct h5twin_codec_info info;
    unsigned min_word_size;         /* 4; 1 if bytes and 16-bit words are coded as such */
    enum h5twin_codec_id companion; /* 0, or the codec for what this one cannot; see the job */
    bool has_extents;               /* the frame carries job->extents */
    bool has_own_bound;             /* a bare payload says what H5TWIN_NOA came to */

    /* From how many bytes of host memory on `auto` takes a GPU, if there is one; 0: never. Host
     * arrays cross the bus both ways, at the 20 GB/s or so of PCIe 4 where a processor's cores code
     * at memory speed: for fast codecs a GPU cannot pay. A number goes in here when it was
     * measured, with the device's name. */
    size_t gpu_encode_pays_from, gpu_decode_pays_from;

    /* Alias such as e2mc's "profile=paper": sets *options and returns true if it knows the pair. */
    bool (*set_alias)(uint64_t *options, const char *key, const char *value);

    /* H5TWIN_OK if these options go together, and with words of this size; else *index is that of
     * the option to blame. May be NULL. */
    enum h5twin_status (*check_options)(uint64_t options, unsigned word_size, uint32_t *index);

    /* From options, mode, bound and dims: set parameter and extents. Also refuses arrays that the
     * format cannot hold (H5TWIN_ERR_TOO_BIG). */
    enum h5twin_status (*prepare)(struct h5twin_job *job);

    /* Largest payload of any array that fits the job. 0 if that overflows size_t, or if the array
     * is empty and so is its payload. */
    size_t (*bound)(const struct h5twin_job *job);

    /* src holds job->raw_size bytes, dst has room for bound(job) bytes; they do not overlap. May
     * refine job->parameter. Fails only with H5TWIN_ERR_MEMORY. *dst_size may exceed raw_size: the
     * caller then stores raw. */
    enum h5twin_status (*encode)(struct h5twin_job *job, uint8_t *dst, const uint8_t *src,
                                 size_t *dst_size);

    /* dst holds job->raw_size bytes. Validates job->parameter, job->extents and the payload; reads
     * nothing outside src, writes nothing outside dst. */
    enum h5twin_status (*decode)(const struct h5twin_job *job, uint8_t *dst, const uint8_t *src,
                                 size_t src_size);

    /* The same for a box of the array (see common/box.h) alone. What does not concern the box need
     * not be checked. NULL: the whole payload is decoded, and the box copied. */
    enum h5twin_status (*decode_box)(const struct h5twin_job *job,
                                     const struct h5twin_box_runs *box, const uint8_t *src,
                                     size_t src_size);

    /* The decoded size that this payload claims, at most what src_size bytes can decode to. Used
     * for bare payloads (job->raw_size unset) and, before a caller allocates, for framed chunks. */
    enum h5twin_status (*raw_size)(const struct h5twin_job *job, const uint8_t *src,
                                   size_t src_size, uint64_t *raw_size);

    /* Line for people about a framed payload, like snprintf. May be NULL. */
    size_t (*describe)(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
                       char *text, size_t capacity);
};

/* plan.c. The job, and the codec, for encoding an array of raw_size bytes described by *params to
 * a chunk with a frame; threads is left to the caller. */
enum h5twin_status h5twin_job_from_params(struct h5twin_job *job, const struct h5twin_codec **codec,
                                          const struct h5twin_params *params, size_t raw_size);

/* The size of the words that the codec sees elements as: the element itself where it can, else its
 * largest word-sized divisor, else 4-byte words across elements. */
unsigned h5twin_codec_word_size(const struct h5twin_codec *codec, uint32_t element_size);

/* params.c. Whether the reserved words of a public structure are 0, size bytes of them. */
bool h5twin_is_reserved_zero(const uint64_t *reserved, size_t size);

/* params.c. The name of the option for which h5twin_params_check says H5TWIN_ERR_OPTION, or NULL.
 */
const char *h5twin_params_bad_option(const struct h5twin_params *params);

/* Whether a codec that sees words of this size should see them with their bytes reversed. */
bool h5twin_must_swap(const struct h5twin_params *params, unsigned word_size);

/* registry.c. NULL if there is none. */
const struct h5twin_codec *h5twin_codec_find(enum h5twin_codec_id id);

/* options.c. The value of option number `index` of the codec: the number itself, or the index in
 * names. */
uint32_t h5twin_option_get(const struct h5twin_codec *codec, uint64_t options, unsigned index);

/* The number of a decimal option; NaN for field value 0. */
double h5twin_option_decimal(const struct h5twin_option_info *option, uint64_t options);

#ifdef __cplusplus
}
#endif
#endif
