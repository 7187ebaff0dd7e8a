/* The tracer of a GPU: a source of traces (runtime/hook/trace_source.h) that patches a kernel's
 * machine code for the launches that are wanted, by NVIDIA's Sanitizer API (Compute Sanitizer API
 * Reference Manual, Patching API), and takes the patch away when none is.
 *
 * A wanted launch has a record in device memory. The launch callback, within the driver's call,
 * ties the record to the launch; after the call an event is
 * recorded behind it; a thread of csan's own asks for that event, reads the record and tells. The
 * program waits for none of it. */
#include "runtime/hook/guard.h"
#include "runtime/hook/stream.h"
#include "runtime/hook/trace_source.h"
#include "runtime/tracer/api.h"
#include "runtime/tracer/buffer.h"
#include "runtime/tracer/module.h"

#include "include/csan/csan.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <uthash.h>

enum { POLL_FIRST_US = 50, POLL_LAST_US = 2000 };

#define RECORDS_LIMIT (UINT64_C(256) << 20)

/* A context in which launches are traced. */
struct place {
    CUcontext context;
    struct buffer_pool *pool; /* NULL: this context can have none */
    UT_hash_handle hh;
};

/* How fine a kernel's record has to be, as its launches have shown. */
struct grain {
    CUfunction function; /* as programs pass it */
    uint32_t shift;
    bool coarse; /* finer is too much: its sets are bounds */
    UT_hash_handle hh;
};

/* A launch that is traced, from the wish to the word of it. */
struct watch {
    uint64_t id; /* 0: the driver has not come to launch it yet */
    CUfunction function;
    CUstream stream;
    bool thread_default, coarse, failed;
    uint32_t shift;
    struct buffer *buffer;
    struct watch *next;
};

static struct {
    const struct sanitizer_api *api;
    bool prepared;
    device_trace_done *done;
    void *user;
    const char *why;       /* there are no traces; NULL: there are */
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t queued;
    struct place *places;
    struct grain *grains;
    struct watch *first, **last; /* to be watched, oldest first */
    uint64_t ids;
} tracer = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .queued = PTHREAD_COND_INITIALIZER, .last = &tracer.first};

/* The calling thread's launch in the making, and the number of its newest. */
static __thread struct watch *own __attribute__((tls_model("initial-exec")));
static __thread uint64_t own_last __attribute__((tls_model("initial-exec")));

static void tell_lost(uint64_t id)
{
    tracer.done(tracer.user, &(struct device_trace_launch){.id = id, .lost = true});
}

/* ---- Grains ---- */

static struct grain grain_get(CUfunction function)
{
    struct grain *grain = NULL, unknown = {.function = function, .shift = 2};
    pthread_mutex_lock(&tracer.mutex);
    HASH_FIND_PTR(tracer.grains, &function, grain);
    if (grain)
        unknown = *grain;
    pthread_mutex_unlock(&tracer.mutex);
    return unknown;
}

static void grain_set(CUfunction function, uint32_t shift, bool coarse)
{
    struct grain *grain = NULL;
    pthread_mutex_lock(&tracer.mutex);
    HASH_FIND_PTR(tracer.grains, &function, grain);
    if (!grain && (grain = calloc(1, sizeof *grain))) {
        grain->function = function;
        HASH_ADD_PTR(tracer.grains, function, grain);
    }
    if (grain) {
        grain->shift = shift;
        grain->coarse = coarse;
    }
    pthread_mutex_unlock(&tracer.mutex);
}

/* What the record says of its own grain: false when the launch must be taken as lost, and the next
 * one is to have another. Four bytes first, since few kernels touch less; one byte where one does;
 * more where there is too much. */
static bool grain_fits(const struct watch *watch, uint32_t flags)
{
    if (flags & RECORD_FULL) {
        grain_set(watch->function, watch->shift < 2 ? 2 : watch->shift + 4, true);
        return false;
    }
    if (flags & RECORD_NARROW && !watch->coarse) {
        grain_set(watch->function, 0, false);
        return false;
    }
    return true;
}

/* ---- Words ---- */

/* No range may reach over the end of an allocation. */
static void bound_by_allocations(struct touch *touch, const struct device_trace_range *ranges,
                                 size_t count)
{
    uint64_t base = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = ranges[i].address, end = ranges[i].address + ranges[i].bytes;
        for (uint32_t k = 0; k < ranges[i].dims; k++)
            end += ranges[i].stride[k] * (ranges[i].count[k] - 1);
        while (address < end) {
            if (address - base >= bytes) {
                if (!csan_memory_find(process_context(), address, &base, &bytes, NULL))
                    break;
                touch_bound(touch, base, base + bytes);
            }
            address = base + bytes;
        }
    }
}

