/* SPDX-License-Identifier: BSD-3-Clause
 * gray_scott.c: a simulation that checkpoints through h5twin.
 *
 * Each checkpoint holds the state in double, without loss, to go on from bit for bit, and copies
 * for analysis in float, each within its own bound. Threads of OpenMP share the work of a process;
 * built with -DGRAY_SCOTT_MPI and an MPI compiler, processes share the cube, and any number of them
 * goes on from what any other number wrote. */
#include "gray_scott_solver.h"

#include <h5twin.h>
#include <h5twin_checkpoint.h>
#ifdef GRAY_SCOTT_MPI
#    include <h5twin_checkpoint_mpi.h>
#endif

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SPEC_U "cascade"
#define DEFAULT_SPEC_V "cascade"

struct options {
    uint64_t side, keep, steps, every, restart;
    const char *folder, *spec_u, *spec_v;
    bool background, compare, go_on, overwrite;
};

static const char usage[] =
    "usage: gray_scott [OPTION]...\n"
    "Solve the Gray-Scott model in a cube and write HDF5 checkpoints through h5twin.\n\n"
    "  --side N        cells per axis (96)\n"
    "  --steps N       last step (1200)\n"
    "  --every N       a checkpoint every N steps (300)\n"
    "  --keep N        keep the newest N checkpoints (3)\n"
    "  --folder PATH   where they go (.)\n"
    "  --continue      go on from the newest checkpoint that is there\n"
    "  --restart N     go on from the checkpoint with this serial number\n"
    "  --overwrite     begin a new run where checkpoints of another one are\n"
    "  --background    do not wait for the disk\n"
    "  --u SPEC        codec of the exact state of U (" DEFAULT_SPEC_U ")\n"
    "  --v SPEC        codec of the exact state of V (" DEFAULT_SPEC_V ")\n"
    "  --compare       at the end, show what every codec makes of the state\n";

/* ---- processes ---- */

struct processes {
    int rank, size;
#ifdef GRAY_SCOTT_MPI
    struct h5twin_checkpoint_team team;
#endif
};

static void
begin_processes(struct processes *processes, int *argc, char ***argv)
{
    *processes = (struct processes){.size = 1};
#ifdef GRAY_SCOTT_MPI
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &processes->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes->size);
    if (h5twin_checkpoint_team_mpi(&processes->team, MPI_COMM_WORLD) != 0) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
#else
    (void)argc;
    (void)argv;
#endif
}

static void
end_processes(void)
{
#ifdef GRAY_SCOTT_MPI
    MPI_Finalize();
#endif
}

