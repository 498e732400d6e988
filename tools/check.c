/* SPDX-License-Identifier: BSD-3-Clause
 * check.c: `h5twin check`: the command line, and a process for each file: HDF5 may crash on damaged
 * ones, or never come back. */
#include "check.h"

#include "array_args.h"
#include "commands.h"
#include "files.h"
#include "json.h"
#include "posix.h"
#include "replace.h"
#include "timing.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32
#    include <signal.h>
#    include <sys/mman.h>
#    include <sys/wait.h>
#    ifdef __linux__
#        include <sys/prctl.h>
#    endif
#endif

#define MOST_RESTARTS 16
#define POLL_NS       20000000

static void
print_help(void)
{
    puts(
        "Usage: h5twin check [OPTION]... FILE.h5...\n"
        "\n"
        "Look for damage in the chunks of all datasets of HDF5 files, which are only read. Looked\n"
        "at are: the shape of chunks, the type and the fill value against the parameters that our\n"
        "filter stored when the dataset was made; the index of the chunks (double, misplaced,\n"
        "missing, outside the shape, beyond the end of the file, over each other, not found where\n"
        "they are looked up); filter masks; of each chunk of ours the frame, the checksum, "
        "whether\n"
        "it is one of this dataset, whether its error bound is within that of the dataset, and\n"
        "whether it can be decoded; of other chunks whether HDF5 can decode them.\n"
        "\n"
        "Each finding is a line: file, dataset, chunk by its first element, its byte in the file,\n"
        "what kind of damage, its cause, and the cure.\n"
        "\n"
        "A seal is an attribute of a dataset that says which chunk was stored in which place. "
        "Where\n"
        "there is one, chunks that were moved, swapped, lost or replaced since are found, too. A\n"
        "dataset that has grown since is no damage: its seal is told to be outdated, and the "
        "chunks\n"
        "that it had are compared.\n"
        "\n"
        "Not found is what no word of the file contradicts: without a seal two chunks of a "
        "dataset\n"
        "that have changed places; another shape of the dataset with the same chunks; other "
        "names,\n"
        "attributes, or values outside chunks; a link or dataset that is gone.\n"
        "\n"
        "  --quick      do not decode: index, frames and checksums alone\n"
        "  --complete   a chunk that was never written is a finding, too\n"
        "  --seal       seal all datasets with chunks, if the file is sound: a copy is sealed, "
        "and\n"
        "               put in the file's place; it keeps mode and owner. Not where the file has\n"
        "               other names (hard links), is open for writing, or changes meanwhile\n"
        "  --seal-anew  the same, but without a look at older seals: after datasets were written\n"
        "               anew on purpose\n"
        "  --json       one JSON document for all files\n"
        "  --threads N  default: H5TWIN_NUM_THREADS, OMP_NUM_THREADS or the cores\n"
        "  --quiet      no progress bar, and no line for sound files\n"
        "\n"
        "Exit codes: 0 all is sound; 1 damage was found; 2 a file cannot be looked at or sealed, "
        "or\n"
        "the command line is wrong.\n"
        "\n"
        "  h5twin check run-*.h5\n"
        "  h5twin check --quick --json archive.nc > archive.json\n"
        "  h5twin check --seal archive.nc");
}

static int
take_option(void *all_args, int code)
{
    struct h5twin_check_args *const args = all_args;
    switch (code) {
    case 'q':
        args->quick = true;
        return H5TWIN_EXIT_OK;
    case 'c':
        args->complete = true;
        return H5TWIN_EXIT_OK;
    case 'j':
        args->json = true;
        return H5TWIN_EXIT_OK;
    case 's':
        args->quiet = true;
        return H5TWIN_EXIT_OK;
    case 'S':
        args->seal = true;
        return H5TWIN_EXIT_OK;
    case 'A':
        args->seal = true;
        args->seal_anew = true;
        return H5TWIN_EXIT_OK;
    default: /* 'T' */
        return h5twin_parse_threads(&args->exec, "check", optarg);
    }
}

/* ---- one file ---- */

static int
check_here(const struct h5twin_check_args *args, const char *path, struct h5twin_check_state *state,
           uint64_t skipped)
{
    struct h5twin_check check = {.args = args, .path = path, .state = state, .skipped = skipped};
    struct stat before;
    if (args->seal && !h5twin_replace_check(path, &before)) {
        return H5TWIN_EXIT_USAGE;
    }
    int result = h5twin_check_file(&check);
    if (result == H5TWIN_EXIT_OK && state->findings == 0 && check.seals != NULL) {
        result = h5twin_check_seal_file(&check, &before);
    }
    h5twin_check_free_seals(&check);
    return result;
}

