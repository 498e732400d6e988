/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_decode.cu: E2MC streams back to words on a GPU: a thread block per segment, a thread per way
 * of a compressed block.
 *
 *     check kernel    one thread block per chunk: header, directory, all segment headers
 *     decode kernel   thread blocks take segments by ticket; for each: the codebook's fields by one
 *                     thread, its batches of 64 symbols by a thread each, tables, then blocks
 *     finish kernel   the first bad segment's status becomes the chunk's
 *
 * Codes up to table_bits are looked up in shared memory; longer ones are compared with the first
 * codes of each length. Each thread keeps 96 bits of its way in registers and writes 16 bytes at a
 * time.
 * Source  E2MC (IPDPS 2017), section IV; FORMAT.md. */
#include "e2mc_book_core.h"
#include "e2mc_decode_bits.cuh"
#include "e2mc_gpu.h"
#include "e2mc_header_core.h"

#define THREADS       256u /* 64 KiB in blocks of 1 KiB with 4 ways; 8 thread blocks fill a GPU core */
#define WARPS         (THREADS / 32u)
#define MAX_CTAS      1024u /* more than are resident on any GPU: they go round */
#define TILE_LOG2     14u   /* bytes: the smallest segment */
#define TABLE_LOG2    12u   /* most entries of a tree's table */
#define MIN_TABLE     8192u /* bytes of shared memory for all tables of a segment */
#define MAX_TABLE     32768u
#define NEAR_LEAVES   2048u /* leaves that fit shared memory */
#define LONG_CODE     15u   /* in place of a length */
#define MAX_BATCHES   1024u /* of 16 trees with 4096 symbols */
#define NO_FAILURE    UINT64_MAX
#define BATCHES_BYTES (MAX_BATCHES * 5u) /* a word and a byte each, before the staged codebook */

/* A batch as kernels take it. */
struct e2mc_tiles {
    struct h5twin_gpu_batch batch;
    uint64_t raw_size;
    uint32_t tile_count; /* per chunk: as many segments as there can be */
    uint32_t table_size; /* bytes of dynamic shared memory */
    uint32_t far_leaves; /* that one thread block has in global memory */
    uint32_t *ticket;
    uint64_t *failures; /* per chunk: segment in bits 8.., its status below */
    uint64_t *offsets;  /* per tile: where the segment starts in the payload */
    uint32_t *leaves;   /* far_leaves for each thread block */
};

/* ---- check kernel ---- */

/* Exclusive sum over the block's threads, and the total. */
static __device__ __forceinline__ uint64_t
sum_over_block(uint64_t value, uint64_t *total)
{
    H5TWIN_SHARED(uint64_t, sums, WARPS);
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    uint64_t sum = value;
    for (uint32_t delta = 1; delta < 32; delta *= 2) {
        const uint64_t below = __shfl_up_sync(H5TWIN_ALL_LANES, sum, delta);
        sum += lane >= delta ? below : 0u;
    }
    __syncthreads(); /* sums of the last call have been read */
    if (lane == 31) {
        sums[warp] = sum;
    }
    __syncthreads();
    uint64_t before = 0, all = 0;
    for (uint32_t i = 0; i < WARPS; i++) {
        before += i < warp ? sums[i] : 0u;
        all += sums[i];
    }
    *total = all;
    return before + sum - value;
}

static __global__ void
__launch_bounds__(THREADS) e2mc_check_kernel(struct e2mc_tiles tiles)
{
    H5TWIN_SHARED(unsigned long long, first_bad, 1);
    const uint64_t chunk = blockIdx.x;
    const uint8_t *const src = tiles.batch.d_src + chunk * tiles.batch.src_stride;
    const uint64_t src_size = tiles.batch.d_src_sizes[chunk];
    uint32_t *const status = &tiles.batch.d_status[chunk];
    if (__syncthreads_or(threadIdx.x == 0 && *status != 0)) {
        return;
    }
    if (threadIdx.x == 0) {
        first_bad[0] = NO_FAILURE;
        tiles.failures[chunk] = NO_FAILURE;
    }
    struct h5twin_e2mc_header header;
    uint32_t why = (uint32_t)h5twin_e2mc_header_read(&header, src, src_size);
    if (why == H5TWIN_OK && header.raw_size != tiles.raw_size) {
        why = H5TWIN_ERR_CORRUPT;
    }
    if (why != H5TWIN_OK || header.kind != H5TWIN_E2MC_SEGMENTS) {
        if (threadIdx.x == 0) {
            tiles.offsets[chunk * tiles.tile_count] = 0;
            *status = why;
        }
        return;
    }
    __syncthreads();
    const uint32_t segments = header.book_size / 4;
    uint64_t offset = H5TWIN_E2MC_HEADER_BYTES + (uint64_t)header.book_size;
    for (uint32_t base = 0; base < segments; base += THREADS) {
        const uint32_t index = base + threadIdx.x;
        const bool inside = index < segments;
        const uint64_t size =
            inside ? h5twin_gpu_load32(src + H5TWIN_E2MC_HEADER_BYTES + 4 * (size_t)index) : 0u;
        uint64_t step;
        const uint64_t begin = offset + sum_over_block(size, &step);
        if (inside) {
            tiles.offsets[chunk * tiles.tile_count + index] = begin;
            struct h5twin_e2mc_header segment;
            why = (uint32_t)h5twin_e2mc_segment_header_read(&segment, &header, index, src, src_size,
                                                            begin, size);
            if (why != H5TWIN_OK) {
                atomicMin(first_bad, (unsigned long long)index << 8 | why);
            }
        }
        offset += step;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (first_bad[0] != NO_FAILURE) {
            *status = (uint32_t)first_bad[0] & 0xFFu;
        } else if (offset != src_size) {
            *status = H5TWIN_ERR_CORRUPT;
        }
    }
}

