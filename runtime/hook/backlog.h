/* What the hooks put off: what a launch touches is worked out, and told to the detector, by a
 * thread of csan's beside the program. csan's part of a launch is 25 KiB of code and 20 KiB of
 * data: within the hook a framework's launch waits for them, and then for its own that they drove
 * out of the processor's caches.
 *
 * Nothing is seen of that but when a race is reported: whatever else the program does that csan
 * knows of waits for what was put off before it (guard_enter), which is done in the order in which
 * it came. */
#ifndef RUNTIME_HOOK_BACKLOG_H
#define RUNTIME_HOOK_BACKLOG_H

#include "runtime/hook/driver.h"

#include <stdbool.h>
#include <stddef.h>

/* The beginning of what is put off; the caller's own follows. It holds no references: who lets go
 * of what it names works off first. */
struct backlog_piece {
    void (*work)(const struct backlog_piece *piece); /* within a hook, without locks of hooks */
    CUcontext context;                               /* current while it works; NULL: any */
    size_t bytes;                                    /* the backlog's own */
};

enum { BACKLOG_PIECE_MAX = 8192 };

/* Room for so many bytes, to be filled until backlog_end, with the backlog locked; NULL without it:
 * nothing is put off, or not so much. Within a hook, without locks of hooks. */
struct backlog_piece *backlog_begin(size_t bytes);
void backlog_end(struct backlog_piece *piece);

/* How much is put off and not worked off yet; atomic. */
extern uint32_t backlog_count;

/* What was put off before the call, whoever did, is worked off at its return; nothing when that is
 * what the calling thread is at. Within a hook, without locks of hooks. Within a host function
 * csan's thread is waited for: the function must not call the driver (CUDA Driver API,
 * cuLaunchHostFunc). */
void backlog_work_off_slow(void);
static inline void backlog_work_off(void)
{
    if (__builtin_expect(__atomic_load_n(&backlog_count, __ATOMIC_ACQUIRE) != 0, 0))
        backlog_work_off_slow();
}

#endif
