/* SPDX-License-Identifier: BSD-3-Clause
 * policy_read.c: policies in files, and that of the environment. */
#include "policy_rules.h"
#include "verbose.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE ((size_t)16 << 20)

/* The whole file, at most MAX_SIZE + 1 bytes of it; NULL with errno set. */
static char *
read_text(FILE *file, size_t *size)
{
    size_t room = 4096;
    char *text = malloc(room);
    *size = 0;
    while (text != NULL) {
        *size += fread(text + *size, 1, room - *size, file);
        if (ferror(file)) {
            const int error = errno;
            free(text);
            errno = error;
            return NULL;
        }
        if (*size < room || *size > MAX_SIZE) {
            return text;
        }
        room *= 2;
        char *const larger = realloc(text, room);
        if (larger == NULL) {
            free(text);
        }
        text = larger;
    }
    errno = ENOMEM;
    return NULL;
}

struct h5twin_policy *
h5twin_policy_read(const char *path, char error[H5TWIN_POLICY_SENTENCE])
{
    FILE *const file = fopen(path, "rb");
    size_t size = 0;
    char *const text = file == NULL ? NULL : read_text(file, &size);
    const int number = errno;
    if (file != NULL) {
        fclose(file);
    }
    struct h5twin_policy *policy = NULL;
    if (text == NULL) {
        snprintf(error, H5TWIN_POLICY_SENTENCE,
                 "%.200s: the policy cannot be read (%s): correct its name or its permissions.",
                 path, strerror(number));
    } else if (size > MAX_SIZE) {
        snprintf(error, H5TWIN_POLICY_SENTENCE,
                 "%.200s: this is no policy, as it has more than 16 MiB: name a text of rules.",
                 path);
    } else {
        policy = h5twin_policy_parse(path, text, size, error);
    }
    free(text);
    return policy;
}

bool
h5twin_policy_check(const char *path, char error[H5TWIN_POLICY_SENTENCE])
{
    struct h5twin_policy *const policy = h5twin_policy_read(path, error);
    h5twin_policy_free(policy);
    return policy != NULL;
}

/* ---- of the environment ---- */

static struct h5twin_policy unusable; /* stands for: looked, and there is none */

static struct h5twin_policy *
read_environment(char error[H5TWIN_POLICY_SENTENCE])
{
    const char *const path = getenv("H5TWIN_POLICY");
    error[0] = '\0';
    return path == NULL || path[0] == '\0' ? NULL : h5twin_policy_read(path, error);
}

static _Thread_local bool is_asked_already;

void
h5twin_policy_pause(bool is_paused)
{
    is_asked_already = is_paused;
}

const struct h5twin_policy *
h5twin_policy_of_environment(void)
{
    if (is_asked_already) {
        return NULL;
    }
    static struct h5twin_policy *_Atomic known;
    struct h5twin_policy *policy = atomic_load_explicit(&known, memory_order_acquire);
    if (policy == NULL) {
        char error[H5TWIN_POLICY_SENTENCE];
        struct h5twin_policy *const made = read_environment(error);
        policy = made != NULL ? made : &unusable;
        struct h5twin_policy *others = NULL;
        if (!atomic_compare_exchange_strong_explicit(&known, &others, policy, memory_order_acq_rel,
                                                     memory_order_acquire)) {
            h5twin_policy_free(made); /* another thread was first */
            policy = others;
        } else if (error[0] != '\0') {
            h5twin_verbose_print("policy", error);
            h5twin_policy_log_sentence(error);
        }
    }
    return policy == &unusable ? NULL : policy;
}
