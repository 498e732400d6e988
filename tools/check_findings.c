/* SPDX-License-Identifier: BSD-3-Clause
 * check_findings.c: see check_findings.h. */
#include "check_findings.h"

#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char h5twin_check_restore[] = "restore the file from a copy";

static void
tell_json(struct h5twin_check_state *state, const char *kind, const char *name,
          const struct h5twin_check_place *place, const char *cure, const char *cause)
{
    printf("%s\n  {\"kind\": \"%s\", \"name\": ", state->is_first ? "" : ",", kind);
    h5twin_json_string(name);
    fputs(", \"chunk\": ", stdout);
    for (int axis = 0; place != NULL && axis < place->rank; axis++) {
        printf("%s%llu", axis == 0 ? "[" : ", ", place->offset[axis]);
    }
    fputs(place == NULL ? "null" : "]", stdout);
    if (place != NULL && place->has_address) {
        printf(", \"address\": %llu", place->address);
    } else {
        fputs(", \"address\": null", stdout);
    }
    fputs(", \"cause\": ", stdout);
    h5twin_json_string(cause);
    fputs(", \"cure\": ", stdout);
    h5twin_json_string(cure);
    putchar('}');
}

static void
tell_line(const char *path, const char *kind, const char *name,
          const struct h5twin_check_place *place, const char *cure, const char *cause)
{
    h5twin_print("%s: %s%s", path, name, name[0] == '\0' ? "" : ": ");
    for (int axis = 0; place != NULL && axis < place->rank; axis++) {
        printf("%s%llu", axis == 0 ? "chunk " : ",", place->offset[axis]);
    }
    if (place != NULL && place->has_address) {
        printf(" at byte %llu", place->address);
    }
    h5twin_print("%s%s: %s: %s.\n", place == NULL ? "" : ": ", kind, cause, cure);
}

void
h5twin_check_tell(struct h5twin_check_state *state, const char *path, const char *kind,
                  const char *name, const struct h5twin_check_place *place, const char *cure,
                  const char *cause, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, cause);
    vsnprintf(text, sizeof text, cause, arguments);
    va_end(arguments);
    if (state->json) {
        tell_json(state, kind, name, place, cure, text);
    } else {
        tell_line(path, kind, name, place, cure, text);
    }
    fflush(stdout); /* this process may crash before it comes to the next one */
    state->is_first = false;
    state->findings++;
}
