/* See library_place.h. */
#include "runtime/tracer/library_place.h"
#include "csan/base/environment.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *open_in(const char *directory, const char *place)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s%s/" SANITIZER_LIBRARY, directory, place) >=
        (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Where a toolkit has it, from its root or from where it keeps its libraries; and a wheel, which
 * keeps them all together. */
static void *open_below(const char *directory)
{
    static const char *const places[] = {"/compute-sanitizer", "/../compute-sanitizer",
                                         "/../../../compute-sanitizer", ""};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++)
        library = open_in(directory, places[i]);
    return library;
}

/* The directory of the run-time library that the program uses, copied. */
static int cudart_find(struct dl_phdr_info *object, size_t bytes, void *user)
{
    char **directory = user;
    const char *slash = strrchr(object->dlpi_name, '/');
    (void)bytes;
    if (!slash || strncmp(slash + 1, "libcudart.so", 12) != 0)
        return 0;
    *directory = strndup(object->dlpi_name, (size_t)(slash - object->dlpi_name));
    return 1;
}

/* What the user says, then the loader, then what belongs to the program, then the usual places. */
void *sanitizer_library_open(void)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    static const char *const homes[] = {"/usr/local/cuda", "/opt/cuda"};
    char *cudart = NULL;
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof variables / sizeof *variables; i++) {
        const char *home = environment_get(variables[i]);
        library = home ? open_below(home) : NULL;
    }
    if (!library)
        library = dlopen(SANITIZER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    dl_iterate_phdr(cudart_find, &cudart); /* opens nothing: the loader's lock is held */
    if (!library && cudart)
        library = open_below(cudart);
    free(cudart);
    for (size_t i = 0; !library && i < sizeof homes / sizeof *homes; i++)
        library = open_below(homes[i]);
    return library;
}
