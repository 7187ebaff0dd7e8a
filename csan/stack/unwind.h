/* The calling thread's stack, by libunwind, with a memory of recent stacks.
 *
 * libunwind is opened with dlopen(RTLD_LOCAL) and never linked: it exports _Unwind_*, which would
 * replace the program's own unwinder.
 *
 * A program launches from the same few places again and again. So each thread remembers its recent
 * stacks, each with the values that it was unwound from. These are the caller's pc, stack pointer
 * and frame pointer, and every stack slot from which unwinding took a return address or a frame
 * pointer. If all of them still hold the same values, unwinding would do the same again: each
 * frame's rule depends on its pc, and finds the next frame through the stack pointer, the frame
 * pointer and those slots. The slots are compared from the innermost outwards, up to the first
 * difference. So nothing is read that unwinding would not have read. */
#ifndef CSAN_STACK_UNWIND_H
#define CSAN_STACK_UNWIND_H

#include <stddef.h>
#include <stdint.h>

/* What a caller keeps with a remembered stack. It lies beside the compared values. At first it
 * holds zeros, or what was kept with another stack. */
struct unwind_note {
    uint64_t key;
    uint32_t value;
};

/* Return addresses of the calling thread, innermost first: at most `max` (up to STACK_FRAMES_MAX)
 * after the first `skip`, counted from the caller's caller. 0 without an unwinder. `hash`, unless
 * NULL, identifies them: 64 bits over all frames, also skipped ones and those beyond `max`.
 * `*note`, unless `note` is NULL, is the caller's to use until the thread's next call; NULL: the
 * stack is not remembered. Thread-safe. The first call opens the unwinder, so make it outside any
 * lock. Not for signal handlers. */
size_t unwind_stack(const void **frames, size_t max, unsigned skip, uint64_t *hash,
                    struct unwind_note **note);

/* Opens the unwinder, as the first call otherwise does. For callers that will hold locks later. */
void unwind_open(void);

/* Prefetches the stack that will probably be asked for next. */
void unwind_prefetch(void);

#endif
