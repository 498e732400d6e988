/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_fortran.c: what the Fortran module (h5twin.f90) calls: h5twin_hdf5.h and h5twin_io.h,
 * whose functions are inline. Compiled with the HDF5 that programs link; strings end with a zero,
 * results are negative after a failure. */
#include "h5twin_io.h"

#include <stdio.h>

int h5twin_fortran_set(int64_t dcpl, const char *spec);
int h5twin_fortran_spec(int64_t dataset, char *text, size_t capacity);
int h5twin_fortran_check(const char *spec);
int h5twin_fortran_register(void);
int h5twin_fortran_write(int64_t dataset, int64_t mem_type, int64_t mem_space, int64_t file_space,
                         int64_t dxpl, const void *buffer);
int h5twin_fortran_read(int64_t dataset, int64_t mem_type, int64_t mem_space, int64_t file_space,
                        int64_t dxpl, void *buffer);
void h5twin_fortran_message(char *text, size_t capacity);

_Static_assert(sizeof(hid_t) == sizeof(int64_t), "HDF5 1.10 or later");

int
h5twin_fortran_set(int64_t dcpl, const char *spec)
{
    return H5Pset_h5twin(dcpl, spec) < 0 ? -1 : 0;
}

int
h5twin_fortran_spec(int64_t dataset, char *text, size_t capacity)
{
    struct h5twin_params params;
    if (h5twin_hdf5_params(dataset, &params) < 0) {
        return -1;
    }
    return h5twin_params_format(&params, text, capacity) < capacity ? 0 : -1;
}

int
h5twin_fortran_check(const char *spec)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    return h5twin_params_parse(&params, spec, NULL) == H5TWIN_OK &&
                   h5twin_params_check(&params) == H5TWIN_OK
               ? 0
               : -1;
}

int
h5twin_fortran_register(void)
{
    return h5twin_hdf5_register() < 0 ? -1 : 0;
}

/* Those of a shared HDF5, whichever this file was compiled with: one with MPI has more. */
static void
find_functions(struct h5twin_hdf5_functions *functions)
{
    const void *address;
    herr_t (*const any)(void) = H5open;
    memcpy(&address, &any, sizeof address); /* C has no conversion */
    memset(functions, 0, sizeof *functions);
    functions->size = sizeof *functions;
    if (h5twin_hdf5_find(functions, address) != H5TWIN_OK || functions->H5Dwrite_chunk == NULL) {
        h5twin_hdf5_linked(functions);
    }
}

int
h5twin_fortran_write(int64_t dataset, int64_t mem_type, int64_t mem_space, int64_t file_space,
                     int64_t dxpl, const void *buffer)
{
    struct h5twin_hdf5_functions functions;
    find_functions(&functions);
    const int done =
        h5twin_io_write(&functions, dataset, mem_type, mem_space, file_space, dxpl, buffer, NULL);
    return done != 0 ? (done > 0 ? 0 : -1)
                     : H5Dwrite(dataset, mem_type, mem_space, file_space, dxpl, buffer);
}

int
h5twin_fortran_read(int64_t dataset, int64_t mem_type, int64_t mem_space, int64_t file_space,
                    int64_t dxpl, void *buffer)
{
    struct h5twin_hdf5_functions functions;
    find_functions(&functions);
    const int done =
        h5twin_io_read(&functions, dataset, mem_type, mem_space, file_space, dxpl, buffer, NULL);
    return done != 0 ? (done > 0 ? 0 : -1)
                     : H5Dread(dataset, mem_type, mem_space, file_space, dxpl, buffer);
}

/* ---- errors ---- */

struct sentence {
    char *text;
    size_t capacity;
};

/* That of the function that failed first. */
static herr_t
take_sentence(unsigned depth, const H5E_error2_t *error, void *context)
{
    struct sentence *const sentence = context;
    (void)depth;
    if (sentence->text[0] == '\0' && error->desc != NULL &&
        strncmp(error->desc, "h5twin", 6) == 0) {
        snprintf(sentence->text, sentence->capacity, "%s", error->desc);
    }
    return 0;
}

void
h5twin_fortran_message(char *text, size_t capacity)
{
    struct sentence sentence = {text, capacity};
    text[0] = '\0';
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_sentence, &sentence);
}
