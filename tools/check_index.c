/* SPDX-License-Identifier: BSD-3-Clause
 * check_index.c: `h5twin check`: the list of a dataset's chunks, as its index has them.
 *
 * HDF5 before 1.14 finds chunk number i by walking over all before it. Of many chunks it is asked
 * by place instead; then addresses stay unknown, and so does what lies over what. */
#include "check.h"

#include "hdf5_chunks.h"
#include "posix.h"

#include <stdlib.h>
#include <string.h>

#ifdef H5TWIN_HDF5_AT_RUN_TIME
#    include "hdf5_loaded.h"
#endif

#define MOST_WALKED 16384

#ifdef H5TWIN_HDF5_AT_RUN_TIME
#    define MAY_ITERATE
#elif H5_VERSION_GE(1, 14, 0)
#    define MAY_ITERATE
static herr_t (*const h5twin_hdf5_chunk_iter)(hid_t, hid_t, H5D_chunk_iter_op_t,
                                              void *) = H5Dchunk_iter;
#endif

/* ---- one after the other ---- */

static bool
add_chunk(struct h5twin_check_dataset *dataset, const hsize_t *offset, unsigned mask,
          haddr_t address, hsize_t size)
{
    const size_t count = dataset->chunk_count;
    if ((count & (count - 1)) == 0) {
        void *const more =
            realloc(dataset->chunks, (count == 0 ? 1 : 2 * count) * sizeof dataset->chunks[0]);
        if (more == NULL) {
            return false;
        }
        dataset->chunks = more;
    }
    struct h5twin_check_chunk *const chunk = &dataset->chunks[dataset->chunk_count++];
    *chunk = (struct h5twin_check_chunk){.address = address, .size = size, .mask = mask};
    memcpy(chunk->offset, offset, (size_t)dataset->rank * sizeof *offset);
    return true;
}

struct walk {
    struct h5twin_check *check;
    struct h5twin_check_dataset *dataset;
    hsize_t most; /* a damaged index may have loops */
};

static int
take_chunk(const hsize_t *offset, unsigned mask, haddr_t address, hsize_t size, void *context)
{
    struct walk *const walk = context;
    walk->check->state->beats++;
    return walk->dataset->chunk_count < walk->most &&
                   add_chunk(walk->dataset, offset, mask, address, size)
               ? 0
               : -1;
}

#ifdef MAY_ITERATE

/* Some releases of HDF5 hand over places in the grid instead of offsets. */
static bool
set_right(struct h5twin_check_dataset *dataset)
{
    if (dataset->chunk_count == 0) {
        return true;
    }
    hsize_t offset[H5S_MAX_RANK], size;
    unsigned mask;
    haddr_t address;
    const size_t last = dataset->chunk_count - 1;
    if (H5Dget_chunk_info(dataset->dataset, dataset->space, last, offset, &mask, &address, &size) <
        0) {
        return false;
    }
    const hsize_t *const found = dataset->chunks[last].offset;
    if (memcmp(found, offset, (size_t)dataset->rank * sizeof *offset) == 0) {
        return true;
    }
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        for (int axis = 0; axis < dataset->rank; axis++) {
            dataset->chunks[i].offset[axis] *= dataset->extents[axis];
        }
    }
    return memcmp(found, offset, (size_t)dataset->rank * sizeof *offset) == 0;
}

#endif

static bool
list_all(struct h5twin_check *check, struct h5twin_check_dataset *dataset, hsize_t count)
{
    struct walk walk = {check, dataset, count};
    dataset->has_addresses = true;
#ifdef MAY_ITERATE
    if (h5twin_hdf5_chunk_iter != NULL) {
        return h5twin_hdf5_chunk_iter(dataset->dataset, H5P_DEFAULT, take_chunk, &walk) >= 0 &&
               set_right(dataset);
    }
#endif
    for (hsize_t i = 0; i < count; i++) {
        hsize_t offset[H5S_MAX_RANK], size;
        unsigned mask;
        haddr_t address;
        if (H5Dget_chunk_info(dataset->dataset, dataset->space, i, offset, &mask, &address, &size) <
                0 ||
            take_chunk(offset, mask, address, size, &walk) < 0) {
            return false;
        }
    }
    return true;
}

static bool
walk_all(struct h5twin_check *check, struct h5twin_check_dataset *dataset, hsize_t count)
{
    struct h5twin_chunk_order order;
    if (!list_all(check, dataset, count)) {
        return false;
    }
    h5twin_chunk_order_find(&order, dataset->dataset, dataset->space, dataset->extents,
                            dataset->rank, count);
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        h5twin_chunk_order_set_right(&order, dataset->chunks[i].offset);
    }
    return true;
}