/* The planes beside the slab are its neighbours'. */
static void
exchange_ghosts(const struct gray_scott *sim, const struct processes *processes, double *field)
{
    if (processes->size == 1) {
        gray_scott_wrap(sim, field);
        return;
    }
#ifdef GRAY_SCOTT_MPI
    const int plane = (int)(sim->side * sim->side);
    const int less = (processes->rank + processes->size - 1) % processes->size;
    const int more = (processes->rank + 1) % processes->size;
    double *const inside = gray_scott_inside(sim, field);
    double *const last = inside + (sim->planes - 1) * (size_t)plane;
    MPI_Sendrecv(last, plane, MPI_DOUBLE, more, 0, field, plane, MPI_DOUBLE, less, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(inside, plane, MPI_DOUBLE, less, 1, last + plane, plane, MPI_DOUBLE, more, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
}

static uint64_t
sum_of_all(uint64_t number)
{
#ifdef GRAY_SCOTT_MPI
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
#endif
    return number;
}

/* ---- what a checkpoint holds ---- */

struct analysis {
    float *u, *v, *gradient;
};

static void
free_analysis(struct analysis *analysis)
{
    free(analysis->u);
    free(analysis->v);
    free(analysis->gradient);
}

static bool
make_analysis(struct analysis *analysis, const struct gray_scott *sim)
{
    const size_t cells = sim->planes * sim->side * sim->side;
    const double *const u = gray_scott_inside(sim, sim->u), *const v =
                                                                gray_scott_inside(sim, sim->v);
    *analysis = (struct analysis){
        .u = malloc(cells * sizeof(float)),
        .v = malloc(cells * sizeof(float)),
        .gradient = malloc(3 * cells * sizeof(float)),
    };
    if (analysis->u == NULL || analysis->v == NULL || analysis->gradient == NULL) {
        free_analysis(analysis);
        return false;
    }
    for (size_t cell = 0; cell < cells; cell++) {
        analysis->u[cell] = (float)u[cell];
        analysis->v[cell] = (float)v[cell];
    }
    gray_scott_gradient(sim, analysis->gradient);
    return true;
}

/* The extents of a slab, in the file and in memory. */
struct slab {
    uint64_t dims[4], offset[4], count[4], memory[4], ghosts[4];
};

static struct slab
slab_of(const struct gray_scott *sim)
{
    const uint64_t side = sim->side;
    return (struct slab){
        .dims = {side, side, side, 3},
        .offset = {sim->first, 0, 0, 0},
        .count = {sim->planes, side, side, 3},
        .memory = {sim->planes + 2, side, side, 3},
        .ghosts = {1, 0, 0, 0},
    };
}

/* The state, whose arrays have ghost planes. */
static struct h5twin_checkpoint_field
state_field(const struct slab *slab, const char *name, double *values, const char *spec)
{
    return (struct h5twin_checkpoint_field){.name = name,
                                            .type = H5TWIN_CHECKPOINT_F64,
                                            .rank = 3,
                                            .dims = slab->dims,
                                            .offset = slab->offset,
                                            .count = slab->count,
                                            .memory_dims = slab->memory,
                                            .memory_offset = slab->ghosts,
                                            .values = values,
                                            .spec = spec};
}

static struct h5twin_checkpoint_field
analysis_field(const struct slab *slab, const char *name, float *values, uint32_t rank,
               const char *spec)
{
    return (struct h5twin_checkpoint_field){.name = name,
                                            .type = H5TWIN_CHECKPOINT_F32,
                                            .rank = rank,
                                            .dims = slab->dims,
                                            .offset = slab->offset,
                                            .count = slab->count,
                                            .values = values,
                                            .spec = spec,
                                            .may_lose = true};
}

static void
write_parameters(struct h5twin_checkpoints *checkpoints, const struct gray_scott *sim,
                 uint64_t hash)
{
    const uint64_t side = sim->side;
    h5twin_checkpoint_write_attribute(checkpoints, "side", H5TWIN_CHECKPOINT_U64, 1, &side);
    h5twin_checkpoint_write_attribute(checkpoints, "state_hash", H5TWIN_CHECKPOINT_U64, 1, &hash);
    h5twin_checkpoint_write_attribute(checkpoints, "Du_Dv_F_k_dt", H5TWIN_CHECKPOINT_F64, 5,
                                      (const double[]){sim->model.diffusion_u,
                                                       sim->model.diffusion_v, sim->model.feed,
                                                       sim->model.kill, sim->model.time_step});
}

/* Ghost planes must be those of the state, for the gradient. */
static bool
save(struct h5twin_checkpoints *checkpoints, const struct options *options,
     const struct gray_scott *sim, const struct processes *processes)
{
    struct analysis analysis;
    const uint64_t hash = sum_of_all(gray_scott_hash(sim));
    const struct slab slab = slab_of(sim);
    if (!make_analysis(&analysis, sim)) {
        fputs("gray_scott: no memory for a checkpoint\n", stderr);
        exit(EXIT_FAILURE); /* the other processes would wait */
    }
    const struct h5twin_checkpoint_field fields[] = {
        state_field(&slab, "restart/U", sim->u, options->spec_u),
        state_field(&slab, "restart/V", sim->v, options->spec_v),
        analysis_field(&slab, "analysis/U", analysis.u, 3, "lattice:abs=1e-3"),
        analysis_field(&slab, "analysis/V", analysis.v, 3, "lattice:abs=1e-4"),
        analysis_field(&slab, "analysis/V_relative", analysis.v, 3, "sleek:noa=1e-3"),
        analysis_field(&slab, "analysis/V_gradient", analysis.gradient, 4, "lattice:abs=1e-4"),
    };
    const bool has_begun = h5twin_checkpoint_begin(checkpoints, sim->step, (double)sim->step) == 0;
    if (!has_begun && processes->rank == 0) {
        fprintf(stderr, "gray_scott: %s\n", h5twin_checkpoint_message(checkpoints));
    }
    write_parameters(checkpoints, sim, hash);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        h5twin_checkpoint_write(checkpoints, &fields[i]);
    }
    const bool saved = h5twin_checkpoint_commit(checkpoints) == 0;
    if (processes->rank == 0 && saved) {
        printf("checkpoint of step %" PRIu64 "\n", sim->step);
    } else if (processes->rank == 0) {
        fprintf(stderr, "gray_scott: %s\n", h5twin_checkpoint_message(checkpoints));
    }
    free_analysis(&analysis);
    return saved && has_begun;
}

/* ---- where it begins ---- */

static bool
init_slab(struct gray_scott *sim, uint64_t side, const struct processes *processes)
{
    const uint64_t size = (uint64_t)processes->size, rank = (uint64_t)processes->rank;
    const uint64_t first = side * rank / size, end = side * (rank + 1) / size;
    if (side < size) {
        fputs("gray_scott: more processes than planes\n", stderr);
        return false;
    }
    if (!gray_scott_init(sim, (size_t)side, (size_t)first, (size_t)(end - first))) {
        fputs("gray_scott: not enough memory\n", stderr);
        return false;
    }
    return true;
}

/* From the open checkpoint. */
static bool
load(struct h5twin_checkpoints *checkpoints, const struct processes *processes,
     const struct h5twin_checkpoint_info *info, struct gray_scott *sim)
{
    uint64_t side = 0, hash = 0;
    double model[5];
    if (h5twin_checkpoint_read_attribute(checkpoints, "side", H5TWIN_CHECKPOINT_U64, 1, &side) ||
        h5twin_checkpoint_read_attribute(checkpoints, "state_hash", H5TWIN_CHECKPOINT_U64, 1,
                                         &hash) ||
        h5twin_checkpoint_read_attribute(checkpoints, "Du_Dv_F_k_dt", H5TWIN_CHECKPOINT_F64, 5,
                                         model) ||
        side < 3 || side > 4096 || !init_slab(sim, side, processes)) {
        return false;
    }
    const struct slab slab = slab_of(sim);
    const struct h5twin_checkpoint_field u = state_field(&slab, "restart/U", sim->u, NULL);
    const struct h5twin_checkpoint_field v = state_field(&slab, "restart/V", sim->v, NULL);
    sim->model = (struct gray_scott_model){model[0], model[1], model[2], model[3], model[4]};
    sim->step = info->step;
    const bool is_read = h5twin_checkpoint_read(checkpoints, &u) == 0 &&
                         h5twin_checkpoint_read(checkpoints, &v) == 0;
    /* All processes, or none: a damaged part is one process's. */
    const bool is_whole = sum_of_all(is_read ? 0 : 1) == 0;
    if (!is_whole || sum_of_all(gray_scott_hash(sim)) != hash) {
        gray_scott_free(sim);
        return false;
    }
    return true;
}

/* The newest checkpoint whose state is whole, or the one that was asked for. */
static bool
go_on(struct h5twin_checkpoints *checkpoints, const struct options *options,
      const struct processes *processes, struct gray_scott *sim)
{
    struct h5twin_checkpoint_info info = {.serial = 0};
    for (;;) {
        const enum h5twin_checkpoint_status status =
            options->go_on ? h5twin_checkpoint_restart(checkpoints, info.serial, &info)
                           : h5twin_checkpoint_select(checkpoints, options->restart, &info);
        if (status != H5TWIN_CHECKPOINT_OK) {
            if (processes->rank == 0) {
                fprintf(stderr, "gray_scott: no checkpoint to go on from in %s. %s\n",
                        options->folder, h5twin_checkpoint_message(checkpoints));
            }
            return false;
        }
        if (load(checkpoints, processes, &info, sim)) {
            break;
        }
        if (processes->rank == 0) {
            fprintf(stderr, "gray_scott: checkpoint %" PRIu64 " is damaged. %s\n", info.serial,
                    h5twin_checkpoint_message(checkpoints));
        }
        if (!options->go_on) {
            return false;
        }
    }
    h5twin_checkpoint_restart_end(checkpoints);
    if (processes->rank == 0) {
        printf("going on from step %" PRIu64 " of checkpoint %" PRIu64 "\n", sim->step,
               info.serial);
    }
    return true;
}

/* A folder with checkpoints of another run: --continue would later find whichever wrote last. */
static bool
folder_is_ours(struct h5twin_checkpoints *checkpoints, const struct options *options)
{
    size_t count = 0;
    h5twin_checkpoint_list(checkpoints, NULL, 0, &count);
    if (count == 0 || options->overwrite || options->go_on || options->restart > 0) {
        return true;
    }
    fprintf(stderr,
            "gray_scott: %s holds %zu checkpoints of another run: go on from them with --continue, "
            "give another --folder, or let new ones take their place with --overwrite\n",
            options->folder, count);
    return false;
}

/* ---- at the end ---- */

/* The state of V, without loss, through each codec. */
static void
compare_codecs(const struct gray_scott *sim)
{
    const size_t size = sim->planes * sim->side * sim->side * sizeof(double);
    const double *const v = gray_scott_inside(sim, sim->v);
    puts("The state of V through every codec, without loss:");
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        struct h5twin_params params;
        h5twin_params_init(&params, h5twin_codec_at(i)->id);
        h5twin_params_set_array(&params, H5TWIN_FLOAT, sizeof(double), 3,
                                (const uint64_t[]){sim->planes, sim->side, sim->side});
        const size_t capacity = h5twin_bound(&params, size);
        void *const chunk = malloc(capacity);
        size_t chunk_size = 0;
        if (chunk != NULL &&
            h5twin_encode(&params, NULL, chunk, capacity, v, size, &chunk_size) == H5TWIN_OK) {
            printf("  %-12s ratio %6.2f\n", h5twin_codec_at(i)->name,
                   (double)size / (double)chunk_size);
        }
        free(chunk);
    }
}

