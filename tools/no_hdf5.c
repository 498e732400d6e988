/* SPDX-License-Identifier: BSD-3-Clause
 * no_hdf5.c: in place of what needs HDF5, in a build without it. */
#include "info.h"
#include "messages.h"
#include "repack.h"
#include "report.h"
#include "suggest.h"
#include "verify.h"

static int
refuse(const char *path)
{
    return h5twin_fail("%s is an HDF5 file, and this h5twin was built without HDF5: build it again "
                       "where HDF5 1.10.5 or newer is installed.",
                       path);
}

int
h5twin_info_hdf5(const char *path, bool quick)
{
    (void)quick;
    return refuse(path);
}

int
h5twin_sample_hdf5(struct h5twin_sample *sample, const char *path, const char *dataset,
                   size_t sample_size)
{
    (void)sample;
    (void)dataset;
    (void)sample_size;
    return refuse(path);
}

int
h5twin_verify_hdf5(const struct h5twin_verify_args *args)
{
    return refuse(args->paths[0]);
}

int
h5twin_report_hdf5(const struct h5twin_report_args *args)
{
    return refuse(args->path);
}

int
h5twin_repack_hdf5(const struct h5twin_repack_args *args)
{
    return refuse(args->src_path);
}
