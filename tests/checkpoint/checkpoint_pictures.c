/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint_pictures.c: a checkpoint of fields on grids, for readers of XDMF.
 *
 *   checkpoint_pictures FOLDER PROCESSES
 *
 * Fields "RANKd/f32" and "RANKd/f64" for rank 1 to 3, of 29, 29 x 17 and 29 x 17 x 40 values; value
 * number i is i / 4. A grid begins at 10 on its slowest axis, 20 and 30 on the next ones, and its
 * values are 0.5, 1.5 and 2.5 apart. Processes have slabs along the slowest axis. */
#include "fork_team.h"
#include "h5twin_checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const uint64_t dims[3] = {29, 17, 40};
static const double origin[3] = {10, 20, 30}, spacing[3] = {0.5, 1.5, 2.5};

static int
save(struct h5twin_checkpoints *checkpoints, const struct h5twin_checkpoint_team *team)
{
    const uint64_t size = (uint64_t)team->size, rank = (uint64_t)team->rank;
    static float singles[29 * 17 * 40];
    static double doubles[29 * 17 * 40];
    h5twin_checkpoint_begin(checkpoints, 3, 1.5);
    for (uint32_t axes = 1; axes <= 3; axes++) {
        const uint64_t first = dims[0] * rank / size, end = dims[0] * (rank + 1) / size;
        const uint64_t offset[3] = {first, 0, 0}, count[3] = {end - first, dims[1], dims[2]};
        uint64_t plane = 1;
        for (uint32_t axis = 1; axis < axes; axis++) {
            plane *= dims[axis];
        }
        for (uint64_t i = 0; i < count[0] * plane; i++) {
            doubles[i] = 0.25 * (double)(first * plane + i);
            singles[i] = (float)doubles[i];
        }
        char name[16];
        struct h5twin_checkpoint_field field = {.name = name,
                                                .rank = axes,
                                                .dims = dims,
                                                .offset = offset,
                                                .count = count,
                                                .origin = origin,
                                                .spacing = spacing};
        snprintf(name, sizeof name, "%ud/f32", axes);
        field.type = H5TWIN_CHECKPOINT_F32;
        field.values = singles;
        h5twin_checkpoint_write(checkpoints, &field);
        snprintf(name, sizeof name, "%ud/f64", axes);
        field.type = H5TWIN_CHECKPOINT_F64;
        field.values = doubles;
        h5twin_checkpoint_write(checkpoints, &field);
    }
    if (h5twin_checkpoint_commit(checkpoints) != 0) {
        fprintf(stderr, "%s\n", h5twin_checkpoint_message(checkpoints));
        return 1;
    }
    return 0;
}

int
main(int argc, char **argv)
{
    struct h5twin_checkpoint_team team = {.size = 1};
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoints *checkpoints;
    pid_t children[FORK_TEAM_MOST];
    if (argc != 3 || !fork_team_begin(&team, (int)strtol(argv[2], NULL, 10), children)) {
        return 2;
    }
    h5twin_checkpoint_options_init(&options);
    options.team = &team;
    int status = 1;
    if (h5twin_checkpoint_open(&checkpoints, argv[1], &options) == 0) {
        status = save(checkpoints, &team);
    } else {
        fprintf(stderr, "%s\n", h5twin_checkpoint_message(checkpoints));
    }
    h5twin_checkpoint_close(checkpoints);
    return fork_team_end(&team, children, status) + status;
}
