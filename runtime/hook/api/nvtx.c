/* What NVTX's functions do when csan is attached. See nvtx.h.
 *
 * The numbers and structs are those of NVTX's binary interface, which versions 2 and 3 share
 * (nvtxDetail/nvtxTypes.h, nvToolsExt.h). Functions that csan has no use for stay unattached: NVTX
 * returns from them at once. Results are those of NVTX without a tool, so the program sees no
 * difference. Only domains and registered strings have handles, which csan has to distinguish. */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/api/nvtx.h"
#include "csan/base/fork_lock.h"
#include "csan/detector/named_range.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread_name.h"
#include "runtime/hook/session/session.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <wchar.h>

enum { CALLBACK_TABLE = 1, NO_PUSH_POP_TRACKING = -2 };
enum nvtx_module { MODULE_CORE = 1, MODULE_CUDA = 2, MODULE_CUDART = 4, MODULE_CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

struct nvtx_callbacks {
    size_t bytes;
    /* The pointers to the module's functions, by their numbers. 0: there is no such module. */
    int (*functions)(int module, void (****table)(void), unsigned *count);
};

/* A domain, or a registered string: whoever has the pointer has the text. Both live as long as the
 * process, each text once. */
struct kept {
    UT_hash_handle hh;
    char text[];
};

union message {
    const char *ascii;
    const wchar_t *wide;
    const struct kept *registered;
};

/* The beginning of nvtxEventAttributes_t, and all of nvtxResourceAttributes_t. */
struct event_attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union message message;
};
struct resource_attributes {
    uint16_t version, bytes;
    int32_t type;
    const void *resource;
    int32_t message_type;
    union message message;
};
_Static_assert(offsetof(struct event_attributes, message) == 40, "as NVTX has it");
_Static_assert(offsetof(struct resource_attributes, message) == 24, "as NVTX has it");

/* ---- texts */

static size_t utf8_write(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    const size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(0xff00 >> (more + 1) | code);
    return more + 1;
}

enum { TEXT_BYTES = 256 };

/* Wide characters are Unicode's numbers on Linux. The program's locale is left alone. */
static const char *wide_text(char text[TEXT_BYTES], const wchar_t *wide)
{
    size_t length = 0;
    for (; wide && *wide && length < TEXT_BYTES - 4; wide++)
        length += utf8_write(text + length, (uint32_t)*wide & 0x1fffff);
    text[length] = '\0';
    return text;
}

/* NULL: it has none. */
static const char *message_text(char text[TEXT_BYTES], int type, union message message)
{
    switch (type) {
    case MESSAGE_ASCII:
        return message.ascii;
    case MESSAGE_WIDE:
        return message.wide ? wide_text(text, message.wide) : NULL;
    case MESSAGE_REGISTERED:
        return message.registered ? message.registered->text : NULL;
    default:
        return NULL;
    }
}

