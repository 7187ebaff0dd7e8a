/* See call.h. */
#include "runtime/mpi/call.h"
#include "runtime/mpi/functions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const arguments[ARGUMENTS] = {
    [ARGUMENT_BUF] = "buf",          [ARGUMENT_SENDBUF] = "sendbuf", [ARGUMENT_RECVBUF] = "recvbuf",
    [ARGUMENT_BUFFER] = "buffer",    [ARGUMENT_ORIGIN] = "origin",   [ARGUMENT_RESULT] = "result",
    [ARGUMENT_COMPARE] = "compare",  [ARGUMENT_INBUF] = "inbuf",     [ARGUMENT_OUTBUF] = "outbuf",
    [ARGUMENT_WINDOW] = "the window"};

enum { WORDS_BYTES = 3 * NAME_BYTES };
enum { READS = 1u << CSAN_READ, WRITES = 1u << CSAN_WRITE, ALL_KINDS = READS | WRITES };

__thread struct call_thread call_thread __attribute__((tls_model("initial-exec")));
struct call_shared call_shared = {.counts = {.item = "message"}};

void call_count_start(bool threads)
{
    call_shared.threads |= threads;
    if (!abi_find() || call_shared.counts.library)
        return;
    call_shared.counts.library = abi.name;
    call_shared.links = csan_links_wanted();
    csan_call_counts(&call_shared.counts);
}

void call_type_freed(void)
{
    __atomic_fetch_add(&call_shared.types_freed, 1, __ATOMIC_RELAXED);
}

/* ---- Begin and end ---- */

static void call_followed(struct call *call, int result);

bool call_begin(struct call *call, const char *name)
{
    if (call_thread.in_mpi || !csan_enabled() || !abi_find())
        return false;
    call_thread.in_mpi = true;
    call->name = name;
    call->buffers = call->own;
    call->count = 0;
    call->capacity = CALL_BUFFERS;
    call->words = (struct call_words){0};
    call->request = 0;
    call->stages = NULL;
    call->follow = NULL;
    call->status = NULL;
    return true;
}

int call_end(struct call *call, int result)
{
    if (__builtin_expect(call->stages != NULL, 0)) {
        stage_out(call->stages);
        stage_free(call->stages);
    }
    csan_library_end();
    if (__builtin_expect(call->follow != NULL, 0))
        call_followed(call, result);
    if (call->buffers != call->own)
        free(call->buffers);
    call_thread.in_mpi = false;
    return result;
}

void call_inside(void)
{
    csan_library_begin();
}

void call_outside(void)
{
    csan_library_end();
}

/* ---- Buffers ---- */

static bool buffer_room(struct call *call)
{
    if (call->count < call->capacity)
        return true;
    struct buffer *buffers = malloc(2 * call->capacity * sizeof *buffers);
    if (!buffers)
        return false;
    memcpy(buffers, call->buffers, call->count * sizeof *buffers);
    if (call->buffers != call->own)
        free(call->buffers);
    call->buffers = buffers;
    call->capacity *= 2;
    return true;
}

void call_buffer(struct call *call, const void *address, int64_t count, mpi_handle type, int kind,
                 enum call_argument argument)
{
    if (count <= 0 || address == abi.in_place || !buffer_room(call))
        return;
    call->buffers[call->count++] =
        (struct buffer){address, count, handle_value(type), (uint8_t)kind, (uint8_t)argument};
}

/* Of these kinds. Only a derived datatype has bytes at MPI_BOTTOM, which is NULL. */
static void accesses_of(const struct call *call, unsigned kinds, struct access_list *list)
{
    for (size_t i = 0; i < call->count; i++) {
        const struct buffer *buffer = &call->buffers[i];
        if (kinds & 1u << buffer->kind)
            layout_add(list, buffer->address, buffer->count, buffer->type, buffer->kind,
                       buffer->argument);
    }
    access_list_finish(list);
}

__attribute__((noinline)) static void *usable_copy(struct call *call, const void *address,
                                                   enum call_argument argument)
{
    struct access_list list = {0};
    void *usable;
    for (size_t i = 0; i < call->count; i++) {
        const struct buffer *buffer = &call->buffers[i];
        if (buffer->argument == argument)
            layout_add(&list, buffer->address, buffer->count, buffer->type, buffer->kind,
                       buffer->argument);
    }
    access_list_finish(&list);
    call->stages = stage_make(call->stages, address, &list, &usable);
    return usable;
}