static bool
can_walk(hsize_t count)
{
#ifdef MAY_ITERATE
    if (h5twin_hdf5_chunk_iter != NULL) {
        return true;
    }
#endif
    return count <= MOST_WALKED;
}

/* ---- place by place ---- */

static bool
look_up_all(struct h5twin_check *check, struct h5twin_check_dataset *dataset, hsize_t places)
{
    bool added = true;
    for (hsize_t place = 0; place < places && added; place++) {
        hsize_t offset[H5S_MAX_RANK], rest = place, size = 0;
        for (int axis = dataset->rank; axis-- > 0;) {
            offset[axis] = rest % dataset->grid[axis] * dataset->extents[axis];
            rest /= dataset->grid[axis];
        }
        check->state->beats++;
        if (H5Dget_chunk_storage_size(dataset->dataset, offset, &size) >= 0 && size > 0) {
            added = add_chunk(dataset, offset, 0, HADDR_UNDEF, size);
        }
    }
    H5Eclear2(H5E_DEFAULT);
    return added;
}

/* ---- where addresses count from ---- */

static bool
is_based_on(const struct h5twin_check *check, const struct h5twin_check_chunk *chunk, uint64_t base,
            const uint8_t *bytes, uint8_t *room)
{
    const size_t size = (size_t)chunk->size;
    return pread(check->file, room, size, (off_t)(base + chunk->address)) == (ssize_t)size &&
           memcmp(room, bytes, size) == 0;
}

/* HDF5 does not say for all releases and kinds of files: a chunk is where its bytes are. */
static void
seek_base(struct h5twin_check *check, const struct h5twin_check_dataset *dataset)
{
    const hid_t file = H5Iget_file_id(dataset->dataset), fcpl = H5Fget_create_plist(file);
    hsize_t block = 0;
    H5Pget_userblock(fcpl, &block);
    H5Pclose(fcpl);
    H5Fclose(file);
    for (size_t i = 0; i < dataset->chunk_count && i < 16 && !check->base_is_known; i++) {
        const struct h5twin_check_chunk *const chunk = &dataset->chunks[i];
        uint32_t mask;
        if (chunk->size == 0 || chunk->size > check->file_size) {
            continue;
        }
        uint8_t *const own = malloc((size_t)chunk->size), *const theirs =
                                                              malloc((size_t)chunk->size);
        if (own != NULL && theirs != NULL &&
            H5Dread_chunk(dataset->dataset, H5P_DEFAULT, chunk->offset, &mask, theirs) >= 0) {
            const bool without = is_based_on(check, chunk, 0, theirs, own);
            check->base_is_known = without || is_based_on(check, chunk, block, theirs, own);
            check->base = without ? 0 : block;
        }
        free(own);
        free(theirs);
    }
    H5Eclear2(H5E_DEFAULT);
    check->base = check->base_is_known ? check->base : 0;
}

/* ---- what may be wrong with each ---- */

static void
tell_finding(struct h5twin_check *check, const struct h5twin_check_dataset *dataset,
             const struct h5twin_check_chunk *chunk, const char *kind, const char *cause)
{
    struct h5twin_check_place place;
    h5twin_check_place_of(check, dataset, chunk, &place);
    h5twin_check_tell(check->state, check->path, kind, dataset->name, &place, h5twin_check_restore,
                      "%s", cause);
}

/* Whether the chunk is in a place of the grid; sets it. */
static bool
find_place(struct h5twin_check *check, const struct h5twin_check_dataset *dataset,
           struct h5twin_check_chunk *chunk)
{
    bool is_placed = true, is_inside = true;
    chunk->place = 0;
    for (int axis = 0; axis < dataset->rank; axis++) {
        is_placed = is_placed && chunk->offset[axis] % dataset->extents[axis] == 0;
        is_inside = is_inside && chunk->offset[axis] < dataset->dims[axis];
        chunk->place =
            chunk->place * dataset->grid[axis] + chunk->offset[axis] / dataset->extents[axis];
    }
    if (!is_placed) {
        tell_finding(check, dataset, chunk, "misplaced", "the index has a chunk where none starts");
    } else if (!is_inside) {
        tell_finding(check, dataset, chunk, "outside",
                     "the index has a chunk outside the shape of the dataset");
    }
    return is_placed && is_inside;
}

static int
compare_places(const void *left, const void *right)
{
    const struct h5twin_check_chunk *const a = left, *const b = right;
    return a->place != b->place ? (a->place > b->place) - (a->place < b->place)
                                : (a->address > b->address) - (a->address < b->address);
}

