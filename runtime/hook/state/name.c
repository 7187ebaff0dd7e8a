/* Kernel names. See name.h. */
#include "runtime/hook/state/name.h"
#include "csan/base/text.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct name {
    UT_hash_handle hh;
    char text[];
};

static struct {
    struct name *names;
    pthread_mutex_t mutex;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

typedef char *demangle_function(const char *name, char *buffer, size_t *length, int *status);

static const char *name_keep(const char *text)
{
    struct name *name = NULL;
    size_t length = strlen(text);
    lock_order_take(LOCK_NAMES, &table.mutex);
    HASH_FIND(hh, table.names, text, length, name);
    if (!name && (name = calloc(1, sizeof *name + length + 1)) != NULL) {
        memcpy(name->text, text, length);
        HASH_ADD_KEYPTR(hh, table.names, name->text, length, name);
    }
    lock_order_give(LOCK_NAMES, &table.mutex);
    return name ? name->text : "an unnamed kernel";
}

const char *name_of_kernel(const char *text, void *demangle)
{
    int status = -1;
    char *readable = NULL;
    if (demangle && strncmp(text, "_Z", 2) == 0)
        readable = ((demangle_function *)demangle)(text, NULL, NULL, &status);
    bool demangled = readable && status == 0;
    if (demangled)
        text_drop_tags(readable);
    const char *name = name_keep(demangled ? readable : text);
    free(readable);
    return name;
}
