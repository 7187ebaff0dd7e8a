/* See window.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/library/window.h"
#include "csan/base/hash.h"
#include "runtime/hook/library/collective.h"
#include "runtime/hook/library/communicator_table.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/process_link.h"
#include "runtime/hook/state/thread.h"

#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, PENDING_MOST = 64 };

/* Of windows at addresses that no process has. */
static const uint64_t unseen_first = UINT64_C(1) << 63, unseen_gap = UINT64_C(1) << 40;

/* Where this process has a rank's window. */
struct view {
    uint64_t address; /* 0: it does not */
    bool born;        /* csan alone knows it as memory */
};

struct window_key {
    const void *communicator, *handle;
};

struct window {
    struct window_key key;
    uint64_t number; /* the how manieth of its communicator, from 1 */
    uint64_t address, bytes;
    csan_site site;
    struct library_home *home;
    const void *const *variable; /* where the library puts its handle */
    struct view *views;          /* by rank */
    int ranks;
    UT_hash_handle hh;
};

static struct window *windows; /* uthash; under the hooks' lock */
static uint64_t unseen;        /* given so far; under the hooks' lock */
static __thread struct window *pending[PENDING_MOST] __attribute__((tls_model("initial-exec")));
static __thread size_t pending_count __attribute__((tls_model("initial-exec")));

static struct window *window_find(const void *communicator, const void *handle)
{
    const struct window_key key = {communicator, handle};
    struct window *found = NULL;
    HASH_FIND(hh, windows, &key, sizeof key, found);
    return found;
}

/* ---- Registration ---------------------------------------------------------------------------- */

/* The same in all ranks. */
static uint64_t key_of(uint64_t communicator, uint64_t number, int rank)
{
    return hash_mix(hash_mix(hash_mix(communicator, number), (uint64_t)rank), 11);
}

static void link(int kind, uint64_t key, uint64_t address, uint64_t bytes, uint64_t offset)
{
    process_link_lane(thread_lane(), &(struct csan_link){.kind = kind,
                                                         .key = key,
                                                         .number = offset,
                                                         .peers = kind == CSAN_LINK_SHARE,
                                                         .address = address,
                                                         .bytes = bytes});
}

/* This rank's own: a part of the allocation around it. */
static void share(const struct window *window, uint64_t key)
{
    uint64_t base, bytes;
    if (!csan_memory_find(session_context(), window->address, &base, &bytes, NULL)) {
        base = window->address;
        bytes = window->bytes;
    }
    link(CSAN_LINK_SHARE, key, base, bytes, window->address - base);
}

/* Another rank's. With the lock. */
static void open_view(const struct window *window, struct view *view, uint64_t key)
{
    if (!view->address) {
        view->address = unseen_first + unseen;
        unseen += (window->bytes / unseen_gap + 2) * unseen_gap;
    }
    view->born = !csan_memory_find(session_context(), view->address, NULL, NULL, NULL);
    if (view->born) {
        recorded_device_host(NULL);
        csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, view->address, window->bytes,
                           CSAN_HOST, window->site);
    }
    link(CSAN_LINK_OPEN, key, view->address, window->bytes, 0);
}

/* Ends what the process has of other ranks. With the lock. */
static void close_views(const struct window *window)
{
    for (int rank = 0; rank < window->ranks; rank++) {
        const struct view *view = &window->views[rank];
        if (!view->address || view->address == window->address)
            continue;
        link(CSAN_LINK_CLOSE, 0, view->address, 0, 0);
        csan_free *token = view->born ? csan_memory_free_begin(session_context(), view->address,
                                                               thread_lane(), 0, window->site)
                                      : NULL;
        if (token)
            csan_memory_free_end(session_context(), token, 0, CSAN_FREE_NO_WAIT);
    }
}

static void window_free(struct window *window)
{
    free(window->views);
    free(window);
}

/* The addresses that the library has for its kernels (nccl_device/core.h). Without the lock: it
 * asks the library. */
static void ask_views(struct window *window)
{
    int (*ask)(const void *, size_t, int, void **) =
        (int (*)(const void *, size_t, int, void **))library_ask(window->home,
                                                                 LIBRARY_WINDOW_ADDRESS);
    for (int rank = 0; ask && rank < window->ranks; rank++) {
        void *address = NULL;
        if (ask(window->key.handle, 0, rank, &address) == SUCCESS)
            window->views[rank].address = (uint64_t)(uintptr_t)address;
    }
}

