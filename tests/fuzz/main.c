/* SPDX-License-Identifier: BSD-3-Clause
 * main.c: a fuzzer without libFuzzer: runs the files and folders it is given, once each. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static unsigned files_run;

static void
run_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    struct stat about;
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        perror(path);
        exit(1);
    }
    const size_t size = (size_t)about.st_size;
    uint8_t *const input = malloc(size + 1);
    FUZZ_REQUIRE(input != NULL && fread(input, 1, size, file) == size);
    fclose(file);
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    files_run++;
}

static void
run_path(const char *path)
{
    DIR *const folder = opendir(path);
    if (folder == NULL) {
        run_file(path);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char inner[4096];
        if (entry->d_name[0] != '.') {
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            run_path(inner);
        }
    }
    closedir(folder);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        run_path(argv[i]);
    }
    printf("%u inputs\n", files_run);
    return files_run > 0 ? 0 : 1;
}
