/* Demangles C++ names. See demangle.h. */
#include "runtime/cli/kernels/demangle.h"
#include "csan/base/text.h"

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
    if (plain && status == 0) {
        text_drop_tags(plain);
        return plain;
    }
    free(plain);
    return NULL;
}

char *demangle_words(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
    struct text result = {0};
    text_add(&result, "%s", "");
    while (*text) {
        size_t word = strspn(text, letters), length = word ? word : strcspn(text, letters);
        char *name = word ? strndup(text, word) : NULL, *plain = demangle(name);
        if (plain)
            text_add(&result, "%s", plain);
        else
            text_add(&result, "%.*s", (int)length, text);
        free(plain);
        free(name);
        text += length;
    }
    if (result.cut) {
        text_free(&result);
        return NULL;
    }
    return result.data;
}
