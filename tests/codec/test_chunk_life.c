/* SPDX-License-Identifier: BSD-3-Clause
 * test_chunk_life.c: many lives of chunks (support/chunk_life.h), each from a number of its own.
 *
 * H5TWIN_LIVES=N              so many, instead of those of every run
 * H5TWIN_FIRST_LIFE=NUMBER    from this one on: campaigns go on where they stopped
 * H5TWIN_LIFE=NUMBER          this one alone */
#include "chunk_life.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIVES     (48000u / TEST_SLOWNESS)
#define MAX_KINDS 48u /* of broken promises */
#define EXAMPLES  3u

/* Lives that have found something, for every run. */
static const uint64_t found_before[] = {2346828, 2598682, 7091158};

struct kind {
    char name[96];
    uint64_t count, examples[EXAMPLES];
    char detail[480];
};

struct tally {
    uint64_t lives, codings, broken, digest;
    unsigned kind_count;
    struct kind kinds[MAX_KINDS];
};

static struct chunk_life_report
live(uint64_t number)
{
    struct life_source source = {NULL, NULL, number * 0xD1342543DE82EF95u};
    return chunk_life_run(&source);
}

static struct kind *
kind_of(struct tally *tally, const char *name)
{
    unsigned i = 0;
    while (i < tally->kind_count && strcmp(tally->kinds[i].name, name) != 0) {
        i++;
    }
    if (i == tally->kind_count) {
        i = tally->kind_count < MAX_KINDS ? tally->kind_count++ : MAX_KINDS - 1;
        snprintf(tally->kinds[i].name, sizeof tally->kinds[i].name, "%s", name);
    }
    return &tally->kinds[i];
}

static void
count(struct tally *tally, const struct chunk_life_report *report, uint64_t number)
{
    tally->lives++;
    tally->codings += report->codings;
    tally->digest ^= report->digest * (2 * number + 1);
    if (!report->kept) {
        struct kind *const kind = kind_of(tally, report->kind);
        if (kind->count < EXAMPLES) {
            kind->examples[kind->count] = number;
        }
        if (kind->count++ == 0) {
            snprintf(kind->detail, sizeof kind->detail, "%s", report->detail);
        }
        tally->broken++;
    }
}

static void
add(struct tally *sum, const struct tally *more)
{
    sum->lives += more->lives;
    sum->codings += more->codings;
    sum->broken += more->broken;
    sum->digest ^= more->digest;
    for (unsigned i = 0; i < more->kind_count; i++) {
        struct kind *const kind = kind_of(sum, more->kinds[i].name);
        if (kind->count == 0) {
            *kind = more->kinds[i];
            continue;
        }
        for (uint64_t e = kind->count; e < EXAMPLES; e++) {
            kind->examples[e] = more->kinds[i].examples[e - kind->count];
        }
        kind->count += more->kinds[i].count;
    }
}

/* A process of its own for each `of` lives, with this instruction set (NULL: the best): the library
 * looks for it once. */
static int
begin_process(uint64_t begin, uint64_t end, uint64_t step, const char *isa, pid_t *child)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        struct tally tally = {0};
        if (isa != NULL) {
            setenv("H5TWIN_CPU", isa, 1);
        }
        for (uint64_t number = begin; number < end; number += step) {
            const struct chunk_life_report report = live(number);
            count(&tally, &report, number);
        }
        const uint8_t *at = (const uint8_t *)&tally;
        for (size_t left = sizeof tally; left > 0;) {
            const ssize_t written = write(ends[1], at + sizeof tally - left, left);
            if (written <= 0) {
                _exit(1);
            }
            left -= (size_t)written;
        }
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static struct tally
end_process(int from, pid_t child)
{
    struct tally tally;
    uint8_t *const at = (uint8_t *)&tally;
    size_t size = 0;
    ssize_t more;
    while (size < sizeof tally && (more = read(from, at + size, sizeof tally - size)) > 0) {
        size += (size_t)more;
    }
    close(from);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (size != sizeof tally || status != 0) {
        fail_msg("a process of lives ended early, status %x", (unsigned)status);
    }
    return tally;
}

static void
print(const struct tally *tally)
{
    printf("%llu lives, %llu codings, %llu promises broken\n", (unsigned long long)tally->lives,
           (unsigned long long)tally->codings, (unsigned long long)tally->broken);
    for (unsigned i = 0; i < tally->kind_count; i++) {
        const struct kind *const kind = &tally->kinds[i];
        printf("%8llu  %s; H5TWIN_LIFE=", (unsigned long long)kind->count, kind->name);
        for (unsigned e = 0; e < EXAMPLES && e < kind->count && (e == 0 || kind->examples[e] != 0);
             e++) {
            printf("%s%llu", e == 0 ? "" : " or ", (unsigned long long)kind->examples[e]);
        }
        printf("\n          %s\n", kind->detail);
    }
}

static void
test_every_life_keeps_its_promises(void **state)
{
    (void)state;
    const char *const one = getenv("H5TWIN_LIFE"), *const many = getenv("H5TWIN_LIVES");
    const char *const first = getenv("H5TWIN_FIRST_LIFE");
    struct tally all = {0};
    if (one != NULL) {
        const uint64_t number = strtoull(one, NULL, 10);
        const struct chunk_life_report report = live(number);
        count(&all, &report, number);
    } else {
        enum { PROCESSES = 2 };
        const uint64_t lives = many == NULL ? LIVES : strtoull(many, NULL, 10);
        const uint64_t begin = first == NULL ? 0 : strtoull(first, NULL, 10);
        int from[PROCESSES];
        pid_t children[PROCESSES];
        for (unsigned i = 0; i < PROCESSES; i++) {
            from[i] = begin_process(begin + i, begin + lives, PROCESSES, NULL, &children[i]);
        }
        for (unsigned i = 0; i < PROCESSES; i++) {
            const struct tally tally = end_process(from[i], children[i]);
            add(&all, &tally);
        }
        assert_int_equal(all.lives, lives);
        for (size_t i = 0; i < sizeof found_before / sizeof found_before[0]; i++) {
            const struct chunk_life_report report = live(found_before[i]);
            count(&all, &report, found_before[i]);
        }
    }
    print(&all);
    assert_int_equal(all.broken, 0);
}

/* The same lives with scalar code: the same bytes. */
static void
test_instruction_sets_live_alike(void **state)
{
    (void)state;
    const uint64_t begin = 1u << 20, end = begin + LIVES / 16;
    pid_t plain_child, best_child;
    const int plain_end = begin_process(begin, end, 1, "scalar", &plain_child);
    const int best_end = begin_process(begin, end, 1, NULL, &best_child);
    const struct tally plain = end_process(plain_end, plain_child);
    const struct tally best = end_process(best_end, best_child);
    assert_int_equal(plain.lives, end - begin);
    assert_int_equal(plain.codings, best.codings);
    assert_true(plain.digest == best.digest);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_life_keeps_its_promises),
        cmocka_unit_test(test_instruction_sets_live_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
