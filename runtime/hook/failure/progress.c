/* See progress.h. */
#include "runtime/hook/failure/progress.h"
#include "runtime/hook/interpose/call_count.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/session/session_options.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Contexts and streams beyond are not followed. */
enum { CONTEXTS = 16, SLOTS = 256, WORDS_BYTES = 4096, PROBES = 16 };

/* The words of one context's streams. They are memory of csan's own, which the context registers:
 * what a context allocates ends with it. The next context that uses them counts on. */
struct board {
    CUcontext context;    /* NULL: free, and the words stay; atomic */
    uint32_t *words;      /* what the streams write */
    uint64_t keys[SLOTS]; /* of the streams; 0: free; atomic */
    uint32_t last[SLOTS]; /* number of each stream; atomic */
};

static struct {
    pthread_mutex_t mutex; /* for making and ending boards */
    struct board boards[CONTEXTS];
} progress = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Boards ---- */

static bool words_register(uint32_t *words)
{
    static void *function;
    PFN_cuMemHostRegister_v6050 host_register =
        (PFN_cuMemHostRegister_v6050)driver_function_cached(&function, "cuMemHostRegister_v2");
    if (!host_register)
        return false;
    const CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    const CUresult result = host_register(words, WORDS_BYTES, CU_MEMHOSTREGISTER_DEVICEMAP);
    driver_capture_mode(mode);
    call_count_own("cuMemHostRegister_v2", result);
    return result == CUDA_SUCCESS;
}

/* With the mutex. */
static struct board *board_make(CUcontext context)
{
    for (int i = 0; i < CONTEXTS; i++) {
        struct board *board = &progress.boards[i];
        if (board->context)
            continue;
        if (!board->words && (board->words = aligned_alloc(WORDS_BYTES, WORDS_BYTES)) != NULL)
            memset(board->words, 0, WORDS_BYTES);
        if (!board->words || !words_register(board->words))
            return NULL;
        __atomic_store_n(&board->context, context, __ATOMIC_RELEASE);
        return board;
    }
    return NULL;
}

static struct board *board_find(CUcontext context)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (__atomic_load_n(&progress.boards[i].context, __ATOMIC_ACQUIRE) == context)
            return &progress.boards[i];
    return NULL;
}

/* NULL: there can be none. */
static struct board *board_of(CUcontext context)
{
    struct board *board = context ? board_find(context) : NULL;
    if (board || !context)
        return board;
    lock_order_take(LOCK_PROGRESS, &progress.mutex);
    board = board_find(context);
    if (!board)
        board = board_make(context);
    lock_order_give(LOCK_PROGRESS, &progress.mutex);
    return board;
}

void progress_context_ended(CUcontext context)
{
    lock_order_take(LOCK_PROGRESS, &progress.mutex);
    struct board *board = board_find(context);
    if (context && board) {
        memset(board->keys, 0, sizeof board->keys);
        memcpy(board->words, board->last, sizeof board->last); /* nothing of it is under way */
        __atomic_store_n(&board->context, NULL, __ATOMIC_RELEASE);
    }
    lock_order_give(LOCK_PROGRESS, &progress.mutex);
}

/* ---- Slots ---- */

/* Of the context's streams; a default stream is one for the context, or one for each thread. */
static uint64_t key_of(CUstream stream, bool thread_default)
{
    if (stream_is_of_thread(stream, thread_default))
        return (uint64_t)syscall(SYS_gettid) << 1 | 1;
    return stream && stream != CU_STREAM_LEGACY ? (uintptr_t)stream : 2;
}

/* SLOTS: all are taken. */
static uint32_t slot_of(struct board *board, uint64_t key)
{
    const uint32_t first = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    for (uint32_t i = 0; i < PROBES; i++) {
        const uint32_t slot = (first + i) % SLOTS;
        uint64_t taken = 0;
        if (__atomic_load_n(&board->keys[slot], __ATOMIC_RELAXED) == key ||
            __atomic_compare_exchange_n(&board->keys[slot], &taken, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            taken == key)
            return slot;
    }
    return SLOTS;
}

static CUresult write_behind(CUstream stream, bool thread_default, uint32_t *word, uint32_t number)
{
    static void *function;
    PFN_cuStreamWriteValue32_v11070 write_value =
        (PFN_cuStreamWriteValue32_v11070)driver_function_cached(&function,
                                                                "cuStreamWriteValue32_v2");
    const CUstream of_all = stream ? stream : CU_STREAM_LEGACY;
    if (!write_value)
        return CUDA_ERROR_NOT_SUPPORTED;
    const CUresult result =
        write_value(stream_is_of_thread(stream, thread_default) ? CU_STREAM_PER_THREAD : of_all,
                    (CUdeviceptr)(uintptr_t)word, number, CU_STREAM_WRITE_VALUE_DEFAULT);
    call_count_own("cuStreamWriteValue32_v2", result);
    return result;
}

/* ---- Launches ---- */

bool progress_is_wanted(void)
{
    return trace_has_tools() && session_options()->errors;
}

struct progress progress_write(CUstream stream, bool thread_default)
{
    const struct progress none = {0};
    if (!progress_is_wanted())
        return none;
    struct board *board = board_of(stream_current_context());
    const uint32_t slot = board ? slot_of(board, key_of(stream, thread_default)) : SLOTS;
    if (slot == SLOTS)
        return none;
    const struct progress behind = {
        .slot = (uint32_t)(board - progress.boards) * SLOTS + slot + 1,
        .number = __atomic_add_fetch(&board->last[slot], 1, __ATOMIC_RELAXED)};
    return write_behind(stream, thread_default, &board->words[slot], behind.number) == CUDA_SUCCESS
               ? behind
               : none;
}

/* Numbers may begin anew behind the largest. */
bool progress_is_reached(struct progress behind)
{
    if (!behind.slot)
        return true;
    const struct board *board = &progress.boards[(behind.slot - 1) / SLOTS];
    const uint32_t word =
        __atomic_load_n(&board->words[(behind.slot - 1) % SLOTS], __ATOMIC_ACQUIRE);
    return (int32_t)(word - behind.number) >= 0;
}
