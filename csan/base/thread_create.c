/* See thread_create.h. */
#include "csan/base/thread_create.h"

#include <dlfcn.h>
#include <errno.h>

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*run)(void *), void *argument);

static create_function *create;

/* Before anything runs, since a look-up takes the loader's lock: who holds that, in a constructor,
 * may wait for what the thread is to do. Asked of the program, and not by RTLD_DEFAULT: libcsan is
 * linked with -Bsymbolic, and would find its own. */
__attribute__((constructor(101))) static void find(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    create = program ? (create_function *)dlsym(program, "pthread_create") : NULL;
}

int thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                  void *argument)
{
    if (!create)
        find();
    return create ? create(thread, attributes, run, argument) : ENOSYS;
}
