/* See request.h. */
#include "runtime/mpi/request.h"

#include <pthread.h>
#include <stdlib.h>

enum { CHAINS = 1024 };

struct request {
    struct request *next;
    struct request_name name;
    uint64_t number;        /* csan's; 0: not started, or waited for */
    struct call_kept *kept; /* of a persistent one */
    struct stage *stages;   /* copies of its buffers */
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
    } else if (call->request || call->stages) {
        add(&(struct request){.name = request_name(variable, 0),
                              .number = call->request,
                              .stages = stages_take(call)});
    }
}

void request_made(struct call *call, int result, const void *variable)
{
    if (result == MPI_OK)
        add(&(struct request){.name = request_name(variable, 0),
                              .kept = call_keep(call),
                              .stages = stages_take(call)});
}

void request_persistent_start(mpi_handle handle, const void *variable)
{
    pthread_mutex_lock(&table.lock);
    struct request *request = *find((struct request_name){handle, variable});
    const struct call_kept *kept = request ? request->kept : NULL;
    pthread_mutex_unlock(&table.lock);
    const uint64_t number = kept ? call_kept_start(kept) : 0;
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

/* Takes its number, and the request out of the table if it is over. */
static uint64_t take(struct request_name name, bool over)
{
    uint64_t number = 0;
    if (!__atomic_load_n(&table.count, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&table.lock);
    struct request **at = find(name), *request = *at;
    if (request) {
        number = request->number;
        request->number = 0;
        if (over) {
            *at = request->next;
            __atomic_fetch_sub(&table.count, 1, __ATOMIC_RELAXED);
        }
    }
    pthread_mutex_unlock(&table.lock);
    if (request)
        stages_end(request, number != 0, over);
    if (request && over) {
        call_kept_free(request->kept);
        free(request);
    }
    return number;
}

static bool is_persistent(struct request_name name)
{
    pthread_mutex_lock(&table.lock);
    const struct request *request = *find(name);
    const bool persistent = request && request->kept;
    pthread_mutex_unlock(&table.lock);
    return persistent;
}

void request_finished(struct request_name name)
{
    if (__atomic_load_n(&table.count, __ATOMIC_RELAXED))
        csan_request_wait(take(name, !is_persistent(name)));
}

void request_known(struct request_name name)
{
    csan_request_wait(take(name, false));
}

void request_freed(struct request_name name)
{
    csan_request_forget(take(name, true));
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