#ifdef _WIN32

static struct h5twin_check_state *
get_state(void)
{
    return calloc(1, sizeof(struct h5twin_check_state));
}

static void
free_state(struct h5twin_check_state *state)
{
    free(state);
}

static int
check_apart(const struct h5twin_check_args *args, const char *path,
            struct h5twin_check_state *state)
{
    return check_here(args, path, state, 0);
}

#else

static struct h5twin_check_state *
get_state(void)
{
    const int zeros = open("/dev/zero", O_RDWR | O_CLOEXEC);
    void *const state =
        mmap(NULL, sizeof(struct h5twin_check_state), PROT_READ | PROT_WRITE, MAP_SHARED, zeros, 0);
    if (zeros >= 0) {
        close(zeros);
    }
    return state == MAP_FAILED ? NULL : state;
}

static void
free_state(struct h5twin_check_state *state)
{
    munmap(state, sizeof *state);
}

/* Wait, and kill a child that gives no sign of life. *hangs: it was. */
static int
wait_for(pid_t child, const struct h5twin_check_state *state, bool *hangs)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    uint64_t beats = state->beats;
    double since = h5twin_seconds(CLOCK_MONOTONIC);
    int status = 0;
    *hangs = false;
    for (pid_t ended = 0; ended == 0;) {
        ended = waitpid(child, &status, WNOHANG);
        if (ended < 0 && errno == EINTR) {
            ended = 0;
        }
        const double now = h5twin_seconds(CLOCK_MONOTONIC);
        if (state->beats != beats) {
            beats = state->beats;
            since = now;
        } else if (!*hangs && now - since > (double)state->patience) {
            *hangs = true;
            kill(child, SIGKILL);
        }
        if (ended == 0) {
            nanosleep(&pause, NULL);
        }
    }
    return status;
}

static pid_t
start(const struct h5twin_check_args *args, const char *path, struct h5twin_check_state *state,
      uint64_t skipped)
{
    const pid_t parent = getpid();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
#    ifdef __linux__
        if (!args->seal) { /* its new file is removed by no killed process */
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        }
#    endif
        int result = H5TWIN_EXIT_USAGE;
        if (getppid() == parent) {
            result = check_here(args, path, state, skipped);
        }
        fflush(stdout);
        _exit(result);
    }
    return child;
}

/* What crashes HDF5 is a finding; a new process goes on behind it. */
static int
check_apart(const struct h5twin_check_args *args, const char *path,
            struct h5twin_check_state *state)
{
    uint64_t skipped = 0;
    for (int i = 0; i <= MOST_RESTARTS; i++) {
        bool hangs;
        state->datasets = 0;
        state->name[0] = '\0';
        const pid_t child = start(args, path, state, skipped);
        if (child < 0) {
            return check_here(args, path, state, skipped);
        }
        const int status = wait_for(child, state, &hangs);
        if (WIFEXITED(status) && WEXITSTATUS(status) <= H5TWIN_EXIT_USAGE) {
            return WEXITSTATUS(status);
        }
        char name[H5TWIN_CHECK_NAME];
        memcpy(name, state->name, sizeof name);
        name[sizeof name - 1] = '\0';
        h5twin_check_tell(state, path, hangs ? "hang" : "crash", name, NULL, h5twin_check_restore,
                          hangs ? "HDF5 does not come back from reading it"
                                : "HDF5 crashes when it reads it");
        if (state->datasets <= skipped) {
            return H5TWIN_EXIT_OK; /* not in a dataset, so there is nothing to go on with */
        }
        skipped = state->datasets;
    }
    return H5TWIN_EXIT_OK;
}

#endif

/* ---- all files ---- */

static void
begin_file(const struct h5twin_check_args *args, const char *path, bool is_first)
{
    if (args->json) {
        printf("%s{\"file\": ", is_first ? "" : ",\n ");
        h5twin_json_string(path);
        fputs(", \"findings\": [", stdout);
    }
}

