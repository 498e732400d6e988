/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_variant.h: the same sources, compiled once more for processors with more instructions.
 *
 * All that codes segments is compiled for the baseline and, where CMakeLists.txt defines
 * H5TWIN_E2MC_AVX512, again under other names: compilers put the loops into wide vectors and shift
 * by variable counts in one instruction. The little that is written for AVX-512 by hand stands
 * beside its definition in C. e2mc.c and what describes streams exist once and choose through
 * cpu.h. */
#ifndef H5TWIN_E2MC_VARIANT_H
#define H5TWIN_E2MC_VARIANT_H

#ifdef H5TWIN_E2MC_AVX512
#    define h5twin_e2mc_anchors_write       h5twin_e2mc_anchors_write_avx512
#    define h5twin_e2mc_block_bound         h5twin_e2mc_block_bound_avx512
#    define h5twin_e2mc_block_encode        h5twin_e2mc_block_encode_avx512
#    define h5twin_e2mc_book_bound          h5twin_e2mc_book_bound_avx512
#    define h5twin_e2mc_coder_init          h5twin_e2mc_coder_init_avx512
#    define h5twin_e2mc_count16             h5twin_e2mc_count16_avx512
#    define h5twin_e2mc_decode_full_way     h5twin_e2mc_decode_full_way_avx512
#    define h5twin_e2mc_decode_scratch_size h5twin_e2mc_decode_scratch_size_avx512
#    define h5twin_e2mc_decode_way          h5twin_e2mc_decode_way_avx512
#    define h5twin_e2mc_decoder_flush       h5twin_e2mc_decoder_flush_avx512
#    define h5twin_e2mc_decoder_init        h5twin_e2mc_decoder_init_avx512
#    define h5twin_e2mc_decoder_reach       h5twin_e2mc_decoder_reach_avx512
#    define h5twin_e2mc_delta_apply         h5twin_e2mc_delta_apply_avx512
#    define h5twin_e2mc_delta_undo          h5twin_e2mc_delta_undo_avx512
#    define h5twin_e2mc_encode_scratch_size h5twin_e2mc_encode_scratch_size_avx512
#    define h5twin_e2mc_histogram_best      h5twin_e2mc_histogram_best_avx512
#    define h5twin_e2mc_histogram_clear     h5twin_e2mc_histogram_clear_avx512
#    define h5twin_e2mc_histogram_count     h5twin_e2mc_histogram_count_avx512
#    define h5twin_e2mc_histogram_distinct  h5twin_e2mc_histogram_distinct_avx512
#    define h5twin_e2mc_histogram_list      h5twin_e2mc_histogram_list_avx512
#    define h5twin_e2mc_list16              h5twin_e2mc_list16_avx512
#    define h5twin_e2mc_or_and              h5twin_e2mc_or_and_avx512
#    define h5twin_e2mc_segment_coders      h5twin_e2mc_segment_coders_avx512
#    define h5twin_e2mc_segment_decode      h5twin_e2mc_segment_decode_avx512
#    define h5twin_e2mc_segment_encode      h5twin_e2mc_segment_encode_avx512
#    define h5twin_e2mc_take_sample         h5twin_e2mc_take_sample_avx512
#    define h5twin_e2mc_tree_code_clear     h5twin_e2mc_tree_code_clear_avx512
#    define h5twin_e2mc_tree_code_make      h5twin_e2mc_tree_code_make_avx512
#    define h5twin_e2mc_tree_code_write     h5twin_e2mc_tree_code_write_avx512
#    define h5twin_e2mc_tree_read           h5twin_e2mc_tree_read_avx512
#else
#    define h5twin_e2mc_segment_coders h5twin_e2mc_segment_coders_scalar
#endif

#endif
