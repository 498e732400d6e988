/* SPDX-License-Identifier: BSD-3-Clause
 * test_policy_log.c: lines of the log, policies in files, and that of the environment. */
#include "policy.h"

#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/h5twin_policy_XXXXXX";

static const char *
in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void
write_file(const char *name, const char *text)
{
    FILE *const file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The file's text, which is ended by a zero and freed by the caller. */
static char *
read_file(const char *name)
{
    FILE *const file = fopen(in_folder(name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    char *const text = calloc(size + 1, 1);
    rewind(file);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

static struct h5twin_policy_outcome
choose(const char *text, const char *path)
{
    char error[H5TWIN_POLICY_SENTENCE];
    struct h5twin_policy *const policy = h5twin_policy_parse("p", text, strlen(text), error);
    const struct h5twin_policy_dataset dataset = {.path = path,
                                                  .type = H5TWIN_POLICY_FLOAT32,
                                                  .element_size = 4,
                                                  .rank = 2,
                                                  .dims = {100, 200},
                                                  .most_dims = {100, 200}};
    struct h5twin_policy_outcome outcome;
    assert_non_null(policy);
    h5twin_policy_choose(policy, &dataset, &outcome);
    h5twin_policy_free(policy);
    return outcome;
}

static void
test_a_line_for_each_dataset(void **state)
{
    (void)state;
    static const char rules[] = "\nu -> lattice:abs=1e-3\nw -> none";
    const struct h5twin_policy_outcome u = choose(rules, "/u"), w = choose(rules, "/w");
    const struct h5twin_policy_outcome strange = choose(rules, "/a\tb\nc\\d\x1b[\xC3\xA4");
    setenv("H5TWIN_POLICY_LOG", in_folder("log"), 1);
    h5twin_policy_log("out.h5", &u);
    h5twin_policy_log(NULL, &w);
    h5twin_policy_log("a\rb", &strange);
    unsetenv("H5TWIN_POLICY_LOG");
    h5twin_policy_log("out.h5", &u);
    setenv("H5TWIN_POLICY_LOG", "", 1);
    h5twin_policy_log("out.h5", &u);
    unsetenv("H5TWIN_POLICY_LOG");
    char *const text = read_file("log");
    assert_string_equal(text, "out.h5\t/u\tfloat32 100x200\tlattice:abs=0.001\t"
                              "line 2, new chunks 100x200\n"
                              "-\t/w\tfloat32 100x200\tleft alone\tline 3, the rule says none\n"
                              "a\\rb\t/a\\tb\\nc\\\\d\\x1b[\xC3\xA4\tfloat32 100x200\tleft alone\t"
                              "no rule has its name\n");
    free(text);
}

/* What a child process writes to a stream. */
static char *
caught(const char *log, int stream)
{
    const struct h5twin_policy_outcome u = choose("u -> cascade", "/u");
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(in_folder("stream"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(file, stream);
        setenv("H5TWIN_POLICY_LOG", log, 1);
        h5twin_policy_log("out.h5", &u);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    return read_file("stream");
}

static void
test_streams(void **state)
{
    (void)state;
    char *text = caught("-", STDOUT_FILENO);
    assert_string_equal(text, "out.h5\t/u\tfloat32 100x200\tcascade\tline 1, new chunks 100x200\n");
    free(text);
    text = caught("stderr", STDERR_FILENO);
    assert_string_equal(text, "out.h5\t/u\tfloat32 100x200\tcascade\tline 1, new chunks 100x200\n");
    free(text);
    text = caught("/no/such/folder/log", STDERR_FILENO); /* nothing, and no harm */
    assert_string_equal(text, "");
    free(text);
}

static void *
log_often(void *outcome)
{
    for (int i = 0; i < 200; i++) {
        h5twin_policy_log("out.h5", outcome);
    }
    return NULL;
}

static void
test_lines_of_threads_and_processes_do_not_mix(void **state)
{
    (void)state;
    enum { PROCESSES = 4, THREADS = 3 };
    char path[700];
    memset(path, 'u', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    struct h5twin_policy_outcome outcome = choose("* -> cascade", path);
    setenv("H5TWIN_POLICY_LOG", in_folder("crowd"), 1);
    pid_t children[PROCESSES];
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            pthread_t threads[THREADS];
            for (int j = 0; j < THREADS; j++) {
                if (pthread_create(&threads[j], NULL, log_often, &outcome) != 0) {
                    _exit(1);
                }
            }
            for (int j = 0; j < THREADS; j++) {
                pthread_join(threads[j], NULL);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    unsetenv("H5TWIN_POLICY_LOG");
    char *const text = read_file("crowd");
    char *const first_end = strchr(text, '\n');
    const size_t length = (size_t)(first_end - text) + 1;
    assert_int_equal(strlen(text), length * PROCESSES * THREADS * 200);
    for (size_t i = 1; i < PROCESSES * THREADS * 200; i++) {
        assert_memory_equal(text, text + i * length, length);
    }
    free(text);
}

/* ---- files ---- */

static void
test_files(void **state)
{
    (void)state;
    char error[H5TWIN_POLICY_SENTENCE] = "";
    write_file("good", "u -> cascade\r\n");
    write_file("bad", "u -> cascade\nv ->\n");
    assert_true(h5twin_policy_check(in_folder("good"), error));
    assert_string_equal(error, "");
    assert_false(h5twin_policy_check(in_folder("bad"), error));
    assert_non_null(strstr(error, "bad:2:5: what to do is missing"));
    assert_false(h5twin_policy_check(in_folder("none"), error));
    assert_non_null(strstr(error, "No such file"));
    assert_false(h5twin_policy_check(folder, error));
    assert_non_null(strstr(error, "cannot be read"));
    write_file("empty", "");
    assert_true(h5twin_policy_check(in_folder("empty"), error));
    FILE *const file = fopen(in_folder("large"), "wb");
    for (int i = 0; i < (1 << 20) + 1; i++) {
        fputs("# 0123456789abc\n", file);
    }
    fclose(file);
    assert_false(h5twin_policy_check(in_folder("large"), error));
    assert_non_null(strstr(error, "16 MiB"));
    truncate(in_folder("large"), 16 << 20);
    assert_true(h5twin_policy_check(in_folder("large"), error));
}

/* ---- the environment: known once, so each in a process of its own ---- */

static bool
policy_in_child(const char *path)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (path != NULL) {
            setenv("H5TWIN_POLICY", path, 1); /* before in_folder() puts another path there */
        }
        const int file = open(in_folder("stream"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(file, STDERR_FILENO);
        setenv("H5TWIN_POLICY_LOG", in_folder("environment"), 1);
        const struct h5twin_policy *const policy = h5twin_policy_of_environment();
        unsetenv("H5TWIN_POLICY");
        h5twin_policy_pause(true);
        if (h5twin_policy_of_environment() != NULL) {
            _exit(3);
        }
        h5twin_policy_pause(false);
        _exit(policy != h5twin_policy_of_environment() ? 2 : policy != NULL);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 1;
}

static void
expect_said(const char *what)
{
    char *const text = read_file("stream");
    if (what == NULL ? text[0] != '\0' : strstr(text, what) == NULL) {
        fail_msg("stderr: %s", text);
    }
    free(text);
}

static void
test_the_environment(void **state)
{
    (void)state;
    write_file("good", "u -> cascade");
    write_file("bad", "u ->");
    assert_true(policy_in_child(in_folder("good")));
    expect_said(NULL);
    assert_false(policy_in_child(NULL));
    assert_false(policy_in_child(""));
    expect_said(NULL);
    assert_int_equal(access(in_folder("environment"), F_OK), -1);
    assert_false(policy_in_child(in_folder("bad")));
    expect_said(NULL);
    char *const text = read_file("environment");
    assert_non_null(strstr(text, "-\t-\t-\tno policy\t"));
    assert_non_null(strstr(text, "bad:1:5: what to do is missing"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
    setenv("H5TWIN_VERBOSE", "1", 1);
    assert_false(policy_in_child(in_folder("bad")));
    expect_said("h5twin policy: ");
    expect_said("bad:1:5: what to do is missing");
    unsetenv("H5TWIN_VERBOSE");
}

static int
make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
remove_folder(void **state)
{
    static const char *const names[] = {"log", "stream", "crowd", "good",
                                        "bad", "empty",  "large", "environment"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unlink(in_folder(names[i]));
    }
    return rmdir(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_for_each_dataset),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_lines_of_threads_and_processes_do_not_mix),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_the_environment),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
