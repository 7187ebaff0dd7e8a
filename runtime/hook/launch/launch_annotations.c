/* See launch_annotations.h. */
#include "runtime/hook/launch/launch_annotations.h"

#include <pthread.h>
#include <stdlib.h>

enum { ANNOTATION_LIMIT = 64 };

/* Allocated at a thread's first annotation. */
struct annotations {
    size_t count;
    struct csan_access accesses[ANNOTATION_LIMIT];
};

static __thread struct annotations *self __attribute__((tls_model("initial-exec")));

const char *const launch_annotations_arguments[1] = {"range"};

static pthread_key_t self_key;
static pthread_once_t self_once = PTHREAD_ONCE_INIT;

static void self_end(void *value)
{
    free(value);
    self = NULL;
}
static void self_key_create(void)
{
    pthread_key_create(&self_key, self_end);
}

static struct annotations *annotations_of_thread(void)
{
    if (self)
        return self;
    pthread_once(&self_once, self_key_create);
    struct annotations *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return NULL;
    if (pthread_setspecific(self_key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return self = fresh;
}

void launch_annotations_add(const struct csan_access *access)
{
    struct annotations *own = annotations_of_thread();
    if (own && own->count < ANNOTATION_LIMIT)
        own->accesses[own->count++] = *access;
}

const struct csan_access *launch_annotations_take(size_t *count)
{
    struct annotations *own = self;
    *count = own ? own->count : 0;
    if (own)
        own->count = 0;
    return own ? own->accesses : NULL;
}

bool launch_annotations_any(void)
{
    return self && self->count;
}
