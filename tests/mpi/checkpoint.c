/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint.c: h5twin_checkpoint.h over MPI.
 *
 *   checkpoint write FOLDER    two checkpoints of two fields, each process's part of its own size
 *   checkpoint read FOLDER     all of the newest one, by as many processes as there are now
 *   checkpoint fail FOLDER     the last process fails: all must hear of it, and the newest one stay
 *
 * MPI is started without threads, and called by the first thread only, though checkpoints are
 * written in the background. Exit status 0 if all is as it must be, in every process. */
#include <h5twin_checkpoint_mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    37u
#define COLUMNS 50u

static float
value_at(uint64_t step, uint64_t row, uint64_t column)
{
    return (float)step * 0.5f + (float)row - 0.25f * (float)column;
}

/* Rows of this process; with more processes than rows some have none. */
static void
split(int rank, int size, uint64_t offset[2], uint64_t count[2])
{
    offset[0] = ROWS * (uint64_t)(rank * rank) / (uint64_t)(size * size);
    count[0] = ROWS * (uint64_t)((rank + 1) * (rank + 1)) / (uint64_t)(size * size) - offset[0];
    offset[1] = 0;
    count[1] = COLUMNS;
}

static const uint64_t dims[2] = {ROWS, COLUMNS};

static struct h5twin_checkpoint_field
make_field(const uint64_t *offset, const uint64_t *count, float *values)
{
    return (struct h5twin_checkpoint_field){.name = "group/u",
                                            .type = H5TWIN_CHECKPOINT_F32,
                                            .rank = 2,
                                            .dims = dims,
                                            .offset = offset,
                                            .count = count,
                                            .values = values};
}

static int
write_step(struct h5twin_checkpoints *checkpoints, int rank, int size, uint64_t step, int fails)
{
    uint64_t offset[2], count[2];
    split(rank, size, offset, count);
    float *const values = malloc(count[0] * count[1] * sizeof *values + 1);
    for (uint64_t i = 0; i < count[0] * count[1]; i++) {
        values[i] = value_at(step, offset[0] + i / COLUMNS, i % COLUMNS);
    }
    struct h5twin_checkpoint_field field = make_field(offset, count, values);
    field.spec = fails && rank == size - 1 ? "no codec" : "cascade";
    h5twin_checkpoint_begin(checkpoints, step, (double)step);
    h5twin_checkpoint_write(checkpoints, &field);
    const int status = h5twin_checkpoint_commit(checkpoints);
    free(values);
    return status;
}

static int
read_newest(struct h5twin_checkpoints *checkpoints, int rank, int size)
{
    struct h5twin_checkpoint_info info;
    uint64_t offset[2], count[2];
    split(rank, size, offset, count);
    float *const values = malloc(count[0] * count[1] * sizeof *values + 1);
    const struct h5twin_checkpoint_field field = make_field(offset, count, values);
    int wrong = h5twin_checkpoint_restart(checkpoints, 0, &info) != 0 || info.step != 2 ||
                h5twin_checkpoint_read(checkpoints, &field) != 0;
    for (uint64_t i = 0; i < count[0] * count[1] && !wrong; i++) {
        wrong = values[i] != value_at(2, offset[0] + i / COLUMNS, i % COLUMNS);
    }
    free(values);
    return wrong;
}

/* The team's functions, which call MPI. */
static struct h5twin_checkpoint_team of_mpi;
static pthread_t first_thread;
static int calls, calls_by_others;

static void
note_call(void)
{
    calls++;
    calls_by_others += !pthread_equal(pthread_self(), first_thread);
}

static int
maximum(void *context, uint64_t *values, int count)
{
    note_call();
    return of_mpi.maximum(context, values, count);
}

static int
broadcast(void *context, void *bytes, int size, int root)
{
    note_call();
    return of_mpi.broadcast(context, bytes, size, root);
}

static int
gather(void *context, const void *bytes, int size, void *all)
{
    note_call();
    return of_mpi.gather(context, bytes, size, all);
}

int
main(int argc, char **argv)
{
    struct h5twin_checkpoint_team team;
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoints *checkpoints;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    first_thread = pthread_self();
    if (argc != 3 || h5twin_checkpoint_team_mpi(&team, MPI_COMM_WORLD) != 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    of_mpi = team;
    team.maximum = maximum;
    team.broadcast = broadcast;
    team.gather = gather;
    h5twin_checkpoint_options_init(&options);
    options.team = &team;
    options.background = strcmp(argv[1], "write") == 0;
    int wrong = h5twin_checkpoint_open(&checkpoints, argv[2], &options) != 0;
    if (strcmp(argv[1], "write") == 0) {
        wrong = wrong || write_step(checkpoints, team.rank, team.size, 1, 0) != 0 ||
                write_step(checkpoints, team.rank, team.size, 2, 0) != 0;
    } else if (strcmp(argv[1], "fail") == 0) {
        wrong = wrong || write_step(checkpoints, team.rank, team.size, 3, 1) == 0 ||
                strstr(h5twin_checkpoint_message(checkpoints), "no codec") == NULL;
        wrong = wrong || read_newest(checkpoints, team.rank, team.size);
    } else {
        wrong = wrong || read_newest(checkpoints, team.rank, team.size);
    }
    if (wrong) {
        fprintf(stderr, "process %d: %s: %s\n", team.rank, argv[1],
                h5twin_checkpoint_message(checkpoints));
    }
    wrong = h5twin_checkpoint_close(checkpoints) != 0 || wrong;
    if ((calls == 0 && team.size > 1) || calls_by_others != 0) {
        fprintf(stderr, "process %d: %d of %d calls of MPI by another thread\n", team.rank,
                calls_by_others, calls);
        wrong = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
