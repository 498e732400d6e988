/* SPDX-License-Identifier: BSD-3-Clause
 * program_io.c: the calls behind include/h5twin_io.h. */
#include "dataset_io.h"
#include "device_io.h"
#include "device_memory.h"

/* Declared there for programs. */
H5TWIN_API int h5twin_io_write(const struct h5twin_hdf5_functions *functions, int64_t dataset,
                               int64_t mem_type, int64_t mem_space, int64_t file_space,
                               int64_t dxpl, const void *buffer, const char **why);
H5TWIN_API int h5twin_io_read(const struct h5twin_hdf5_functions *functions, int64_t dataset,
                              int64_t mem_type, int64_t mem_space, int64_t file_space, int64_t dxpl,
                              void *buffer, const char **why);

static int
answer(enum h5twin_dataset_outcome outcome)
{
    return outcome == H5TWIN_DATASET_DONE ? 1 : outcome == H5TWIN_DATASET_NATIVE ? 0 : -1;
}

int
h5twin_io_write(const struct h5twin_hdf5_functions *functions, int64_t dataset, int64_t mem_type,
                int64_t mem_space, int64_t file_space, int64_t dxpl, const void *buffer,
                const char **why)
{
    const struct h5twin_dataset_request request = {dataset, mem_type, mem_space, file_space, dxpl};
    struct h5twin_hdf5 hdf5 = {0};
    h5twin_hdf5_from_table(&hdf5, functions);
    if (h5twin_is_device_memory(buffer)) {
        return answer(h5twin_device_write_dataset(&hdf5, &request, buffer));
    }
    return answer(h5twin_dataset_write(&hdf5, &request, buffer, why));
}

int
h5twin_io_read(const struct h5twin_hdf5_functions *functions, int64_t dataset, int64_t mem_type,
               int64_t mem_space, int64_t file_space, int64_t dxpl, void *buffer, const char **why)
{
    const struct h5twin_dataset_request request = {dataset, mem_type, mem_space, file_space, dxpl};
    struct h5twin_hdf5 hdf5 = {0};
    h5twin_hdf5_from_table(&hdf5, functions);
    if (h5twin_is_device_memory(buffer)) {
        return answer(h5twin_device_read_dataset(&hdf5, &request, buffer));
    }
    return answer(h5twin_dataset_read(&hdf5, &request, buffer, why));
}
