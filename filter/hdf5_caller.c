/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_caller.c: see hdf5_caller.h. */
#ifdef __linux__
#    define _DEFAULT_SOURCE
#    include <sys/mman.h>
#endif

#include "hdf5_caller.h"

#include "shared_objects.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define HUGE_PAGE ((size_t)2 << 20) /* bytes */

/* A place that called us, and whose code it is: to find the library of an address
 * would cost more than coding a small chunk. Entries are never removed: they are three per HDF5,
 * and one for each table that a program gave. */
struct call_site {
    const void *return_address; /* or an address in the HDF5 that a table is of */
    struct h5twin_hdf5 *hdf5;
    struct call_site *next;
};

static struct call_site *_Atomic call_sites;

static struct h5twin_hdf5 *
find_site(const void *return_address)
{
    const struct call_site *site = atomic_load_explicit(&call_sites, memory_order_acquire);
    for (; site != NULL; site = site->next) {
        if (site->return_address == return_address) {
            return site->hdf5;
        }
    }
    return NULL;
}

static struct h5twin_hdf5 *
find_library(const void *base)
{
    const struct call_site *site = atomic_load_explicit(&call_sites, memory_order_acquire);
    for (; site != NULL; site = site->next) {
        if (site->hdf5->base == base) {
            return site->hdf5;
        }
    }
    return NULL;
}

/* Where a library's functions may be found: a handle, and the object they must lie in. */
struct place {
    void *handle;     /* NULL: in all objects */
    const void *base; /* NULL: any */
};

static void *
find_symbol(const struct place *place, const char *name)
{
    void *const symbol = place->handle == NULL ? h5twin_shared_symbol_anywhere(name)
                                               : h5twin_shared_symbol(place->handle, name);
    if (symbol == NULL || place->base == NULL) {
        return symbol;
    }
    /* A handle also finds what the object's dependencies export: maybe another HDF5. */
    return h5twin_shared_base(symbol) == place->base ? symbol : NULL;
}

/* The object of an address in it; else, if it exports nothing of HDF5 (a wrapper that calls filters
 * itself), what the whole program sees. */
static struct place
find_place(const void *address)
{
    struct place place = {.base = h5twin_shared_base(address)};
    place.handle = h5twin_shared_object(address);
    if (place.handle != NULL && find_symbol(&place, "H5Epush2") != NULL) {
        return place;
    }
    place.handle = h5twin_shared_program(); /* the executable may not be found by its name */
    if (place.handle != NULL && find_symbol(&place, "H5Epush2") != NULL) {
        return place;
    }
    place.handle = NULL;
    void *const any = h5twin_shared_symbol_anywhere("H5Epush2");
    if (any != NULL) { /* all functions from one library, whichever it is */
        place.base = h5twin_shared_base(any);
    }
    return place;
}

