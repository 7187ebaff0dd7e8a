/* Events that processes share by handles: cuIpcGetEventHandle, cuIpcOpenEventHandle (CUDA Driver
 * API, "Event Management").
 *
 * An interprocess event has a page of a memory file, where its records are counted. A record that
 * is done writes its number there, into one of the page's slots. So a process that waits for the
 * newest record finds it, whoever made it. A record of another process becomes a mark of this one,
 * and an item of a queue of its own passes it. */
#include "runtime/device/driver/interprocess_event.h"
#include "runtime/device/memory/shared_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, EVENTS = 4096, SLOTS = 256, LOOK_NANOSECONDS = 50000 };

/* All members are atomic. */
struct shared_page {
    uint64_t id;               /* 0: it was destroyed */
    uint64_t recorded;         /* how often */
    uint64_t process, started; /* of who recorded it last */
    uint64_t done[SLOTS];      /* record n is done when slot n % SLOTS has n or more */
};
_Static_assert(sizeof(struct shared_page) <= PAGE, "an event has one page");

struct shared_event {
    struct shared_page *page;
    uint64_t offset; /* in the owner's file */
    uint64_t marked; /* the record that the event's mark stands for */
    bool own;        /* this process made the event */
};

static struct {
    int file; /* 0: there is none */
    uint64_t made;
} events;

/* ---- Records --------------------------------------------------------------------------------- */

static bool is_done(const struct shared_page *page, uint64_t record)
{
    return __atomic_load_n(&page->done[record % SLOTS], __ATOMIC_ACQUIRE) >= record;
}

struct record_item {
    struct item item;
    struct shared_page *page; /* stays mapped */
    uint64_t record;
};

static enum step record_step(struct item *item)
{
    const struct record_item *work = (const struct record_item *)item;
    __atomic_store_n(&work->page->done[work->record % SLOTS], work->record, __ATOMIC_RELEASE);
    return STEP_DONE;
}

/* It may never have run: whoever waits for it must not wait for ever. */
static void record_discard(struct item *item)
{
    record_step(item);
    free(item);
}

/* ---- Records of other processes: a thread looks whether they are done ------------------------ */

struct look_item {
    struct item item;
    struct look_item *next;
    struct shared_page *page; /* stays mapped */
    uint64_t record;
};

static struct {
    struct look_item *first;
    pthread_cond_t more;
    bool started;
} looks = {.more = PTHREAD_COND_INITIALIZER};

/* The work of a process that has ended has ended with it. */
static bool look(const struct look_item *work)
{
    const uint64_t process = __atomic_load_n(&work->page->process, __ATOMIC_ACQUIRE);
    const uint64_t started = __atomic_load_n(&work->page->started, __ATOMIC_ACQUIRE);
    return is_done(work->page, work->record) || !shared_process_lives((int32_t)process, started);
}

static void look_at_all(void)
{
    for (struct look_item **link = &looks.first; *link;) {
        struct look_item *work = *link;
        if (!look(work)) {
            link = &work->next;
            continue;
        }
        *link = work->next;
        queue_complete(&work->item, CUDA_SUCCESS);
    }
}

static void *looker(void *unused)
{
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    (void)unused;
    device_lock();
    while (!atomic_load(&device.closing)) {
        look_at_all();
        if (!looks.first) {
            pthread_cond_wait(&looks.more, &device.lock);
            continue;
        }
        device_unlock();
        nanosleep(&pause, NULL);
        device_lock();
    }
    device_unlock();
    return NULL;
}

/* Meanwhile this process's other work goes on: the other one may wait for it. */
static enum step look_step(struct item *item)
{
    struct look_item *work = (struct look_item *)item;
    if (look(work))
        return STEP_DONE;
    if (!looks.started && !(looks.started = schedule_thread(looker)))
        return STEP_SPINNING;
    work->next = looks.first;
    looks.first = work;
    pthread_cond_signal(&looks.more);
    return STEP_ELSEWHERE;
}

static void look_discard(struct item *item)
{
    free(item);
}

/* ---- What events ask for --------------------------------------------------------------------- */

struct item *interprocess_event_record(struct shared_event *event, struct mark *mark)
{
    struct record_item *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->item = (struct item){.step = record_step, .discard = record_discard, .done = mark};
    __atomic_store_n(&event->page->process, (uint64_t)getpid(), __ATOMIC_RELEASE);
    __atomic_store_n(&event->page->started, shared_process_started(), __ATOMIC_RELEASE);
    event->marked = __atomic_add_fetch(&event->page->recorded, 1, __ATOMIC_ACQ_REL);
    work->page = event->page;
    work->record = event->marked;
    return &work->item;
}