static void tell(const struct watch *watch, struct touch *touch)
{
    size_t count;
    struct device_trace_range *ranges = touch_ranges(touch, &count);
    bound_by_allocations(touch, ranges, count);
    free(ranges);
    ranges = touch_ranges(touch, &count);
    struct device_trace_launch launch = {.id = watch->id,
                                         .inexact = watch->coarse,
                                         .lost = touch_failed(touch),
                                         .count = count,
                                         .ranges = ranges};
    tracer.done(tracer.user, &launch);
    free(ranges);
}

static void read_and_tell(const struct watch *watch)
{
    struct touch *touch = touch_create();
    uint32_t flags = 0;
    if (touch && buffer_read(watch->buffer, watch->shift, touch, &flags) &&
        grain_fits(watch, flags))
        tell(watch, touch);
    else
        tell_lost(watch->id);
    touch_destroy(touch);
}

/* ---- The reader ---- */

static void unqueue(struct watch *watch)
{
    pthread_mutex_lock(&tracer.mutex);
    struct watch **at = &tracer.first;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    if (!*at)
        tracer.last = at;
    pthread_mutex_unlock(&tracer.mutex);
    module_launch_done(watch->function);
    free(watch);
}

/* True when one was done. Only this thread takes from the queue, so `next` stays valid. */
static bool look_at_all(void)
{
    bool any = false;
    pthread_mutex_lock(&tracer.mutex);
    struct watch *watch = tracer.first;
    pthread_mutex_unlock(&tracer.mutex);
    while (watch) {
        enum buffer_state state = watch->failed ? BUFFER_BROKEN : buffer_state(watch->buffer);
        pthread_mutex_lock(&tracer.mutex);
        struct watch *next = watch->next;
        pthread_mutex_unlock(&tracer.mutex);
        if (state == BUFFER_DONE)
            read_and_tell(watch);
        else if (state == BUFFER_BROKEN)
            tell_lost(watch->id);
        if (state != BUFFER_BUSY) {
            unqueue(watch);
            any = true;
        }
        watch = next;
    }
    return any;
}

static void *reader(void *unused)
{
    unsigned pause = POLL_FIRST_US;
    guard_self.depth = 1; /* whatever it calls is csan's own */
    for (;;) {
        pthread_mutex_lock(&tracer.mutex);
        while (!tracer.first) {
            pause = POLL_FIRST_US;
            pthread_cond_wait(&tracer.queued, &tracer.mutex);
        }
        pthread_mutex_unlock(&tracer.mutex);
        if (look_at_all())
            pause = POLL_FIRST_US;
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000L}, NULL);
        pause = pause * 2 < POLL_LAST_US ? pause * 2 : POLL_LAST_US;
    }
    return unused;
}