static void
find_functions(struct h5twin_hdf5 *hdf5, const struct place *place)
{
    for (unsigned group = 0; group < H5TWIN_HDF5_GROUPS; group++) {
        hdf5->has[group] = true;
    }
    void *symbol;
    /* memcpy: C has no conversion from a data pointer to a function pointer. */
#define FIND(group, type, name, parameters)                                                        \
    symbol = find_symbol(place, #name);                                                            \
    memcpy(&hdf5->name, &symbol, sizeof symbol);                                                   \
    hdf5->has[H5TWIN_HDF5_##group] = hdf5->has[H5TWIN_HDF5_##group] && symbol != NULL;
    H5TWIN_HDF5_FUNCTIONS(FIND)
#undef FIND
    if (!hdf5->has[H5TWIN_HDF5_READ_CHUNK]) {
        symbol = find_symbol(place, "H5Dread_chunk");
        memcpy(&hdf5->H5Dread_chunk1, &symbol, sizeof symbol);
        hdf5->has[H5TWIN_HDF5_READ_CHUNK] = symbol != NULL;
    }
    hdf5->takes_class3 = find_symbol(place, "H5Pappend_filter") != NULL;
    /* Up to 1.12 a debugging HDF5 may only free what it allocated. Since 2.0 it uses the C
     * library's heap, and may run filters on threads that must not call back into it. */
    if (H5TWIN_SHARED_HEAP && find_symbol(place, "H5Tcomplex_create") != NULL) {
        hdf5->has[H5TWIN_HDF5_MEMORY] = false;
    }
}

/* What the program that HDF5 is linked into says of it. */
void
h5twin_hdf5_from_table(struct h5twin_hdf5 *hdf5, const struct h5twin_hdf5_functions *functions)
{
    for (unsigned group = 0; group < H5TWIN_HDF5_GROUPS; group++) {
        hdf5->has[group] = true;
    }
    /* memcpy: each member has its own type. */
#define TAKE(group, type, name, parameters)                                                        \
    if (offsetof(struct h5twin_hdf5_functions, name) + sizeof functions->name <=                   \
        functions->size) {                                                                         \
        memcpy(&hdf5->name, &functions->name, sizeof functions->name);                             \
    }                                                                                              \
    hdf5->has[H5TWIN_HDF5_##group] = hdf5->has[H5TWIN_HDF5_##group] && hdf5->name != NULL;
    H5TWIN_HDF5_FUNCTIONS(TAKE)
#undef TAKE
}

/* The first that is put in front wins nothing but its place: two threads may add the same site,
 * and then use two equal descriptions of one library. */
static void
add_site(struct call_site *site)
{
    site->next = atomic_load_explicit(&call_sites, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&call_sites, &site->next, site,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

struct h5twin_hdf5 *
h5twin_hdf5_of_caller(const void *return_address)
{
    struct h5twin_hdf5 *hdf5 = find_site(return_address);
    if (hdf5 != NULL) {
        return hdf5;
    }
    const void *const base = h5twin_shared_base(return_address);
    hdf5 = find_library(base);
    const bool is_new = hdf5 == NULL;
    if (is_new && base == NULL) {
        return NULL;
    }
    struct call_site *const site = malloc(sizeof *site);
    if (is_new) {
        hdf5 = calloc(1, sizeof *hdf5);
    }
    if (site == NULL || hdf5 == NULL) {
        free(site);
        if (is_new) {
            free(hdf5);
        }
        return is_new ? NULL : hdf5;
    }
    if (is_new) {
        const struct place place = find_place(return_address);
        hdf5->base = base;
        find_functions(hdf5, &place);
    }
    site->return_address = return_address;
    site->hdf5 = hdf5;
    add_site(site);
    return hdf5;
}

void *
h5twin_hdf5_symbol(const struct h5twin_hdf5 *hdf5, const char *name)
{
    if (hdf5->base == NULL) {
        return NULL;
    }
    const struct place place = find_place(hdf5->base);
    void *const symbol = find_symbol(&place, name);
    return symbol != NULL && h5twin_shared_base(symbol) == hdf5->base ? symbol : NULL;
}

/* A shared library, or a program linked with -rdynamic: better than a table, which knows only what
 * was in the headers that it was compiled with. */
static bool
exports_its_functions(const void *address)
{
    const void *const base = h5twin_shared_base(address);
    const struct place place = find_place(address);
    return base != NULL && place.base == base && find_symbol(&place, "H5Epush2") != NULL;
}

enum h5twin_status
h5twin_hdf5_use(const struct h5twin_hdf5_functions *functions)
{
    if (functions == NULL ||
        functions->size < offsetof(struct h5twin_hdf5_functions, H5Pmodify_filter) +
                              sizeof functions->H5Pmodify_filter ||
        functions->H5Pmodify_filter == NULL) {
        return H5TWIN_ERR_ARG;
    }
    const void *address;
    memcpy(&address, &functions->H5Pmodify_filter, sizeof address);
    if (find_site(address) != NULL || exports_its_functions(address)) {
        return H5TWIN_OK;
    }
    struct call_site *const site = malloc(sizeof *site);
    struct h5twin_hdf5 *const hdf5 = calloc(1, sizeof *hdf5);
    if (site == NULL || hdf5 == NULL) {
        free(site);
        free(hdf5);
        return H5TWIN_ERR_MEMORY;
    }
    h5twin_hdf5_from_table(hdf5, functions);
    hdf5->base = h5twin_shared_base(address);
    site->return_address = address;
    site->hdf5 = hdf5;
    add_site(site);
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_hdf5_find(struct h5twin_hdf5_functions *functions, const void *address)
{
    if (functions == NULL || address == NULL) {
        return H5TWIN_ERR_ARG;
    }
    const struct h5twin_hdf5 *const hdf5 = h5twin_hdf5_of_caller(address);
    if (hdf5 == NULL || !hdf5->has[H5TWIN_HDF5_PROPERTIES]) {
        return H5TWIN_ERR_ARG;
    }
#define GIVE(group, type, name, parameters)                                                        \
    if (offsetof(struct h5twin_hdf5_functions, name) + sizeof functions->name <=                   \
        functions->size) {                                                                         \
        memcpy(&functions->name, &hdf5->name, sizeof functions->name);                             \
    }
    H5TWIN_HDF5_FUNCTIONS(GIVE)
#undef GIVE
    return H5TWIN_OK;
}

/* ---- memory ---- */

void *
h5twin_hdf5_allocate(const struct h5twin_hdf5 *hdf5, size_t size, bool clear)
{
    if (hdf5 != NULL && hdf5->has[H5TWIN_HDF5_MEMORY]) {
        return hdf5->H5allocate_memory(size, clear);
    }
    return clear ? calloc(size, 1) : malloc(size);
}

void
h5twin_hdf5_free(const struct h5twin_hdf5 *hdf5, void *memory)
{
    if (hdf5 != NULL && hdf5->has[H5TWIN_HDF5_MEMORY]) {
        hdf5->H5free_memory(memory);
    } else {
        free(memory);
    }
}

#ifdef __GLIBC__
/* A freed block that had been mapped by itself makes glibc take blocks up to its size from the heap
 * from then on, and keep twice as much free memory at the heap's end. HDF5's buffer and ours beside
 * it are twice a chunk: just too much, so that each chunk faulted all its pages in anew. */
#    define SHOWN_FACTOR  4u
#    define LARGEST_SHOWN (((size_t)32 << 20) - 65536u) /* of a larger one it learns nothing */
#    define LARGEST_TOLD  ((size_t)16 << 20)
/* A chunk of 64 MiB, and what an encoder wants more. */
#    define LARGEST_KEPT ((size_t)80 << 20)

/* Larger blocks glibc maps by themselves, unless the heap has as much free already; and at the
 * heap's end it keeps 64 MiB at most. So there shall be a hole further down, before a block that
 * stays, for two of the largest ones and for what a codec works in. It is made of pieces that glibc
 * does take from the heap, whatever the heap knew before: it keeps less than 32 MiB at its end, and
 * so is shown a larger block, or takes those of half as many. The hole is the heap's: nobody has
 * touched its pages, whoever allocates may use it, and when it is in pieces large blocks are mapped
 * again. */
#    define PIECE_BYTES ((size_t)8 << 20)
#    define PIECES      34u
#    define STAY_BYTES  4096u

static void
make_hole(void)
{
    static atomic_flag is_made = ATOMIC_FLAG_INIT;
    static void *_Atomic stay; /* for ever */
    if (atomic_flag_test_and_set(&is_made)) {
        return;
    }
    void *pieces[PIECES + 1];
    for (unsigned i = 0; i <= PIECES; i++) {
        pieces[i] = malloc(PIECE_BYTES);
        h5twin_hdf5_few_faults(pieces[i], PIECE_BYTES);
    }
    /* The last one lies above the others; a small block might fit somewhere else. */
    void *const last = pieces[PIECES] == NULL ? NULL : realloc(pieces[PIECES], STAY_BYTES);
    atomic_store_explicit(&stay, last, memory_order_relaxed);
    for (unsigned i = 0; i < PIECES; i++) {
        free(pieces[i]);
    }
}

/* Nobody has touched it. */
static void
show(size_t size)
{
    void *volatile block = malloc(size < LARGEST_SHOWN ? size : LARGEST_SHOWN);
    free(block);
}
#endif

bool
h5twin_hdf5_heap_keeps(size_t size)
{
#ifdef __GLIBC__
    static atomic_size_t shown; /* the largest size so far */
    if (size > LARGEST_KEPT) {
        return false;
    }
    if (size > atomic_load_explicit(&shown, memory_order_relaxed)) {
        show(SHOWN_FACTOR * size);
        if (size > LARGEST_TOLD) {
            make_hole();
        }
        atomic_store_explicit(&shown, size, memory_order_relaxed);
    }
    return true;
#else
    (void)size;
    return false;
#endif
}

void
h5twin_hdf5_few_faults(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    const uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (memory != NULL && begin < end) {
        uint8_t *const first = (uint8_t *)memory + (begin - (uintptr_t)memory);
        (void)madvise(first, end - begin, MADV_HUGEPAGE); /* small pages do, too */
    }
#else
    (void)memory, (void)size;
#endif
}

/* ---- errors ---- */

/* The class under which our messages stand. */
static bool
register_error_class(struct h5twin_hdf5 *hdf5)
{
    const h5twin_hid class_id = hdf5->H5Eregister_class("h5twin", "h5twin", H5TWIN_VERSION);
    if (class_id < 0) {
        return false;
    }
    hdf5->error_major =
        hdf5->H5Ecreate_msg(class_id, H5TWIN_HDF5_ERROR_MAJOR, "Compression filter");
    hdf5->error_minor = hdf5->H5Ecreate_msg(class_id, H5TWIN_HDF5_ERROR_MINOR, "Refused");
    hdf5->error_class = class_id;
    return hdf5->error_major > 0 && hdf5->error_minor > 0;
}

/* The stack to push on. Newer HDF5 takes no messages on its own while it runs a filter on a chunk
 * ("paused"), but does take over another stack as a whole. */
static h5twin_hid
choose_stack(const struct h5twin_hdf5 *hdf5)
{
    bool is_paused = false;
    return hdf5->has[H5TWIN_HDF5_PAUSE] &&
                   hdf5->H5Eis_paused(H5TWIN_HDF5_DEFAULT_STACK, &is_paused) >= 0 && is_paused
               ? hdf5->H5Ecreate_stack()
               : H5TWIN_HDF5_DEFAULT_STACK;
}

static bool
push(const struct h5twin_hdf5 *hdf5, h5twin_hid stack, const char *function, const char *codec_name,
     const char *text)
{
    return hdf5->error_class > 0 &&
           hdf5->H5Epush2(stack, "h5twin", function, 0, hdf5->error_class, hdf5->error_major,
                          hdf5->error_minor, "h5twin %s: %s", codec_name, text) >= 0;
}

void
h5twin_hdf5_push_error(struct h5twin_hdf5 *hdf5, const char *function, const char *codec_name,
                       const char *text)
{
    if (hdf5 == NULL || !hdf5->has[H5TWIN_HDF5_ERRORS]) {
        return;
    }
    const h5twin_hid stack = choose_stack(hdf5);
    if (stack < 0) {
        return;
    }
    /* The class does not exist yet, or no more: H5close() forgets it. */
    if (!push(hdf5, stack, function, codec_name, text) && register_error_class(hdf5)) {
        push(hdf5, stack, function, codec_name, text);
    }
    if (stack != H5TWIN_HDF5_DEFAULT_STACK) {
        hdf5->H5Eset_current_stack(stack); /* and closes it */
    }
}