void *call_usable(struct call *call, const void *address, enum call_argument argument)
{
    if (address == abi.in_place)
        return (void *)(uintptr_t)address;
    return stage_needs(address) ? usable_copy(call, address, argument) : call_view(address);
}

/* ---- Words ---- */

void call_peer(struct call *call, int64_t count, mpi_handle type, const char *direction, int peer,
               int tag, mpi_handle comm)
{
    call->words = (struct call_words){.count = count,
                                      .type = type,
                                      .direction = direction,
                                      .peer = peer,
                                      .tag = tag,
                                      .comm = comm,
                                      .has_type = true,
                                      .has_tag = tag != CALL_NO_TAG,
                                      .has_comm = tag != CALL_NO_TAG};
}

void call_collective(struct call *call, int64_t count, mpi_handle type, int root, mpi_handle comm)
{
    call->words = (struct call_words){.count = count,
                                      .type = type,
                                      .root = root,
                                      .comm = comm,
                                      .has_type = count >= 0,
                                      .has_root = root != CALL_NO_ROOT,
                                      .has_comm = true};
}

/* Text that grows in a buffer of fixed size; what does not fit is left out. */
struct line {
    char *text;
    size_t bytes, length;
};

__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *format,
                                                           ...)
{
    va_list values;
    va_start(values, format);
    /* clang-tidy, given several files at once, forgets va_start. */
    const int written = vsnprintf(line->text + line->length, line->bytes - line->length, format,
                                  values); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(values);
    if (written > 0)
        line->length += (size_t)written < line->bytes - line->length
                            ? (size_t)written
                            : line->bytes - line->length - 1;
}

static void name_add(struct line *line, const char *before, const char *unnamed,
                     int (*ask)(mpi_handle, char *, int *), mpi_handle handle)
{
    char name[NAME_BYTES] = "";
    int length = 0;
    if (ask(handle, name, &length) != MPI_OK)
        name[0] = '\0';
    line_add(line, "%s%s", before, name[0] ? name : unnamed);
}

static void peer_add(struct line *line, const struct call_words *words)
{
    if (words->peer == abi.any_source)
        line_add(line, " %s any rank", words->direction);
    else
        line_add(line, " %s rank %d", words->direction, words->peer);
    if (words->has_tag && words->tag == abi.any_tag)
        line_add(line, ", any tag");
    else if (words->has_tag)
        line_add(line, ", tag %d", words->tag);
}

/* "512 MPI_FLOAT to rank 1, tag 7, MPI_COMM_WORLD" */
static void words_write(const struct call_words *words, char *text, size_t bytes)
{
    struct line line = {text, bytes, 0};
    text[0] = '\0';
    if (words->has_type) {
        line_add(&line, "%lld ", (long long)words->count);
        name_add(&line, "", "of a derived datatype", PMPI(Type_get_name), words->type);
    }
    if (words->direction)
        peer_add(&line, words);
    if (words->has_root)
        line_add(&line, "%sroot %d", line.length ? ", " : "", words->root);
    if (words->has_comm)
        name_add(&line, line.length ? ", " : "", "a communicator", PMPI(Comm_get_name),
                 words->comm);
}

/* ---- Declaring ---- */

static uint64_t bytes_of(const struct buffer *buffer)
{
    return (uint64_t)layout_size(buffer->type) * (uint64_t)buffer->count;
}

static void count_call(const struct call *call)
{
    uint64_t bytes = 0, messages = 0;
    for (size_t i = 0; i < call->count; i++)
        if (call->buffers[i].kind == CSAN_READ) {
            bytes += bytes_of(&call->buffers[i]);
            messages++;
        }
    call_count(messages, bytes);
}

/* csan's counters now; false: csan is off, or the process has not used CUDA yet. */
struct activity_now {
    uint64_t entered;
    uint32_t deferred, types;
};

static bool activity_now(struct activity_now *now)
{
    const struct csan_activity *activity = csan_activity();
    if (!activity)
        return false;
    call_shared.api = csan_active();
    call_thread.flag = csan_library_flag();
    now->types = __atomic_load_n(&call_shared.types_freed, __ATOMIC_RELAXED);
    now->entered = __atomic_load_n(activity->entered, __ATOMIC_RELAXED);
    now->deferred = __atomic_load_n(activity->deferred, __ATOMIC_RELAXED);
    __atomic_store_n(&call_shared.activity, activity, __ATOMIC_RELEASE);
    return true;
}

