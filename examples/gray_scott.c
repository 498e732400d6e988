/* SPDX-License-Identifier: BSD-3-Clause
 * gray_scott.c: a simulation that checkpoints through h5twin.
 *
 * Each checkpoint holds the state in double, lossless, to restart from bit for bit, and copies for
 * analysis in float, each with its own bound. See checkpoint.h for how the files are written. */
#include "checkpoint.h"
#include "checkpoint_folder.h"
#include "gray_scott_solver.h"

#include <h5twin_hdf5.h>

#include <getopt.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SPEC_U "ndzip"
#define DEFAULT_SPEC_V "fpcompress:mode=ratio"
#define MAX_CODECS     16
#define MAX_PATH       1024

struct options {
    size_t side, keep;
    uint64_t steps, every;
    const char *folder, *restart, *spec_u, *spec_v;
    bool compare, go_on, overwrite;
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
    "  --restart FILE  go on from this checkpoint\n"
    "  --overwrite     begin a new run where checkpoints of another one are\n"
    "  --u SPEC        codec of the exact state of U (" DEFAULT_SPEC_U ")\n"
    "  --v SPEC        codec of the exact state of V (" DEFAULT_SPEC_V ")\n"
    "  --compare       at the end, show what every codec makes of the state\n";

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
    const size_t cells = sim->cell_count;
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
        analysis->u[cell] = (float)sim->u[cell];
        analysis->v[cell] = (float)sim->v[cell];
    }
    gray_scott_gradient(sim, analysis->gradient);
    return true;
}

static void
print_fields(const struct checkpoint_field *fields, size_t field_count)
{
    printf("  %-20s %-22s %6s %11s %11s %10s %10s\n", "dataset", "codec", "ratio", "max error",
           "bound", "write MB/s", "read MB/s");
    for (size_t i = 0; i < field_count; i++) {
        const struct checkpoint_field *const field = &fields[i];
        char error[16] = "exact", bound[16] = "lossless";
        if (field->bound > 0) {
            snprintf(error, sizeof error, "%.3g", field->max_error);
            snprintf(bound, sizeof bound, "%.3g", field->bound);
        }
        printf("  %-20s %-22s %6.2f %11s %11s %10.0f %10.0f\n", field->name, field->spec,
               field->raw_size / field->stored_size, error, bound,
               1e-6 * field->raw_size / field->write_seconds,
               1e-6 * field->raw_size / field->read_seconds);
    }
}

/* Write a checkpoint, read it back, say what became of it. */
static bool
save(const struct options *options, const struct gray_scott *sim)
{
    char path[MAX_PATH];
    struct analysis analysis;
    if (!make_analysis(&analysis, sim)) {
        fputs("no memory for a checkpoint\n", stderr);
        return false;
    }
    struct checkpoint_field fields[] = {
        {"restart/U", options->spec_u, true, 1, sim->u, 0, 0, 0, 0, 0, 0},
        {"restart/V", options->spec_v, true, 1, sim->v, 0, 0, 0, 0, 0, 0},
        {"analysis/U", "sleek:abs=1e-3", false, 1, analysis.u, 0, 0, 0, 0, 0, 0},
        {"analysis/V", "sleek:abs=1e-4", false, 1, analysis.v, 0, 0, 0, 0, 0, 0},
        {"analysis/V_relative", "sleek:noa=1e-3", false, 1, analysis.v, 0, 0, 0, 0, 0, 0},
        {"analysis/V_gradient", "sleek:abs=1e-4", false, 3, analysis.gradient, 0, 0, 0, 0, 0, 0},
    };
    const size_t field_count = sizeof fields / sizeof fields[0];
    checkpoint_folder_path(path, sizeof path, options->folder, sim->step);
    bool saved = checkpoint_write(path, sim, fields, field_count) == 0;
    if (saved && checkpoint_verify(path, sim, fields, field_count) != 0) {
        fprintf(stderr, "%s does not read back within its bounds\n", path);
        saved = false;
    }
    if (saved) {
        printf("%s\n", path);
        print_fields(fields, field_count);
        checkpoint_folder_prune(options->folder, options->keep);
    }
    free_analysis(&analysis);
    return saved;
}