static struct {
    pthread_mutex_t mutex;
    struct kept *domains, *strings;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct kept *keep(struct kept **all, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    struct kept *kept = NULL;
    if (!text)
        return NULL;
    lock_order_take(LOCK_NVTX, &table.mutex);
    HASH_FIND(hh, *all, text, length, kept);
    if (!kept && (kept = calloc(1, sizeof *kept + length + 1)) != NULL) {
        memcpy(kept->text, text, length);
        HASH_ADD_KEYPTR(hh, *all, kept->text, length, kept);
    }
    lock_order_give(LOCK_NVTX, &table.mutex);
    return kept;
}

static void *string_register(const void *domain, const char *text)
{
    (void)domain;
    return keep(&table.strings, text);
}

static void *string_register_wide(const void *domain, const wchar_t *wide)
{
    char text[TEXT_BYTES];
    return string_register(domain, wide ? wide_text(text, wide) : NULL);
}

static void *domain_create(const char *name)
{
    return keep(&table.domains, name);
}

static void *domain_create_wide(const wchar_t *wide)
{
    char text[TEXT_BYTES];
    return domain_create(wide ? wide_text(text, wide) : NULL);
}

/* ---- ranges */

static int range_push(const char *name)
{
    named_range_push(NULL, name);
    return NO_PUSH_POP_TRACKING;
}

static int range_push_wide(const wchar_t *wide)
{
    char text[TEXT_BYTES];
    return range_push(wide_text(text, wide));
}

static int domain_range_push(const void *domain, const struct event_attributes *is)
{
    char text[TEXT_BYTES];
    named_range_push(domain, is ? message_text(text, is->message_type, is->message) : NULL);
    return NO_PUSH_POP_TRACKING;
}

static int range_push_with(const struct event_attributes *is)
{
    return domain_range_push(NULL, is);
}

static int domain_range_pop(const void *domain)
{
    named_range_pop(domain);
    return NO_PUSH_POP_TRACKING;
}

static int range_pop(void)
{
    return domain_range_pop(NULL);
}

/* ---- names */

static void stream_is_named(CUstream stream, const char *name)
{
    if (!name || !guard_enter())
        return;
    stream_named(stream, name);
    guard_leave();
}

static void stream_is_named_wide(CUstream stream, const wchar_t *wide)
{
    char text[TEXT_BYTES];
    stream_is_named(stream, wide_text(text, wide));
}

static void event_is_named(CUevent event, const char *name)
{
    if (!name || !guard_enter())
        return;
    event_named(event, name);
    guard_leave();
}

static void event_is_named_wide(CUevent event, const wchar_t *wide)
{
    char text[TEXT_BYTES];
    event_is_named(event, wide_text(text, wide));
}

static void thread_is_named(uint32_t thread, const char *name)
{
    if (!name || !guard_enter_aside())
        return;
    guard_lock();
    thread_named((pid_t)thread, name);
    stream_thread_named((pid_t)thread);
    guard_unlock();
    guard_leave();
}

static void thread_is_named_wide(uint32_t thread, const wchar_t *wide)
{
    char text[TEXT_BYTES];
    thread_is_named(thread, wide_text(text, wide));
}

/* nvtxDomainResourceCreate names what the other functions do, too. Its handle is of no use to csan.
 */
static void *resource_create(const void *domain, const struct resource_attributes *is)
{
    enum { CUDA_STREAM = 4 << 16 | 3, CUDA_EVENT, CUDART_STREAM = 5 << 16 | 1, CUDART_EVENT };
    enum { THREAD_NATIVE = 1 << 16 | 3 };
    char text[TEXT_BYTES];
    const char *name = is ? message_text(text, is->message_type, is->message) : NULL;
    (void)domain;
    if (!name)
        return NULL;
    if (is->type == CUDA_STREAM || is->type == CUDART_STREAM)
        stream_is_named((CUstream)(uintptr_t)is->resource, name);
    else if (is->type == CUDA_EVENT || is->type == CUDART_EVENT)
        event_is_named((CUevent)(uintptr_t)is->resource, name);
    else if (is->type == THREAD_NATIVE)
        thread_is_named((uint32_t)(uintptr_t)is->resource, name);
    return NULL;
}

/* ---- attaching */

/* NVTX's numbers of functions within their module (NvtxCallbackIdCore, -Cuda, -CudaRt, -Core2). */
enum {
    RANGE_PUSH_EX = 8,
    RANGE_PUSH_A,
    RANGE_PUSH_W,
    RANGE_POP,
    NAME_OS_THREAD_A = 14,
    NAME_OS_THREAD_W
};
enum { NAME_CU_STREAM_A = 5, NAME_CU_STREAM_W, NAME_CU_EVENT_A, NAME_CU_EVENT_W };
enum { NAME_CUDA_STREAM_A = 3, NAME_CUDA_STREAM_W, NAME_CUDA_EVENT_A, NAME_CUDA_EVENT_W };
enum { DOMAIN_RANGE_PUSH_EX = 4, DOMAIN_RANGE_POP, DOMAIN_RESOURCE_CREATE };
enum { DOMAIN_REGISTER_STRING_A = 10, DOMAIN_REGISTER_STRING_W, DOMAIN_CREATE_A, DOMAIN_CREATE_W };

#define FUNCTION(name) ((void (*)(void))(name))
static const struct {
    uint8_t module, number;
    void (*function)(void);
} attached[] = {
    {MODULE_CORE, RANGE_PUSH_EX, FUNCTION(range_push_with)},
    {MODULE_CORE, RANGE_PUSH_A, FUNCTION(range_push)},
    {MODULE_CORE, RANGE_PUSH_W, FUNCTION(range_push_wide)},
    {MODULE_CORE, RANGE_POP, FUNCTION(range_pop)},
    {MODULE_CORE, NAME_OS_THREAD_A, FUNCTION(thread_is_named)},
    {MODULE_CORE, NAME_OS_THREAD_W, FUNCTION(thread_is_named_wide)},
    {MODULE_CUDA, NAME_CU_STREAM_A, FUNCTION(stream_is_named)},
    {MODULE_CUDA, NAME_CU_STREAM_W, FUNCTION(stream_is_named_wide)},
    {MODULE_CUDA, NAME_CU_EVENT_A, FUNCTION(event_is_named)},
    {MODULE_CUDA, NAME_CU_EVENT_W, FUNCTION(event_is_named_wide)},
    {MODULE_CUDART, NAME_CUDA_STREAM_A, FUNCTION(stream_is_named)},
    {MODULE_CUDART, NAME_CUDA_STREAM_W, FUNCTION(stream_is_named_wide)},
    {MODULE_CUDART, NAME_CUDA_EVENT_A, FUNCTION(event_is_named)},
    {MODULE_CUDART, NAME_CUDA_EVENT_W, FUNCTION(event_is_named_wide)},
    {MODULE_CORE2, DOMAIN_RANGE_PUSH_EX, FUNCTION(domain_range_push)},
    {MODULE_CORE2, DOMAIN_RANGE_POP, FUNCTION(domain_range_pop)},
    {MODULE_CORE2, DOMAIN_RESOURCE_CREATE, FUNCTION(resource_create)},
    {MODULE_CORE2, DOMAIN_REGISTER_STRING_A, FUNCTION(string_register)},
    {MODULE_CORE2, DOMAIN_REGISTER_STRING_W, FUNCTION(string_register_wide)},
    {MODULE_CORE2, DOMAIN_CREATE_A, FUNCTION(domain_create)},
    {MODULE_CORE2, DOMAIN_CREATE_W, FUNCTION(domain_create_wide)},
};

int InitializeInjectionNvtx2(const void *(*get_table)(unsigned table))
{
    const struct nvtx_callbacks *callbacks = get_table ? get_table(CALLBACK_TABLE) : NULL;
    if (!callbacks || callbacks->bytes < sizeof *callbacks || !session_start())
        return 0;
    fork_lock_keep(&table.mutex);
    for (size_t i = 0; i < sizeof attached / sizeof *attached; i++) {
        void (***functions)(void) = NULL;
        unsigned count = 0;
        if (callbacks->functions(attached[i].module, &functions, &count) &&
            attached[i].number < count && functions[attached[i].number])
            *functions[attached[i].number] = attached[i].function;
    }
    return 1;
}
