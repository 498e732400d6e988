/* SPDX-License-Identifier: BSD-3-Clause
 * new_file.c: see new_file.h. */
#include "new_file.h"

#include "posix.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TRIES 100 /* names */

/* ---- signals ---- */

#ifdef _WIN32

/* An open file cannot be removed there: the process leaves it. */
static void
unguard(void)
{
}

static bool
create_guarded(struct h5twin_new_file *file, bool (*make)(struct h5twin_new_file *))
{
    return make(file);
}

#else

/* All that end a process by their default and that are no crash of it. */
#    define GUARDED 11

static const int guarded[GUARDED] = {SIGINT,  SIGTERM, SIGHUP,  SIGPIPE,   SIGALRM, SIGXCPU,
                                     SIGQUIT, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF};
static struct sigaction before[GUARDED + 1]; /* the last one: SIGXFSZ */
static char guarded_path[PATH_MAX];

static void
remove_and_end(int number)
{
    unlink(guarded_path);
    signal(number, SIG_DFL);
    raise(number); /* comes once this returns */
}

/* One that is ignored, as under nohup, stays ignored. */
static void
guard(const struct h5twin_new_file *file)
{
    struct sigaction action = {.sa_handler = remove_and_end};
    sigemptyset(&action.sa_mask);
    strcpy(guarded_path, file->path);
    for (int i = 0; i < GUARDED; i++) {
        sigaction(guarded[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) {
            sigaction(guarded[i], &action, NULL);
        }
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, &before[GUARDED]);
}

static void
unguard(void)
{
    for (int i = 0; i < GUARDED; i++) {
        sigaction(guarded[i], &before[i], NULL);
    }
    sigaction(SIGXFSZ, &before[GUARDED], NULL);
}

/* No signal comes between the file and its guard. */
static bool
create_guarded(struct h5twin_new_file *file, bool (*make)(struct h5twin_new_file *))
{
    sigset_t held, usual;
    sigemptyset(&held);
    for (int i = 0; i < GUARDED; i++) {
        sigaddset(&held, guarded[i]);
    }
    pthread_sigmask(SIG_BLOCK, &held, &usual);
    const bool is_created = make(file);
    const int why = errno;
    if (is_created) {
        guard(file);
    }
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    errno = why;
    return is_created;
}

#endif

/* ---- begin ---- */

/* Hard to guess is not needed: the file is only taken if the name was free. */
static uint64_t
random_number(void)
{
    uint64_t number = 0;
    const int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (source < 0 || read(source, &number, sizeof number) != (ssize_t)sizeof number) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = ((uint64_t)getpid() << 32) ^ (uint64_t)now.tv_nsec;
    }
    if (source >= 0) {
        close(source);
    }
    return number;
}

static bool
find_target(struct h5twin_new_file *file, const char *path)
{
    char *const resolved = realpath(path, NULL);
    const char *const target = resolved == NULL ? path : resolved;
    const int length = snprintf(file->target, sizeof file->target, "%s", target);
    free(resolved);
    if (length < 0 || (size_t)length >= sizeof file->target) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

static bool
create(struct h5twin_new_file *file)
{
    file->file = -1;
    errno = EEXIST;
    for (int i = 0; i < TRIES && file->file < 0 && errno == EEXIST; i++) {
        const int length = snprintf(file->path, sizeof file->path, "%s.%012llx.tmp", file->target,
                                    (unsigned long long)(random_number() & 0xFFFFFFFFFFFF));
        if (length < 0 || (size_t)length >= sizeof file->path) {
            errno = ENAMETOOLONG;
            return false;
        }
        file->file = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    return file->file >= 0;
}

bool
h5twin_new_file_begin(struct h5twin_new_file *file, const char *path, const char *like,
                      bool replace)
{
    struct stat status, pattern;
    const bool exists = stat(path, &status) == 0;
    const mode_t mask = (mode_t)umask(0);
    umask(mask);
    const bool has_pattern = like != NULL && stat(like, &pattern) == 0 && S_ISREG(pattern.st_mode);
    file->mode = exists        ? status.st_mode & 0777
                 : has_pattern ? pattern.st_mode & 0666 & ~mask
                               : 0666 & ~mask;
    file->file = -1;
    file->replace = replace;
    if (exists && !replace) {
        errno = EEXIST;
        return false;
    }
    return find_target(file, path) && create_guarded(file, create);
}

/* Whether there is the file that is open. */
static bool
is_at(const struct h5twin_new_file *file, const char *path)
{
#ifdef _WIN32
    return file != NULL && path != NULL;
#else
    struct stat own, there;
    return fstat(file->file, &own) == 0 && stat(path, &there) == 0 && own.st_dev == there.st_dev &&
           own.st_ino == there.st_ino;
#endif
}

const char *
h5twin_new_file_name(const struct h5twin_new_file *file, char name[H5TWIN_NEW_FILE_NAME])
{
    snprintf(name, H5TWIN_NEW_FILE_NAME, "/proc/self/fd/%d", file->file);
#ifdef _WIN32
    return file->path;
#else
    return is_at(file, name) ? name : file->path;
#endif
}

void
h5twin_folder_of(const char *path, char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%s", path);
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] != '/' && folder[length - 1] != '\\') {
        length--;
    }
    snprintf(folder + length, PATH_MAX - length, "%s", length == 0 ? "." : "");
}

/* ---- the end ---- */

/* To the disk itself: a rename that survives a power failure before its data is worth nothing. Some
 * file systems have no such call. */
static bool
sync_file(int file)
{
    return fsync(file) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
}

/* Never over a file that came meanwhile, unless it may be replaced. Some file systems have no
 * links. */
static bool
take_place(const struct h5twin_new_file *file)
{
    if (!file->replace) {
        if (link(file->path, file->target) == 0) {
            unlink(file->path);
            return true;
        }
        if (errno == EEXIST || access(file->target, F_OK) == 0) {
            errno = EEXIST;
            return false;
        }
    }
    return rename(file->path, file->target) == 0;
}

bool
h5twin_new_file_commit(struct h5twin_new_file *file)
{
    char folder[PATH_MAX];
    bool done = is_at(file, file->path);
    int error = EBUSY; /* somebody put another one there */
    if (done) {
        done = fchmod(file->file, (mode_t)file->mode) == 0 && sync_file(file->file);
        error = errno;
    }
    if (close(file->file) != 0 && done) {
        done = false;
        error = errno;
    }
    file->file = -1;
    if (done && !take_place(file)) {
        done = false;
        error = errno;
    }
    h5twin_folder_of(file->target, folder);
    if (done && !h5twin_sync_folder(folder)) {
        unguard();
        return false;
    }
    if (!done) {
        errno = error;
        h5twin_new_file_abandon(file);
    }
    unguard();
    return done;
}

void
h5twin_new_file_abandon(struct h5twin_new_file *file)
{
    const int error = errno;
    if (file->file >= 0) {
        close(file->file);
        file->file = -1;
    }
    unlink(file->path);
    unguard();
    errno = error;
}
