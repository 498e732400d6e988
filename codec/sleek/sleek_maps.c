/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps.c: SLEEK's value maps for the processor that the build is for. */
#define SLEEK_MAPS h5twin_sleek_maps_scalar
#include "sleek_maps_impl.h"
