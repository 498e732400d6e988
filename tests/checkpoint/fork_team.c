/* SPDX-License-Identifier: BSD-3-Clause
 * fork_team.c: see fork_team.h. A star: each process has a socket to rank 0. */
#include "fork_team.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct star {
    int rank, size;
    int sockets[FORK_TEAM_MOST]; /* rank 0: to each other one; else [0]: to rank 0 */
    bool is_broken;
};

static bool
pass_all(int socket, void *bytes, size_t size, bool is_out)
{
    for (size_t at = 0; at < size;) {
        const ssize_t passed = is_out ? send(socket, (char *)bytes + at, size - at, MSG_NOSIGNAL)
                                      : recv(socket, (char *)bytes + at, size - at, 0);
        if (passed <= 0 && !(passed < 0 && errno == EINTR)) {
            return false;
        }
        at += passed > 0 ? (size_t)passed : 0;
    }
    return true;
}

/* Nobody is to wait for a team that has lost somebody. */
static int
broken(struct star *star)
{
    for (int i = 0; i < star->size && !star->is_broken; i++) {
        if (star->sockets[i] >= 0) {
            shutdown(star->sockets[i], SHUT_RDWR);
        }
    }
    star->is_broken = true;
    return -1;
}

static int
gather(void *context, const void *bytes, int size, void *all)
{
    struct star *const star = context;
    bool is_fine = !star->is_broken;
    if (star->rank != 0) {
        char *const copy = malloc((size_t)size + 1);
        memcpy(copy, bytes, (size_t)size);
        is_fine = is_fine && pass_all(star->sockets[0], copy, (size_t)size, true);
        free(copy);
        return is_fine ? 0 : broken(star);
    }
    memcpy(all, bytes, (size_t)size);
    for (int i = 1; i < star->size && is_fine; i++) {
        is_fine =
            pass_all(star->sockets[i], (char *)all + (size_t)i * (size_t)size, (size_t)size, false);
    }
    return is_fine ? 0 : broken(star);
}

static int
broadcast(void *context, void *bytes, int size, int root)
{
    struct star *const star = context;
    bool is_fine = !star->is_broken;
    if (root != 0 && star->rank == root) {
        is_fine = is_fine && pass_all(star->sockets[0], bytes, (size_t)size, true);
    }
    if (star->rank == 0) {
        if (root != 0) {
            is_fine = is_fine && pass_all(star->sockets[root], bytes, (size_t)size, false);
        }
        for (int i = 1; i < star->size && is_fine; i++) {
            is_fine = pass_all(star->sockets[i], bytes, (size_t)size, true);
        }
    } else {
        is_fine = is_fine && pass_all(star->sockets[0], bytes, (size_t)size, false);
    }
    return is_fine ? 0 : broken(star);
}

static int
maximum(void *context, uint64_t *values, int count)
{
    struct star *const star = context;
    const size_t size = (size_t)count * sizeof *values;
    uint64_t *const all = malloc((size_t)star->size * size + 1);
    int status = gather(star, values, (int)size, all);
    for (int i = 1; star->rank == 0 && status == 0 && i < star->size; i++) {
        for (int k = 0; k < count; k++) {
            const uint64_t other = all[(size_t)i * (size_t)count + (size_t)k];
            values[k] = other > values[k] ? other : values[k];
        }
    }
    free(all);
    return status != 0 ? status : broadcast(star, values, (int)size, 0);
}

static void
release(void *context)
{
    struct star *const star = context;
    for (int i = 0; i < star->size; i++) {
        if (star->sockets[i] >= 0) {
            close(star->sockets[i]);
        }
    }
    free(star);
}

bool
fork_team_begin(struct h5twin_checkpoint_team *team, int size, pid_t children[FORK_TEAM_MOST])
{
    struct star *const star = malloc(sizeof *star);
    if (star == NULL || size < 1 || size > FORK_TEAM_MOST) {
        free(star);
        return false;
    }
    *star = (struct star){.size = size};
    for (int i = 0; i < FORK_TEAM_MOST; i++) {
        star->sockets[i] = -1;
    }
    for (int rank = 1; rank < size; rank++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || (children[rank] = fork()) < 0) {
            return false;
        }
        if (children[rank] == 0) {
            for (int i = 1; i < rank; i++) { /* of its elder siblings */
                close(star->sockets[i]);
                star->sockets[i] = -1;
            }
            close(pair[0]);
            star->rank = rank;
            star->sockets[0] = pair[1];
            break;
        }
        close(pair[1]);
        star->sockets[rank] = pair[0];
    }
    *team = (struct h5twin_checkpoint_team){.rank = star->rank,
                                            .size = size,
                                            .context = star,
                                            .maximum = maximum,
                                            .broadcast = broadcast,
                                            .gather = gather,
                                            .release = release};
    return true;
}

int
fork_team_end(struct h5twin_checkpoint_team *team, const pid_t children[FORK_TEAM_MOST], int status)
{
    if (team->rank != 0) {
        _exit(status);
    }
    int failed = 0;
    for (int rank = 1; rank < team->size; rank++) {
        int ended;
        while (waitpid(children[rank], &ended, 0) < 0 && errno == EINTR) {
        }
        failed += !WIFEXITED(ended) || WEXITSTATUS(ended) != 0;
    }
    return failed;
}
