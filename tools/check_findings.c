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
h5twin_check_note_outdated(struct h5twin_check_state *state, const char *name, const char *time,
                           const char *reason)
{
    const char *const texts[] = {name, time, reason};
    size_t size = 0;
    for (size_t i = 0; i < 3; i++) {
        size += strlen(texts[i]) + 1;
    }
    state->outdated++;
    for (size_t i = 0; i < 3 && size <= sizeof state->notes - state->note_size; i++) {
        const size_t length = strlen(texts[i]) + 1;
        memcpy(state->notes + state->note_size, texts[i], length);
        state->note_size += length;
        size -= length;
    }
}

void
h5twin_check_tell_outdated(const struct h5twin_check_state *state, const char *path)
{
    if (state->json) {
        fputs(", \"outdated_seals\": [", stdout);
    }
    for (size_t at = 0; at < state->note_size;) {
        const char *const name = state->notes + at, *const time = name + strlen(name) + 1;
        const char *const reason = time + strlen(time) + 1;
        if (state->json) {
            fputs(at == 0 ? "{\"name\": " : ", {\"name\": ", stdout);
            h5twin_json_string(name);
            fputs(", \"sealed_at\": ", stdout);
            h5twin_json_string(time);
            fputs(", \"reason\": ", stdout);
            h5twin_json_string(reason);
            putchar('}');
        } else {
            h5twin_print("%s: %s: its seal%s%s is outdated: %s; seal it anew with `h5twin check "
                         "--seal`.\n",
                         path, name, time[0] == '\0' ? "" : " of ", time, reason);
        }
        at = (size_t)(reason - state->notes) + strlen(reason) + 1;
    }
    if (state->json) {
        putchar(']');
    }
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
