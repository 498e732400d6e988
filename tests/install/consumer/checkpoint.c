/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint.c: a program of somebody else that checkpoints through an installed h5twin. */
#include <h5twin_checkpoint.h>

#include <stdio.h>

int
main(int argc, char **argv)
{
    struct h5twin_checkpoints *checkpoints;
    double values[1000], back[1000] = {0};
    const uint64_t dims[1] = {1000};
    struct h5twin_checkpoint_field field = {
        .name = "u", .type = H5TWIN_CHECKPOINT_F64, .rank = 1, .dims = dims, .values = values};
    for (int i = 0; i < 1000; i++) {
        values[i] = 0.5 * i;
    }
    int status = argc != 2 || h5twin_checkpoint_open(&checkpoints, argv[1], NULL) != 0 ||
                 h5twin_checkpoint_begin(checkpoints, 1, 0) != 0 ||
                 h5twin_checkpoint_write(checkpoints, &field) != 0 ||
                 h5twin_checkpoint_commit(checkpoints) != 0 ||
                 h5twin_checkpoint_restart(checkpoints, 0, NULL) != 0;
    field.values = back;
    status = status || h5twin_checkpoint_read(checkpoints, &field) != 0 || back[999] != values[999];
    if (status) {
        fprintf(stderr, "%s\n", h5twin_checkpoint_message(checkpoints));
    }
    return h5twin_checkpoint_close(checkpoints) != 0 || status;
}