/* The same state through each codec, lossless. */
static void
compare_codecs(const struct options *options, const struct gray_scott *sim)
{
    struct checkpoint_field fields[MAX_CODECS];
    char names[MAX_CODECS][32], path[MAX_PATH];
    size_t field_count = 0;
    for (uint32_t i = 0; i < h5twin_codec_count() && field_count < MAX_CODECS; i++) {
        const char *const codec = h5twin_codec_at(i)->name;
        snprintf(names[field_count], sizeof names[0], "V/%s", codec);
        fields[field_count] = (struct checkpoint_field){.name = names[field_count],
                                                        .spec = codec,
                                                        .is_double = true,
                                                        .components = 1,
                                                        .values = sim->v};
        field_count++;
    }
    snprintf(path, sizeof path, "%s/compare.h5", options->folder);
    if (checkpoint_write(path, sim, fields, field_count) == 0 &&
        checkpoint_verify(path, sim, fields, field_count) == 0) {
        printf("The state of V through every codec:\n");
        print_fields(fields, field_count);
    }
    remove(path);
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
is_lossless(const char *spec)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    const enum h5twin_status status = h5twin_params_parse(&params, spec, NULL);
    if (status != H5TWIN_OK) {
        fprintf(stderr, "gray_scott: %s: %s\n", spec, h5twin_status_message(status));
        return false;
    }
    if (params.mode != H5TWIN_LOSSLESS) {
        fprintf(stderr, "gray_scott: %s: a state to restart from must be lossless\n", spec);
        return false;
    }
    return true;
}

static bool
read_options(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"side", required_argument, NULL, 'n'},
        {"steps", required_argument, NULL, 's'},
        {"every", required_argument, NULL, 'e'},
        {"keep", required_argument, NULL, 'k'},
        {"folder", required_argument, NULL, 'f'},
        {"continue", no_argument, NULL, 'g'},
        {"restart", required_argument, NULL, 'r'},
        {"overwrite", no_argument, NULL, 'o'},
        {"u", required_argument, NULL, 'u'},
        {"v", required_argument, NULL, 'v'},
        {"compare", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    uint64_t side = options->side, keep = options->keep;
    bool valid = true;
    for (int name; (name = getopt_long(argc, argv, "h", names, NULL)) != -1 && valid;) {
        switch (name) {
        case 'n':
            valid = read_number(optarg, &side) && side >= 3 && side <= 2048;
            break;
        case 's':
            valid = read_number(optarg, &options->steps);
            break;
        case 'e':
            valid = read_number(optarg, &options->every);
            break;
        case 'k':
            valid = read_number(optarg, &keep);
            break;
        case 'f':
            options->folder = optarg;
            break;
        case 'g':
            options->go_on = true;
            break;
        case 'r':
            options->restart = optarg;
            break;
        case 'o':
            options->overwrite = true;
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
    options->side = (size_t)side;
    options->keep = (size_t)keep;
    if (!valid || optind != argc || (options->go_on && options->restart != NULL)) {
        fputs(usage, stderr);
        return false;
    }
    return is_lossless(options->spec_u) && is_lossless(options->spec_v);
}

/* ---- where it begins ---- */

/* A folder with checkpoints of another run: --continue would later find whichever wrote last. */
static bool
folder_is_ours(const struct options *options)
{
    const size_t count = checkpoint_folder_count(options->folder);
    if (count == 0 || options->overwrite || options->go_on ||
        (options->restart != NULL && checkpoint_folder_holds(options->folder, options->restart))) {
        return true;
    }
    fprintf(stderr,
            "gray_scott: %s holds %zu checkpoints of another run: go on from them with --continue, "
            "give another --folder, or let new ones take their place with --overwrite\n",
            options->folder, count);
    return false;
}

static bool
begin(const struct options *options, struct gray_scott *sim)
{
    char newest[MAX_PATH];
    const char *const path = options->go_on ? newest : options->restart;
    if (path == NULL) {
        const bool made = gray_scott_init(sim, options->side);
        if (!made) {
            fputs("gray_scott: not enough memory\n", stderr);
        }
        return made;
    }
    if ((options->go_on ? checkpoint_folder_restart(options->folder, sim, newest, sizeof newest)
                        : checkpoint_restart(path, sim)) != 0) {
        return false;
    }
    printf("going on from step %" PRIu64 " of %s\n", sim->step, path);
    return true;
}

int
main(int argc, char **argv)
{
    struct options options = {
        .side = 96,
        .keep = 3,
        .steps = 1200,
        .every = 300,
        .folder = ".",
        .spec_u = DEFAULT_SPEC_U,
        .spec_v = DEFAULT_SPEC_V,
    };
    struct gray_scott sim;
    /* A file that could not be closed, on a full disk, is not closed by HDF5's exit handler either:
     * that ends in a segmentation fault. Files are closed when they are written. */
    H5dont_atexit();
    if (!read_options(&options, argc, argv) || h5twin_hdf5_register() < 0) {
        return EXIT_FAILURE;
    }
    if (!folder_is_ours(&options) || !begin(&options, &sim)) {
        return EXIT_FAILURE;
    }
    bool saved = true;
    while (sim.step < options.steps) {
        gray_scott_advance(&sim);
        if (sim.step % options.every == 0) {
            /* The run goes on after a failure: the checkpoints before are still there. */
            saved = save(&options, &sim) && saved;
        }
    }
    if (options.compare) {
        compare_codecs(&options, &sim);
    }
    printf("step %" PRIu64 ", state %016" PRIx64 "\n", sim.step, gray_scott_hash(&sim));
    gray_scott_free(&sim);
    return saved ? EXIT_SUCCESS : EXIT_FAILURE;
}
