/* C++ names as they were written. See demangle.h. */
#include "runtime/cli/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* __cxa_demangle (Itanium C++ ABI, section 3.4). */
typedef char *demangle_function(const char *name, char *output, size_t *bytes, int *status);

static struct {
    bool opened;
    demangle_function *function;
} demangler;

char *demangle(const char *name)
{
    int status = -1;
    if (!name || strncmp(name, "_Z", 2) != 0)
        return NULL;
    if (!demangler.opened) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        demangler.function = library ? (demangle_function *)dlsym(library, "__cxa_demangle") : NULL;
        demangler.opened = true;
    }
    char *plain = demangler.function ? demangler.function(name, NULL, NULL, &status) : NULL;
    if (plain && status == 0)
        return plain;
    free(plain);
    return NULL;
}