/* ---- codebook ---- */

struct decode_tree {
    struct h5twin_huffman_decoder codes;
    uint32_t first_batch, end_bit; /* in the codebook */
    uint32_t leaf_begin;           /* its leaves among those of all trees */
    uint32_t leaf_count;
    uint32_t escape_leaf; /* UINT32_MAX if there is none */
    uint32_t first_symbol;
    uint8_t max_length, escape_length, raw_bits, raw_shift;
    uint32_t listed_count;
};

/* What the threads of a block share about the segment at work. */
struct book {
    struct decode_tree trees[H5TWIN_E2MC_MAX_TREES];
    struct h5twin_e2mc_book_fields fields;
    struct h5twin_e2mc_geometry geometry;
    uint64_t run_word;
    uint32_t tree_count, batch_count, leaf_count;
    uint32_t table_bits;
    uint32_t why;     /* status of what one thread looks at */
    uint32_t has_run; /* the first leaves of all trees are symbols */
};

/* A batch: where its bits begin << 5 | order; once they are read, the value of the last symbol. */
struct batches {
    uint32_t *word;
    uint8_t *restarts; /* it contains the first symbol of a length */
};

/* Listed symbols shorter than `length`. */
static __device__ __forceinline__ uint32_t
listed_before(const struct decode_tree *tree, uint32_t length)
{
    const uint32_t escapes = tree->escape_leaf != UINT32_MAX && length > tree->escape_length;
    return tree->codes.first_leaf[length] - escapes;
}

/* The directory of the tree at the reader: 64 batches at most. */
static __device__ bool
read_directory(struct book *book, struct decode_tree *tree, const struct batches *batches,
               struct h5twin_bit_reader_msb *reader)
{
    const uint32_t count = h5twin_e2mc_batch_count(tree->listed_count);
    uint64_t bit = reader->position + (uint64_t)count * H5TWIN_E2MC_BATCH_ENTRY_BITS;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t order = (uint32_t)h5twin_bit_get_msb(reader, 5);
        batches->word[book->batch_count++] = (uint32_t)bit << 5 | order; /* bit < 2^24 */
        bit += h5twin_bit_get_msb(reader, H5TWIN_E2MC_BATCH_SIZE_BITS);
    }
    reader->position = bit;
    tree->end_bit = (uint32_t)bit;
    return h5twin_bit_reader_is_inside_msb(reader);
}

/* By one thread. */
static __device__ bool
read_tree(struct book *book, struct decode_tree *tree, const struct batches *batches,
          struct h5twin_bit_reader_msb *reader)
{
    struct h5twin_e2mc_book_fields *const fields = &book->fields;
    const uint32_t symbol_bits = h5twin_e2mc_symbol_bits(&book->geometry);
    if (!h5twin_e2mc_book_fields_read(fields, symbol_bits, reader)) {
        return false;
    }
    for (uint32_t length = 1; length <= fields->max_length; length++) {
        if ((fields->length_counts[length] >> (symbol_bits < 16 ? symbol_bits : 16u)) > 1) {
            return false; /* not that many symbols exist: saves memory for leaves */
        }
    }
    fields->length_counts[fields->escape_length] += fields->has_escape;
    if (!h5twin_huffman_is_complete(fields->length_counts)) {
        return false;
    }
    h5twin_huffman_decoder_init(&tree->codes, fields->length_counts);
    tree->first_batch = book->batch_count;
    tree->leaf_begin = book->leaf_count;
    tree->leaf_count = fields->listed_count + fields->has_escape;
    tree->max_length = (uint8_t)fields->max_length;
    tree->escape_length = (uint8_t)fields->escape_length;
    tree->raw_bits = (uint8_t)fields->raw_bits;
    tree->raw_shift = (uint8_t)fields->raw_shift;
    tree->escape_leaf = fields->has_escape ? tree->codes.first_leaf[fields->escape_length] +
                                                 fields->length_counts[fields->escape_length] - 1
                                           : UINT32_MAX;
    tree->listed_count = fields->max_length == 0 ? 0 : fields->listed_count;
    tree->first_symbol = 0;
    book->leaf_count += tree->leaf_count;
    if (fields->max_length == 0) {
        tree->first_symbol =
            fields->has_escape ? 0 : (uint32_t)h5twin_bit_get_msb(reader, symbol_bits);
        tree->end_bit = (uint32_t)reader->position;
        return h5twin_bit_reader_is_inside_msb(reader);
    }
    return read_directory(book, tree, batches, reader);
}

/* By one thread: the fields of all trees. */
static __device__ bool
read_trees(struct book *book, const struct batches *batches, const uint8_t *src, uint32_t size)
{
    struct h5twin_bit_reader_msb reader = {src, size, 0};
    uint32_t longest = 1;
    book->tree_count = h5twin_e2mc_tree_count(&book->geometry);
    book->batch_count = 0;
    book->leaf_count = 0;
    for (uint32_t i = 0; i < book->tree_count; i++) {
        if (!read_tree(book, &book->trees[i], batches, &reader)) {
            return false;
        }
        longest = book->trees[i].max_length > longest ? book->trees[i].max_length : longest;
    }
    book->table_bits = longest < TABLE_LOG2 ? longest : TABLE_LOG2;
    return (reader.position + 7) / 8 == size;
}