static void
end_file(const struct h5twin_check_args *args, const char *path,
         const struct h5twin_check_state *state, bool was_looked_at)
{
    if (args->json) {
        putchar(']');
        h5twin_check_tell_outdated(state, path);
        printf(",\n  \"sealed\": %llu, \"sealed_now\": %llu, \"outdated\": %llu",
               (unsigned long long)state->sealed, (unsigned long long)state->sealed_now,
               (unsigned long long)state->outdated);
        printf(",\n  \"sound\": %s, \"datasets\": %llu, \"chunked\": %llu, \"ours\": %llu, "
               "\"chunks\": %llu, \"decoded\": %llu, \"not_decoded_for_want_of_filters\": %llu, "
               "\"never_written\": %llu, \"raw_size\": %llu, \"stored_size\": %llu}",
               !was_looked_at         ? "null"
               : state->findings == 0 ? "true"
                                      : "false",
               (unsigned long long)state->datasets, (unsigned long long)state->chunked,
               (unsigned long long)state->ours, (unsigned long long)state->chunks,
               (unsigned long long)state->decoded, (unsigned long long)state->unread,
               (unsigned long long)state->never_written, (unsigned long long)state->raw_size,
               (unsigned long long)state->stored_size);
        return;
    }
    if (!was_looked_at || (args->quiet && state->findings == 0)) {
        return;
    }
    h5twin_check_tell_outdated(state, path);
    h5twin_print("%s: ", path);
    if (state->findings == 0) {
        fputs("sound: ", stdout);
    } else {
        printf("%llu finding%s: ", (unsigned long long)state->findings,
               state->findings == 1 ? "" : "s");
    }
    printf("%llu of %llu dataset%s with chunks, %llu of h5twin; %llu chunk%s, %llu decoded",
           (unsigned long long)state->chunked, (unsigned long long)state->datasets,
           state->datasets == 1 ? "" : "s", (unsigned long long)state->ours,
           (unsigned long long)state->chunks, state->chunks == 1 ? "" : "s",
           (unsigned long long)state->decoded);
    if (state->unread > 0) {
        printf(", %llu not, as a filter is missing or values lie elsewhere",
               (unsigned long long)state->unread);
    }
    if (state->never_written > 0) {
        printf("; %llu never written", (unsigned long long)state->never_written);
    }
    if (state->sealed > 0) {
        printf("; %llu as sealed", (unsigned long long)state->sealed);
    }
    if (state->sealed_now > 0) {
        printf("; %llu sealed now", (unsigned long long)state->sealed_now);
    } else if (args->seal && state->findings > 0) {
        fputs("; not sealed", stdout);
    }
    puts("");
}

static int
check_one(const struct h5twin_check_args *args, const char *path, bool is_first)
{
    int result = H5TWIN_EXIT_USAGE;
    struct h5twin_check_state *const state = get_state();
    if (state == NULL) {
        h5twin_fail("there is no memory to look at %s.", path);
        return H5TWIN_EXIT_USAGE;
    }
    *state = (struct h5twin_check_state){.json = args->json, .is_first = true, .patience = 60};
    begin_file(args, path, is_first);
    if (h5twin_file_check(path)) {
        if (h5twin_file_is_hdf5(path)) {
            result = check_apart(args, path, state);
        } else {
            h5twin_fail("%s is not an HDF5 file.", path);
        }
    }
    const bool was_looked_at = result == H5TWIN_EXIT_OK;
    end_file(args, path, state, was_looked_at);
    result = state->findings > state->unknown ? H5TWIN_EXIT_FAILED
             : state->unknown > 0             ? H5TWIN_EXIT_USAGE
                                              : result;
    free_state(state);
    return result;
}

int
h5twin_command_check(int argc, char **argv)
{
    static const struct option options[] = {
        {"quick", no_argument, NULL, 'q'},
        {"complete", no_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"quiet", no_argument, NULL, 's'},
        {"seal", no_argument, NULL, 'S'},
        {"seal-anew", no_argument, NULL, 'A'},
        {"threads", required_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct h5twin_check_args args = {.quick = false};
    const int parsed = h5twin_each_option(argc, argv, options, take_option, &args, &args.help);
    if (parsed != H5TWIN_EXIT_OK) {
        return parsed;
    }
    if (args.help) {
        print_help();
        return H5TWIN_EXIT_OK;
    }
    if (optind == argc) {
        return h5twin_fail_usage(argv[0], "a FILE is missing");
    }
    bool any_damage = false, any_unseen = false;
    const int first = optind;
    if (args.json) {
        fputs("[", stdout);
    }
    for (int i = first; i < argc; i++) {
        const int result = check_one(&args, argv[i], i == first);
        any_damage = any_damage || result == H5TWIN_EXIT_FAILED;
        any_unseen = any_unseen || result == H5TWIN_EXIT_USAGE;
    }
    if (args.json) {
        puts("]");
    }
    return any_damage ? H5TWIN_EXIT_FAILED : any_unseen ? H5TWIN_EXIT_USAGE : H5TWIN_EXIT_OK;
}
