/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_io.h: H5Dwrite and H5Dread that code the chunks of a call on all cores.
 *
 *     h5twin_write(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, values);
 *     h5twin_read(dataset, H5T_NATIVE_FLOAT, mem_space, file_space, values);
 *
 * They take the same arguments as H5Dwrite and H5Dread, and do the same in the file and in memory.
 * They are faster where a filter of h5twin is the dataset's only one, the selection is a box of two
 * whole chunks or more, and memory has the dataset's type. Everything else is left to H5Dwrite and
 * H5Dread, so these calls can replace them everywhere. Threads are those of h5twin.h
 * (H5TWIN_NUM_THREADS, else OMP_NUM_THREADS, else the cores). Only the calling thread calls HDF5,
 * so these calls are as safe among threads as HDF5's own.
 *
 * The array may be in the memory of a GPU (cudaMalloc), if the program has loaded CUDA: then it
 * goes through the host's memory in pieces of about 64 MiB, and the chunks are coded there. With
 * H5TWIN_DEVICE=gpu and a library that was built with CUDA they are coded on the GPU, in batches,
 * and only chunks cross the bus (h5twin_cuda_write_chunks): the same bytes. Where a write covers
 * a chunk in part, the CPU decodes what is stored. Small boxes that HDF5's chunk cache may keep are
 * left to the host: writes without a whole chunk, and reads up to 1 MiB. In either case calls wait
 * for the default stream, as cudaMemcpy does. Work of other streams on the array must have ended
 * before.
 *
 * In a file that is open through MPI-IO, h5twin_write_with() with a collective transfer property
 * list makes HDF5's own collective call, and codes this process's whole chunks on its threads
 * meanwhile. HDF5 takes values for that from the host's memory, so an array of a GPU goes there in
 * one piece. From then on HDF5 uses this library's filter for the number of the dataset's, also if
 * it had loaded a plugin before. Reads and independent writes are left to HDF5.
 *
 * Include it after or instead of hdf5.h, and link libh5twin. The filters must be known to HDF5, by
 * their plugins or by h5twin_hdf5_register(), for the calls that are left to it. */
#ifndef H5TWIN_IO_H
#define H5TWIN_IO_H

#include "h5twin_hdf5.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the calls below need. `functions` are those of the HDF5 that the identifiers belong to.
 * Returns 1 if all is done. 0: the caller must make HDF5's own call, with the same arguments; *why,
 * if why is not NULL, is a constant phrase that says why. -1: HDF5 has failed, and its error stack
 * says why. */
H5TWIN_API int h5twin_io_write(const struct h5twin_hdf5_functions *functions, int64_t dataset,
                               int64_t mem_type, int64_t mem_space, int64_t file_space,
                               int64_t dxpl, const void *buffer, const char **why);
H5TWIN_API int h5twin_io_read(const struct h5twin_hdf5_functions *functions, int64_t dataset,
                              int64_t mem_type, int64_t mem_space, int64_t file_space, int64_t dxpl,
                              void *buffer, const char **why);

/* How many bytes of decoded chunks this process keeps for the next read of a part of one (a plane,
 * a point). Without this call it is the variable H5TWIN_KEPT_BYTES, or 256 MiB if that is not set.
 * 0 keeps none. Chunks beyond the new limit are given back at once. */
H5TWIN_API void h5twin_io_keep_chunks(size_t bytes);

/* Give back the memory of all of them. The connector does with the last file that is closed; the
 * calls below do not know when a program has read what it wants. */
H5TWIN_API void h5twin_io_forget_chunks(void);

/* H5Dwrite. */
static inline herr_t
h5twin_write_with(hid_t dataset, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                  const void *buffer)
{
    struct h5twin_hdf5_functions functions;
    h5twin_hdf5_linked(&functions);
    const int done =
        h5twin_io_write(&functions, dataset, mem_type, mem_space, file_space, dxpl, buffer, NULL);
    return done != 0 ? (done > 0 ? 0 : -1)
                     : H5Dwrite(dataset, mem_type, mem_space, file_space, dxpl, buffer);
}

/* H5Dread. */
static inline herr_t
h5twin_read_with(hid_t dataset, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                 void *buffer)
{
    struct h5twin_hdf5_functions functions;
    h5twin_hdf5_linked(&functions);
    const int done =
        h5twin_io_read(&functions, dataset, mem_type, mem_space, file_space, dxpl, buffer, NULL);
    return done != 0 ? (done > 0 ? 0 : -1)
                     : H5Dread(dataset, mem_type, mem_space, file_space, dxpl, buffer);
}

/* With the default transfer property list. */
static inline herr_t
h5twin_write(hid_t dataset, hid_t mem_type, hid_t mem_space, hid_t file_space, const void *buffer)
{
    return h5twin_write_with(dataset, mem_type, mem_space, file_space, H5P_DEFAULT, buffer);
}

static inline herr_t
h5twin_read(hid_t dataset, hid_t mem_type, hid_t mem_space, hid_t file_space, void *buffer)
{
    return h5twin_read_with(dataset, mem_type, mem_space, file_space, H5P_DEFAULT, buffer);
}

#ifdef __cplusplus
}
#endif
#endif