/* Read the symbols of one batch: values count from the first of their length, or from the batch's
 * start. The caller adds what comes before. False if something is wrong. */
static __device__ bool
read_batch(const struct decode_tree *tree, const struct batches *batches, uint32_t batch,
           uint32_t begin_bit, uint32_t end_bit, uint32_t order, uint32_t symbol_bits,
           struct e2mc_bits bits, uint32_t *leaves)
{
    const uint64_t symbol_end = UINT64_C(1) << symbol_bits;
    const uint32_t first = (batch - tree->first_batch) * H5TWIN_E2MC_BATCH;
    const uint32_t left = tree->listed_count - first;
    const uint32_t end = first + (left < H5TWIN_E2MC_BATCH ? left : H5TWIN_E2MC_BATCH);
    const uint32_t escape_length =
        tree->escape_leaf == UINT32_MAX ? H5TWIN_HUFFMAN_LENGTHS : tree->escape_length;
    uint32_t length = 1;
    uint64_t next = 0;
    bool restarts = false;
    e2mc_bits_seek(&bits, bits.start + begin_bit);
    for (uint32_t i = first; i < end; i++) {
        while (length < tree->max_length && listed_before(tree, length + 1) <= i) {
            length++;
        }
        if (listed_before(tree, length) == i) {
            next = 0;
            restarts = true;
        }
        uint64_t gap;
        if (!e2mc_bits_exp_golomb(&bits, order, &gap) || next + gap >= symbol_end) {
            return false;
        }
        leaves[tree->leaf_begin + i + (length > escape_length)] = (uint32_t)(next + gap);
        next += gap + 1;
    }
    batches->word[batch] = (uint32_t)(next - 1);
    batches->restarts[batch] = restarts;
    return e2mc_bits_position(&bits) == bits.start + end_bit;
}

/* By one thread per tree: words become what the symbols before each batch add to its first ones. */
static __device__ bool
add_up_batches(const struct decode_tree *tree, const struct batches *batches, uint64_t symbol_end)
{
    const uint32_t count = h5twin_e2mc_batch_count(tree->listed_count);
    uint64_t next = 0;
    for (uint32_t i = tree->first_batch; i < tree->first_batch + count; i++) {
        const uint64_t last = batches->word[i];
        const uint64_t sum = batches->restarts[i] != 0 ? last : next + last;
        batches->word[i] = (uint32_t)next;
        if (next > UINT32_MAX || sum >= symbol_end) {
            const uint32_t first = (i - tree->first_batch) * H5TWIN_E2MC_BATCH;
            bool starts = false; /* with the first symbol of a length, which needs no `next` */
            for (uint32_t length = 1; length <= tree->max_length; length++) {
                starts |= listed_before(tree, length) == first;
            }
            if (!starts || sum >= symbol_end) {
                return false;
            }
        }
        next = sum + 1;
    }
    return true;
}

/* Complete the symbols of a batch that stand before the first of a length. */
static __device__ bool
finish_batch(const struct decode_tree *tree, const struct batches *batches, uint32_t batch,
             uint64_t symbol_end, uint32_t *leaves)
{
    const uint64_t before = batches->word[batch];
    const uint32_t first = (batch - tree->first_batch) * H5TWIN_E2MC_BATCH;
    uint32_t end = first + H5TWIN_E2MC_BATCH;
    end = end < tree->listed_count ? end : tree->listed_count;
    uint32_t length = 1;
    while (length < tree->max_length && listed_before(tree, length + 1) <= first) {
        length++;
    }
    if (listed_before(tree, length) == first) {
        return true;
    }
    if (length < tree->max_length && listed_before(tree, length + 1) < end) {
        end = listed_before(tree, length + 1);
    }
    const uint32_t escapes = tree->escape_leaf != UINT32_MAX && length > tree->escape_length;
    bool good = true;
    for (uint32_t i = first; i < end; i++) {
        uint32_t *const leaf = &leaves[tree->leaf_begin + i + escapes];
        const uint64_t symbol = before + *leaf;
        good = good && symbol < symbol_end;
        *leaf = (uint32_t)symbol;
    }
    return good;
}

/* A tree's table: for each index the leaf << 4 | length of its code. */
static __device__ __forceinline__ void
fill_table(uint16_t *table, const struct decode_tree *tree, uint32_t table_bits)
{
    uint32_t length = 0; /* grows with the index */
    for (uint32_t i = threadIdx.x; i < 1u << table_bits; i += THREADS) {
        const uint32_t window = i << (32u - table_bits);
        length = h5twin_huffman_find_length(&tree->codes, window, length);
        table[i] =
            length > table_bits
                ? (uint16_t)LONG_CODE
                : (uint16_t)(h5twin_huffman_leaf(&tree->codes, window, length) << 4 | length);
    }
}

static __device__ __forceinline__ uint32_t
tree_of_batch(const struct book *book, uint32_t batch)
{
    uint32_t tree = 0;
    while (tree + 1 < book->tree_count && book->trees[tree + 1].first_batch <= batch) {
        tree++;
    }
    return tree;
}

/* Read the codebook of size bytes at src, by all threads; the status. tables: table_size bytes,
 * which also hold batches and a copy of the codebook while it is read. *leaves is where the
 * leaves are. */
