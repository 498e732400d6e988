/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint_run.c: a simulation whose state at every step is known, for tests that kill it, fill
 * its disk, or damage its checkpoints.
 *
 *   checkpoint_run write FOLDER [--steps N] [--side N] [--processes N] [--keep N] [--background]
 *                               [--verify] [--again] [--fail-at STEP] [--fail-rank RANK]
 *       goes on from the newest checkpoint, with --again by the same step once more; a line
 * "committed STEP" after each that is complete (in the background: that is begun), "failed STEP:
 * MESSAGE" after each that is not checkpoint_run check FOLDER [--processes N] [--all] reads the
 * newest checkpoint and compares all of it: "step STEP serial SERIAL", or "none"; exit status 1 if
 * something differs or cannot be read; with --all, of all that are there, whose number is the last
 * word: "step STEP serial SERIAL of NUMBER"
 *
 * With --processes N the processes are forked, and have slabs of the fields. Compiled with
 * -DCHECKPOINT_RUN_MPI they are those of MPI. */
#ifdef CHECKPOINT_RUN_MPI
#    include "h5twin_checkpoint_mpi.h"
#else
#    include "fork_team.h"
#endif
#include "h5twin_checkpoint.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    const char *folder;
    uint64_t steps, fail_at;
    uint64_t side;
    int processes, fail_rank;
    bool again, all;
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoint_team team;
};

/* The state: what a value is at a step. */
static double
pressure(uint64_t step, uint64_t index)
{
    return (double)((step + 1) * (index % 1009)) / 7.0 + (double)index;
}

static int32_t
marker(uint64_t step, uint64_t index)
{
    return (int32_t)((index * 2654435761u + step) >> 8);
}

struct state {
    uint64_t dims[3], offset[3], count[3];
    uint64_t values;
    double *pressure;
    int32_t *marker;
};

/* This process's slab, in the slowest dim. */
static bool
make_state(struct state *state, uint64_t side, const struct h5twin_checkpoint_team *team)
{
    const uint64_t size = (uint64_t)team->size, rank = (uint64_t)team->rank;
    *state = (struct state){.dims = {side + 3, side, side + 1}};
    state->offset[0] = state->dims[0] * rank / size;
    state->count[0] = state->dims[0] * (rank + 1) / size - state->offset[0];
    state->count[1] = side;
    state->count[2] = side + 1;
    state->values = state->count[0] * state->count[1] * state->count[2];
    state->pressure = malloc((size_t)state->values * sizeof *state->pressure + 1);
    state->marker = malloc((size_t)state->values * sizeof *state->marker + 1);
    return state->pressure != NULL && state->marker != NULL;
}

static uint64_t
first_index(const struct state *state)
{
    return state->offset[0] * state->dims[1] * state->dims[2];
}

static void
set_state(struct state *state, uint64_t step)
{
    const uint64_t first = first_index(state);
    for (uint64_t i = 0; i < state->values; i++) {
        state->pressure[i] = pressure(step, first + i);
        state->marker[i] = marker(step, first + i);
    }
}

static bool
is_state(const struct state *state, uint64_t step)
{
    const uint64_t first = first_index(state);
    for (uint64_t i = 0; i < state->values; i++) {
        const double expected = pressure(step, first + i);
        if (memcmp(&state->pressure[i], &expected, sizeof expected) != 0 ||
            state->marker[i] != marker(step, first + i)) {
            return false;
        }
    }
    return true;
}

static struct h5twin_checkpoint_field
field_of(const struct state *state, const char *name)
{
    struct h5twin_checkpoint_field field = {
        .name = name,
        .type = H5TWIN_CHECKPOINT_F64,
        .rank = 3,
        .dims = state->dims,
        .offset = state->offset,
        .count = state->count,
        .values = state->pressure,
        .spec = "ndzip",
    };
    if (strcmp(name, "marker") == 0) {
        field.type = H5TWIN_CHECKPOINT_I32;
        field.values = state->marker;
        field.spec = "sleek";
    }
    return field;
}

/* ---- check ---- */

static bool
read_state(struct h5twin_checkpoints *checkpoints, struct state *state)
{
    const struct h5twin_checkpoint_field p = field_of(state, "flow/pressure");
    const struct h5twin_checkpoint_field m = field_of(state, "marker");
    return h5twin_checkpoint_read(checkpoints, &p) == H5TWIN_CHECKPOINT_OK &&
           h5twin_checkpoint_read(checkpoints, &m) == H5TWIN_CHECKPOINT_OK;
}