/* ---- options ---- */

static bool
read_number(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *number > 0;
}

static bool
read_options(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"side", required_argument, NULL, 'n'},    {"steps", required_argument, NULL, 's'},
        {"every", required_argument, NULL, 'e'},   {"keep", required_argument, NULL, 'k'},
        {"folder", required_argument, NULL, 'f'},  {"continue", no_argument, NULL, 'g'},
        {"restart", required_argument, NULL, 'r'}, {"overwrite", no_argument, NULL, 'o'},
        {"background", no_argument, NULL, 'b'},    {"u", required_argument, NULL, 'u'},
        {"v", required_argument, NULL, 'v'},       {"compare", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    bool valid = true;
    for (int name; (name = getopt_long(argc, argv, "h", names, NULL)) != -1 && valid;) {
        switch (name) {
        case 'n':
            valid =
                read_number(optarg, &options->side) && options->side >= 3 && options->side <= 4096;
            break;
        case 's':
            valid = read_number(optarg, &options->steps);
            break;
        case 'e':
            valid = read_number(optarg, &options->every);
            break;
        case 'k':
            valid = read_number(optarg, &options->keep);
            break;
        case 'f':
            options->folder = optarg;
            break;
        case 'g':
            options->go_on = true;
            break;
        case 'r':
            valid = read_number(optarg, &options->restart);
            break;
        case 'o':
            options->overwrite = true;
            break;
        case 'b':
            options->background = true;
            break;
        case 'u':
            options->spec_u = optarg;
            break;
        case 'v':
            options->spec_v = optarg;
            break;
        case 'c':
            options->compare = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        default:
            valid = false;
        }
    }
    if (!valid || optind != argc || (options->go_on && options->restart > 0)) {
        fputs(usage, stderr);
        return false;
    }
    return true;
}