static __device__ uint32_t
read_book(struct book *book, uint16_t *tables, const struct e2mc_tiles *tiles, const uint8_t *src,
          uint32_t size, uint32_t *near_leaves, uint32_t **leaves)
{
    uint8_t *const room = reinterpret_cast<uint8_t *>(tables);
    const struct batches batches = {reinterpret_cast<uint32_t *>(room), room + 4 * MAX_BATCHES};
    const uint32_t symbol_bits = h5twin_e2mc_symbol_bits(&book->geometry);
    const uint64_t symbol_end = UINT64_C(1) << symbol_bits;
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(src) & 15u);
    const bool is_staged = size <= tiles->table_size - BATCHES_BYTES - 32u;
    if (size == 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (is_staged) {
        uint8_t *const copy = room + BATCHES_BYTES;
        for (uint32_t at = 16 * threadIdx.x; at < skip + size; at += 16 * THREADS) {
            h5twin_gpu_store128(copy + at, h5twin_gpu_load128(src - skip + at));
        }
        src = copy + skip;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        book->why = read_trees(book, &batches, src, size) ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
        if (book->why == H5TWIN_OK && book->leaf_count > NEAR_LEAVES &&
            book->leaf_count > tiles->far_leaves) {
            book->why = H5TWIN_ERR_OPTION;
        }
    }
    __syncthreads();
    if (book->why != H5TWIN_OK) {
        return book->why;
    }
    uint32_t *const all = book->leaf_count <= NEAR_LEAVES
                              ? near_leaves
                              : tiles->leaves + (size_t)blockIdx.x * tiles->far_leaves;
    *leaves = all;

    bool good = true;
    struct e2mc_bits bits;
    e2mc_bits_open(&bits, src, src + size);
    for (uint32_t base = 0; base < book->batch_count; base += THREADS) {
        const uint32_t i = base + threadIdx.x;
        const bool inside = i < book->batch_count;
        const struct decode_tree *const tree =
            &book->trees[inside ? tree_of_batch(book, i) : book->tree_count - 1];
        const uint32_t own = inside ? batches.word[i] : 0;
        const bool is_last =
            i + 1 == tree->first_batch + h5twin_e2mc_batch_count(tree->listed_count);
        const uint32_t end_bit = is_last || !inside ? tree->end_bit : batches.word[i + 1] >> 5;
        __syncthreads(); /* words are replaced from here on */
        if (inside) {
            good = good && read_batch(tree, &batches, i, own >> 5, end_bit, own & 31u, symbol_bits,
                                      bits, all);
        }
    }
    if (threadIdx.x < book->tree_count && book->trees[threadIdx.x].max_length == 0) {
        all[book->trees[threadIdx.x].leaf_begin] = book->trees[threadIdx.x].first_symbol;
    }
    if (__syncthreads_or(!good)) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (threadIdx.x < book->tree_count) {
        good = add_up_batches(&book->trees[threadIdx.x], &batches, symbol_end);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; good && i < book->batch_count; i += THREADS) {
        const struct decode_tree *const tree = &book->trees[tree_of_batch(book, i)];
        good = finish_batch(tree, &batches, i, symbol_end, all);
    }
    if (__syncthreads_or(!good)) {
        return H5TWIN_ERR_CORRUPT;
    }
    return H5TWIN_OK;
}

/* The tables of all trees, and what run blocks repeat. */
static __device__ void
fill_tables(struct book *book, uint16_t *tables, uint32_t table_size, const uint32_t *leaves)
{
    uint32_t table_bits = book->table_bits;
    while ((book->tree_count * sizeof(uint16_t)) << table_bits > table_size) {
        table_bits--;
    }
    for (uint32_t i = 0; i < book->tree_count; i++) {
        fill_table(tables + ((size_t)i << table_bits), &book->trees[i], table_bits);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t symbol_bits = h5twin_e2mc_symbol_bits(&book->geometry);
        const uint32_t word_bits = 8 * h5twin_e2mc_word_size(&book->geometry);
        uint64_t word = 0;
        book->has_run = 1;
        book->table_bits = table_bits;
        for (uint32_t i = 0; i < book->tree_count; i++) {
            if (book->trees[i].escape_leaf == 0) {
                book->has_run = 0;
            } else {
                word |= (uint64_t)leaves[book->trees[i].leaf_begin] << i * symbol_bits;
            }
        }
        for (uint32_t bits = word_bits; bits < 64; bits *= 2) {
            word |= word << bits;
        }
        book->run_word = word;
    }
    __syncthreads();
}

/* ---- copies ---- */

/* size bytes from any address to one on 16 bytes, by `count` threads of which this is number `own`.
 */
static __device__ __forceinline__ void
copy_bytes(uint8_t *dst, const uint8_t *src, uint64_t size, uint32_t own, uint32_t count)
{
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(src) & 3u);
    for (uint64_t at = 4 * (uint64_t)own; at < size; at += 4 * (uint64_t)count) {
        if (at + 4 <= size) {
            const uint32_t low = h5twin_gpu_load32(src + at - skip);
            const uint32_t high = skip == 0 ? 0u : h5twin_gpu_load32(src + at - skip + 4);
            h5twin_gpu_store32(dst + at, __funnelshift_r(low, high, 8 * skip));
        } else {
            for (uint64_t i = at; i < size; i++) {
                dst[i] = src[i];
            }
        }
    }
}

