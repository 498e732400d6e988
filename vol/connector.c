/* SPDX-License-Identifier: BSD-3-Clause
 * connector.c: makes the connector's class, once per HDF5 library.
 *
 * The class is a copy of HDF5's own one, "native", under another name, with few callbacks replaced.
 * Objects are those of native itself, nothing is wrapped around them: so all that is not replaced
 * behaves and costs as without the connector, whatever HDF5 adds to it. */
#include "connector.h"

#include "dataset_calls.h"
#include "file_calls.h"
#include "h5twin_vol.h"
#include "held_calls.h"
#include "shared_objects.h"
#include "verbose.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Never removed. */
static struct h5twin_vol_connector *_Atomic connectors;

static struct h5twin_vol_connector *
find_connector(const void *base)
{
    struct h5twin_vol_connector *connector =
        atomic_load_explicit(&connectors, memory_order_acquire);
    while (connector != NULL && connector->hdf5->base != base) {
        connector = connector->next;
    }
    return connector;
}

/* Two threads may add one for the same library: then either will do. */
static void
add_connector(struct h5twin_vol_connector *connector)
{
    connector->next = atomic_load_explicit(&connectors, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&connectors, &connector->next, connector,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

struct h5twin_vol_connector *
h5twin_vol_connector_of(const void *in_hdf5)
{
    const struct h5twin_hdf5 *const hdf5 = h5twin_hdf5_of_caller(in_hdf5);
    return hdf5 == NULL ? NULL : find_connector(hdf5->base);
}

/* HDF5's own class. It asks for an object, which native does not look at. */
static const void *
find_native(const struct h5twin_vol_hdf5 *functions)
{
    struct h5twin_vol_errors errors;
    h5twin_vol_errors_hold(functions, &errors);
    const void *native = NULL;
    const h5twin_hid id = functions->H5VLget_connector_id_by_name("native");
    if (id >= 0) {
        char any_object;
        if (functions->H5VLintrospect_get_conn_cls(&any_object, id, H5TWIN_VOL_LEVEL_TERMINAL,
                                                   &native) < 0) {
            native = NULL;
        }
        functions->H5VLclose(id);
    }
    h5twin_vol_errors_release(functions, &errors, -1);
    return native;
}

static bool
is_switched_off(void)
{
    const char *const value = getenv("H5TWIN_VOL");
    return value != NULL && (strcmp(value, "off") == 0 || strcmp(value, "0") == 0);
}

static void *
find_for_policy(void *context, const char *name)
{
    return h5twin_hdf5_symbol(context, name);
}

/* With 1.14 and later. Native is started and ended by HDF5 itself. */
static void
make_class(struct h5twin_vol_connector *connector, const struct h5twin_vol_class *native)
{
    struct h5twin_vol_class *const mine = &connector->class_given.now;
    *mine = *native;
    mine->value = H5TWIN_VOL_VALUE;
    mine->name = H5TWIN_VOL_NAME;
    mine->initialize = NULL;
    mine->terminate = NULL;
    h5twin_vol_replace_dataset_calls(&mine->dataset);
    h5twin_vol_replace_file_calls(&mine->file);
    connector->native = native;
    connector->takes_over = !is_switched_off();
    connector->policy = h5twin_policy_of_environment();
    if (!connector->takes_over ||
        !h5twin_policy_hdf5_find(&connector->policy_functions, find_for_policy, connector->hdf5)) {
        connector->policy = NULL;
    }
    if (connector->policy != NULL && h5twin_policy_may_hold(connector->policy) &&
        h5twin_held_rows_init(&connector->held, connector->hdf5)) {
        h5twin_vol_replace_held_calls(mine);
    }
    void *const symbol = h5twin_hdf5_symbol(connector->hdf5, "H5Pget_fapl_mpio");
    memcpy(&connector->get_mpio, &symbol, sizeof symbol);
}

static void
make_class_1_12(struct h5twin_vol_connector *connector, const struct h5twin_vol_class_1_12 *native)
{
    struct h5twin_vol_class_1_12 *const mine = &connector->class_given.of_1_12;
    *mine = *native;
    mine->value = H5TWIN_VOL_VALUE;
    mine->name = H5TWIN_VOL_NAME;
    mine->initialize = NULL;
    mine->terminate = NULL;
}

/* Whoever names the connector is told once why HDF5 does all the work itself: 1.10 asks for the
 * class each time it searches a filter. */
static void
say_once(const char *sentence)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    if (!is_switched_off() && !atomic_flag_test_and_set(&is_said)) {
        h5twin_verbose_say("vol", sentence);
    }
}

/* The same, with the version of HDF5. */
static void
say(const struct h5twin_vol_hdf5 *functions, const char *why)
{
    unsigned version[3] = {0, 0, 0};
    char sentence[256];
    functions->H5get_libversion(&version[0], &version[1], &version[2]);
    snprintf(sentence, sizeof sentence, "this is HDF5 %u.%u.%u, %s", version[0], version[1],
             version[2], why);
    say_once(sentence);
}

static bool
make(struct h5twin_vol_connector *connector)
{
    const struct h5twin_vol_hdf5 *const functions = &connector->functions;
    if (!h5twin_vol_hdf5_find(&connector->functions, connector->hdf5)) {
        say_once("this HDF5 has no VOL connectors, so it codes chunks itself, one after the other; "
                 "use HDF5 1.14 or later");
        return false;
    }
    const void *const native = find_native(functions);
    if (native == NULL) {
        say(functions, "whose own connector cannot be found; set H5TWIN_VOL=off and report it");
        return false;
    }
    unsigned version;
    memcpy(&version, native, sizeof version);
    switch (version) {
    case H5TWIN_VOL_CLASS_1_14:
        make_class(connector, native);
        return true;
    case H5TWIN_VOL_CLASS_1_12:
        make_class_1_12(connector, native);
        say(functions, "so it codes chunks itself, one after the other; use HDF5 1.14 or later");
        return true;
    default:
        say(functions, "whose VOL connectors are others than this h5twin knows; install a newer "
                       "h5twin, or unset HDF5_VOL_CONNECTOR");
        return false;
    }
}

const void *
h5twin_vol_class(const void *in_hdf5)
{
    struct h5twin_hdf5 *const hdf5 = h5twin_hdf5_of_caller(in_hdf5);
    if (hdf5 == NULL) {
        return NULL;
    }
    struct h5twin_vol_connector *connector = find_connector(hdf5->base);
    if (connector == NULL) {
        connector = calloc(1, sizeof *connector);
        if (connector == NULL) {
            return NULL;
        }
        connector->hdf5 = hdf5;
        pthread_mutex_init(&connector->notes.lock, NULL);
        pthread_mutex_init(&connector->held.lock, NULL);
        if (!make(connector)) {
            free(connector);
            return NULL;
        }
        h5twin_shared_stay();
        add_connector(connector);
    }
    return &connector->class_given;
}
