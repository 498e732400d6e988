/* SPDX-License-Identifier: BSD-3-Clause
 * test_gpu_transfer.cpp: arrays in the memory of a GPU go to chunks, and come back, as arrays of
 * the host do by io/transfer.h: the same bytes, the same values, the same failures. */
#include "device_transfer.h"

#include "device_memory.h"
#include "gpu/gpu_batches.h"
#include "h5twin_cuda.h"

#include <cstring>
#include <map>

namespace
{

#define MOST_RANK 4u

using Place = std::vector<uint64_t>;
using Chunks = std::map<Place, Bytes>;

/* A store in memory, whose function number `fails_at` fails. */
struct Store {
    Chunks chunks;
    unsigned rank = 0;
    Place raw;     /* the chunk that is stored without a codec; empty: none */
    Place skipped; /* the chunk whose place in memory stays as it is; empty: none */
    long fails_at = -1;
    std::vector<Place> order;
};

bool
strikes(Store *store)
{
    return store->fails_at >= 0 && store->fails_at-- == 0;
}

Place
place_of(const Store *store, const uint64_t *offset)
{
    return Place(offset, offset + store->rank);
}

enum h5twin_status
put(void *context, const uint64_t *offset, const void *chunk, size_t size)
{
    Store *const store = static_cast<Store *>(context);
    if (strikes(store)) {
        return H5TWIN_ERR_ENVIRONMENT;
    }
    const uint8_t *const bytes = static_cast<const uint8_t *>(chunk);
    store->chunks[place_of(store, offset)] = Bytes(bytes, bytes + size);
    store->order.push_back(place_of(store, offset));
    return H5TWIN_OK;
}

enum h5twin_status
find_size(void *context, const uint64_t *offset, size_t *size)
{
    Store *const store = static_cast<Store *>(context);
    const auto found = store->chunks.find(place_of(store, offset));
    *size = found == store->chunks.end() ? 0 : found->second.size();
    return H5TWIN_OK;
}

enum h5twin_status
find(void *context, const uint64_t *offset, enum h5twin_chunk_state *state, size_t *size)
{
    find_size(context, offset, size);
    const Store *const store = static_cast<Store *>(context);
    *state = place_of(store, offset) == store->skipped ? H5TWIN_CHUNK_SKIPPED
             : *size == 0                              ? H5TWIN_CHUNK_ABSENT
             : place_of(store, offset) == store->raw   ? H5TWIN_CHUNK_RAW
                                                       : H5TWIN_CHUNK_ENCODED;
    return H5TWIN_OK;
}

enum h5twin_status
get(void *context, const uint64_t *offset, void *chunk, size_t size)
{
    Store *const store = static_cast<Store *>(context);
    if (strikes(store)) {
        return H5TWIN_ERR_ENVIRONMENT;
    }
    memcpy(chunk, store->chunks[place_of(store, offset)].data(), size);
    return H5TWIN_OK;
}

/* A dataset, a box of it, and the box's memory with ghost elements around. */
struct Shape {
    unsigned rank;
    uint64_t dims[MOST_RANK], chunk[MOST_RANK], start[MOST_RANK], count[MOST_RANK];
    uint64_t ghosts; /* elements before and behind, along each dim */
};

const Shape shapes[] = {
    {1, {1000}, {300}, {0}, {1000}, 0},
    {1, {1200}, {400}, {400}, {800}, 3},
    {2, {40, 50}, {16, 20}, {0, 0}, {40, 50}, 0},
    {2, {64, 64}, {16, 32}, {16, 32}, {48, 32}, 4},
    {3, {10, 12, 30}, {4, 12, 16}, {0, 0, 0}, {10, 12, 30}, 1},
    {3, {9, 9, 1}, {4, 4, 1}, {0, 0, 0}, {9, 9, 1}, 1},
    {4, {3, 5, 7, 9}, {2, 3, 4, 8}, {0, 0, 0, 0}, {3, 5, 7, 9}, 0},
};
const Shape parts[] = {/* for reads */
                       {1, {1000}, {300}, {17}, {700}, 2},
                       {2, {40, 50}, {16, 20}, {3, 19}, {30, 22}, 1},
                       {3, {10, 12, 30}, {4, 12, 16}, {3, 2, 15}, {6, 9, 3}, 0},
                       {4, {3, 5, 7, 9}, {2, 3, 4, 8}, {1, 2, 3, 7}, {1, 2, 2, 2}, 1}};

struct Work {
    Shape shape;
    struct h5twin_params params;
    ptrdiff_t strides[MOST_RANK];
    size_t first, size; /* bytes: of the box's first element, and of all memory */
    double fill_f64 = -7.25;
    float fill_f32 = -7.25f;
    struct h5twin_transfer transfer;
};

void
make_work(Work *work, const Shape &shape, const char *spec, const char *type)
{
    std::string dims;
    for (unsigned axis = 0; axis < shape.rank; axis++) {
        dims += (axis == 0 ? "" : "x") + std::to_string(shape.chunk[axis]);
    }
    work->shape = shape;
    assert_int_equal(test_params(&work->params, spec, type, dims.c_str()), H5TWIN_OK);
    const size_t element = work->params.element_size;
    size_t stride = element;
    work->first = 0;
    for (unsigned axis = shape.rank; axis-- > 0;) {
        work->strides[axis] = (ptrdiff_t)stride;
        work->first += stride * shape.ghosts;
        stride *= shape.count[axis] + 2 * shape.ghosts;
    }
    work->size = stride;
    work->transfer = {};
    work->transfer.params = &work->params;
    work->transfer.element_size = element;
    work->transfer.rank = shape.rank;
    work->transfer.dims = work->shape.dims;
    work->transfer.chunk = work->shape.chunk;
    work->transfer.start = work->shape.start;
    work->transfer.count = work->shape.count;
    work->transfer.strides = work->strides;
    work->transfer.fill = element == 8 ? (const void *)&work->fill_f64 : &work->fill_f32;
    work->transfer.window = 3000; /* several batches, some of them of one chunk */
}

Bytes
make_memory(const Work &work, unsigned seed)
{
    Bytes memory(work.size);
    test_fill(memory.data(), memory.size(), work.params.element_size, TEST_SMOOTH, seed);
    return memory;
}

Store
write_by_host(const Work &work, const Bytes &memory)
{
    Store store;
    store.rank = work.shape.rank;
    const struct h5twin_chunk_store functions = {&store, put, nullptr, nullptr, nullptr};
    assert_int_equal(
        h5twin_transfer_write(&work.transfer, &functions, memory.data() + work.first, nullptr),
        H5TWIN_OK);
    return store;
}

enum h5twin_status
write_by_device(const Work &work, Device *memory, Store *store,
                struct h5twin_transfer_failure *failure)
{
    store->rank = work.shape.rank;
    const struct h5twin_chunk_store functions = {store, put, nullptr, nullptr, nullptr};
    return h5twin_device_transfer_write(&work.transfer, &functions, memory->at() + work.first,
                                        nullptr, failure);
}

/* Into what a store has: of chunks that the box does not cover the rest is kept. */
enum h5twin_status
merge_by_device(const Work &work, Device *memory, Store *store,
                struct h5twin_transfer_failure *failure)
{
    const struct h5twin_chunk_store functions = {store, put, find, get, nullptr};
    return h5twin_device_transfer_write(&work.transfer, &functions, memory->at() + work.first,
                                        nullptr, failure);
}

void
merge_by_host(const Work &work, const Bytes &memory, Store *store)
{
    const struct h5twin_chunk_store functions = {store, put, find, get, nullptr};
    assert_int_equal(
        h5twin_transfer_write(&work.transfer, &functions, memory.data() + work.first, nullptr),
        H5TWIN_OK);
}

enum h5twin_status
read_by_device(const Work &work, Device *memory, Store *store,
               struct h5twin_transfer_failure *failure)
{
    const struct h5twin_chunk_store functions = {store, nullptr, find, get, nullptr};
    return h5twin_device_transfer_read(&work.transfer, &functions, memory->at() + work.first,
                                       nullptr, failure);
}

void
check_read(const Work &work, Store *store)
{
    Bytes by_host(work.size, 0x77);
    const struct h5twin_chunk_store functions = {store, nullptr, find, get, nullptr};
    assert_int_equal(
        h5twin_transfer_read(&work.transfer, &functions, by_host.data() + work.first, nullptr),
        H5TWIN_OK);
    Device memory(work.size);
    memory.upload(Bytes(work.size, 0x77));
    GPU_CHECK(read_by_device(work, &memory, store, nullptr) == H5TWIN_OK, "the read failed");
    GPU_CHECK(memory.download() == by_host, "other values, or something beside the box");
}

void
test_all_codecs_and_shapes(void **)
{
    unsigned shape = 0;
    /* Sanitizers look at gather, pack and scatter: codecs have tests of their own. */
    const unsigned step = gpu_is_instrumented() ? 5 : 1;
    for (unsigned i = 0; test_spec_at(i) != nullptr; i += step) {
        for (const char *type : {"f32", "f64"}) {
            for (unsigned turn = 0; turn < (gpu_is_slow() ? 1 : 2); turn++, shape++) {
                Work work;
                make_work(&work, shapes[shape % (sizeof shapes / sizeof shapes[0])],
                          test_spec_at(i), type);
                gpu_test_case = std::string(test_spec_at(i)) + " " + type + ", rank " +
                                std::to_string(work.shape.rank);
                const Bytes values = make_memory(work, i);
                Device memory(work.size);
                memory.upload(values);
                const Store expected = write_by_host(work, values);
                Store store;
                GPU_CHECK(write_by_device(work, &memory, &store, nullptr) == H5TWIN_OK,
                          "the write failed");
                GPU_CHECK(store.chunks == expected.chunks, "other chunks");
                GPU_CHECK(store.order == expected.order, "another order");
                check_read(work, &store);
            }
        }
    }
}

Shape
whole_of(const Shape &part)
{
    Shape whole = part;
    for (unsigned axis = 0; axis < part.rank; axis++) {
        whole.start[axis] = 0;
        whole.count[axis] = part.dims[axis];
    }
    return whole;
}

void
test_parts_and_missing_chunks(void **)
{
    for (const Shape &part : parts) {
        Work all, some;
        make_work(&all, whole_of(part), "sleek", "f32");
        make_work(&some, part, "sleek", "f32");
        gpu_test_case = "a part, rank " + std::to_string(part.rank);
        Store store = write_by_host(all, make_memory(all, 5));
        check_read(some, &store);
        store.chunks.erase(store.chunks.begin());
        store.chunks.erase(std::prev(store.chunks.end()));
        check_read(some, &store);
        check_read(all, &store);
    }
}

/* Boxes of parts of chunks, over chunks that are stored, with padding that somebody has written,
 * that are stored without a codec, and that are missing. */
void
test_writes_keep_the_rest_of_chunks(void **)
{
    unsigned number = 0;
    for (const char *spec : {"sleek", "gfc", "cascade", "lattice:abs=1e-3"}) {
        if (gpu_is_slow() && strcmp(spec, "cascade") == 0) {
            break; /* codecs have tests of their own */
        }
        for (const Shape &part : parts) {
            const char *const type = number++ % 3 == 0 ? "f64" : "f32";
            Work all, some;
            make_work(&all, whole_of(part), spec, type);
            make_work(&some, part, spec, type);
            gpu_test_case =
                std::string("a part, ") + spec + " " + type + ", rank " + std::to_string(part.rank);
            const float other_fill = 3.5f;
            const double other_fill_f64 = 3.5;
            all.transfer.fill =
                all.params.element_size == 8 ? (const void *)&other_fill_f64 : &other_fill;
            const Store before = write_by_host(all, make_memory(all, number));
            const Bytes values = make_memory(some, number + 100);
            Device memory(some.size);
            memory.upload(values);
            for (unsigned missing = 0; missing < 3; missing++) {
                Store expected = before;
                if (missing == 1) {
                    expected.chunks.clear();
                } else if (missing == 2) {
                    expected.raw = expected.order.back();
                    Bytes &raw = expected.chunks[expected.raw];
                    size_t size = some.params.element_size;
                    for (unsigned axis = 0; axis < part.rank; axis++) {
                        size *= part.chunk[axis];
                    }
                    raw.assign(size, 0x40);
                    expected.chunks.erase(expected.order.front());
                }
                expected.order.clear();
                Store store = expected;
                merge_by_host(some, values, &expected);
                GPU_CHECK(merge_by_device(some, &memory, &store, nullptr) == H5TWIN_OK,
                          "the write failed, %u", missing);
                GPU_CHECK(store.chunks == expected.chunks, "other chunks, %u", missing);
                GPU_CHECK(store.order == expected.order, "another order, %u", missing);
            }
        }
    }
}

void
test_damaged_rests_of_chunks(void **)
{
    Work all, some;
    make_work(&all, whole_of(parts[1]), "ndzip", "f32");
    make_work(&some, parts[1], "ndzip", "f32");
    gpu_test_case = "damaged chunks below a write";
    const Store before = write_by_host(all, make_memory(all, 2));
    Device memory(some.size);
    memory.upload(make_memory(some, 3));
    struct h5twin_transfer_failure failure;
    for (const Place &place : before.order) {
        Store store = before;
        Bytes &chunk = store.chunks[place];
        chunk[chunk.size() / 2] ^= 4;
        Store expected = store;
        const struct h5twin_chunk_store functions = {&expected, put, find, get, nullptr};
        const Bytes values = make_memory(some, 3);
        const enum h5twin_status wanted =
            h5twin_transfer_write(&some.transfer, &functions, values.data() + some.first, &failure);
        const struct h5twin_transfer_failure by_host = failure;
        GPU_CHECK(merge_by_device(some, &memory, &store, &failure) == wanted, "another status");
        GPU_CHECK(failure.cause == by_host.cause, "another cause");
        if (wanted != H5TWIN_OK) {
            assert_int_equal(wanted, H5TWIN_ERR_CHECKSUM);
            assert_true(place_of(&store, failure.offset) == place);
        }
    }
    for (long at = 0;; at++) { /* put and get fail in turn */
        Store store = before;
        store.order.clear();
        store.fails_at = at;
        const enum h5twin_status status = merge_by_device(some, &memory, &store, &failure);
        if (store.fails_at >= 0) {
            assert_int_equal(status, H5TWIN_OK);
            assert_true(at > 10);
            break;
        }
        assert_int_equal(status, H5TWIN_ERR_ENVIRONMENT);
        assert_int_equal(failure.cause, H5TWIN_TRANSFER_STORE);
    }
}

/* What the public call makes of NULL for all that it may be given. */
void
test_the_public_calls(void **)
{
    for (const Shape &shape : {shapes[0], shapes[2], shapes[6]}) {
        Work work;
        make_work(&work, shape, "fpcompress:mode=ratio", "f64");
        gpu_test_case = "public calls";
        const Bytes values = make_memory(work, 3);
        Device memory(work.size), back(work.size);
        memory.upload(values);
        Store store;
        store.rank = shape.rank;
        struct h5twin_cuda_array array = {};
        array.params = &work.params;
        array.element_size = 8;
        array.rank = shape.rank;
        array.dims = work.shape.dims;
        array.chunk = work.shape.chunk;
        array.fill = &work.fill_f64;
        struct h5twin_cuda_store functions = {&store, put, find_size, get, {}};
        struct h5twin_cuda_failure failure;
        GPU_CHECK(h5twin_cuda_write_chunks(&array, &functions, memory.at(), nullptr, &failure) ==
                      H5TWIN_OK,
                  "the write failed");
        GPU_CHECK(store.chunks == write_by_host(work, values).chunks, "other chunks");
        GPU_CHECK(h5twin_cuda_read_chunks(&array, &functions, back.at(), nullptr, &failure) ==
                      H5TWIN_OK,
                  "the read failed");
        GPU_CHECK(back.download() == values, "other values");
        array.rank = 0;
        assert_int_equal(
            h5twin_cuda_write_chunks(&array, &functions, memory.at(), nullptr, &failure),
            H5TWIN_ERR_ARG);
        array.rank = shape.rank;
        array.reserved[3] = 1;
        assert_int_equal(
            h5twin_cuda_write_chunks(&array, &functions, memory.at(), nullptr, &failure),
            H5TWIN_ERR_ARG);
        array.reserved[3] = 0;
        functions.reserved[0] = 1;
        assert_int_equal(h5twin_cuda_read_chunks(&array, &functions, back.at(), nullptr, &failure),
                         H5TWIN_ERR_ARG);
        assert_int_equal(failure.reserved[0], 0);
        functions.reserved[0] = 0;
        store.fails_at = 1;
        assert_int_equal(
            h5twin_cuda_write_chunks(&array, &functions, memory.at(), nullptr, &failure),
            H5TWIN_ERR_ENVIRONMENT);
        assert_true(failure.has_offset);
        assert_int_equal(failure.offset[shape.rank - 1], shape.chunk[shape.rank - 1]);
        store.fails_at = -1;
        const uint64_t nothing[MOST_RANK] = {0};
        array.count = nothing;
        assert_int_equal(
            h5twin_cuda_write_chunks(&array, &functions, memory.at(), nullptr, &failure),
            H5TWIN_OK);
    }
}

/* In each place of each batch: chunks before it are there, none behind; the failure has its name.
 */
void
test_failures_of_the_store_and_of_chunks(void **)
{
    Work work;
    make_work(&work, shapes[2], "ndzip", "f32");
    gpu_test_case = "failures";
    const Bytes values = make_memory(work, 9);
    Device memory(work.size);
    memory.upload(values);
    const Store expected = write_by_host(work, values);
    for (size_t bad = 0; bad < expected.order.size(); bad++) {
        struct h5twin_transfer_failure failure;
        Store store;
        store.fails_at = (long)bad;
        assert_int_equal(write_by_device(work, &memory, &store, &failure), H5TWIN_ERR_ENVIRONMENT);
        assert_int_equal(failure.cause, H5TWIN_TRANSFER_STORE);
        assert_true(failure.has_offset);
        assert_true(place_of(&expected, failure.offset) == expected.order[bad]);
        assert_int_equal(store.order.size(), bad);

        Device back(work.size);
        store = expected;
        store.fails_at = (long)bad;
        assert_int_equal(read_by_device(work, &back, &store, &failure), H5TWIN_ERR_ENVIRONMENT);
        assert_true(place_of(&expected, failure.offset) == expected.order[bad]);

        store = expected;
        Bytes &chunk = store.chunks[expected.order[bad]];
        chunk[chunk.size() / 2] ^= 4;
        assert_int_equal(read_by_device(work, &back, &store, &failure), H5TWIN_ERR_CHECKSUM);
        assert_int_equal(failure.cause, H5TWIN_TRANSFER_DECODING);
        assert_true(place_of(&expected, failure.offset) == expected.order[bad]);
        chunk.resize(chunk.size() + 5000);
        assert_int_equal(read_by_device(work, &back, &store, &failure), H5TWIN_ERR_CORRUPT);
        assert_true(place_of(&expected, failure.offset) == expected.order[bad]);
    }
    /* Chunks that another codec wrote are decoded all the same. */
    Work other;
    make_work(&other, shapes[2], "gfc", "f32");
    Store mixed = expected;
    mixed.chunks[expected.order[4]] = write_by_host(other, values).chunks[expected.order[4]];
    check_read(work, &mixed);
    /* Chunks that the box has in part only are not written. */
    make_work(&other, parts[1], "gfc", "f32");
    Store store;
    assert_int_equal(write_by_device(other, &memory, &store, nullptr), H5TWIN_ERR_ARG);
}

struct h5twin_cuda_array
public_array(const Work &work)
{
    struct h5twin_cuda_array array = {};
    array.params = &work.params;
    array.element_size = work.params.element_size;
    array.rank = work.shape.rank;
    array.dims = work.shape.dims;
    array.chunk = work.shape.chunk;
    array.start = work.shape.start;
    array.count = work.shape.count;
    array.strides = work.strides;
    array.fill = work.transfer.fill;
    array.batch_size = work.transfer.window;
    return array;
}

/* With a box and strides of the caller's; of a store that lacks chunks. */
void
test_the_public_calls_for_a_box(void **)
{
    gpu_test_case = "public calls, a box";
    Work all, some, box;
    make_work(&all, whole_of(parts[1]), "sleek", "f32");
    make_work(&some, parts[1], "sleek", "f32");
    make_work(&box, shapes[3], "sleek", "f32");
    Store store = write_by_host(all, make_memory(all, 5));
    store.chunks.erase(store.chunks.begin());
    Bytes by_host(some.size, 0x77);
    const struct h5twin_chunk_store of_host = {&store, nullptr, find, get, nullptr};
    assert_int_equal(
        h5twin_transfer_read(&some.transfer, &of_host, by_host.data() + some.first, nullptr),
        H5TWIN_OK);
    struct h5twin_cuda_store functions = {&store, put, find_size, get, {}};
    struct h5twin_cuda_array array = public_array(some);
    Device back(some.size);
    back.upload(Bytes(some.size, 0x77));
    GPU_CHECK(h5twin_cuda_read_chunks(&array, &functions, back.at() + some.first, nullptr,
                                      nullptr) == H5TWIN_OK,
              "the read failed");
    GPU_CHECK(back.download() == by_host, "other values, or something beside the box");
    const ptrdiff_t none[MOST_RANK] = {0, 4};
    array.strides = none;
    assert_int_equal(
        h5twin_cuda_read_chunks(&array, &functions, back.at() + some.first, nullptr, nullptr),
        H5TWIN_ERR_ARG);

    const Bytes values = make_memory(box, 6);
    Device memory(box.size);
    memory.upload(values);
    store = {};
    store.rank = box.shape.rank;
    array = public_array(box);
    GPU_CHECK(h5twin_cuda_write_chunks(&array, &functions, memory.at() + box.first, nullptr,
                                       nullptr) == H5TWIN_OK,
              "the write failed");
    GPU_CHECK(store.chunks == write_by_host(box, values).chunks, "other chunks");
}

/* Zeros where no fill value is given; nothing where the store says so. */
void
test_missing_chunks_without_a_fill_value(void **)
{
    gpu_test_case = "no fill value";
    Work all;
    make_work(&all, shapes[2], "sleek", "f32");
    all.transfer.fill = nullptr;
    Store store = write_by_host(all, make_memory(all, 5));
    store.skipped = store.order[3];
    store.chunks.erase(store.order[1]);
    check_read(all, &store);
}

/* Elements that are moved in several pieces: by their size, or as they lie in memory. */
void
test_elements_of_several_units(void **)
{
    uint8_t fill[12];
    for (unsigned i = 0; i < sizeof fill; i++) {
        fill[i] = (uint8_t)(i + 1);
    }
    for (const char *type : {"b96", "f64"}) {
        Work work;
        make_work(&work, shapes[0], "cascade", type);
        work.transfer.fill = fill;
        gpu_test_case = std::string("units, ") + type;
        Bytes values(work.size);
        test_fill(values.data(), values.size(), 4, TEST_SMOOTH, 8);
        Bytes shifted(4);
        shifted.insert(shifted.end(), values.begin(), values.end());
        Device memory(shifted.size());
        memory.upload(shifted);
        Store expected = write_by_host(work, values), store;
        store.rank = 1;
        const struct h5twin_chunk_store functions = {&store, put, nullptr, nullptr, nullptr};
        GPU_CHECK(h5twin_device_transfer_write(&work.transfer, &functions, memory.at() + 4, nullptr,
                                               nullptr) == H5TWIN_OK,
                  "the write failed");
        GPU_CHECK(store.chunks == expected.chunks, "other chunks");
        expected.chunks.erase(expected.order[1]);
        check_read(work, &expected);
    }
}

/* Boxes whose begin, end, or rows alone lie where units of 16 bytes do not. */
void
test_boxes_of_small_units(void **)
{
    const struct {
        Shape shape;
        ptrdiff_t row; /* bytes; 0: as they are */
    } cases[] = {{{1, {1000}, {300}, {1}, {703}, 0}, 0},
                 {{1, {1000}, {300}, {4}, {701}, 0}, 0},
                 {{2, {40, 48}, {16, 16}, {0, 0}, {40, 48}, 0}, 200}};
    for (const auto &each : cases) {
        Work all, some;
        make_work(&all, whole_of(each.shape), "sleek", "f32");
        make_work(&some, each.shape, "sleek", "f32");
        gpu_test_case = "small units, " + std::to_string(&each - cases);
        if (each.row != 0) {
            some.strides[0] = each.row;
            some.size = (size_t)each.row * some.shape.count[0];
        }
        Store store = write_by_host(all, make_memory(all, 5));
        check_read(some, &store);
        const Bytes values = make_memory(some, 6);
        Device memory(some.size);
        memory.upload(values);
        Store expected = store;
        merge_by_host(some, values, &expected);
        GPU_CHECK(merge_by_device(some, &memory, &store, nullptr) == H5TWIN_OK, "a failed write");
        GPU_CHECK(store.chunks == expected.chunks, "other chunks");
    }
}

bool
accepts_none(const void *, const struct h5twin_info *)
{
    return false;
}

/* Of a store whose chunk at `bad` is no chunk of the array: as the host says. */
void
check_refused(const Work &work, Store *store, bool is_write,
              bool (*accept)(const void *, const struct h5twin_info *), const Place &bad)
{
    const struct h5twin_chunk_store functions = {store, put, find, get, accept};
    struct h5twin_transfer_failure by_host, failure;
    Bytes host = make_memory(work, 3);
    Device memory(work.size);
    memory.upload(host);
    uint8_t *const at = memory.at() + work.first;
    const enum h5twin_status wanted =
        is_write
            ? h5twin_transfer_write(&work.transfer, &functions, host.data() + work.first, &by_host)
            : h5twin_transfer_read(&work.transfer, &functions, host.data() + work.first, &by_host);
    const enum h5twin_status status =
        is_write ? h5twin_device_transfer_write(&work.transfer, &functions, at, nullptr, &failure)
                 : h5twin_device_transfer_read(&work.transfer, &functions, at, nullptr, &failure);
    assert_int_equal(wanted, H5TWIN_ERR_CORRUPT);
    GPU_CHECK(status == wanted, "status %u", (unsigned)status);
    GPU_CHECK(failure.cause == by_host.cause, "another cause");
    assert_true(place_of(store, failure.offset) == bad);
}

void
test_stored_chunks_that_are_none_of_the_array(void **)
{
    for (const bool is_write : {false, true}) {
        gpu_test_case = is_write ? "no chunks below a write" : "no chunks of a read";
        Work all, some;
        make_work(&all, whole_of(parts[1]), "ndzip", "f32");
        make_work(&some, parts[1], "ndzip", "f32");
        const Store before = write_by_host(all, make_memory(all, 2));
        const Place &bad = before.order[0];
        for (const size_t size : {16u * 20 * 4 - 1, 16u * 20 * 4 + 1}) {
            Store store = before;
            store.raw = bad;
            store.chunks[bad].assign(size, 1);
            check_refused(some, &store, is_write, nullptr, bad);
        }
        Store store = before;
        store.chunks[bad].resize(100000);
        check_refused(some, &store, is_write, nullptr, bad);
        store = before;
        check_refused(some, &store, is_write, accepts_none, bad);
    }
}

#ifdef GPU_HAS_FAULTS

/* Each call of CUDA's fails once: an error, chunks before it are good, nothing is left behind. */
void
test_every_fault_is_an_error(void **)
{
    if (gpu_is_slow()) {
        skip();
    }
    for (const char *spec : {"sleek", "e2mc", "lattice:abs=1e-3"}) {
        if ((gpu_is_instrumented() || gpu_is_interpreted()) && strcmp(spec, "sleek") != 0) {
            continue; /* what surrounds the kernels is the same */
        }
        Work work;
        make_work(&work, shapes[2], spec, "f32");
        const Bytes values = make_memory(work, 1);
        const Store expected = write_by_host(work, values);
        Work part;
        make_work(&part, parts[1], spec, "f32");
        Store merged = expected;
        merge_by_host(part, values, &merged);
        enum { WRITE, READ, MERGE };
        for (const int way : {WRITE, READ, MERGE}) {
            for (long call = 0;; call++) {
                gpu_test_case = std::string(spec) + ", fault at call " + std::to_string(call);
                Device memory(work.size);
                memory.upload(values);
                h5twin_gpu_batches_trim();
                const size_t before = simt::count_allocations();
                Store store = way == WRITE ? Store() : expected;
                struct h5twin_transfer_failure failure;
                simt::inject_fault(call, cudaErrorLaunchFailure, false);
                const enum h5twin_status status =
                    way == WRITE  ? write_by_device(work, &memory, &store, &failure)
                    : way == READ ? read_by_device(work, &memory, &store, &failure)
                                  : merge_by_device(part, &memory, &store, &failure);
                const bool is_over = simt::fault_is_pending();
                simt::inject_fault(-1, cudaSuccess, false);
                assert_int_equal(cudaGetLastError(), cudaSuccess);
                GPU_CHECK(status == (is_over ? H5TWIN_OK : H5TWIN_ERR_DEVICE), "status %u",
                          (unsigned)status);
                h5twin_gpu_batches_trim();
                GPU_CHECK(simt::count_allocations() == before, "a leak");
                for (const auto &each : store.chunks) {
                    GPU_CHECK(expected.chunks.at(each.first) == each.second ||
                                  (way == MERGE && merged.chunks.at(each.first) == each.second),
                              "a wrong chunk");
                }
                if (is_over) {
                    GPU_CHECK(way != MERGE || store.chunks == merged.chunks, "not all chunks");
                    assert_true(call > 30);
                    break;
                }
            }
        }
    }
}

/* One piece of pinned memory stays for the next call, also where its registration is lost, as it is
 * with a context that the program destroys. */
void
test_pinned_memory_is_kept(void **)
{
    Work work;
    make_work(&work, shapes[2], "gfc", "f32");
    gpu_test_case = "pinned memory";
    const Bytes values = make_memory(work, 1);
    const Chunks expected = write_by_host(work, values).chunks;
    Device memory(work.size);
    memory.upload(values);
    h5twin_gpu_batches_trim();
    const size_t before = simt::count_allocations();
    for (unsigned round = 0; round < 6; round++) {
        work.transfer.window =
            round % 2 == 0 ? 3000 : 100000; /* a smaller one fits, a larger one not */
        if (round == 3) {
            GPU_CHECK(simt::forget_registered() == 1, "nothing is registered");
        }
        Store store;
        GPU_CHECK(write_by_device(work, &memory, &store, nullptr) == H5TWIN_OK, "the write failed");
        GPU_CHECK(store.chunks == expected, "other chunks");
        GPU_CHECK(simt::count_allocations() == before + 1, "not one piece is kept");
    }
    h5twin_gpu_batches_trim();
    GPU_CHECK(simt::count_allocations() == before, "a leak");
}

/* Whatever device is current, and on a stream that has not yet come to the values. */
void
test_devices_and_streams(void **)
{
    simt::device_count = 3;
    for (int device = 0; device < 3; device++) {
        gpu_test_case = "device " + std::to_string(device);
        simt::push_context(&simt::primary_contexts[device]);
        {
            Work work, part;
            make_work(&work, shapes[6], "sleek", "f64");
            make_work(&part, parts[3], "sleek", "f64");
            const Bytes values = make_memory(work, 40 + (unsigned)device);
            Store expected = write_by_host(work, values), store;
            merge_by_host(part, values, &expected);
            Device memory(work.size), back(work.size);
            cudaStream_t stream;
            gpu_check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
            gpu_check_cuda(cudaMemcpyAsync(memory.at(), values.data(), values.size(),
                                           cudaMemcpyHostToDevice, stream),
                           "upload");
            store.rank = work.shape.rank;
            const struct h5twin_chunk_store functions = {&store, put, find, get, nullptr};
            for (Work *const each : {&work, &part}) {
                GPU_CHECK(h5twin_device_transfer_write(&each->transfer, &functions,
                                                       memory.at() + each->first, stream,
                                                       nullptr) == H5TWIN_OK,
                          "the write failed");
            }
            GPU_CHECK(store.chunks == expected.chunks, "other chunks");
            GPU_CHECK(h5twin_device_transfer_read(&work.transfer, &functions,
                                                  back.at() + work.first, stream,
                                                  nullptr) == H5TWIN_OK,
                      "the read failed");
            Bytes by_host(work.size, 0xA5);
            assert_int_equal(h5twin_transfer_read(&work.transfer, &functions,
                                                  by_host.data() + work.first, nullptr),
                             H5TWIN_OK);
            GPU_CHECK(back.download() == by_host, "other values");
            gpu_check_cuda(cudaStreamDestroy(stream), "destroy");
        }
        simt::pop_context();
    }
    simt::device_count = 1;
    h5twin_gpu_batches_trim();
}

/* Memory that lacks for a batch is enough for a smaller one. */
void
test_memory_that_lacks(void **)
{
    Work work;
    make_work(&work, shapes[2], "sleek", "f32");
    const Bytes values = make_memory(work, 1);
    Device memory(work.size);
    memory.upload(values);
    gpu_test_case = "little memory";
    for (long call = 0; call < 2; call++) {
        Store store;
        h5twin_gpu_batches_trim();
        simt::inject_fault(call, cudaErrorMemoryAllocation, false);
        const enum h5twin_status status = write_by_device(work, &memory, &store, nullptr);
        assert_false(simt::fault_is_pending());
        simt::inject_fault(-1, cudaSuccess, false);
        assert_int_equal(status, H5TWIN_OK);
        assert_true(store.chunks == write_by_host(work, values).chunks);
    }
}

#endif

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_codecs_and_shapes),
        cmocka_unit_test(test_parts_and_missing_chunks),
        cmocka_unit_test(test_writes_keep_the_rest_of_chunks),
        cmocka_unit_test(test_damaged_rests_of_chunks),
        cmocka_unit_test(test_the_public_calls),
        cmocka_unit_test(test_failures_of_the_store_and_of_chunks),
#ifdef GPU_HAS_FAULTS
        cmocka_unit_test(test_every_fault_is_an_error),
        cmocka_unit_test(test_memory_that_lacks),
        cmocka_unit_test(test_pinned_memory_is_kept),
        cmocka_unit_test(test_devices_and_streams),
#endif
        cmocka_unit_test(test_the_public_calls_for_a_box),
        cmocka_unit_test(test_missing_chunks_without_a_fill_value),
        cmocka_unit_test(test_elements_of_several_units),
        cmocka_unit_test(test_boxes_of_small_units),
        cmocka_unit_test(test_stored_chunks_that_are_none_of_the_array),
    };
    return GPU_RUN_TESTS(tests);
}