/* The same eight bytes over and over; whole words. */
static __device__ __forceinline__ void
fill_bytes(uint8_t *dst, uint64_t size, uint64_t word, uint32_t own, uint32_t count)
{
    const uint4 line =
        make_uint4((uint32_t)word, (uint32_t)(word >> 32), (uint32_t)word, (uint32_t)(word >> 32));
    for (uint64_t at = 16 * (uint64_t)own; at < size; at += 16 * (uint64_t)count) {
        if (at + 16 <= size) {
            h5twin_gpu_store128(dst + at, line);
        } else {
            for (uint64_t i = at; i < size; i++) {
                dst[i] = (uint8_t)(word >> 8 * (i % 8));
            }
        }
    }
}

/* ---- ways ---- */

/* The part of a segment behind the codebook. */
struct body {
    const uint8_t *meta, *anchors, *payload, *end;
    uint64_t payload_size;
};

/* What threads need to decode symbols. */
struct decoder {
    const struct book *book;
    const uint16_t *tables;
    const uint32_t *leaves;
};

/* The next symbol, of the given tree. */
static __device__ __forceinline__ uint32_t
next_symbol(const struct decoder *decoder, uint32_t tree_index, uint32_t table_bits,
            struct e2mc_bits *bits)
{
    const struct decode_tree *const tree = &decoder->book->trees[tree_index];
    const uint32_t window = e2mc_bits_peek(bits);
    const uint32_t entry =
        decoder->tables[(tree_index << table_bits) + (window >> (32u - table_bits))];
    uint32_t length = entry & 15u, leaf = entry >> 4;
    if (length == LONG_CODE) {
        length = h5twin_huffman_find_length(&tree->codes, window, table_bits + 1);
        leaf = h5twin_huffman_leaf(&tree->codes, window, length);
    }
    e2mc_bits_skip(bits, length);
    return leaf == tree->escape_leaf ? e2mc_bits_get(bits, tree->raw_bits) << tree->raw_shift
                                     : decoder->leaves[tree->leaf_begin + leaf];
}

/* word_count words from the bits to dst, on 16 bytes. */
static __device__ __forceinline__ void
decode_words(const struct decoder *decoder, struct e2mc_bits *bits, uint8_t *dst,
             uint32_t word_count)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint32_t symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const uint32_t tree_mask = decoder->book->tree_count - 1;
    const uint32_t table_bits = decoder->book->table_bits;
    const uint32_t size = word_count << geometry->word_log2;
    uint32_t tree = 0;
    for (uint32_t at = 0; at < size; at += 16) {
        const uint32_t left = size - at < 16 ? size - at : 16;
        uint32_t words[4] = {0, 0, 0, 0};
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t valid_bits = left > 4 * i ? 8 * (left - 4 * i) : 0;
            for (uint32_t filled = 0; filled < 32 && filled < valid_bits; filled += symbol_bits) {
                words[i] |= next_symbol(decoder, tree, table_bits, bits) << filled;
                tree = (tree + 1) & tree_mask;
            }
        }
        if (left == 16) {
            h5twin_gpu_store128(dst + at, make_uint4(words[0], words[1], words[2], words[3]));
        } else {
            H5TWIN_UNROLL
            for (uint32_t i = 0; i < 16; i++) {
                if (i < left) {
                    dst[at + i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
                }
            }
        }
    }
}

/* One way of a compressed block; false if it does not end where it must. dst is the block's. */
static __device__ __forceinline__ bool
decode_way(const struct decoder *decoder, const struct body *body, const uint8_t *form,
           uint32_t form_size, uint32_t way, uint8_t *dst, uint32_t raw_size)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint32_t ways = 1u << geometry->way_log2;
    const uint32_t pointer_bits = h5twin_e2mc_pointer_bits(geometry);
    const uint32_t least = (pointer_bits + 7) / 8;
    struct e2mc_bits bits;
    e2mc_bits_open(&bits, form, body->end);
    uint32_t begin = 0, end = form_size;
    if (way > 0) {
        e2mc_bits_seek(&bits, bits.start + (way - 1) * geometry->block_log2);
        begin = e2mc_bits_get(&bits, geometry->block_log2);
    }
    if (way + 1 < ways) {
        e2mc_bits_seek(&bits, bits.start + way * geometry->block_log2);
        end = e2mc_bits_get(&bits, geometry->block_log2);
    }
    if ((way > 0 && begin < least) || end < (way > 0 ? begin : least)) {
        return false;
    }
    const uint32_t per_way = (uint32_t)h5twin_e2mc_words_per_way(geometry);
    const uint32_t word_count = raw_size >> geometry->word_log2;
    const uint32_t first = way * per_way;
    const uint32_t left = word_count > first ? word_count - first : 0;
    e2mc_bits_seek(&bits, bits.start + (way == 0 ? pointer_bits : 8 * begin));
    decode_words(decoder, &bits, dst + ((size_t)first << geometry->word_log2),
                 left < per_way ? left : per_way);
    return e2mc_bits_position(&bits) <= bits.start + 8 * end;
}

/* ---- delta ---- */

static __device__ __forceinline__ uint64_t
load_word(const uint8_t *src, uint32_t size)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < size; i++) {
        word |= (uint64_t)src[i] << 8 * i;
    }
    return word;
}

static __device__ __forceinline__ void
store_word(uint8_t *dst, uint64_t word, uint32_t size)
{
    if (size == 4) {
        h5twin_gpu_store32(dst, (uint32_t)word);
    } else if (size == 8) {
        *reinterpret_cast<uint64_t *>(dst) = word;
    } else {
        for (uint32_t i = 0; i < size; i++) {
            dst[i] = (uint8_t)(word >> 8 * i);
        }
    }
}