/* With the lock. */
static void links(struct window *window, const struct communicator *of)
{
    window->views[of->rank].address = window->address;
    share(window, key_of(of->id, window->number, of->rank));
    for (int rank = 0; rank < of->ranks; rank++)
        if (rank != of->rank)
            open_view(window, &window->views[rank], key_of(of->id, window->number, rank));
}

/* With the lock. False: it is not there. */
static bool add(struct window *window)
{
    const struct communicator *of = communicator_find(window->key.communicator);
    struct window *old = window_find(window->key.communicator, window->key.handle);
    if (!of || of->ranks != window->ranks)
        return false;
    if (old) {
        close_views(old);
        HASH_DEL(windows, old);
        window_free(old);
    }
    links(window, of);
    HASH_ADD(hh, windows, key, sizeof window->key, window);
    return window->hh.tbl != NULL;
}

/* Takes the window. */
static void complete(struct window *window)
{
    window->key.handle = *window->variable;
    window->views = calloc((size_t)window->ranks, sizeof *window->views);
    if (window->key.handle && window->views)
        ask_views(window);
    guard_lock();
    const bool added = window->key.handle && window->views && add(window);
    guard_unlock();
    if (!added)
        window_free(window);
}

/* ncclCommWindowRegister(comm, buff, size, win, winFlags): all ranks of `comm` call it in one
 * order. NULL: its ranks cannot be distinguished. */
static struct window *registered(const struct touch *call)
{
    const void *communicator = (const void *)(uintptr_t)touch_argument_pointer(call, 0);
    struct window *window = calloc(1, sizeof *window);
    guard_lock();
    struct communicator *of = communicator_find(communicator);
    const uint64_t number = of ? ++of->windows : 0;
    const bool followed = of && of->id && communicator_know_ranks(of, call->home);
    if (window && followed)
        *window = (struct window){
            .key.communicator = communicator,
            .number = number,
            .address = touch_argument_pointer(call, 1),
            .bytes = (uint64_t)touch_argument_long(call, 2),
            .site = callsite_of_memory(call->function->symbol),
            .home = call->home,
            .variable = (const void *const *)(uintptr_t)touch_argument_pointer(call, 3),
            .ranks = of->ranks};
    guard_unlock();
    if (window && window->variable)
        return window;
    free(window);
    return NULL;
}

void window_registered(struct touch *call, int result);
void window_registered(struct touch *call, int result)
{
    struct window *window = result == SUCCESS && process_links_wanted() ? registered(call) : NULL;
    if (!window)
        return;
    if (!collective_in_group())
        complete(window);
    else if (pending_count < PENDING_MOST)
        pending[pending_count++] = window;
    else
        window_free(window);
}

void windows_of_group(int made)
{
    for (size_t i = 0; i < pending_count; i++) {
        if (made)
            complete(pending[i]);
        else
            window_free(pending[i]);
    }
    pending_count = 0;
}

void window_deregistered(struct touch *call, int result);
void window_deregistered(struct touch *call, int result)
{
    if (result != SUCCESS)
        return;
    guard_lock();
    struct window *window = window_find((const void *)(uintptr_t)touch_argument_pointer(call, 0),
                                        (const void *)(uintptr_t)touch_argument_pointer(call, 1));
    if (window) {
        close_views(window);
        HASH_DEL(windows, window);
        window_free(window);
    }
    guard_unlock();
}

/* ---- Accesses -------------------------------------------------------------------------------- */

void touch_window(struct touch *call, uint64_t handle, int64_t offset, int64_t n, int64_t rank,
                  uint64_t communicator)
{
    const uint64_t bytes = n > 0 ? (uint64_t)n * call->type.bytes : 0;
    guard_lock();
    const struct window *window =
        window_find((const void *)(uintptr_t)communicator, (const void *)(uintptr_t)handle);
    const bool known = window && rank >= 0 && rank < window->ranks && offset >= 0 &&
                       (uint64_t)offset <= window->bytes &&
                       bytes <= window->bytes - (uint64_t)offset;
    const uint64_t base = known ? window->views[rank].address + (uint64_t)offset : 0;
    guard_unlock();
    if (known)
        touch_buffer(call, base, n);
    else
        call->incomplete = true;
}
