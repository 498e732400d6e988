/* SPDX-License-Identifier: BSD-3-Clause
 * shared_objects.h: the shared objects of this process: whose code an address is, and what they
 * export. The one place that knows dlopen(), and what Windows has instead. */
#ifndef H5TWIN_SHARED_OBJECTS_H
#define H5TWIN_SHARED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether memory that one object got from malloc() may be freed by another. */
#ifdef _WIN32
#    define H5TWIN_SHARED_HEAP false /* each may have a C library of its own */
#else
#    define H5TWIN_SHARED_HEAP true
#endif

/* Where the object that holds an address is loaded; NULL if there is no telling, as in a program
 * without shared objects. */
const void *h5twin_shared_base(const void *address);

/* The file of the object that holds an address, with its folder. False if it is not known, or
 * longer than fits. */
bool h5twin_shared_file(const void *address, char *path, size_t capacity);

/* Handles, for h5twin_shared_symbol(). NULL is none. That of an object is kept: it will not be
 * unloaded while its addresses are remembered. */
void *h5twin_shared_object(const void *address);
void *h5twin_shared_program(void);

/* Load it, with what it needs from its own folder. */
void *h5twin_shared_open(const char *path);

/* That of an object by its name, if it is loaded: nothing is loaded for it. */
void *h5twin_shared_loaded(const char *name);

/* NULL if the object, or those that it was linked with, export no such name. */
void *h5twin_shared_symbol(void *handle, const char *name);

/* The first of that name in all objects that share their names. */
void *h5twin_shared_symbol_anywhere(const char *name);

/* See to it that this object stays until the process ends, although HDF5 unloads plugins: threads
 * may wait in it. */
void h5twin_shared_stay(void);

#endif