static __device__ __forceinline__ uint64_t
load_aligned(const uint8_t *src, uint32_t size)
{
    return size == 4   ? h5twin_gpu_load32(src)
           : size == 8 ? *reinterpret_cast<const uint64_t *>(src)
                       : load_word(src, size);
}

/* Undo the delta of a block of raw_size bytes, by a warp: sums of words `stride` apart, 32 words at
 * a time. */
static __device__ void
undo_delta(const struct h5twin_e2mc_geometry *geometry, uint8_t *dst, uint32_t raw_size,
           const uint8_t *anchors, uint32_t stride)
{
    const uint32_t lane = threadIdx.x % 32u, word_size = h5twin_e2mc_word_size(geometry);
    const uint32_t word_count = raw_size >> geometry->word_log2;
    uint64_t before = 0; /* of the last 32 words */
    for (uint32_t base = 0; base < word_count; base += 32) {
        const uint32_t i = base + lane;
        uint64_t sum = 0;
        if (i < word_count) {
            sum = i < stride
                      ? load_word(anchors + (size_t)i * word_size, word_size)
                      : h5twin_e2mc_undelta(load_aligned(dst + (size_t)i * word_size, word_size), 0,
                                            word_size);
        }
        for (uint32_t delta = stride; delta < 32; delta *= 2) {
            const uint64_t below = __shfl_up_sync(H5TWIN_ALL_LANES, sum, delta);
            sum += lane >= delta ? below : 0u;
        }
        if (stride <= 32) {
            const uint32_t source = 32u - stride + lane % stride;
            sum += __shfl_sync(H5TWIN_ALL_LANES, before, (int)source);
        } else if (i >= stride && i < word_count) { /* decoded in an earlier round */
            sum += load_aligned(dst + (size_t)(i - stride) * word_size, word_size);
        }
        before = sum;
        if (i < word_count) {
            store_word(dst + (size_t)i * word_size, sum, word_size);
        }
        __syncwarp();
    }
}

/* ---- segments ---- */

/* The blocks of one step: where their forms begin, and their metadata. */
struct step {
    uint64_t offset[THREADS];
    uint16_t value[THREADS];
};

static __device__ __forceinline__ uint32_t
raw_size_of_block(const struct h5twin_e2mc_geometry *geometry, uint64_t block, uint64_t raw_size)
{
    const uint64_t left = raw_size - (block << geometry->block_log2);
    const uint64_t full = h5twin_e2mc_block_size(geometry);
    return (uint32_t)(left < full ? left : full);
}

/* The blocks of a step whose forms are inside the payload; false if a way is bad. */
static __device__ bool
decode_step(const struct decoder *decoder, const struct body *body, const struct step *step,
            uint64_t first_block, uint32_t block_count, uint8_t *dst, uint64_t raw_size,
            uint32_t stride)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint32_t stored = h5twin_e2mc_meta_stored(geometry);
    const uint32_t warp = threadIdx.x / 32u, lane = threadIdx.x % 32u;
    bool good = true;
    for (uint32_t task = threadIdx.x; task < block_count << geometry->way_log2; task += THREADS) {
        const uint32_t i = task >> geometry->way_log2;
        const uint32_t way = task & ((1u << geometry->way_log2) - 1u);
        const uint64_t block = first_block + i;
        const uint32_t size = raw_size_of_block(geometry, block, raw_size);
        const uint32_t form_size =
            (uint32_t)h5twin_e2mc_payload_size(geometry, step->value[i], size);
        if (step->value[i] != stored && !h5twin_e2mc_is_run(geometry, step->value[i]) &&
            step->offset[i] + form_size <= body->payload_size) {
            good &= decode_way(decoder, body, body->payload + step->offset[i], form_size, way,
                               dst + (block << geometry->block_log2), size);
        }
    }
    for (uint32_t i = warp; i < block_count; i += WARPS) {
        const uint64_t block = first_block + i;
        const uint32_t size = raw_size_of_block(geometry, block, raw_size);
        uint8_t *const to = dst + (block << geometry->block_log2);
        if (h5twin_e2mc_is_run(geometry, step->value[i])) {
            fill_bytes(to, size, decoder->book->run_word, lane, 32);
        } else if (step->value[i] == stored && step->offset[i] + size <= body->payload_size) {
            copy_bytes(to, body->payload + step->offset[i], size, lane, 32);
        }
    }
    if (stride == 0) {
        return good;
    }
    __syncthreads();
    for (uint32_t i = warp; i < block_count; i += WARPS) {
        const uint64_t block = first_block + i;
        if (step->value[i] != stored) {
            undo_delta(geometry, dst + (block << geometry->block_log2),
                       raw_size_of_block(geometry, block, raw_size),
                       body->anchors + block * ((uint64_t)stride << geometry->word_log2), stride);
        }
    }
    return good;
}

