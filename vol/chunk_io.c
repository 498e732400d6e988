/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_io.c: see chunk_io.h. What HDF5 (1.10 to 2.x) does with a chunk in its cache:
 * H5Dget_chunk_storage_size and H5Dread_chunk write it to the file first if it has changed,
 * H5Dwrite_chunk forgets it. */
#include "chunk_io.h"

#include "chunk_check.h"

#include <string.h>

/* Chunks that HDF5 goes through all others for, before it is left to HDF5. */
#define MOST_DOUBTFUL 64u

/* A status that ends the transfer; which one does not matter, HDF5 does it all then. */
#define LEAVE_IT H5TWIN_ERR_ARG

static enum h5twin_status
put(void *context, const uint64_t *offset, const void *chunk, size_t size)
{
    const struct h5twin_chunk_io *const io = context;
    uint64_t old_size = 0;
    /* Over a chunk of just this size HDF5 leaves the filter mask as it was. One that was stored
     * without the filter, which other programs may do, has the size of the decoded chunk. */
    if (size == io->chunk_size &&
        io->hdf5->H5Dget_chunk_storage_size(io->dataset, offset, &old_size) >= 0 &&
        old_size == size) {
        return LEAVE_IT;
    }
    return io->hdf5->H5Dwrite_chunk(io->dataset, io->dxpl, 0, offset, size, chunk) < 0 ? LEAVE_IT
                                                                                       : H5TWIN_OK;
}

/* The function that failed first. */
static int
note_absence(unsigned depth, const struct h5twin_hdf5_error *error, void *context)
{
    bool *const is_absent = context;
    if (depth == 0) {
        *is_absent = error->function != NULL && error->text != NULL &&
                     strcmp(error->function, "H5D__get_chunk_storage_size") == 0 &&
                     strcmp(error->text, "chunk storage is not allocated") == 0;
    }
    return 0;
}

/* H5Dget_chunk_storage_size fails for a chunk that is not stored, as it does for a damaged file. To
 * ask once more is sure, but takes a look at all chunks. */
static bool
is_absent(struct h5twin_chunk_io *io, const uint64_t *offset)
{
    const struct h5twin_hdf5 *const hdf5 = io->hdf5;
    bool is_said = false;
    if (hdf5->H5Ewalk2(H5TWIN_HDF5_DEFAULT_STACK, H5TWIN_HDF5_WALK_UPWARD, note_absence,
                       &is_said) >= 0 &&
        is_said) {
        return true;
    }
    unsigned filter_mask;
    uint64_t address = 0, size = 0;
    return io->doubtful++ < MOST_DOUBTFUL &&
           hdf5->H5Dget_chunk_info_by_coord(io->dataset, offset, &filter_mask, &address, &size) >=
               0 &&
           address == H5TWIN_HDF5_UNDEFINED_ADDRESS;
}

static enum h5twin_status
find(void *context, const uint64_t *offset, enum h5twin_chunk_state *state, size_t *size)
{
    struct h5twin_chunk_io *const io = context;
    uint64_t stored_size = 0; /* stays where the dataset has no storage at all */
    *state = H5TWIN_CHUNK_ENCODED;
    if (io->hdf5->H5Dget_chunk_storage_size(io->dataset, offset, &stored_size) < 0) {
        if (!is_absent(io, offset)) {
            return LEAVE_IT;
        }
        stored_size = 0;
    }
    if (stored_size == 0) {
        *state = io->fills ? H5TWIN_CHUNK_ABSENT : H5TWIN_CHUNK_SKIPPED;
    }
    *size = (size_t)stored_size;
    return stored_size > SIZE_MAX ? LEAVE_IT : H5TWIN_OK;
}

static enum h5twin_status
get(void *context, const uint64_t *offset, void *chunk, size_t size)
{
    const struct h5twin_chunk_io *const io = context;
    const struct h5twin_hdf5 *const hdf5 = io->hdf5;
    uint32_t filter_mask = 0;
    int result;
    if (hdf5->has[H5TWIN_HDF5_READ_CHUNK2]) {
        size_t capacity = size;
        result =
            hdf5->H5Dread_chunk2(io->dataset, io->dxpl, offset, &filter_mask, chunk, &capacity);
        result = capacity != size ? -1 : result;
    } else {
        result = hdf5->H5Dread_chunk1(io->dataset, io->dxpl, offset, &filter_mask, chunk);
    }
    return result < 0 || filter_mask != 0 ? LEAVE_IT : H5TWIN_OK; /* without the filter: HDF5's */
}

static bool
accept(const void *context, const struct h5twin_info *info)
{
    const struct h5twin_chunk_io *const io = context;
    char why[H5TWIN_CHECK_TEXT];
    return h5twin_check_chunk(io->cd, info, why);
}

struct h5twin_chunk_store
h5twin_chunk_io_store(struct h5twin_chunk_io *io)
{
    return (struct h5twin_chunk_store){
        .context = io, .put = put, .find = find, .get = get, .accept = accept};
}
