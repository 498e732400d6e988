/* SPDX-License-Identifier: BSD-3-Clause
 * policy_coordinates.c: which names are those of coordinates. Before a dataset exists there are no
 * attributes yet that would say so. */
#include "policy_rules.h"

#include <string.h>

#define NON_COORDINATE "_nc4_non_coord_"

/* Names, in lower case, that are coordinates at any rank: curvilinear grids have them in two. */
static const char *const of_any_rank[] = {
    "lat",      "lon",     "lats",    "lons",   "latitude", "longitude",  "latitudes", "nav_lat",
    "rlat",     "rlon",    "xlat",    "xlon",   "xlong",    "longitudes", "nav_lon",   "tlat",
    "tlon",     "tlong",   "ulat",    "ulon",   "ulong",    "geolat",     "geolon",    "geolat_t",
    "geolon_t", "xlat_m",  "xlong_m", "xlat_u", "xlat_v",   "xlong_u",    "xlong_v",   "lat_rho",
    "lon_rho",  "lat_u",   "lon_u",   "lat_v",  "lon_v",    "lat_psi",    "lon_psi",   "gphit",
    "glamt",    "xtime",   "clat",    "clon",   "vlat",     "vlon",       "elat",      "elon",
    "latcell",  "loncell", "yc",      "xc",     NULL};

/* Names that are coordinates where there is one axis. */
static const char *const of_a_row[] = {"x",
                                       "y",
                                       "z",
                                       "t",
                                       "time",
                                       "times",
                                       "date",
                                       "datetime",
                                       "lev",
                                       "level",
                                       "levels",
                                       "plev",
                                       "ilev",
                                       "height",
                                       "altitude",
                                       "alt",
                                       "depth",
                                       "deptht",
                                       "depthu",
                                       "depthv",
                                       "depthw",
                                       "sigma",
                                       "s_rho",
                                       "s_w",
                                       "zlev",
                                       "zt",
                                       "zw",
                                       "xh",
                                       "yh",
                                       "xq",
                                       "yq",
                                       "xt",
                                       "yt",
                                       "xu",
                                       "yv",
                                       "xt_ocean",
                                       "yt_ocean",
                                       "st_ocean",
                                       "ni",
                                       "nj",
                                       "i",
                                       "j",
                                       "k",
                                       "isobaric",
                                       "pressure_level",
                                       "valid_time",
                                       "time_counter",
                                       "reftime",
                                       "leadtime",
                                       "step",
                                       "frequency",
                                       "wavelength",
                                       "wavenumber",
                                       "xaxis",
                                       "yaxis",
                                       "zaxis",
                                       NULL};

/* What bounds of cells are called after their coordinate: any rank. */
static const char *const endings[] = {"_bnds", "_bounds", "_vertices", NULL};

static char
lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

/* Whether [at, end) is the text, in any case. */
static bool
is_same(const char *at, const char *end, const char *text)
{
    while (at < end && *text != '\0' && lower(*at) == *text) {
        at++;
        text++;
    }
    return at == end && *text == '\0';
}

static bool
is_listed(const char *at, const char *end, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (is_same(at, end, *list)) {
            return true;
        }
    }
    return false;
}

static bool
has_listed_ending(const char *at, const char *end)
{
    for (const char *const *ending = endings; *ending != NULL; ending++) {
        const size_t length = strlen(*ending);
        if ((size_t)(end - at) > length && is_same(end - length, end, *ending)) {
            return true;
        }
    }
    return false;
}

/* The last name of the path, without slashes behind it. */
static const char *
last_name(const char *path, const char **end)
{
    *end = path + strlen(path);
    while (*end > path && (*end)[-1] == '/') {
        --*end;
    }
    const char *at = *end;
    while (at > path && at[-1] != '/') {
        at--;
    }
    return at;
}

bool
h5twin_policy_is_coordinate(const char *path, uint32_t rank)
{
    const char *end;
    const char *const at = last_name(path, &end);
    return is_listed(at, end, of_any_rank) || has_listed_ending(at, end) ||
           (rank == 1 && is_listed(at, end, of_a_row));
}

const char *
h5twin_policy_plain_path(const char *path, char *text)
{
    const char *end;
    const char *const at = last_name(path, &end);
    const size_t length = strlen(NON_COORDINATE);
    if ((size_t)(end - at) <= length || memcmp(at, NON_COORDINATE, length) != 0) {
        return path;
    }
    memcpy(text, path, (size_t)(at - path));
    strcpy(text + (at - path), at + length);
    return text;
}