/* 0: the open checkpoint is as it was written. */
static int
check_open(struct h5twin_checkpoints *checkpoints, struct state *state, int rank,
           const struct h5twin_checkpoint_info *found)
{
    uint64_t twice = 0;
    char name[16] = "";
    if (!read_state(checkpoints, state)) {
        fprintf(stderr, "process %d: %s\n", rank, h5twin_checkpoint_message(checkpoints));
        return 1;
    }
    if (!is_state(state, found->step) || found->time != 0.5 * (double)found->step ||
        h5twin_checkpoint_read_attribute(checkpoints, "twice", H5TWIN_CHECKPOINT_U64, 1, &twice) !=
            H5TWIN_CHECKPOINT_OK ||
        twice != 2 * found->step ||
        h5twin_checkpoint_read_text(checkpoints, "model", name, sizeof name) !=
            H5TWIN_CHECKPOINT_OK ||
        strcmp(name, "a model") != 0) {
        fprintf(stderr, "process %d: checkpoint %" PRIu64 " differs from what was written\n", rank,
                found->serial);
        return 1;
    }
    h5twin_checkpoint_restart_end(checkpoints);
    return 0;
}

/* 0: the newest checkpoint is as it was written, or there is none. */
static int
check(struct h5twin_checkpoints *checkpoints, struct state *state, int rank,
      struct h5twin_checkpoint_info *found)
{
    const enum h5twin_checkpoint_status status = h5twin_checkpoint_restart(checkpoints, 0, found);
    if (status == H5TWIN_CHECKPOINT_NONE) {
        found->serial = 0;
        return 0;
    }
    if (status != H5TWIN_CHECKPOINT_OK) {
        fprintf(stderr, "process %d: %s\n", rank, h5twin_checkpoint_message(checkpoints));
        return 1;
    }
    return check_open(checkpoints, state, rank, found);
}

/* 0: all files that have the name of a complete checkpoint are one, as it was written. */
static int
check_all(struct h5twin_checkpoints *checkpoints, struct state *state, int rank, size_t *count)
{
    struct h5twin_checkpoint_info infos[64];
    if (h5twin_checkpoint_list(checkpoints, infos, 64, count) != H5TWIN_CHECKPOINT_OK ||
        *count > 64) {
        return 1;
    }
    for (size_t i = 0; i < *count; i++) {
        struct h5twin_checkpoint_info found;
        if (h5twin_checkpoint_select(checkpoints, infos[i].serial, &found) !=
            H5TWIN_CHECKPOINT_OK) {
            fprintf(stderr, "process %d: %s\n", rank, h5twin_checkpoint_message(checkpoints));
            return 1;
        }
        if (check_open(checkpoints, state, rank, &found) != 0) {
            return 1;
        }
    }
    return 0;
}

/* ---- write ---- */

static int
save(struct run *run, struct h5twin_checkpoints *checkpoints, const struct state *state,
     uint64_t step)
{
    const bool is_first = run->team.rank == 0;
    const uint64_t twice = 2 * step;
    const struct h5twin_checkpoint_field p = field_of(state, "flow/pressure");
    struct h5twin_checkpoint_field m = field_of(state, "marker");
    if (step == run->fail_at && run->team.rank == run->fail_rank) {
        m.spec = "sleek:no=option";
    }
    const bool has_begun = h5twin_checkpoint_begin(checkpoints, step, 0.5 * (double)step) == 0;
    if (!has_begun && is_first) {
        printf("failed: %s\n", h5twin_checkpoint_message(checkpoints));
    }
    h5twin_checkpoint_write(checkpoints, &p);
    h5twin_checkpoint_write(checkpoints, &m);
    h5twin_checkpoint_write_attribute(checkpoints, "twice", H5TWIN_CHECKPOINT_U64, 1, &twice);
    h5twin_checkpoint_write_text(checkpoints, "model", "a model");
    const enum h5twin_checkpoint_status status = h5twin_checkpoint_commit(checkpoints);
    if (is_first && status == H5TWIN_CHECKPOINT_OK) {
        printf("committed %" PRIu64 "\n", step);
    } else if (is_first) {
        printf("failed %" PRIu64 ": %s\n", step, h5twin_checkpoint_message(checkpoints));
    }
    fflush(stdout);
    return !has_begun || status != H5TWIN_CHECKPOINT_OK;
}