static bool
run(const struct options *options, const struct processes *processes,
    struct h5twin_checkpoints *checkpoints)
{
    struct gray_scott sim;
    if (!folder_is_ours(checkpoints, options) ||
        !(options->go_on || options->restart > 0 ? go_on(checkpoints, options, processes, &sim)
                                                 : init_slab(&sim, options->side, processes))) {
        return false;
    }
    bool saved = true;
    exchange_ghosts(&sim, processes, sim.u);
    exchange_ghosts(&sim, processes, sim.v);
    while (sim.step < options->steps) {
        gray_scott_advance(&sim);
        exchange_ghosts(&sim, processes, sim.u);
        exchange_ghosts(&sim, processes, sim.v);
        if (h5twin_checkpoint_is_due(checkpoints, sim.step)) {
            /* The run goes on after a failure: the checkpoints before are still there. */
            saved = save(checkpoints, options, &sim, processes) && saved;
        }
    }
    if (options->compare && processes->rank == 0) {
        compare_codecs(&sim);
    }
    const uint64_t hash = sum_of_all(gray_scott_hash(&sim));
    if (processes->rank == 0) {
        printf("step %" PRIu64 ", state %016" PRIx64 "\n", sim.step, hash);
    }
    gray_scott_free(&sim);
    return saved;
}

int
main(int argc, char **argv)
{
    struct options options = {.side = 96,
                              .keep = 3,
                              .steps = 1200,
                              .every = 300,
                              .folder = ".",
                              .spec_u = DEFAULT_SPEC_U,
                              .spec_v = DEFAULT_SPEC_V};
    struct processes processes;
    begin_processes(&processes, &argc, &argv);
    if (!read_options(&options, argc, argv)) {
        return EXIT_FAILURE;
    }
    struct h5twin_checkpoint_options how;
    h5twin_checkpoint_options_init(&how);
    how.keep = (unsigned)options.keep;
    how.every_steps = options.every;
    how.background = options.background;
#ifdef GRAY_SCOTT_MPI
    how.team = &processes.team;
#endif
    struct h5twin_checkpoints *checkpoints;
    bool is_ok = h5twin_checkpoint_open(&checkpoints, options.folder, &how) == 0;
    if (!is_ok && processes.rank == 0) {
        fprintf(stderr, "gray_scott: %s\n", h5twin_checkpoint_message(checkpoints));
    }
    is_ok = is_ok && run(&options, &processes, checkpoints);
    if (h5twin_checkpoint_wait(checkpoints) != 0) {
        fprintf(stderr, "gray_scott: %s\n", h5twin_checkpoint_message(checkpoints));
        is_ok = false;
    }
    h5twin_checkpoint_close(checkpoints);
    end_processes();
    return is_ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
