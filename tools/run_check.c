/* SPDX-License-Identifier: BSD-3-Clause
 * run_check.c: `h5twin run --check`: asks the HDF5 libraries of a program without running it. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* RTLD_DEEPBIND */
#endif
#include "run.h"

#include "commands.h"
#include "h5twin_vol.h"
#include "messages.h"
#include "posix.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32

int
h5twin_run_check(char **argv)
{
    (void)argv;
    return h5twin_fail("--check is not there on Windows.");
}

#else

#    include <dlfcn.h>
#    include <sys/wait.h>

/* What a process that asks ends with. */
enum answer {
    TAKEN = 0,
    NOT_TAKEN = 1,
    ABSENT = 3, /* no such package, no HDF5 */
    BROKEN,     /* it ended otherwise */
};

/* Run ask(context) in a process of its own: HDF5 may crash where it misses a connector. */
static enum answer
ask_apart(enum answer (*ask)(void *context), void *context)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const enum answer answer = ask(context);
        fflush(stdout);
        _exit((int)answer);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return BROKEN;
    }
    const int code = WEXITSTATUS(status);
    return code == TAKEN || code == NOT_TAKEN || code == ABSENT ? (enum answer)code : BROKEN;
}

/* ---- one library ---- */

static enum answer
print_answer(const char *whose, const unsigned version[3], bool is_known)
{
    const bool is_old = version[0] == 1 && version[1] < 14;
    h5twin_print("%-10s HDF5 %u.%u.%u  ", whose, version[0], version[1], version[2]);
    puts(is_old     ? "too old: finds the filters, but codes chunks itself, one after the other"
         : is_known ? "takes the connector"
                    : "does not take the connector; H5TWIN_VERBOSE=1 shows why");
    return is_known && !is_old ? TAKEN : NOT_TAKEN;
}

struct library {
    const char *whose, *path;
};

/* C has no conversion from a data pointer to a function pointer. */
static void
find_function(void *library, const char *name, void *function, size_t size)
{
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, size);
}

static enum answer
ask_library(void *context)
{
    const struct library *const file = context;
    int mode = RTLD_NOW | RTLD_LOCAL;
#    ifdef RTLD_DEEPBIND
    mode |= RTLD_DEEPBIND; /* its own functions, not those of an HDF5 that this command may have */
#    endif
    void *const library = dlopen(file->path, mode);
    if (library == NULL) {
        h5twin_fail("%s cannot be loaded: %s.", file->path, dlerror());
        return NOT_TAKEN;
    }
    int (*start)(void);
    int (*get_version)(unsigned *, unsigned *, unsigned *);
    int (*is_registered)(const char *);
    find_function(library, "H5open", &start, sizeof start);
    find_function(library, "H5get_libversion", &get_version, sizeof get_version);
    find_function(library, "H5VLis_connector_registered_by_name", &is_registered,
                  sizeof is_registered);
    unsigned version[3] = {0, 0, 0};
    if (start == NULL || get_version == NULL) {
        h5twin_fail("%s is no HDF5.", file->path);
        return NOT_TAKEN;
    }
    get_version(&version[0], &version[1], &version[2]);
    const bool is_taken =
        start() >= 0 && is_registered != NULL && is_registered(H5TWIN_VOL_NAME) > 0;
    return print_answer(file->whose, version, is_taken);
}

/* ---- Python ---- */

/* Prints nothing but the version of the package's HDF5 and its file, if it can tell. */
static const char python_script[] =
    "import importlib, os, sys\n"
    "try:\n"
    "    module = importlib.import_module(sys.argv[1])\n"
    "except ImportError:\n"
    "    sys.exit(3)\n"
    "import ctypes, re\n"
    "name = re.compile(r'(lib)?hdf5(_serial|_openmpi|_mpich|_parallel)?[-.]')\n"
    "try:\n"
    "    maps = open('/proc/self/maps', errors='surrogateescape')\n"
    "except OSError:\n"
    "    sys.exit('h5twin: --check needs /proc to look into Python.')\n"
    "files = {line.split(maxsplit=5)[5].strip() for line in maps if '/' in line}\n"
    "files = [file for file in files if name.match(os.path.basename(file))]\n"
    "if not files:\n"
    "    sys.exit(3)\n"
    "taken = 0\n"
    "for file in sorted(files):\n"
    "    library = ctypes.CDLL(file)\n"
    "    version = [ctypes.c_uint() for _ in range(3)]\n"
    "    library.H5get_libversion(*map(ctypes.byref, version))\n"
    "    ask = getattr(library, 'H5VLis_connector_registered_by_name', None)\n"
    "    known = ask is not None and ask(b'" H5TWIN_VOL_NAME "') > 0\n"
    "    print(*(number.value for number in version), int(known), file)\n";

struct package {
    const char *python, *name;
};

static enum answer
start_python(void *context)
{
    const struct package *const package = context;
    char *argv[] = {strdup(package->python), strdup("-c"), strdup(python_script),
                    strdup(package->name), NULL};
    execvp(argv[0], argv);
    return BROKEN;
}