/* By all threads; the status. */
static __device__ uint32_t
decode_blocks(const struct decoder *decoder, const struct body *body, struct step *step,
              uint8_t *dst, uint64_t raw_size, uint32_t stride)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint64_t block_count = h5twin_e2mc_block_count(geometry, raw_size);
    const uint32_t meta_bits = h5twin_e2mc_meta_bits(geometry);
    uint64_t total = 0;
    bool good = true;
    for (uint64_t base = 0; base < block_count; base += THREADS) {
        const uint64_t block = base + threadIdx.x;
        uint64_t form_size = 0, sum;
        uint32_t value = 0;
        if (block < block_count) {
            struct h5twin_bit_reader_msb meta = {body->meta, (size_t)(body->anchors - body->meta),
                                                 block * meta_bits};
            value = (uint32_t)h5twin_bit_get_msb(&meta, meta_bits);
            form_size = h5twin_e2mc_payload_size(geometry, value,
                                                 raw_size_of_block(geometry, block, raw_size));
            good = good && (!h5twin_e2mc_is_run(geometry, value) || decoder->book->has_run != 0);
        }
        const uint64_t offset = total + sum_over_block(form_size, &sum);
        step->offset[threadIdx.x] = offset;
        step->value[threadIdx.x] = (uint16_t)value;
        __syncthreads();
        const uint64_t left = block_count - base;
        good &= decode_step(decoder, body, step, base, (uint32_t)(left < THREADS ? left : THREADS),
                            dst, raw_size, stride);
        total += sum;
        __syncthreads();
    }
    const bool bad = __syncthreads_or(!good) != 0;
    return total > body->payload_size          ? (uint32_t)H5TWIN_ERR_SRC_SHORT
           : total < body->payload_size || bad ? (uint32_t)H5TWIN_ERR_CORRUPT
                                               : (uint32_t)H5TWIN_OK;
}

/* Where metadata, anchors and payload lie; false if the first two do not fit. */
static __device__ __forceinline__ bool
find_body(struct body *body, const struct h5twin_e2mc_header *header, const uint8_t *src,
          uint64_t src_size)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    const uint64_t left = src_size - H5TWIN_E2MC_HEADER_BYTES - header->book_size;
    const uint64_t block_count = h5twin_e2mc_block_count(geometry, header->raw_size);
    const uint64_t meta_size = (block_count * h5twin_e2mc_meta_bits(geometry) + 7) / 8;
    const uint64_t anchors_size = block_count * ((uint64_t)header->stride << geometry->word_log2);
    if (meta_size + anchors_size > left) {
        return false;
    }
    body->meta = src + H5TWIN_E2MC_HEADER_BYTES + header->book_size;
    body->anchors = body->meta + meta_size;
    body->payload = body->anchors + anchors_size;
    body->payload_size = left - (meta_size + anchors_size);
    body->end = src + src_size;
    return true;
}

/* Shared memory: 16.9 KB, and tables of 8 KiB for each tree, 32 KiB at most. 64 registers, so that
 * four thread blocks fit a multiprocessor; about 100 bytes spill, at the borders of the stages. */
static __global__ void
__launch_bounds__(THREADS, 4) e2mc_decode_kernel(struct e2mc_tiles tiles)
{
    H5TWIN_SHARED_DYNAMIC(uint16_t, tables);
    H5TWIN_SHARED(struct book, book, 1);
    H5TWIN_SHARED(struct step, step, 1);
    H5TWIN_SHARED(struct body, body, 1);
    H5TWIN_SHARED(uint32_t, near_leaves, NEAR_LEAVES);
    H5TWIN_SHARED(uint32_t, claimed, 1);
    const uint64_t all_tiles = tiles.batch.chunk_count * tiles.tile_count;
    for (;;) {
        __syncthreads(); /* shared memory is free again */
        if (threadIdx.x == 0) {
            claimed[0] = atomicAdd(tiles.ticket, 1u);
        }
        __syncthreads();
        const uint64_t tile = claimed[0];
        if (tile >= all_tiles) {
            return;
        }
        const uint64_t chunk = tile / tiles.tile_count;
        const uint64_t index = tile - chunk * tiles.tile_count;
        if (tiles.batch.d_status[chunk] != 0) { /* written by the kernel before */
            continue;
        }
        const uint8_t *const payload = tiles.batch.d_src + chunk * tiles.batch.src_stride;
        uint8_t *const dst = tiles.batch.d_dst + chunk * tiles.batch.dst_stride;
        const uint8_t *src = payload;
        uint64_t src_size = tiles.batch.d_src_sizes[chunk], begin = 0;
        struct h5twin_e2mc_header header;
        h5twin_e2mc_header_read(&header, src, src_size);
        const bool is_segmented = header.kind == H5TWIN_E2MC_SEGMENTS;
        if (is_segmented) {
            if (index >= header.book_size / 4) {
                continue;
            }
            begin = index << header.segment_log2;
            src += tiles.offsets[tile];
            src_size = h5twin_gpu_load32(payload + H5TWIN_E2MC_HEADER_BYTES + 4 * index);
            h5twin_e2mc_header_read(&header, src, src_size);
        }
        uint64_t size = header.raw_size;
        if (header.kind != H5TWIN_E2MC_CODED) {
            uint64_t at = 0;
            if (!is_segmented) { /* each tile its part */
                at = index << TILE_LOG2;
                size = size - at < UINT64_C(1) << TILE_LOG2 ? size - at : UINT64_C(1) << TILE_LOG2;
            }
            const uint8_t *const data = src + H5TWIN_E2MC_HEADER_BYTES;
            if (header.kind == H5TWIN_E2MC_RAW) {
                copy_bytes(dst + begin + at, data + at, size, threadIdx.x, THREADS);
            } else {
                const uint32_t word_size = h5twin_e2mc_word_size(&header.geometry);
                uint64_t word = load_word(data, word_size);
                for (uint32_t bits = 8 * word_size; bits < 64; bits *= 2) {
                    word |= word << bits;
                }
                fill_bytes(dst + begin + at, size, word, threadIdx.x, THREADS);
            }
            continue;
        }
        if (index != 0 && !is_segmented) {
            continue;
        }
        struct body found = {};
        const bool body_fits = find_body(&found, &header, src, src_size);
        if (threadIdx.x == 0) {
            book->geometry = header.geometry;
            *body = found;
        }
        __syncthreads();
        uint32_t *leaves = near_leaves;
        uint32_t why = read_book(book, tables, &tiles, src + H5TWIN_E2MC_HEADER_BYTES,
                                 header.book_size, near_leaves, &leaves);
        if (why == H5TWIN_OK && !body_fits) {
            why = H5TWIN_ERR_SRC_SHORT;
        }
        if (why == H5TWIN_OK) {
            fill_tables(book, tables, tiles.table_size, leaves);
            const struct decoder decoder = {book, tables, leaves};
            why = decode_blocks(&decoder, body, step, dst + begin, size, header.stride);
        }
        if (why != H5TWIN_OK && threadIdx.x == 0) {
            atomicMin(reinterpret_cast<unsigned long long *>(&tiles.failures[chunk]),
                      (unsigned long long)index << 8 | why);
        }
    }
}

