/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_fast.cuh: the encoder of the effort `fast`: a block of threads takes one slab
 * after the other, decides, and writes its body.
 *
 * Passes of a slab of n values, and bytes of global memory that each reads + writes, with lanes of
 * l = 4 or 8 bytes and words of w:
 *
 *     survey        w n; and w n + 8 n / 64 for the sample's table
 *     mask          w n + 5 n; n for each axis that is looked at
 *     tiles         up to 4096 values, with those before them, once for each map
 *     dictionary    w n + 8 n at random; l D for each 8 bits of a key; 8 n
 *     codes         w n + l n
 *     each axis     l n + l n; with a mask all at once
 *     residuals     l n for widths; l n + the stream; with a mask l n + l n more
 *     soft          w n for sizes, w n + remainders
 *
 * Source  FORMAT.md sections 1, 2 and 10. */
#ifndef H5TWIN_CASCADE_ENCODE_FAST_CUH
#define H5TWIN_CASCADE_ENCODE_FAST_CUH

#include "cascade_encode_body.cuh"
#include "cascade_encode_slab.cuh"

/* Shared memory: 16 KiB of room for what steps do in turn, 2 KiB of tiles. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_fast_kernel(struct cascade_encode_batch all)
{
    H5TWIN_SHARED(uint64_t, room, CASCADE_ROOM);
    H5TWIN_SHARED(struct cascade_tile_note, tiles, CASCADE_SLAB_TILES);
    H5TWIN_SHARED(struct h5twin_residuals_packed_plan, plans, CASCADE_SECTIONS);
    H5TWIN_SHARED(uint64_t, told, 1); /* to all threads */
    const struct cascade_encode_memory memory =
        cascade_memory_of(&all.memory, blockIdx.x, (uint32_t)sizeof(lane));
    const uint64_t total = all.batch.chunk_count * all.slab_count;
    for (;;) {
        const uint64_t number = cascade_take_slab(&all, told);
        if (number >= total) {
            return;
        }
        const uint64_t chunk = number / all.slab_count;
        struct cascade_encode_work<lane> work = {
        };
        struct cascade_body<lane> body = {
        };
        work.room = room;
        work.room_size = CASCADE_ROOM;
        cascade_open_slab(&work, &all, &memory, chunk, number % all.slab_count);
        const struct cascade_survey survey = cascade_survey_words(&work);
        if (survey.fill_count == work.value_count) {
            cascade_body_of_words(&body, CASCADE_CONSTANT, all.word_size);
        } else {
            (void)cascade_make_plan(&work, &survey, tiles, all.tiles);
            cascade_make_body(&work, &body, plans);
        }
        const uint64_t place = cascade_tell_place(&all, number, body.size, told);
        cascade_write_body(&work, &body, all.batch.d_dst + chunk * all.batch.dst_stride + place);
    }
}

#endif
