/* See window.h. */
#include "runtime/mpi/window.h"
#include "csan/base/hash.h"

#include <pthread.h>
#include <stdlib.h>

struct operation {
    struct operation *next;
    int target;
    uint64_t request; /* csan's number */
    struct stage *stages;
    struct request_name name; /* of its request; variable NULL: it has none */
};

struct window {
    struct window *next;
    mpi_handle handle;
    struct window_memory memory;
    struct operation *operations;
    struct epochs *epochs; /* or NULL */
    uint64_t fences;
};

static struct {
    pthread_mutex_t lock;
    struct window *windows; /* few */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock. */
static struct window *find(mpi_handle handle)
{
    struct window *window = table.windows;
    while (window && window->handle != handle)
        window = window->next;
    return window;
}

void window_created(mpi_handle handle, const struct window_memory *memory)
{
    struct window *window = calloc(1, sizeof *window);
    if (!window)
        return;
    window->handle = handle;
    window->memory = *memory;
    if (memory->id)
        window->epochs = epochs_create(memory->id, memory->rank, memory->size, memory->shared);
    pthread_mutex_lock(&table.lock);
    window->next = table.windows;
    table.windows = window;
    pthread_mutex_unlock(&table.lock);
}

void window_freed(mpi_handle handle)
{
    window_finished(handle, WINDOW_ANY_TARGET);
    pthread_mutex_lock(&table.lock);
    struct window **at = &table.windows, *window = find(handle);
    while (window && *at != window)
        at = &(*at)->next;
    if (window)
        *at = window->next;
    pthread_mutex_unlock(&table.lock);
    if (window)
        epochs_free(window->epochs);
    free(window);
}

bool window_memory_of(mpi_handle handle, struct window_memory *memory)
{
    pthread_mutex_lock(&table.lock);
    const struct window *window = find(handle);
    if (window)
        *memory = window->memory;
    pthread_mutex_unlock(&table.lock);
    return window != NULL;
}

static void operation_end(struct operation *operation)
{
    if (operation->name.variable)
        request_flushed(operation->name, operation->request);
    else
        csan_request_wait(operation->request);
    if (operation->stages) {
        csan_library_begin();
        stage_out(operation->stages);
        csan_library_end();
    }
    stage_free(operation->stages);
    free(operation);
}

/* False: nothing is known of that window. */
static bool operation_add(mpi_handle handle, struct operation *operation)
{
    pthread_mutex_lock(&table.lock);
    struct window *window = find(handle);
    if (window) {
        operation->next = window->operations;
        window->operations = operation;
    }
    pthread_mutex_unlock(&table.lock);
    return window != NULL;
}

void window_requested(mpi_handle handle, int target, struct request_name name, uint64_t number,
                      bool reads)
{
    if (reads && window_epochs(handle))
        request_reads(name, handle, target);
    struct operation *operation = number ? calloc(1, sizeof *operation) : NULL;
    if (!operation)
        return;
    *operation = (struct operation){.target = target, .request = number, .name = name};
    if (!operation_add(handle, operation))
        free(operation);
}

void window_started(mpi_handle handle, int target, struct call *call)
{
    struct operation *operation =
        call->request || call->stages ? calloc(1, sizeof *operation) : NULL;
    if (!operation)
        return;
    operation->target = target;
    operation->request = call->request;
    operation->stages = call->stages;
    call->stages = NULL;
    if (!operation_add(handle,
                       operation)) { /* made before csan was on: nothing is known of its epochs */
        call_outside();
        operation_end(operation);
        call_inside();
    }
}

/* The first operation to that target, taken out; NULL: there is none. */
static struct operation *take(mpi_handle handle, int target)
{
    struct operation *taken = NULL;
    pthread_mutex_lock(&table.lock);
    struct window *window = find(handle);
    for (struct operation **at = window ? &window->operations : NULL; at && *at;
         at = &(*at)->next) {
        if (target != WINDOW_ANY_TARGET && (*at)->target != target)
            continue;
        taken = *at;
        *at = taken->next;
        break;
    }
    pthread_mutex_unlock(&table.lock);
    return taken;
}

void window_finished(mpi_handle handle, int target)
{
    struct operation *operation;
    while ((operation = take(handle, target)))
        operation_end(operation);
}

struct epochs *window_epochs(mpi_handle handle)
{
    pthread_mutex_lock(&table.lock);
    const struct window *window = find(handle);
    struct epochs *epochs = window ? window->epochs : NULL;
    pthread_mutex_unlock(&table.lock);
    return epochs;
}

uint64_t window_fence(mpi_handle handle, int *size)
{
    uint64_t key = 0;
    pthread_mutex_lock(&table.lock);
    struct window *window = find(handle);
    if (window && window->memory.id) {
        key = hash_mix(hash_mix(window->memory.id, ++window->fences), 4);
        *size = window->memory.size;
    }
    pthread_mutex_unlock(&table.lock);
    return key;
}

uint64_t window_end(mpi_handle handle, int *size)
{
    struct window_memory memory;
    if (!window_memory_of(handle, &memory) || !memory.id)
        return 0;
    *size = memory.size;
    return hash_mix(memory.id, 12);
}