/* One package, whose lines are read through a pipe. */
static enum answer
ask_package(const struct package *package)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return BROKEN;
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        struct package copy = *package;
        _exit((int)start_python(&copy));
    }
    close(ends[1]);
    FILE *const lines = fdopen(ends[0], "r");
    enum answer answer = child < 0 || lines == NULL ? BROKEN : ABSENT;
    unsigned version[3], is_taken;
    while (lines != NULL && fscanf(lines, "%u %u %u %u%*[^\n]", &version[0], &version[1],
                                   &version[2], &is_taken) == 4) {
        const enum answer one = print_answer(package->name, version, is_taken != 0);
        answer = answer == ABSENT || one == NOT_TAKEN ? one : answer;
    }
    if (lines != NULL) {
        fclose(lines);
    } else {
        close(ends[0]);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const bool is_known =
        WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == ABSENT);
    if (!is_known) {
        h5twin_print("%-10s cannot be asked: `%s` ended before it answered\n", package->name,
                     package->python);
        return NOT_TAKEN;
    }
    return answer;
}

static int
check_python(const char *python)
{
    static const char *const names[] = {"h5py", "netCDF4", "tables"};
    int result = H5TWIN_EXIT_OK;
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct package package = {.python = python, .name = names[i]};
        const enum answer answer = ask_package(&package);
        any = any || answer != ABSENT;
        result = answer == TAKEN || answer == ABSENT ? result : H5TWIN_EXIT_FAILED;
    }
    return any ? result
               : h5twin_fail("%s has none of the packages h5py, netCDF4 and tables.", python);
}

/* ---- programs ---- */

/* Where the shell would find it. */
static bool
find_program(const char *name, char path[4096])
{
    if (strchr(name, '/') != NULL) {
        return snprintf(path, 4096, "%s", name) < 4096 && access(path, X_OK) == 0;
    }
    const char *at = getenv("PATH");
    while (at != NULL && at[0] != '\0') {
        const size_t length = strcspn(at, ":");
        if (snprintf(path, 4096, "%.*s/%s", (int)length, at, name) < 4096 &&
            access(path, X_OK) == 0) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

/* The interpreter of a script, "" if the file is none. */
static void
read_interpreter(const char *path, char interpreter[4096])
{
    char line[4096] = "";
    FILE *const file = fopen(path, "rb");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) == NULL) {
            line[0] = '\0';
        }
        fclose(file);
    }
    interpreter[0] = '\0';
    if (strncmp(line, "#!", 2) == 0) {
        char first[4096] = "", second[4096] = "";
        sscanf(line + 2, "%4095s %4095s", first, second);
        const char *const slash = strrchr(first, '/');
        const bool is_env = strcmp(slash == NULL ? first : slash + 1, "env") == 0;
        snprintf(interpreter, 4096, "%s", is_env ? second : first);
    }
}

static bool
is_python(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash == NULL ? path : slash + 1;
    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

/* The dynamic loader lists what a program is linked with, instead of starting it. */
static int
check_program(const char *path)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return h5twin_fail("%s cannot be asked: %s.", path, strerror(errno));
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        char *argv[] = {strdup(path), NULL};
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(path, argv);
        _exit(BROKEN);
    }
    close(ends[1]);
    FILE *const lines = fdopen(ends[0], "r");
    char line[8192], file[4096] = "";
    while (lines != NULL && fgets(line, sizeof line, lines) != NULL) {
        char name[4096], target[4096];
        if (file[0] == '\0' && sscanf(line, " %4095s => %4095s", name, target) == 2 &&
            strncmp(name, "libhdf5", 7) == 0 && strstr(name, "_hl") == NULL &&
            strstr(name, "_cpp") == NULL && strstr(name, "fortran") == NULL && target[0] == '/') {
            snprintf(file, sizeof file, "%s", target);
        }
    }
    if (lines != NULL) {
        fclose(lines);
    } else {
        close(ends[0]);
    }
    int status;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (file[0] == '\0') {
        return h5twin_fail(
            "%s is not linked with a shared HDF5: if it loads one later it takes the "
            "connector as that version does; one inside the program does if it "
            "exports its functions (link with -rdynamic).",
            path);
    }
    struct library library = {.whose = path, .path = file};
    switch (ask_apart(ask_library, &library)) {
    case TAKEN:
        return H5TWIN_EXIT_OK;
    case BROKEN:
        return h5twin_fail("%s: HDF5 ended before it answered.", file);
    default:
        return H5TWIN_EXIT_FAILED;
    }
}

int
h5twin_run_check(char **argv)
{
    char path[4096], interpreter[4096];
    setenv("H5TWIN_VERBOSE", "0", 0); /* the answer says the same as the connector would */
    const char *const name = argv[0] == NULL ? "python3" : argv[0];
    if (!find_program(name, path)) {
        return h5twin_fail("there is no program %s to look into.", name);
    }
    if (is_python(path)) {
        return check_python(path);
    }
    read_interpreter(path, interpreter);
    if (interpreter[0] == '\0') {
#    ifdef __linux__
        return check_program(path);
#    else
        return h5twin_fail("--check looks into Python only on this system.");
#    endif
    }
    return is_python(interpreter)
               ? check_python(interpreter)
               : h5twin_fail("%s is a script for %s: name the program that it starts.", path,
                             interpreter);
}

#endif
