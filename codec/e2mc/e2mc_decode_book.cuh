/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_decode_book.cuh: a segment's codebook, read and turned into tables by a thread block. One
 * thread reads the fields and directories, then each thread a batch of 64 symbols. */
#ifndef H5TWIN_E2MC_DECODE_BOOK_CUH
#define H5TWIN_E2MC_DECODE_BOOK_CUH

#include "e2mc_book_core.h"
#include "e2mc_decode_bits.cuh"
#include "e2mc_gpu.h"
#include "huffman_core.h"

#define THREADS       256u /* 64 KiB in blocks of 1 KiB with 4 ways; 8 thread blocks fill a GPU core */
#define WARPS         (THREADS / 32u)
#define MAX_CTAS      1024u /* more than are resident on any GPU: they go round */
#define TILE_LOG2     14u   /* bytes: the smallest segment */
#define TABLE_LOG2    12u   /* most entries of a tree's table */
#define MIN_TABLE     8192u /* bytes of shared memory for all tables of a segment */
#define MAX_TABLE     32768u
#define NEAR_LEAVES   1792u /* leaves that fit shared memory, of which a launch has 48 KiB in all */
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

#endif
