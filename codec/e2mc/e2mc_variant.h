/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_variant.h: the same sources, compiled once more for processors with more instructions.
 *
 * All that codes segments is compiled for the baseline and, where CMakeLists.txt defines
 * H5TWIN_E2MC_VARIANT as _avx2 or _avx512, again under other names: compilers put the loops into
 * wider vectors and shift by variable counts in one instruction. e2mc.c and what describes streams
 * exist once and choose by isa.h. */
#ifndef H5TWIN_E2MC_VARIANT_H
#define H5TWIN_E2MC_VARIANT_H

#ifdef H5TWIN_E2MC_VARIANT
#    define H5TWIN_E2MC_JOIN2(a, b)         a##b
#    define H5TWIN_E2MC_JOIN(a, b)          H5TWIN_E2MC_JOIN2(a, b)
#    define H5TWIN_E2MC_NAME(name)          H5TWIN_E2MC_JOIN(name, H5TWIN_E2MC_VARIANT)
#    define h5twin_e2mc_anchors_write       H5TWIN_E2MC_NAME(h5twin_e2mc_anchors_write)
#    define h5twin_e2mc_block_bound         H5TWIN_E2MC_NAME(h5twin_e2mc_block_bound)
#    define h5twin_e2mc_block_encode        H5TWIN_E2MC_NAME(h5twin_e2mc_block_encode)
#    define h5twin_e2mc_book_bound          H5TWIN_E2MC_NAME(h5twin_e2mc_book_bound)
#    define h5twin_e2mc_coder_init          H5TWIN_E2MC_NAME(h5twin_e2mc_coder_init)
#    define h5twin_e2mc_count16             H5TWIN_E2MC_NAME(h5twin_e2mc_count16)
#    define h5twin_e2mc_decode_full_way     H5TWIN_E2MC_NAME(h5twin_e2mc_decode_full_way)
#    define h5twin_e2mc_decode_scratch_size H5TWIN_E2MC_NAME(h5twin_e2mc_decode_scratch_size)
#    define h5twin_e2mc_decoder_flush       H5TWIN_E2MC_NAME(h5twin_e2mc_decoder_flush)
#    define h5twin_e2mc_decoder_init        H5TWIN_E2MC_NAME(h5twin_e2mc_decoder_init)
#    define h5twin_e2mc_decoder_reach       H5TWIN_E2MC_NAME(h5twin_e2mc_decoder_reach)
#    define h5twin_e2mc_delta_apply         H5TWIN_E2MC_NAME(h5twin_e2mc_delta_apply)
#    define h5twin_e2mc_delta_undo          H5TWIN_E2MC_NAME(h5twin_e2mc_delta_undo)
#    define h5twin_e2mc_encode_scratch_size H5TWIN_E2MC_NAME(h5twin_e2mc_encode_scratch_size)
#    define h5twin_e2mc_encoder_lay_out     H5TWIN_E2MC_NAME(h5twin_e2mc_encoder_lay_out)
#    define h5twin_e2mc_find_chains_decoder H5TWIN_E2MC_NAME(h5twin_e2mc_find_chains_decoder)
#    define h5twin_e2mc_find_step_decoder   H5TWIN_E2MC_NAME(h5twin_e2mc_find_step_decoder)
#    define h5twin_e2mc_find_way_decoder    H5TWIN_E2MC_NAME(h5twin_e2mc_find_way_decoder)
#    define h5twin_e2mc_histogram_best      H5TWIN_E2MC_NAME(h5twin_e2mc_histogram_best)
#    define h5twin_e2mc_histogram_clear     H5TWIN_E2MC_NAME(h5twin_e2mc_histogram_clear)
#    define h5twin_e2mc_histogram_count     H5TWIN_E2MC_NAME(h5twin_e2mc_histogram_count)
#    define h5twin_e2mc_histogram_distinct  H5TWIN_E2MC_NAME(h5twin_e2mc_histogram_distinct)
#    define h5twin_e2mc_histogram_list      H5TWIN_E2MC_NAME(h5twin_e2mc_histogram_list)
#    define h5twin_e2mc_list16              H5TWIN_E2MC_NAME(h5twin_e2mc_list16)
#    define h5twin_e2mc_or_and              H5TWIN_E2MC_NAME(h5twin_e2mc_or_and)
#    define H5TWIN_E2MC_KERNELS             H5TWIN_E2MC_NAME(h5twin_e2mc_kernels)
#    define h5twin_e2mc_segment_decode      H5TWIN_E2MC_NAME(h5twin_e2mc_segment_decode)
#    define h5twin_e2mc_segment_encode      H5TWIN_E2MC_NAME(h5twin_e2mc_segment_encode)
#    define h5twin_e2mc_take_sample         H5TWIN_E2MC_NAME(h5twin_e2mc_take_sample)
#    define h5twin_e2mc_tree_code_clear     H5TWIN_E2MC_NAME(h5twin_e2mc_tree_code_clear)
#    define h5twin_e2mc_tree_code_make      H5TWIN_E2MC_NAME(h5twin_e2mc_tree_code_make)
#    define h5twin_e2mc_tree_code_write     H5TWIN_E2MC_NAME(h5twin_e2mc_tree_code_write)
#    define h5twin_e2mc_tree_read           H5TWIN_E2MC_NAME(h5twin_e2mc_tree_read)
#else
#    define H5TWIN_E2MC_KERNELS h5twin_e2mc_kernels_scalar
#endif

#endif
