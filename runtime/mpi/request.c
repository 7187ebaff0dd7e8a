/* See request.h. */
#include "runtime/mpi/request.h"
#include "runtime/mpi/communicator.h"
#include "runtime/mpi/window.h"

#include <pthread.h>
#include <stdlib.h>

enum { CHAINS = 1024 };

struct request {
    struct request *next;
    struct request_name name;
    uint64_t number;        /* csan's; 0: not started, or waited for */
    struct call_kept *kept; /* of a persistent one */
    struct stage *stages;   /* copies of its buffers */
    struct follow *follow;  /* of one that is not persistent */
    uint64_t begin;         /* of the communicator that it makes */
    const void *made;       /* where that one's handle will be; NULL: it makes none */
    mpi_handle window;      /* whose data it brings */
    int target;
    bool reads; /* it does */
};

static struct {
    pthread_mutex_t lock;
    struct request *chains[CHAINS];
    uint32_t count; /* atomic */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct request **chain_of(mpi_handle handle)
{
    return &table.chains[(handle * 0x9e3779b97f4a7c15u) >> 54];
}

/* The place that points to it; or to the end of its chain. With the lock. */
static struct request **find(struct request_name name)
{
    struct request **oldest = NULL, **at = chain_of(name.handle);
    for (; *at; at = &(*at)->next) {
        if ((*at)->name.handle != name.handle)
            continue;
        if ((*at)->name.variable == name.variable)
            return at;
        if (!oldest)
            oldest = at;
    }
    return oldest ? oldest : at;
}

static void add(const struct request *request)
{
    struct request *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return;
    *fresh = *request;
    pthread_mutex_lock(&table.lock);
    struct request **at = chain_of(fresh->name.handle);
    while (*at)
        at = &(*at)->next;
    *at = fresh;
    __atomic_fetch_add(&table.count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&table.lock);
}

/* The copies are the request's from here on. */
static struct stage *stages_take(struct call *call)
{
    struct stage *stages = call->stages;
    call->stages = NULL;
    return stages;
}

void request_started(struct call *call, int result, const void *variable)
{
    if (result != MPI_OK) {
        call_outside();
        csan_request_wait(call->request);
        call_inside();
    } else if (call->request || call->stages || call->follow) {
        add(&(struct request){.name = request_name(variable, 0),
                              .number = call->request,
                              .stages = stages_take(call),
                              .follow = call_take_follow(call)});
    }
}

void request_made(struct call *call, int result, const void *variable)
{
    if (result == MPI_OK)
        add(&(struct request){.name = request_name(variable, 0),
                              .kept = call_keep(call),
                              .stages = stages_take(call)});
}

void request_makes(const void *variable, uint64_t begin, const void *made)
{
    add(&(struct request){.name = request_name(variable, 0), .begin = begin, .made = made});
}

void request_persistent_start(mpi_handle handle, const void *variable, const char *starter)
{
    pthread_mutex_lock(&table.lock);
    struct request *request = *find((struct request_name){handle, variable});
    const struct call_kept *kept = request ? request->kept : NULL;
    pthread_mutex_unlock(&table.lock);
    const uint64_t number = kept ? call_kept_start(kept, starter) : 0;
    if (kept && request->stages) {
        csan_library_begin();
        stage_in(request->stages);
        csan_library_end();
    }
    if (!number)
        return;
    pthread_mutex_lock(&table.lock);
    request->number = number;
    pthread_mutex_unlock(&table.lock);
}

/* What it wrote comes back to the device; once only. */
static void stages_end(struct request *request, bool started, bool over)
{
    if (!request->stages)
        return;
    csan_library_begin();
    if (started)
        stage_out(request->stages);
    csan_library_end();
    if (over || !request->kept) {
        stage_free(request->stages);
        request->stages = NULL;
    }
}

static struct follow *follow_of(const struct request *request)
{
    return request->kept ? call_kept_follow(request->kept) : request->follow;
}

static void request_free(struct request *request)
{
    call_kept_free(request->kept);
    follow_free(request->follow);
    free(request);
}

/* Looks for the request, takes its number, and takes it out of the table if it is over. */
struct taken {
    struct request *request; /* NULL: there is none */
    uint64_t number;
    bool over;
};

static struct taken take(struct request_name name, bool over)
{
    struct taken taken = {NULL, 0, over};
    if (!__atomic_load_n(&table.count, __ATOMIC_RELAXED))
        return taken;
    pthread_mutex_lock(&table.lock);
    struct request **at = find(name);
    taken.request = *at;
    if (taken.request) {
        taken.number = taken.request->number;
        taken.request->number = 0;
        if (over) {
            *at = taken.request->next;
            __atomic_fetch_sub(&table.count, 1, __ATOMIC_RELAXED);
        }
    }
    pthread_mutex_unlock(&table.lock);
    return taken;
}

static void finish(const struct taken *taken, const void *status)
{
    if (!taken->request)
        return;
    stages_end(taken->request, taken->number != 0, taken->over);
    csan_request_wait(taken->number);
    follow_end(follow_of(taken->request), status);
    if (taken->request->made)
        communicator_made(taken->request->begin, taken->request->made);
    if (taken->request->reads)
        epochs_came(window_epochs(taken->request->window), taken->request->target);
    if (taken->over)
        request_free(taken->request);
}

static bool is_persistent(struct request_name name)
{
    pthread_mutex_lock(&table.lock);
    const struct request *request = *find(name);
    const bool persistent = request && request->kept;
    pthread_mutex_unlock(&table.lock);
    return persistent;
}

void request_finished(struct request_name name, const void *status)
{
    if (!__atomic_load_n(&table.count, __ATOMIC_RELAXED))
        return;
    const struct taken taken = take(name, !is_persistent(name));
    finish(&taken, status);
}

void request_known(struct request_name name, const void *status)
{
    const struct taken taken = take(name, false);
    finish(&taken, status);
}

void request_flushed(struct request_name name, uint64_t number)
{
    struct taken taken = {NULL, number, false};
    pthread_mutex_lock(&table.lock);
    for (struct request *at = *chain_of(name.handle); at; at = at->next)
        if (at->number == number)
            taken.request = at;
    if (taken.request)
        taken.request->number = 0;
    pthread_mutex_unlock(&table.lock);
    finish(&taken, NULL);
}

void request_reads(struct request_name name, mpi_handle window, int target)
{
    pthread_mutex_lock(&table.lock);
    struct request *request = *find(name);
    if (request) {
        request->window = window;
        request->target = target;
        request->reads = true;
    }
    pthread_mutex_unlock(&table.lock);
}

void request_freed(struct request_name name)
{
    const struct taken taken = take(name, true);
    if (!taken.request)
        return;
    stages_end(taken.request, taken.number != 0, true);
    csan_request_forget(taken.number);
    follow_drop(follow_of(taken.request), CSAN_LACK_FREED);
    request_free(taken.request);
}

struct request_name *request_names(const void *requests, int count)
{
    struct request_name *names = NULL;
    if (count > 0 && __atomic_load_n(&table.count, __ATOMIC_RELAXED))
        names = calloc((size_t)count, sizeof *names);
    for (int i = 0; names && i < count; i++)
        names[i] = request_name(requests, i);
    return names;
}