/* Whether the chunk's bytes are in the file, and HDF5 finds the chunk where it is asked for it. */
static bool
is_there(struct h5twin_check *check, const struct h5twin_check_dataset *dataset,
         const struct h5twin_check_chunk *chunk)
{
    hsize_t size = 0;
    const bool found = !dataset->has_addresses ||
                       (H5Dget_chunk_storage_size(dataset->dataset, chunk->offset, &size) >= 0 &&
                        size == chunk->size);
    H5Eclear2(H5E_DEFAULT);
    if (!found) {
        tell_finding(
            check, dataset, chunk, "lookup",
            "the index holds the chunk but does not find it, so that it reads as never written");
    }
    const uint64_t end = check->file_size - (check->file_size < check->base ? 0 : check->base);
    if (chunk->size > end ||
        (chunk->address != HADDR_UNDEF && chunk->address > end - chunk->size)) {
        tell_finding(check, dataset, chunk, "address",
                     "the index says that the chunk ends behind the end of the file");
        return false;
    }
    if (chunk->size == 0 || chunk->address == 0) {
        tell_finding(check, dataset, chunk, "address", "the index says that the chunk is nowhere");
        return false;
    }
    return found;
}

static void
tell_missing(struct h5twin_check *check, const struct h5twin_check_dataset *dataset, hsize_t places)
{
    H5D_alloc_time_t time;
    const bool is_early =
        H5Pget_alloc_time(dataset->dcpl, &time) >= 0 && time == H5D_ALLOC_TIME_EARLY;
    const hsize_t missing = places > dataset->chunk_count ? places - dataset->chunk_count : 0;
    check->state->never_written += missing;
    if (missing > 0 && (is_early || check->args->complete)) {
        h5twin_check_tell(check->state, check->path, "missing", dataset->name, NULL,
                          is_early ? h5twin_check_restore
                                   : "write them, or restore them from a copy",
                          "%llu of its %llu chunks %s not there", (unsigned long long)missing,
                          (unsigned long long)places, missing == 1 ? "is" : "are");
    }
}

/* The number of places; UINT64_MAX if it has no number. */
static hsize_t
count_places(const struct h5twin_check_dataset *dataset)
{
    hsize_t count = 1;
    for (int axis = 0; axis < dataset->rank; axis++) {
        if (dataset->grid[axis] == 0) {
            return 0;
        }
        count = count > UINT64_MAX / dataset->grid[axis] ? UINT64_MAX : count * dataset->grid[axis];
    }
    return count;
}

bool
h5twin_check_index(struct h5twin_check *check, struct h5twin_check_dataset *dataset)
{
    hsize_t count = 0;
    const hsize_t places = count_places(dataset);
    dataset->chunks = NULL;
    dataset->chunk_count = 0;
    bool listed = H5Dget_num_chunks(dataset->dataset, dataset->space, &count) >= 0;
    listed = listed && count <= check->file_size;
    const bool by_place = listed && !can_walk(count) && places / 4 <= count;
    listed = listed &&
             (by_place ? look_up_all(check, dataset, places) : walk_all(check, dataset, count));
    if (!listed || dataset->chunk_count != count) {
        h5twin_check_tell(check->state, check->path, "index", dataset->name, NULL,
                          h5twin_check_restore,
                          "the index of its chunks cannot be read as a whole");
    }
    H5Eclear2(H5E_DEFAULT);
    if (!check->base_is_known && dataset->has_addresses) {
        seek_base(check, dataset);
    }
    size_t kept = 0;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        check->state->beats++;
        if (find_place(check, dataset, &dataset->chunks[i])) {
            dataset->chunks[kept++] = dataset->chunks[i];
        }
    }
    dataset->chunk_count = kept;
    if (kept > 0) {
        qsort(dataset->chunks, kept, sizeof dataset->chunks[0], compare_places);
    }
    kept = 0;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        if (i > 0 && dataset->chunks[i].place == dataset->chunks[i - 1].place) {
            tell_finding(check, dataset, &dataset->chunks[i], "double",
                         "the index has two chunks for this place");
        } else {
            dataset->chunks[kept++] = dataset->chunks[i];
        }
    }
    dataset->chunk_count = kept;
    tell_missing(check, dataset, places);
    kept = 0;
    for (size_t i = 0; i < dataset->chunk_count; i++) {
        check->state->beats++;
        if (is_there(check, dataset, &dataset->chunks[i])) {
            dataset->chunks[kept++] = dataset->chunks[i];
        }
    }
    dataset->chunk_count = kept;
    return true;
}
