#include "history.h"
#include <csan/csan.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* For each stream, the newest launch known to be finished. */
struct knowledge {
    uint32_t launches[HISTORY_STREAMS];
};

struct stream {
    uint64_t id;
    unsigned index;
    UT_hash_handle hh;
};

struct event {
    uint64_t id;
    struct knowledge recorded;
    UT_hash_handle hh;
};

struct past_access {
    uint32_t launch, kind, life;
    unsigned stream;
    struct knowledge knew; /* its stream, at that launch */
};

struct tensor {
    uint64_t data_ptr;
    struct past_access *accesses;
    size_t count, capacity;
    uint32_t life; /* which owner the memory has */
    bool alive;
    bool raced;      /* ever, whoever owned it */
    bool raced_life; /* in the present life */
    UT_hash_handle hh;
};

struct history {
    struct stream *streams;
    struct event *events;
    struct tensor *tensors;
    unsigned stream_count;
    struct knowledge knows[HISTORY_STREAMS], host;
    uint32_t launches;
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- streams, events and tensors, by the program's numbers */

static void create_stream(struct history *history, uint64_t id)
{
    struct stream *stream;
    HASH_FIND(hh, history->streams, &id, sizeof(id), stream);
    if (stream)
        return;
    if (history->stream_count == HISTORY_STREAMS)
        abort();
    stream = must(calloc(1, sizeof(*stream)));
    stream->id = id;
    stream->index = history->stream_count++;
    history->knows[stream->index] = history->host;
    HASH_ADD(hh, history->streams, id, sizeof(stream->id), stream);
}

static unsigned stream_index(struct history *history, uint64_t id)
{
    struct stream *stream;
    create_stream(history, id);
    HASH_FIND(hh, history->streams, &id, sizeof(id), stream);
    return stream->index;
}

static struct event *find_event(struct history *history, uint64_t id)
{
    struct event *event;
    HASH_FIND(hh, history->events, &id, sizeof(id), event);
    if (event)
        return event;
    event = must(calloc(1, sizeof(*event)));
    event->id = id;
    HASH_ADD(hh, history->events, id, sizeof(event->id), event);
    return event;
}

static struct tensor *find_tensor(struct history *history, uint64_t data_ptr)
{
    struct tensor *tensor;
    HASH_FIND(hh, history->tensors, &data_ptr, sizeof(data_ptr), tensor);
    if (tensor)
        return tensor;
    tensor = must(calloc(1, sizeof(*tensor)));
    tensor->data_ptr = data_ptr;
    HASH_ADD(hh, history->tensors, data_ptr, sizeof(tensor->data_ptr), tensor);
    return tensor;
}

static void begin_life(struct tensor *tensor)
{
    tensor->life++;
    tensor->alive = true;
    tensor->raced_life = false;
}

struct history *history_create(void)
{
    struct history *history = must(calloc(1, sizeof(*history)));
    create_stream(history, 0); /* PyTorch's default stream is there from the start */
    return history;
}

void history_destroy(struct history *history)
{
    struct stream *stream, *next_stream;
    HASH_ITER(hh, history->streams, stream, next_stream)
    {
        HASH_DEL(history->streams, stream);
        free(stream);
    }
    struct event *event, *next_event;
    HASH_ITER(hh, history->events, event, next_event)
    {
        HASH_DEL(history->events, event);
        free(event);
    }
    struct tensor *tensor, *next_tensor;
    HASH_ITER(hh, history->tensors, tensor, next_tensor)
    {
        HASH_DEL(history->tensors, tensor);
        free(tensor->accesses);
        free(tensor);
    }
    free(history);
}

/* ---- order */

static void learn(struct knowledge *knowledge, const struct knowledge *other)
{
    for (int i = 0; i < HISTORY_STREAMS; i++)
        if (knowledge->launches[i] < other->launches[i])
            knowledge->launches[i] = other->launches[i];
}

/* The host waited: whatever comes later, on any stream, comes after. */
static void host_learns(struct history *history, const struct knowledge *what)
{
    learn(&history->host, what);
    for (unsigned i = 0; i < history->stream_count; i++)
        learn(&history->knows[i], &history->host);
}

void history_call(struct history *history, const struct call *call)
{
    struct knowledge *stream;
    struct tensor *tensor;
    switch ((enum call_kind)call->kind) {
    case CALL_EVENT_CREATION:
    case CALL_EVENT_DELETION:
        find_event(history, call->event)->recorded = (struct knowledge){{0}};
        return;
    case CALL_EVENT_RECORD:
        stream = &history->knows[stream_index(history, call->stream)];
        find_event(history, call->event)->recorded = *stream;
        return;
    case CALL_EVENT_WAIT:
        stream = &history->knows[stream_index(history, call->stream)];
        learn(stream, &find_event(history, call->event)->recorded);
        return;
    case CALL_MEMORY_ALLOCATION:
        begin_life(find_tensor(history, call->data_ptr));
        return;
    case CALL_MEMORY_DEALLOCATION:
        tensor = find_tensor(history, call->data_ptr);
        tensor->alive = false;
        return;
    case CALL_STREAM_CREATION:
        /* It begins with what the host knows, and until its first use learns what the host learns:
         * taking it up then is the same. PyTorch creates 128 streams when it is asked for one. */
        return;
    case CALL_DEVICE_SYNCHRONIZATION:
        for (unsigned i = 0; i < history->stream_count; i++)
            learn(&history->host, &history->knows[i]);
        host_learns(history, &history->host);
        return;
    case CALL_STREAM_SYNCHRONIZATION:
        host_learns(history, &history->knows[stream_index(history, call->stream)]);
        return;
    case CALL_EVENT_SYNCHRONIZATION:
        host_learns(history, &find_event(history, call->event)->recorded);
        return;
    case CALL_KERNEL_LAUNCH:
    case CALL_KINDS:
        abort();
    }
}

/* ---- judging */

/* One touch of the launch that is checked. */
struct judgement {
    struct history *history;
    const struct call *call;
    uint32_t touch;
    unsigned stream;
    struct tensor *tensor;
    const struct named *named;
    size_t named_count;
    const struct reported *reported;
    size_t reported_count;
    char *message;
    size_t message_bytes;
};

static bool refuse(const struct judgement *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(const struct judgement *j, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(j->message, j->message_bytes,
                          "launch %u, touch %u: ", j->history->launches, j->touch);
    va_start(arguments, format);
    vsnprintf(j->message + length, j->message_bytes - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

static bool races(const struct judgement *j, const struct past_access *past)
{
    uint32_t kind = j->call->touches[j->touch].kind;
    return (kind == CSAN_WRITE || past->kind == CSAN_WRITE) &&
           j->history->knows[j->stream].launches[past->stream] < past->launch;
}

/* Does PyTorch's handler still look at it: the reads since the last write, if there are any and the
 * touch writes, else that write. */
static bool pytorch_looks(const struct judgement *j, const struct past_access *past)
{
    const struct tensor *tensor = j->tensor;
    if (past->life != tensor->life)
        return false;
    bool read_after = false;
    for (size_t i = (size_t)(past - tensor->accesses) + 1; i < tensor->count; i++) {
        if (tensor->accesses[i].kind == CSAN_WRITE)
            return false;
        read_after = true;
    }
    return past->kind == CSAN_READ || j->call->touches[j->touch].kind == CSAN_READ || !read_after;
}

static const struct reported *reported_of(const struct judgement *j, const struct past_access *past)
{
    for (size_t i = 0; i < j->reported_count; i++)
        if (j->reported[i].touch == j->touch && j->reported[i].launch == past->launch &&
            j->reported[i].kind == past->kind)
            return &j->reported[i];
    return NULL;
}

static uint64_t stream_id(const struct history *history, unsigned index)
{
    const struct stream *stream;
    for (stream = history->streams; stream->index != index; stream = stream->hh.next)
        ;
    return stream->id;
}

static bool is_named(const struct judgement *j, unsigned stream)
{
    uint64_t id = stream_id(j->history, stream);
    for (size_t i = 0; i < j->named_count; i++)
        if (j->named[i].touch == j->touch && j->named[i].stream == id)
            return true;
    return false;
}

/* An access that csan reports and that was ordered after this one; NULL: none. */
static const struct past_access *stands_for(const struct judgement *j,
                                            const struct past_access *past)
{
    const struct tensor *tensor = j->tensor;
    for (size_t i = (size_t)(past - tensor->accesses) + 1; i < tensor->count; i++) {
        const struct past_access *later = &tensor->accesses[i];
        if (later->knew.launches[past->stream] >= past->launch && races(j, later) &&
            reported_of(j, later))
            return later;
    }
    return NULL;
}

static enum difference reason(const struct judgement *j, const struct past_access *past)
{
    if (past->life != j->tensor->life)
        return DIFFERENCE_REUSE;
    for (size_t i = (size_t)(past - j->tensor->accesses) + 1; i < j->tensor->count; i++)
        if (j->tensor->accesses[i].kind == CSAN_WRITE)
            return DIFFERENCE_BEFORE_RACING_WRITE;
    return DIFFERENCE_WRITE_BEFORE_READS;
}

/* What was found of one touch. */
struct findings {
    size_t racing, racing_life, reported, expected;
    bool expects[HISTORY_STREAMS];
    bool differs[DIFFERENCES];
};

static bool check_pair(const struct judgement *j, const struct past_access *past,
                       struct findings *findings)
{
    const struct reported *reported = reported_of(j, past);
    bool looks = pytorch_looks(j, past), same_life = past->life == j->tensor->life;
    findings->racing++;
    findings->racing_life += same_life;
    findings->reported += reported != NULL;
    if (reported && reported->reuse == same_life)
        return refuse(j, "csan takes launch %u to be of %s owner", past->launch,
                      same_life ? "another" : "the same");
    if (looks) {
        findings->expected++;
        findings->expects[past->stream] = true;
        const struct past_access *later = reported ? NULL : stands_for(j, past);
        if (!reported && !later)
            return refuse(j, "csan does not report launch %u, nor a later one", past->launch);
        if (later && later->stream != past->stream)
            findings->differs[DIFFERENCE_READ_STANDS_FOR_READ] = true;
    } else if (reported) {
        findings->differs[reason(j, past)] = true;
    }
    return true;
}

static bool pytorch_is_as_expected(const struct judgement *j, const struct findings *findings)
{
    for (unsigned i = 0; i < j->history->stream_count; i++)
        if (findings->expects[i] != is_named(j, i))
            return refuse(j, "PyTorch %s stream %lu", is_named(j, i) ? "names" : "does not name",
                          stream_id(j->history, i));
    size_t named = 0, expected = 0;
    for (size_t i = 0; i < j->named_count; i++)
        named += j->named[i].touch == j->touch;
    for (unsigned i = 0; i < HISTORY_STREAMS; i++)
        expected += findings->expects[i];
    if (named != expected)
        return refuse(j, "PyTorch names a stream that does not exist, or one twice");
    return true;
}

static bool check_touch(const struct judgement *j, struct tally *tally)
{
    struct findings findings = {0};
    size_t reported = 0;
    for (size_t i = 0; i < j->reported_count; i++)
        reported += j->reported[i].touch == j->touch;
    for (size_t i = 0; i < j->tensor->count; i++)
        if (races(j, &j->tensor->accesses[i]) && !check_pair(j, &j->tensor->accesses[i], &findings))
            return false;
    if (reported != findings.reported)
        return refuse(j, "csan reports an access that is ordered before it, or one twice");
    if (findings.racing && !j->tensor->raced && !findings.reported)
        return refuse(j, "csan misses the first race on this memory");
    if (findings.racing_life && !j->tensor->raced_life && !findings.expected)
        return refuse(j, "PyTorch misses the first race on this tensor");
    if (!pytorch_is_as_expected(j, &findings))
        return false;
    tally->touches++;
    tally->racing += findings.expected != 0;
    tally->more += !findings.expected && findings.reported;
    for (int i = 0; i < DIFFERENCES; i++)
        tally->why[i] += findings.differs[i];
    j->tensor->raced |= findings.racing != 0;
    j->tensor->raced_life |= findings.racing_life != 0;
    return true;
}

static void remember(const struct judgement *j)
{
    struct tensor *tensor = j->tensor;
    if (tensor->count == tensor->capacity) {
        tensor->capacity = tensor->capacity ? tensor->capacity * 2 : 4;
        tensor->accesses =
            must(realloc(tensor->accesses, tensor->capacity * sizeof(*tensor->accesses)));
    }
    tensor->accesses[tensor->count++] =
        (struct past_access){.launch = j->history->launches,
                             .kind = j->call->touches[j->touch].kind,
                             .life = tensor->life,
                             .stream = j->stream,
                             .knew = j->history->knows[j->stream]};
}

bool history_check(struct history *history, const struct call *call, const struct named *named,
                   size_t named_count, const struct reported *reported, size_t reported_count,
                   struct tally *tally, char *message, size_t message_bytes)
{
    struct judgement j = {.history = history,
                          .call = call,
                          .stream = stream_index(history, call->stream),
                          .named = named,
                          .named_count = named_count,
                          .reported = reported,
                          .reported_count = reported_count,
                          .message = message,
                          .message_bytes = message_bytes};
    history->knows[j.stream].launches[j.stream] = ++history->launches;
    tally->launches++;
    for (j.touch = 0; j.touch < call->touch_count; j.touch++) {
        j.tensor = find_tensor(history, call->touches[j.touch].data_ptr);
        if (!j.tensor->alive)
            begin_life(j.tensor);
        if (!check_touch(&j, tally))
            return false;
        remember(&j);
    }
    return true;
}
