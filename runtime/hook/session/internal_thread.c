/* See thread_create.h. */
#include "runtime/hook/session/internal_thread.h"
#include "csan/base/thread_create.h"
#include "runtime/hook/session/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct beginning {
    void *(*run)(void *);
    void *argument;
};

static void *begin(void *user)
{
    guard_self.depth = 1; /* first: the allocator's locks are no order of the program's */
    const struct beginning beginning = *(struct beginning *)user;
    free(user);
    return beginning.run(beginning.argument);
}

bool internal_thread_start(void *(*run)(void *), void *argument, const char *name)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    struct beginning *beginning = malloc(sizeof *beginning);
    if (!beginning || pthread_attr_init(&attributes) != 0) {
        free(beginning);
        return false;
    }
    *beginning = (struct beginning){run, argument};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                         thread_create(&thread, &attributes, begin, beginning) == 0;
    if (started)
        pthread_setname_np(thread, name);
    else
        free(beginning);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}
