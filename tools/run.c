/* SPDX-License-Identifier: BSD-3-Clause
 * run.c: `h5twin run`: start a program so that its HDF5 finds the connector and the filters. */
#include "run.h"

#include "commands.h"
#include "h5twin_vol.h"
#include "messages.h"
#ifdef H5TWIN_HAVE_FILTERS
#    include "policy.h"
#endif
#include "posix.h"
#include "shared_objects.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#    include <process.h>
#    define PATH_SEPARATOR ";"
#    define CONNECTOR_FILE "vol/h5twin_vol.dll"
#else
#    define PATH_SEPARATOR ":"
#    define CONNECTOR_FILE "vol/libh5twin_vol.so"
#endif

#define CONNECTOR "HDF5_VOL_CONNECTOR"
#define PLUGINS   "HDF5_PLUGIN_PATH"

/* What HDF5 takes if PLUGINS is not set. */
#define DEFAULT_PLUGINS "/usr/local/hdf5/lib/plugin"

/* As a shell has them. */
enum { EXIT_CANNOT_START = 126, EXIT_NOT_FOUND = 127 };

static void
print_help(void)
{
    puts("Usage: h5twin run [OPTION]... COMMAND [ARGUMENT]...\n"
         "       h5twin run --check [COMMAND]...\n"
         "\n"
         "Run COMMAND, a program that uses HDF5, unchanged: arrays of many chunks that it reads "
         "and\n"
         "writes through filters of h5twin are coded on all cores, and the filters are found.\n"
         "Files are the same as without. The program's exit code is that of this command.\n"
         "\n"
         "This sets HDF5_VOL_CONNECTOR and HDF5_PLUGIN_PATH. HDF5 1.14 and later take the\n"
         "connector; older ones only find the filters. Both are in Python's packages: h5py,\n"
         "netCDF4, tables.\n"
         "\n"
         "  --policy FILE  give codecs to what the program stores without any, by the rules in "
         "FILE\n"
         "  --threads N    code on N threads instead of as many as there are processors\n"
         "  --check        run nothing, but say whether the HDF5 of COMMAND takes the connector;\n"
         "                 without COMMAND, those of the packages of python3. Exit code 1: one "
         "does\n"
         "                 not\n"
         "\n"
         "  h5twin run python3 model.py\n"
         "  h5twin run --policy rules.policy ./simulation input.nml\n"
         "  h5twin run --check python3");
}

struct arguments {
    const char *policy; /* NULL: none */
    const char *threads;
    const char *command; /* NULL: none */
    bool check;
    bool help;
};

static int
read_threads(const char *text)
{
    char *end;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || end[0] != '\0' || errno != 0 || number == 0 ||
        number > INT_MAX) {
        return h5twin_fail_usage("run", "--threads %s is not a number of threads", text);
    }
    return H5TWIN_EXIT_OK;
}