/* One thread per chunk. */
static __global__ void
e2mc_finish_kernel(struct e2mc_tiles tiles)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < tiles.batch.chunk_count && tiles.batch.d_status[chunk] == 0 &&
        tiles.failures[chunk] != NO_FAILURE) {
        tiles.batch.d_status[chunk] = (uint32_t)tiles.failures[chunk] & 0xFFu;
    }
}

/* ---- launchers ---- */

struct e2mc_decode_parts {
    size_t ticket, failures, offsets, leaves, size;
    unsigned cta_count;
};

/* Sizes and counts of a batch, and where its parts lie in scratch. */
static struct e2mc_decode_parts
describe(const struct h5twin_job *job, size_t chunk_count, struct e2mc_tiles *tiles)
{
    struct e2mc_decode_parts parts = {};
    const uint32_t symbol_log2 = job->parameter & 15u, word_log2 = (job->parameter >> 8) & 15u;
    const uint32_t tree_log2 = word_log2 + 3 - symbol_log2;
    uint32_t trees = symbol_log2 >= 2 && symbol_log2 <= 5 && tree_log2 <= 4 ? 1u << tree_log2 : 4u;
    const size_t tile_count = (job->raw_size >> TILE_LOG2) + 1;
    const size_t all_tiles =
        chunk_count > SIZE_MAX / tile_count ? SIZE_MAX : chunk_count * tile_count;
    tiles->raw_size = job->raw_size;
    tiles->tile_count = (uint32_t)tile_count;
    tiles->table_size = (trees << TABLE_LOG2) * (uint32_t)sizeof(uint16_t);
    tiles->table_size = tiles->table_size < MAX_TABLE ? tiles->table_size : MAX_TABLE;
    trees = trees < 2 ? 2 : trees > 8 ? 8 : trees; /* 16 trees have symbols of 4 bits */
    tiles->far_leaves = trees * (H5TWIN_E2MC_MAX_LISTED + 1);
    parts.cta_count = all_tiles < MAX_CTAS ? (unsigned)all_tiles : MAX_CTAS;
    parts.ticket = h5twin_gpu_part(&parts.size, 1, sizeof(uint32_t));
    parts.failures = h5twin_gpu_part(&parts.size, chunk_count, sizeof(uint64_t));
    parts.offsets = h5twin_gpu_part(&parts.size, all_tiles, sizeof(uint64_t));
    parts.leaves =
        h5twin_gpu_part(&parts.size, parts.cta_count, tiles->far_leaves * sizeof(uint32_t));
    return parts;
}

extern "C" size_t
h5twin_e2mc_gpu_decode_scratch(const struct h5twin_job *job, size_t chunk_count)
{
    struct e2mc_tiles tiles;
    const size_t size = describe(job, chunk_count, &tiles).size;
    return size == SIZE_MAX ? 0 : size;
}

extern "C" enum h5twin_status
h5twin_e2mc_gpu_decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                       cudaStream_t stream)
{
    struct e2mc_tiles tiles = {};
    const struct e2mc_decode_parts parts = describe(job, batch->chunk_count, &tiles);
    tiles.batch = *batch;
    tiles.ticket = reinterpret_cast<uint32_t *>(batch->d_scratch + parts.ticket);
    tiles.failures = reinterpret_cast<uint64_t *>(batch->d_scratch + parts.failures);
    tiles.offsets = reinterpret_cast<uint64_t *>(batch->d_scratch + parts.offsets);
    tiles.leaves = reinterpret_cast<uint32_t *>(batch->d_scratch + parts.leaves);
    cudaMemsetAsync(tiles.ticket, 0, sizeof *tiles.ticket, stream);
    H5TWIN_LAUNCH(e2mc_check_kernel, (unsigned)batch->chunk_count, THREADS, 0, stream)(tiles);
    H5TWIN_LAUNCH(e2mc_decode_kernel, parts.cta_count, THREADS, tiles.table_size, stream)(tiles);
    H5TWIN_LAUNCH(e2mc_finish_kernel, (unsigned)((batch->chunk_count + 63) / 64), 64, 0, stream)
    (tiles);
    return cudaGetLastError() == cudaSuccess ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}