static bool reader_start(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                   pthread_create(&thread, &attributes, reader, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* ---- Callbacks ---- */

static void place_close(CUcontext context)
{
    struct place *place = NULL;
    pthread_mutex_lock(&tracer.mutex);
    HASH_FIND_PTR(tracer.places, &context, place);
    if (place) {
        HASH_DEL(tracer.places, place);
        if (place->pool)
            buffer_pool_close(place->pool);
        free(place);
    }
    pthread_mutex_unlock(&tracer.mutex);
}

/* Within the driver's call, on the thread that launches. */
static void launch_begins(const Sanitizer_LaunchData *data)
{
    struct watch *watch = own;
    if (!watch || watch->id != 0) {
        module_launched(data->module);
        return;
    }
    if (!module_is_ready(data, watch->function))
        return;
    void *userdata = (void *)(uintptr_t)(watch->buffer->record | watch->shift);
    watch->failed = tracer.api->set_launch_data(data->hLaunch, data->function, data->hStream,
                                                userdata) != SANITIZER_SUCCESS;
    watch->id = __atomic_add_fetch(&tracer.ids, 1, __ATOMIC_RELAXED);
}

static void resource_changes(Sanitizer_CallbackId id, const void *data)
{
    const Sanitizer_ResourceModuleData *module = data;
    const Sanitizer_ResourceContextData *context = data;
    switch (id) {
    case SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_FINISHED:
        module_patches_load(tracer.api, context->context);
        break;
    case SANITIZER_CBID_RESOURCE_MODULE_LOADED:
        module_loaded(tracer.api, module->module, module->context);
        break;
    case SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        module_unloads(module->module);
        break;
    case SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        module_context_ends(context->context);
        place_close(context->context);
        break;
    default:
        break;
    }
}

static void called_back(void *user, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                        const void *data)
{
    (void)user;
    if (domain == SANITIZER_CB_DOMAIN_LAUNCH && id == SANITIZER_CBID_LAUNCH_BEGIN)
        launch_begins(data);
    else if (domain == SANITIZER_CB_DOMAIN_RESOURCE)
        resource_changes(id, data);
}

/* ---- The source ---- */

/* Contexts and modules made before this are not seen, so it is done before the driver starts. */
static void tracer_prepare(void)
{
    static Sanitizer_SubscriberHandle subscriber;
    const struct sanitizer_api *api = sanitizer_api_open(&tracer.why);
    if (!api)
        return;
    tracer.api = api;
    SanitizerResult result = api->subscribe(&subscriber, called_back, NULL);
    if (result == SANITIZER_SUCCESS)
        result = api->enable_domain(1, subscriber, SANITIZER_CB_DOMAIN_LAUNCH);
    if (result == SANITIZER_SUCCESS)
        result = api->enable_domain(1, subscriber, SANITIZER_CB_DOMAIN_RESOURCE);
    if (result == SANITIZER_ERROR_MAX_LIMIT_REACHED)
        tracer.why = "another tool has the driver's tools interface";
    else if (result != SANITIZER_SUCCESS)
        tracer.why = sanitizer_api_text(api, result);
    tracer.prepared = result == SANITIZER_SUCCESS;
}

static bool tracer_open(device_trace_done *done, void *user)
{
    tracer.done = done;
    tracer.user = user;
    return tracer.prepared && reader_start();
}

static struct buffer_pool *pool_of(CUcontext context)
{
    struct place *place = NULL;
    pthread_mutex_lock(&tracer.mutex);
    HASH_FIND_PTR(tracer.places, &context, place);
    if (!place && (place = calloc(1, sizeof *place))) {
        place->context = context;
        place->pool = buffer_pool_create(context, RECORDS_LIMIT);
        HASH_ADD_PTR(tracer.places, context, place);
    }
    pthread_mutex_unlock(&tracer.mutex);
    return place ? place->pool : NULL;
}

/* One that never came to a launch. */
static void own_drop(void)
{
    if (!own)
        return;
    if (own->id == 0)
        buffer_return(own->buffer);
    free(own);
    own = NULL;
}

static void tracer_waited(void)
{
    CUcontext context = module_changes_wait() ? stream_current_context() : NULL;
    if (context && stream_context_is_idle())
        module_changes_make(tracer.api, context);
}

static bool tracer_want(const struct trace_want *what)
{
    own_drop();
    if (!what || what->collective)
        return false;
    tracer_waited();
    CUcontext context = stream_current_context();
    struct buffer_pool *pool = context ? pool_of(context) : NULL;
    struct buffer *buffer = pool ? buffer_take(pool) : NULL;
    struct grain grain = grain_get(what->function);
    own = buffer ? malloc(sizeof *own) : NULL;
    if (buffer && !own)
        buffer_return(buffer);
    if (!own)
        return false;
    *own = (struct watch){.function = what->function,
                          .stream = what->stream,
                          .thread_default = what->thread_default,
                          .coarse = grain.coarse,
                          .shift = grain.shift,
                          .buffer = buffer};
    return true;
}

/* Asked right after the driver's call: the launch is marked, and goes to the reader. */
static uint64_t tracer_last_launch(void)
{
    struct watch *watch = own;
    if (!watch || watch->id == 0)
        return own_last;
    own = NULL;
    own_last = watch->id;
    watch->failed |= !buffer_mark(watch->buffer, watch->stream, watch->thread_default);
    pthread_mutex_lock(&tracer.mutex);
    *tracer.last = watch;
    tracer.last = &watch->next;
    pthread_cond_signal(&tracer.queued);
    pthread_mutex_unlock(&tracer.mutex);
    return own_last;
}

static const char *tracer_missing(void)
{
    return tracer.why ? tracer.why : "csan began after the driver did";
}

const struct trace_source *tracer_source(void)
{
    static const struct trace_source source = {.name = "the GPU",
                                               .prepare = tracer_prepare,
                                               .open = tracer_open,
                                               .want = tracer_want,
                                               .last_launch = tracer_last_launch,
                                               .settle = module_settle,
                                               .waited = tracer_waited,
                                               .missing = tracer_missing};
    return &source;
}
