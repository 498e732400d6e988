/* SPDX-License-Identifier: BSD-3-Clause
 * message.c: what went wrong, in one sentence. */
#include "checkpoint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum h5twin_checkpoint_status
h5twin_checkpoint_fail(struct h5twin_checkpoints *checkpoints, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(checkpoints->message, sizeof checkpoints->message, format, arguments);
    va_end(arguments);
    return H5TWIN_CHECKPOINT_FAILED;
}

/* What helps against an error of the system; "" if that is plain from its text. */
static const char *
cure(int code)
{
    switch (code) {
    case ENOSPC:
        return "; make room there, or keep fewer checkpoints";
    case EDQUOT:
        return "; your quota is used up: remove files, or keep fewer checkpoints";
    case EACCES:
    case EPERM:
    case EROFS:
        return "; choose a folder that you may write to";
    case EIO:
        return "; the disk may be failing: choose another folder";
    case ENOENT:
        return "; was the folder removed, or is the one above it missing?";
    default:
        return "";
    }
}

enum h5twin_checkpoint_status
h5twin_checkpoint_fail_store(struct h5twin_checkpoints *checkpoints,
                             const struct store_error *error, const char *path)
{
    if (error->code == 0) {
        return h5twin_checkpoint_fail(
            checkpoints,
            "Cannot %s %s: what was read back differs from what was written; "
            "the disk may be failing: choose another folder.",
            error->step, path);
    }
    return h5twin_checkpoint_fail(checkpoints, "Cannot %s %s: %s%s.", error->step, path,
                                  strerror(error->code), cure(error->code));
}

static herr_t
take_cause(unsigned index, const H5E_error2_t *error, void *cause)
{
    if (index == 0 && error->desc != NULL) { /* the innermost one */
        snprintf(cause, MESSAGE_SIZE, "%s", error->desc);
    }
    return 0;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_fail_hdf5(struct h5twin_checkpoints *checkpoints, const char *format, ...)
{
    char text[MESSAGE_SIZE / 2], cause[MESSAGE_SIZE] = "HDF5 gives no reason";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, cause);
    cause[MESSAGE_SIZE - sizeof text - 8] = '\0';
    return h5twin_checkpoint_fail(checkpoints, "%s: %s.", text, cause);
}

enum h5twin_checkpoint_status
h5twin_checkpoint_fail_draft(struct h5twin_checkpoints *checkpoints)
{
    struct draft *const draft = &checkpoints->draft;
    if (!draft->has_failed) {
        draft->has_failed = true;
        memcpy(draft->reason, checkpoints->message, sizeof draft->reason);
    }
    return H5TWIN_CHECKPOINT_FAILED;
}

struct quiet
h5twin_checkpoint_quiet(void)
{
    struct quiet before = {.function = NULL};
    H5Eget_auto2(H5E_DEFAULT, &before.function, &before.context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

void
h5twin_checkpoint_loud(struct quiet before)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, before.function, before.context);
}

void
h5twin_checkpoint_release(hid_t id)
{
    if (id >= 0) {
        H5Idec_ref(id);
    }
}
