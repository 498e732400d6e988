/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_advice.c: what the attributes of a dataset say that bears on the choice of a codec, where
 * that is sure: units, and data for which no bound is right. (CF conventions, 3.5, 4.) */
#include "suggest.h"

#include "hdf5_file.h"
#include "said.h"

#include <stdio.h>
#include <string.h>

static bool
has_attribute(hid_t dataset, const char *name)
{
    const hid_t attribute = H5Aopen(dataset, name, H5P_DEFAULT);
    if (attribute >= 0) {
        H5Aclose(attribute);
    }
    H5Eclear2(H5E_DEFAULT);
    return attribute >= 0;
}

/* A time, a latitude or a longitude by its units, or an axis of other data. */
static bool
is_coordinate(hid_t dataset, const char *units)
{
    char class[32];
    return strstr(units, " since ") != NULL || strncmp(units, "degrees_north", 13) == 0 ||
           strncmp(units, "degrees_east", 12) == 0 || has_attribute(dataset, "axis") ||
           (h5twin_attribute_text(dataset, "CLASS", class, sizeof class) &&
            strcmp(class, "DIMENSION_SCALE") == 0);
}

void
h5twin_sample_advise(struct h5twin_sample *sample, int64_t dataset)
{
    char said[256];
    h5twin_attribute_text(dataset, "units", sample->units, sizeof sample->units);
    if (is_coordinate(dataset, sample->units)) {
        sample->advice = "it tells where or when other data are: keep it exact";
    } else if (has_attribute(dataset, "flag_values") || has_attribute(dataset, "flag_masks")) {
        sample->advice = "its values are categories (flag_values, flag_masks): keep them exact";
    } else if (h5twin_attribute_text(dataset, H5TWIN_SAID_SPEC, said, sizeof said)) {
        sample->advice = "it was coded with loss before (lossy_compression): errors of another "
                         "bound add up";
    }
}