static int
simulate(struct run *run, struct h5twin_checkpoints *checkpoints, struct state *state)
{
    struct h5twin_checkpoint_info found;
    if (check(checkpoints, state, run->team.rank, &found) != 0) {
        return 1;
    }
    const uint64_t newest = found.serial == 0 ? 0 : found.step;
    const uint64_t begin = run->again && newest > 0 ? newest - 1 : newest;
    int failures = 0;
    for (uint64_t step = begin + 1; step <= begin + run->steps; step++) {
        set_state(state, step);
        failures += save(run, checkpoints, state, step);
        set_state(state, 12345); /* what was given may change */
    }
    return failures > 0 ? 3 : 0;
}

static int
go(struct run *run, bool is_write)
{
    struct h5twin_checkpoints *checkpoints;
    struct state state;
    run->options.team = &run->team;
    run->options.read_only = !is_write;
    int status = 1;
    if (h5twin_checkpoint_open(&checkpoints, run->folder, &run->options) != 0 ||
        !make_state(&state, run->side, &run->team)) {
        fprintf(stderr, "%s\n", h5twin_checkpoint_message(checkpoints));
        h5twin_checkpoint_close(checkpoints);
        return 1;
    }
    if (is_write) {
        status = simulate(run, checkpoints, &state);
    } else {
        struct h5twin_checkpoint_info found;
        size_t count = 0;
        status = check(checkpoints, &state, run->team.rank, &found);
        if (status == 0 && run->all) {
            status = check_all(checkpoints, &state, run->team.rank, &count);
        }
        if (status == 0 && run->team.rank == 0 && found.serial == 0) {
            puts("none");
        } else if (status == 0 && run->team.rank == 0) {
            printf("step %" PRIu64 " serial %" PRIu64, found.step, found.serial);
            run->all ? printf(" of %zu\n", count) : printf("\n");
        }
    }
    const bool is_waited_for = h5twin_checkpoint_wait(checkpoints) == 0;
    if (!is_waited_for && run->team.rank == 0) {
        printf("failed: %s\n", h5twin_checkpoint_message(checkpoints));
    }
    if ((h5twin_checkpoint_close(checkpoints) != 0 || !is_waited_for) && status == 0) {
        status = 3;
    }
    free(state.pressure);
    free(state.marker);
    return status;
}

int
main(int argc, char **argv)
{
    static const struct option names[] = {
        {"steps", required_argument, NULL, 's'},
        {"side", required_argument, NULL, 'n'},
        {"processes", required_argument, NULL, 'p'},
        {"keep", required_argument, NULL, 'k'},
        {"background", no_argument, NULL, 'b'},
        {"verify", no_argument, NULL, 'v'},
        {"again", no_argument, NULL, 'a'},
        {"all", no_argument, NULL, 'l'},
        {"fail-at", required_argument, NULL, 'f'},
        {"fail-rank", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    struct run run = {.steps = 3, .side = 20, .processes = 1, .team = {.size = 1}};
    h5twin_checkpoint_options_init(&run.options);
    for (int name; (name = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (name) {
        case 's':
            run.steps = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            run.side = strtoull(optarg, NULL, 10);
            break;
        case 'p':
            run.processes = (int)strtol(optarg, NULL, 10);
            break;
        case 'k':
            run.options.keep = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            run.options.background = true;
            break;
        case 'v':
            run.options.verify = true;
            break;
        case 'a':
            run.again = true;
            break;
        case 'l':
            run.all = true;
            break;
        case 'f':
            run.fail_at = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            run.fail_rank = (int)strtol(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    }
    if (optind + 2 != argc) {
        return 2;
    }
    const bool is_write = strcmp(argv[optind], "write") == 0;
    run.folder = argv[optind + 1];
#ifdef CHECKPOINT_RUN_MPI
    MPI_Init(&argc, &argv);
    if (h5twin_checkpoint_team_mpi(&run.team, MPI_COMM_WORLD) != 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int status = go(&run, is_write);
    MPI_Finalize();
    return status;
#else
    pid_t children[FORK_TEAM_MOST];
    if (!fork_team_begin(&run.team, run.processes, children)) {
        return 2;
    }
    const struct h5twin_checkpoint_team team = run.team;
    const int status = go(&run, is_write);
    run.team = team;
    const int others = fork_team_end(&run.team, children, status);
    return status != 0 ? status : others > 0 ? 1 : 0;
#endif
}
