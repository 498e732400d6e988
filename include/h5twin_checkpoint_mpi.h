/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_checkpoint_mpi.h: a team for h5twin_checkpoint.h of the processes of an MPI communicator.
 *
 *     struct h5twin_checkpoint_team team;
 *     if (h5twin_checkpoint_team_mpi(&team, MPI_COMM_WORLD) == 0) {
 *         options.team = &team;
 *         h5twin_checkpoint_open(&checkpoints, "out", &options);
 *     }
 *
 * All is in this header: the library knows no MPI, and one build of it serves any. HDF5 need not be
 * a parallel one. MPI is called from the calling thread only, so MPI_THREAD_SINGLE suffices. */
#ifndef H5TWIN_CHECKPOINT_MPI_H
#define H5TWIN_CHECKPOINT_MPI_H

#include "h5twin_checkpoint.h"

#include <mpi.h>
#include <stdlib.h>

static inline int
h5twin_checkpoint_mpi_maximum(void *context, uint64_t *values, int count)
{
    return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_MAX,
                         *(MPI_Comm *)context) != MPI_SUCCESS;
}

static inline int
h5twin_checkpoint_mpi_broadcast(void *context, void *bytes, int size, int root)
{
    return MPI_Bcast(bytes, size, MPI_BYTE, root, *(MPI_Comm *)context) != MPI_SUCCESS;
}

static inline int
h5twin_checkpoint_mpi_gather(void *context, const void *bytes, int size, void *all)
{
    return MPI_Gather(bytes, size, MPI_BYTE, all, size, MPI_BYTE, 0, *(MPI_Comm *)context) !=
           MPI_SUCCESS;
}

static inline void
h5twin_checkpoint_mpi_release(void *context)
{
    MPI_Comm_free((MPI_Comm *)context);
    free(context);
}

/* Collective. The team has a communicator of its own, which h5twin_checkpoint_close() frees: close
 * before MPI_Finalize(). 0, or an error of MPI. */
static inline int
h5twin_checkpoint_team_mpi(struct h5twin_checkpoint_team *team, MPI_Comm communicator)
{
    MPI_Comm *const own = (MPI_Comm *)malloc(sizeof *own);
    if (own == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int status = MPI_Comm_dup(communicator, own);
    if (status != MPI_SUCCESS) {
        free(own);
        return status;
    }
    const struct h5twin_checkpoint_team none = {0, 0, NULL, NULL, NULL, NULL, NULL, {0, 0, 0, 0}};
    *team = none;
    team->context = own;
    team->maximum = h5twin_checkpoint_mpi_maximum;
    team->broadcast = h5twin_checkpoint_mpi_broadcast;
    team->gather = h5twin_checkpoint_mpi_gather;
    team->release = h5twin_checkpoint_mpi_release;
    status = MPI_Comm_rank(*own, &team->rank);
    return status != MPI_SUCCESS ? status : MPI_Comm_size(*own, &team->size);
}

#endif