static bool all_known(const struct call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        const struct buffer *buffer = &call->buffers[i];
        const struct known *known = call_known_place(buffer->address, buffer->kind);
        call_thread.in_mpi = false;
        const bool same = call_is_known(known, buffer->address, buffer->type, buffer->kind) &&
                          known->count == buffer->count;
        call_thread.in_mpi = true;
        if (!same)
            return false;
    }
    return true;
}

/* What has to be copied is not known for good. */
static const void *view_of(const void *address)
{
    return stage_needs(address) ? NULL : call_view(address);
}

static void note_known(const struct call *call, const struct activity_now *now)
{
    for (size_t i = 0; i < call->count; i++) {
        const struct buffer *buffer = &call->buffers[i];
        *call_known_place(buffer->address, buffer->kind) =
            (struct known){.address = buffer->address,
                           .view = view_of(buffer->address),
                           .count = buffer->count,
                           .bytes = bytes_of(buffer),
                           .type = buffer->type,
                           .entered = now->entered,
                           .deferred = now->deferred,
                           .types = now->types,
                           .kind = buffer->kind};
    }
}

static struct csan_call declaration(const struct call *call, const struct access_list *list,
                                    char text[WORDS_BYTES])
{
    words_write(&call->words, text, WORDS_BYTES);
    return (struct csan_call){.name = call->name,
                              .detail = text,
                              .arguments = arguments,
                              .argument_count = ARGUMENTS,
                              .accesses = list->items,
                              .count = list->count};
}

__attribute__((noinline)) static void touches_slow(const struct call *call, unsigned kinds)
{
    char text[WORDS_BYTES];
    struct access_list list = {0};
    accesses_of(call, kinds, &list);
    const struct csan_call declared = declaration(call, &list, text);
    if (list.count)
        csan_call_touches(&declared);
    access_list_free(&list);
}

void call_received(const struct call *call)
{
    struct activity_now now;
    count_call(call);
    if (!call->count || !activity_now(&now) || all_known(call))
        return;
    touches_slow(call, ALL_KINDS);
    note_known(call, &now);
}

/* Whoever has the message knows that it was read. */
__attribute__((noinline)) static void touches_followed(const struct call *call)
{
    count_call(call);
    touches_slow(call, READS);
    follow_begin(call->follow, false);
}

void call_touches(const struct call *call)
{
    if (__builtin_expect(call->follow != NULL, 0))
        touches_followed(call);
    else
        call_received(call);
}

/* MPI writes what came. So this comes after what the sender did. */
static void call_followed(struct call *call, int result)
{
    if (result == MPI_OK)
        follow_end(call->follow, call->status);
    else
        follow_drop(call->follow, CSAN_LACK_CANCELLED);
    touches_slow(call, WRITES);
    follow_free(call->follow);
}

struct follow *call_take_follow(struct call *call)
{
    struct follow *follow = call->follow;
    call->follow = NULL;
    return follow;
}

void call_starts(struct call *call)
{
    char text[WORDS_BYTES];
    struct access_list list = {0};
    count_call(call);
    follow_begin(call->follow, true);
    if (!call->count)
        return;
    accesses_of(call, ALL_KINDS, &list);
    const struct csan_call declared = declaration(call, &list, text);
    call->request = csan_request_start(&declared);
    access_list_free(&list);
}

/* ---- Persistent requests ---- */

struct call_kept {
    struct csan_call call;
    struct access_list list;
    struct follow *follow;
    char text[WORDS_BYTES]; /* it begins with the call that made the request */
};

struct call_kept *call_keep(struct call *call)
{
    struct call_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    accesses_of(call, ALL_KINDS, &kept->list);
    kept->call = declaration(call, &kept->list, kept->text);
    snprintf(kept->text, sizeof kept->text, "%s: ", call->name);
    const size_t made = strlen(kept->text);
    words_write(&call->words, kept->text + made, sizeof kept->text - made);
    kept->follow = call_take_follow(call);
    return kept;
}

uint64_t call_kept_start(const struct call_kept *kept, const char *starter)
{
    struct csan_call call = kept->call;
    call.name = starter;
    call_count(0, 0);
    follow_begin(kept->follow, true);
    return csan_request_start(&call);
}

void call_kept_free(struct call_kept *kept)
{
    if (!kept)
        return;
    access_list_free(&kept->list);
    follow_free(kept->follow);
    free(kept);
}

struct follow *call_kept_follow(const struct call_kept *kept)
{
    return kept ? kept->follow : NULL;
}