static bool is_foreign(const struct shared_event *event, uint64_t *record)
{
    *record = __atomic_load_n(&event->page->recorded, __ATOMIC_ACQUIRE);
    return *record != event->marked;
}

bool interprocess_event_is_foreign(const struct CUevent_st *event)
{
    uint64_t record;
    return is_foreign(event->shared, &record);
}

bool interprocess_event_done(const struct CUevent_st *event)
{
    uint64_t record;
    if (!is_foreign(event->shared, &record))
        return !event->mark || event->mark->done;
    return is_done(event->shared->page, record);
}

CUresult interprocess_event_look(struct CUevent_st *event, struct CUctx_st *context)
{
    struct shared_event *shared = event->shared;
    uint64_t record;
    if (!is_foreign(shared, &record))
        return CUDA_SUCCESS;
    struct mark *mark = mark_create();
    struct look_item *work = mark ? calloc(1, sizeof *work) : NULL;
    struct CUstream_st *stream = work ? stream_create_branch(context) : NULL;
    if (!stream) {
        free(work);
        mark_release(mark);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mark_release(event->mark);
    event->mark = mark_retain(mark);
    shared->marked = record;
    work->item = (struct item){.step = look_step, .discard = look_discard, .done = mark};
    work->page = shared->page;
    work->record = record;
    queue_append(stream, &work->item);
    stream_abandon(stream);
    schedule_enqueued();
    return CUDA_SUCCESS;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static struct shared_event *event_map(int file, uint64_t offset)
{
    struct shared_event *event = calloc(1, sizeof *event);
    void *page = event ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset)
                       : MAP_FAILED;
    if (page == MAP_FAILED) {
        free(event);
        return NULL;
    }
    event->page = page;
    event->offset = offset;
    return event;
}

/* Pages are not used again before all were: then those of the events that were made first are. */
struct shared_event *interprocess_event_create(void)
{
    if (!events.file) {
        const int file = shared_file_create("csan shared events", (uint64_t)EVENTS * PAGE);
        if (file < 0)
            return NULL;
        events.file = file;
    }
    for (int i = 0; i < EVENTS; i++) {
        const uint64_t id = ++events.made;
        struct shared_event *event = event_map(events.file, id % EVENTS * PAGE);
        if (!event || !event->page->id) {
            if (event) {
                memset(event->page, 0, sizeof *event->page);
                __atomic_store_n(&event->page->id, id, __ATOMIC_RELEASE);
                event->own = true;
            }
            return event;
        }
        munmap(event->page, PAGE);
        free(event);
    }
    return NULL;
}

/* The page stays mapped: records may be under way. */
void interprocess_event_destroy(struct shared_event *event)
{
    if (event && event->own)
        __atomic_store_n(&event->page->id, 0, __ATOMIC_RELEASE);
    free(event);
}

/* ---- Entry points ---------------------------------------------------------------------------- */

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUevent_st *found = object_find(event, OBJECT_EVENT);
    if (!found)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!pHandle || !found->shared || !found->shared->own)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct shared_handle handle = shared_handle_of(SHARED_EVENT, events.file);
    handle.id = found->shared->page->id;
    handle.base = found->shared->offset;
    handle.bytes = PAGE;
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &handle, sizeof handle);
    return device_leave(CUDA_SUCCESS);
}

static CUresult open_event(const struct shared_handle *handle, struct shared_event **event)
{
    if (!shared_handle_is(handle, SHARED_EVENT) || handle->base % PAGE ||
        handle->base >= (uint64_t)EVENTS * PAGE)
        return CUDA_ERROR_INVALID_HANDLE;
    if (shared_handle_is_own(handle))
        return CUDA_ERROR_INVALID_CONTEXT;
    const int file = shared_handle_open(handle);
    if (file < 0)
        return CUDA_ERROR_INVALID_HANDLE;
    *event = event_map(file, handle->base);
    close(file);
    if (*event && (*event)->page->id != handle->id) {
        munmap((*event)->page, PAGE);
        free(*event);
        *event = NULL;
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return *event ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
}

CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    struct CUctx_st *context;
    struct shared_event *shared = NULL;
    struct shared_handle own;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&own, &handle, sizeof own);
    result = phEvent ? open_event(&own, &shared) : CUDA_ERROR_INVALID_VALUE;
    struct CUevent_st *event = shared ? calloc(1, sizeof *event) : NULL;
    if (!event) {
        free(shared);
        return device_leave(shared ? CUDA_ERROR_OUT_OF_MEMORY : result);
    }
    event->context = context;
    event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    event->shared = shared;
    object_add(&event->object, OBJECT_EVENT);
    *phEvent = event;
    return device_leave(CUDA_SUCCESS);
}
