/* SPDX-License-Identifier: BSD-3-Clause
 * test_common_gpu.cpp: tables of containers so long that one step of the layout kernel does not
 * hold them, without the large arrays that they belong to; and checksums that are summed in parts,
 * anywhere in a message. */
#define H5TWIN_LAYOUT_THREADS 256u
#define H5TWIN_LAYOUT_PER     4u
#include "../../codec/common/blocks.cuh"
#include "../../codec/common/crc32c.cuh"

#include "kernel_test.h"

namespace
{

using Bytes = std::vector<uint8_t>;

struct Payload {
    Bytes bytes;                   /* header, table, blocks */
    std::vector<uint64_t> offsets; /* where each block begins */
};

/* Blocks of 1 to 7 bytes; the array's last block has one byte, so its stored block has, too. */
Payload
make_payload(uint64_t block_count, uint32_t header_size)
{
    const uint64_t raw_size = (block_count - 1) * H5TWIN_BLOCK_BYTES + 1;
    Payload payload;
    for (uint32_t i = 0; i < header_size; i++) {
        payload.bytes.push_back((uint8_t)(raw_size >> 8 * i));
    }
    uint64_t offset = header_size + 2 * block_count;
    for (uint64_t i = 0; i < block_count; i++) {
        const uint32_t size = i + 1 == block_count ? 1 : 1 + (uint32_t)(i * 2654435761u >> 13) % 7;
        payload.bytes.push_back((uint8_t)size);
        payload.bytes.push_back(0);
        payload.offsets.push_back(offset);
        offset += size;
    }
    payload.bytes.resize(offset, 0x77);
    return payload;
}

struct Layout {
    std::vector<uint32_t> status;
    std::vector<uint64_t> offsets; /* of all chunks' blocks */
};

/* What the layout kernel says of payloads of arrays of `block_count` blocks. */
Layout
find_layout(const std::vector<Bytes> &payloads, uint64_t block_count, uint32_t header_size)
{
    size_t stride = 0;
    std::vector<uint64_t> sizes;
    for (const Bytes &payload : payloads) {
        stride = payload.size() > stride ? payload.size() : stride;
        sizes.push_back(payload.size());
    }
    stride = (stride + 15) / 16 * 16;
    Bytes all(payloads.size() * stride, 0xEE);
    for (size_t i = 0; i < payloads.size(); i++) {
        std::copy(payloads[i].begin(), payloads[i].end(), all.begin() + (ptrdiff_t)(i * stride));
    }
    DeviceValues<uint8_t> src(all);
    DeviceValues<uint64_t> d_sizes(sizes);
    DeviceValues<uint32_t> status(std::vector<uint32_t>(payloads.size(), 0));
    DeviceValues<uint64_t> states(std::vector<uint64_t>(payloads.size() * block_count, 99));
    struct h5twin_block_tiles tiles = {};
    tiles.batch.chunk_count = payloads.size();
    tiles.batch.d_src = src.data();
    tiles.batch.src_stride = stride;
    tiles.batch.d_src_sizes = d_sizes.data();
    tiles.batch.d_status = status.data();
    tiles.raw_size = (block_count - 1) * H5TWIN_BLOCK_BYTES + 1;
    tiles.block_count = block_count;
    tiles.header_size = header_size;
    tiles.states = states.data();
    assert_true(h5twin_blocks_begin_decode(&tiles, nullptr));
    kernels_finish();
    return {status.values(), states.values()};
}

/* 1024 entries a step: up to, at and behind its end, and several steps. */
void
test_offsets_of_long_tables(void **)
{
    for (const uint32_t header_size : {4u, 8u}) {
        for (const uint64_t block_count : {1u, 3u, 1023u, 1024u, 1025u, 2049u, 5000u}) {
            const Payload payload = make_payload(block_count, header_size);
            kernels_in_each_order({1}, [&] {
                const Layout found =
                    find_layout({payload.bytes, payload.bytes}, block_count, header_size);
                for (size_t chunk = 0; chunk < 2; chunk++) {
                    assert_int_equal(found.status[chunk], H5TWIN_OK);
                    for (uint64_t i = 0; i < block_count; i++) {
                        assert_int_equal(found.offsets[chunk * block_count + i],
                                         payload.offsets[i]);
                    }
                }
            });
        }
    }
}

/* Faults in the first, a middle and the last step; what is wrong with a size comes before what is
 * wrong with their sum. */
void
test_faults_of_long_tables(void **)
{
    const uint64_t block_count = 2500;
    const uint32_t header_size = 8;
    const Bytes good = make_payload(block_count, header_size).bytes;
    std::vector<Bytes> payloads;
    std::vector<uint32_t> expected;
    const auto add = [&](const Bytes &bytes, uint32_t status) {
        payloads.push_back(bytes);
        expected.push_back(status);
    };
    add(good, H5TWIN_OK);
    for (const uint64_t place : {0u, 1023u, 1024u, 2000u, 2499u}) {
        const size_t at = header_size + 2 * place;
        const unsigned before = good[at];
        Bytes bad = good;
        bad[at] = 0; /* an empty block */
        bad.resize(bad.size() - before);
        add(bad, H5TWIN_ERR_CORRUPT);
        bad = good;
        bad[at + 1] = 0x40; /* more than 16 KiB */
        bad[at] = 1;
        bad.resize(bad.size() + 0x4001 - before);
        add(bad, H5TWIN_ERR_CORRUPT);
        bad = good;
        bad[at]++; /* one byte more than there is, or than the last block has */
        add(bad, place == block_count - 1 ? H5TWIN_ERR_CORRUPT : H5TWIN_ERR_SRC_SHORT);
    }
    Bytes bad = good;
    bad.push_back(0);
    add(bad, H5TWIN_ERR_CORRUPT);
    bad = good;
    bad.pop_back();
    add(bad, H5TWIN_ERR_SRC_SHORT);
    bad = good;
    bad[0]++; /* an array of 2 bytes more: as many blocks, another size */
    add(bad, H5TWIN_ERR_CORRUPT);
    bad.resize(header_size + 2 * block_count - 1); /* the table's last byte is missing */
    add(bad, H5TWIN_ERR_SRC_SHORT);
    kernels_in_each_order({3}, [&] {
        const Layout found = find_layout(payloads, block_count, header_size);
        for (size_t i = 0; i < payloads.size(); i++) {
            if (found.status[i] != expected[i]) {
                fail_msg("payload %zu: status %u, not %u", i, found.status[i], expected[i]);
            }
        }
    });
}

__global__ void
tables_kernel(struct h5twin_crc_tables *tables, struct h5twin_crc_seeds seeds)
{
    h5twin_crc_make_tables(tables, &seeds, blockIdx.x * blockDim.x + threadIdx.x,
                           gridDim.x * blockDim.x);
}

/* What a block of threads sums. */
struct Part {
    uint64_t position; /* in the message */
    uint32_t begin, size;
};

__global__ void
sum_kernel(const struct h5twin_crc_tables *tables, const uint8_t *bytes, const Part *parts,
           uint32_t *sum)
{
    H5TWIN_SHARED(uint32_t, states, H5TWIN_CRC_THREADS);
    const Part part = parts[blockIdx.x];
    const uint32_t skip = part.begin % 16;
    h5twin_crc_add(sum, tables, part.position - skip, bytes + (part.begin - skip), skip,
                   skip + part.size, states);
}

__global__ void
finish_kernel(const struct h5twin_crc_tables *tables, uint32_t *sum, uint64_t size)
{
    const uint32_t checksum = h5twin_crc_finish(tables, *sum, size);
    __syncwarp(); /* the sum has been read */
    if (threadIdx.x == 0) {
        *sum = checksum;
    }
}

/* The CRC of a message of `size` bytes, of which the parts are all that is not 0. They lie `lead`
 * bytes further in memory, other bytes before and behind them. */
uint32_t
crc_on_device(const struct h5twin_crc_tables *tables, const Bytes &bytes, std::vector<Part> parts,
              uint64_t size, uint32_t lead = 0)
{
    Bytes memory(lead, 0xA5);
    memory.insert(memory.end(), bytes.begin(), bytes.end());
    memory.resize((memory.size() + 31) / 16 * 16, 0x5A);
    for (Part &part : parts) {
        part.begin += lead;
    }
    DeviceValues<uint8_t> d_bytes(memory);
    DeviceValues<Part> d_parts(parts);
    DeviceValues<uint32_t> sum(std::vector<uint32_t>(1, 0));
    H5TWIN_LAUNCH(sum_kernel, (unsigned)parts.size(), H5TWIN_CRC_THREADS, 0, nullptr)
    (tables, d_bytes.data(), d_parts.data(), sum.data());
    H5TWIN_LAUNCH(finish_kernel, 1, 32, 0, nullptr)(tables, sum.data(), size);
    kernels_finish();
    return sum.values()[0];
}

uint32_t
crc_expected(const Bytes &bytes, uint64_t before, uint64_t after)
{
    const uint64_t size = before + bytes.size() + after;
    uint32_t state = 0;
    for (const uint8_t byte : bytes) {
        state = h5twin_crc32c_byte(state, byte);
    }
    return ~(h5twin_crc32c_multiply(state, h5twin_crc32c_power(8 * after)) ^
             h5twin_crc32c_multiply(0xFFFFFFFFu, h5twin_crc32c_power(8 * size)));
}

struct Tables : DeviceValues<uint32_t> {
    Tables() : DeviceValues<uint32_t>(std::vector<uint32_t>(H5TWIN_CRC_TABLE_WORDS, 0))
    {
        H5TWIN_LAUNCH(tables_kernel, 3, 64, 0, nullptr)(get(), h5twin_crc_seeds);
        kernels_finish();
    }
    struct h5twin_crc_tables *
    get()
    {
        return reinterpret_cast<struct h5twin_crc_tables *>(data());
    }
};

/* Every size around a row of words and a round of lines, in one part and in three that are cut
 * anywhere, at places of a line. */
void
test_checksums_are_summed_in_parts(void **)
{
    Tables tables;
    for (const uint32_t size :
         {1u,    2u,    3u,    4u,    5u,    15u,   16u,   17u,   127u,   128u,   129u,
          1024u, 4095u, 4096u, 4097u, 5000u, 8191u, 8192u, 8193u, 12288u, 16384u, 16389u}) {
        Bytes bytes(size);
        for (uint32_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)(i * 2654435761u >> 11);
        }
        const uint32_t start = 16; /* lines that hold a part begin in the message */
        const uint32_t expected = crc_expected(bytes, start, 0), first = size / 3,
                       second = size / 7 * 5;
        const std::vector<Part> whole = {{start, 0, size}};
        const std::vector<Part> three = {{start + second, second, size - second},
                                         {start, 0, first},
                                         {start + first, first, second - first}};
        for (const auto &parts : {whole, first != 0 && first < second ? three : whole}) {
            for (const uint32_t lead : {0u, 1u, 3u, 4u, 8u, 15u}) {
                assert_int_equal(crc_on_device(tables.get(), bytes, parts, start + size, lead),
                                 expected);
            }
        }
    }
}

/* Every bit of a position and of a size by itself, and some together: chunks of more than 2^31
 * bytes have no other test without a GPU. */
void
test_checksums_are_summed_anywhere(void **)
{
    Tables tables;
    const Bytes bytes = {1, 2, 3, 4, 5, 6, 7};
    std::vector<uint64_t> counts = {0,          3,          0x7FFFFFFE,
                                    0x7FFFFFFF, 0xFFFFFFFF, UINT64_C(0x123456789A)};
    for (unsigned bit = 0; bit < 39; bit++) {
        counts.push_back(UINT64_C(1) << bit);
    }
    for (const uint64_t count : counts) {
        assert_int_equal(crc_on_device(tables.get(), bytes, {{count, 0, 7}}, count + 7),
                         crc_expected(bytes, count, 0));
        assert_int_equal(crc_on_device(tables.get(), bytes, {{0, 0, 7}}, count + 7),
                         crc_expected(bytes, 0, count));
    }
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets_of_long_tables),
        cmocka_unit_test(test_faults_of_long_tables),
        cmocka_unit_test(test_checksums_are_summed_in_parts),
        cmocka_unit_test(test_checksums_are_summed_anywhere),
    };
    return KERNEL_RUN_TESTS(tests);
}
