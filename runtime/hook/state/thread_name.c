/* See thread_name.h. */
#include "runtime/hook/state/thread_name.h"
#include "runtime/hook/state/handle_table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct named_thread {
    uint64_t thread;
    char *name;
    UT_hash_handle hh;
};

static struct {
    struct named_thread *threads; /* that NVTX named */
    uint32_t count;               /* of threads that have numbers, but for the main thread */
} table;

static struct named_thread *named_find(pid_t thread)
{
    const uint64_t key = (uint64_t)thread;
    struct named_thread *named = NULL;
    HASH_FIND(hh, table.threads, &key, sizeof key, named);
    return named;
}

void thread_named(pid_t thread, const char *name)
{
    struct named_thread *named = named_find(thread);
    char *copy = strdup(name);
    if (!named && copy && (named = calloc(1, sizeof *named)) != NULL) {
        named->thread = (uint64_t)thread;
        HASH_ADD(hh, table.threads, thread, sizeof named->thread, named);
    }
    if (!named || !copy) {
        free(copy);
        return;
    }
    free(named->name);
    named->name = copy;
}

/* The table may be in the midst of a change: it is left as it is. */
void thread_names_forked(void)
{
    table.threads = NULL;
    table.count = 0;
}

/* A thread that was given no name has that of the thread that created it, so the main thread's: as
 * a rule the program's. */
static bool is_main_threads(const char *name)
{
    static char main_name[32];
    if (!main_name[0]) {
        const int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
        const ssize_t length = file >= 0 ? read(file, main_name, sizeof main_name - 1) : 0;
        main_name[length > 0 ? strcspn(main_name, "\n") : 0] = '\0';
        if (file >= 0)
            close(file);
    }
    return strcmp(name, main_name) == 0 ||
           strncmp(name, program_invocation_short_name, strlen(name)) == 0;
}

struct thread_title thread_title_take(void)
{
    static __thread uint32_t number __attribute__((tls_model("initial-exec")));
    struct thread_title title = {.thread = gettid()};
    if (title.thread == getpid())
        number = 1;
    else if (!number)
        number = ++table.count + 1;
    title.number = number;
    if (pthread_getname_np(pthread_self(), title.own, sizeof title.own) != 0 || number == 1 ||
        is_main_threads(title.own))
        title.own[0] = '\0';
    return title;
}

void thread_title_write(const struct thread_title *title, char text[THREAD_TITLE_BYTES])
{
    const struct named_thread *named = named_find(title->thread);
    const char *name = named ? named->name : title->own;
    int length = title->number == 1
                     ? snprintf(text, THREAD_TITLE_BYTES, "the main thread")
                     : snprintf(text, THREAD_TITLE_BYTES, "thread %u", title->number);
    if (name[0])
        snprintf(text + length, (size_t)(THREAD_TITLE_BYTES - length), " ('%.100s')", name);
}