/* Stops at COMMAND, whose options are its own. */
static int
read_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {{"policy", required_argument, NULL, 'p'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"check", no_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int code, result = H5TWIN_EXIT_OK;
    opterr = 0;
    while (result == H5TWIN_EXIT_OK && !arguments->help &&
           (code = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        switch (code) {
        case 'p':
            arguments->policy = optarg;
            break;
        case 't':
            arguments->threads = optarg;
            result = read_threads(optarg);
            break;
        case 'c':
            arguments->check = true;
            break;
        case 'h':
            arguments->help = true;
            break;
        default:
            result = h5twin_fail_option("run", code, argv);
        }
    }
    return result;
}

/* ---- the plugins ---- */

/* Folders of plugins, relative to that of the command or of the library which it is in. */
static const char *const places[] = {
    "../plugins", /* the build tree, the Python package */
#ifdef H5TWIN_INSTALLED_PLUGINS
    H5TWIN_INSTALLED_PLUGINS,
#endif
};

/* The folder of the filters, in which that of the connector is; the first one with that file. */
static bool
find_plugins(const char *file_inside, char folder[PATH_MAX])
{
    char file[PATH_MAX], resolved[PATH_MAX], wanted[2 * PATH_MAX];
    static const char here;
    if (!h5twin_shared_file(&here, file, sizeof file) || realpath(file, resolved) == NULL) {
        return false;
    }
    char *end = strrchr(resolved, '/');
#ifdef _WIN32
    char *const other = strrchr(resolved, '\\');
    end = other != NULL && (end == NULL || other > end) ? other : end;
#endif
    if (end == NULL) {
        return false;
    }
    *end = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const bool is_absolute = places[i][0] == '/';
        const int length = snprintf(wanted, sizeof wanted, "%s%s%s", is_absolute ? "" : resolved,
                                    is_absolute ? "" : "/", places[i]);
        snprintf(wanted + length, sizeof wanted - (size_t)length, "/%s", file_inside);
        if (access(wanted, F_OK) == 0) {
            wanted[length] = '\0';
            return realpath(wanted, folder) != NULL;
        }
    }
    return false;
}

/* ---- the environment ---- */

static int
set(const char *name, const char *value)
{
#ifdef _WIN32
    const bool is_set = _putenv_s(name, value) == 0;
#else
    const bool is_set = setenv(name, value, 1) == 0;
#endif
    return is_set ? H5TWIN_EXIT_OK
                  : h5twin_fail("%s cannot be set in the environment: %s.", name, strerror(errno));
}

static int
unset(const char *name)
{
#ifdef _WIN32
    const bool is_unset = _putenv_s(name, "") == 0;
#else
    const bool is_unset = unsetenv(name) == 0;
#endif
    return is_unset ? H5TWIN_EXIT_OK
                    : h5twin_fail("%s cannot be taken out of the environment: %s.", name,
                                  strerror(errno));
}

/* The connector's folder, the filters', and what is there. */
static int
set_plugins(bool *has_connector)
{
    char folder[PATH_MAX];
    *has_connector = find_plugins(CONNECTOR_FILE, folder);
    if (!*has_connector && !find_plugins("", folder)) {
        return H5TWIN_EXIT_OK;
    }
    const char *before = getenv(PLUGINS);
    if (before == NULL) { /* or else HDF5 would not look there any more */
        before = access(DEFAULT_PLUGINS, F_OK) == 0 ? DEFAULT_PLUGINS : "";
    }
    const size_t capacity = 2 * strlen(folder) + strlen(before) + 16;
    char *const path = malloc(capacity);
    if (path == NULL) {
        return h5twin_fail("there is no memory.");
    }
    snprintf(path, capacity, "%s%s%s%s%s", *has_connector ? folder : "",
             *has_connector ? "/vol" PATH_SEPARATOR : "", folder,
             before[0] == '\0' ? "" : PATH_SEPARATOR, before);
    const int result = set(PLUGINS, path);
    free(path);
    return result;
}

static int
set_policy(const char *name)
{
    char path[PATH_MAX];
    if (realpath(name, path) == NULL) {
        return h5twin_fail("%s: %s.", name, strerror(errno));
    }
#ifdef H5TWIN_HAVE_FILTERS
    char error[H5TWIN_POLICY_SENTENCE];
    if (!h5twin_policy_check(path, error)) {
        return h5twin_fail("%s", error);
    }
#endif
    return set("H5TWIN_POLICY", path);
}

/* Nothing names it then: HDF5 2.0 crashes where it does not find what it is to take. */
static int
do_without_connector(const struct arguments *arguments)
{
    static const char missing[] =
        "the connector, " CONNECTOR_FILE " in the folder of the filters, is missing";
    if (arguments->check) {
        return h5twin_fail("%s: install h5twin as a whole.", missing);
    }
    h5twin_fail("%s: HDF5 codes the chunks of %s one after the other and follows no policy, until "
                "h5twin is installed as a whole.",
                missing, arguments->command);
    return unset(CONNECTOR);
}

static int
set_environment(const struct arguments *arguments)
{
    const char *const connector = getenv(CONNECTOR);
    if (connector != NULL && connector[0] != '\0' && strcmp(connector, H5TWIN_VOL_NAME) != 0 &&
        strcmp(connector, "native") != 0) {
        return h5twin_fail(CONNECTOR " is \"%s\" already, and one connector cannot stand on "
                                     "another: unset it.",
                           connector);
    }
    const char *const preload = getenv("HDF5_PLUGIN_PRELOAD");
    if (preload != NULL && strcmp(preload, "::") == 0) {
        return h5twin_fail(
            "HDF5_PLUGIN_PRELOAD is \"::\", which forbids HDF5 all plugins: unset it.");
    }
    bool has_connector;
    int result = set_plugins(&has_connector);
    if (result == H5TWIN_EXIT_OK) {
        result = has_connector ? set(CONNECTOR, H5TWIN_VOL_NAME) : do_without_connector(arguments);
    }
    if (result == H5TWIN_EXIT_OK && arguments->threads != NULL) {
        result = set("H5TWIN_NUM_THREADS", arguments->threads);
    }
    if (result == H5TWIN_EXIT_OK && arguments->policy != NULL) {
        result = set_policy(arguments->policy);
    }
    return result;
}

/* ---- the program ---- */

static int
execute(char **argv)
{
    fflush(NULL);
#ifdef _WIN32
    const intptr_t status = _spawnvp(_P_WAIT, argv[0], (const char *const *)argv);
    if (status != -1) {
        return (int)status;
    }
#else
    execvp(argv[0], argv);
#endif
    const bool is_missing = errno == ENOENT;
    h5twin_fail("%s cannot be started: %s.", argv[0], strerror(errno));
    return is_missing ? EXIT_NOT_FOUND : EXIT_CANNOT_START;
}

int
h5twin_command_run(int argc, char **argv)
{
    struct arguments arguments = {.policy = NULL};
    int result = read_arguments(argc, argv, &arguments);
    if (result == H5TWIN_EXIT_OK && arguments.help) {
        print_help();
        return H5TWIN_EXIT_OK;
    }
    if (result == H5TWIN_EXIT_OK && argc == optind && !arguments.check) {
        result = h5twin_fail_usage("run", "the COMMAND to run is missing");
    }
    if (result == H5TWIN_EXIT_OK) {
        arguments.command = argv[optind];
        result = set_environment(&arguments);
    }
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    return arguments.check ? h5twin_run_check(argv + optind) : execute(argv + optind);
}
