/* The calling thread's stack, by libunwind, remembered.
 *
 * libunwind is opened with dlopen(RTLD_LOCAL) and never linked: it exports _Unwind_* and would take
 * the place of the program's own unwinder.
 *
 * A program launches from the same few places again and again, so each thread remembers its recent
 * stacks together with what they were unwound from: the caller's pc, stack pointer and frame
 * pointer, and every stack slot from which unwinding took a return address or a frame pointer. When
 * all of those still hold the same values, unwinding would do the same again: each frame's rule
 * depends on its pc, and takes the next frame from the stack pointer, the frame pointer and those
 * slots. The slots are read from the innermost outwards and reading stops at the first difference,
 * so nothing is read that unwinding would not have read. */
#ifndef CSAN_STACK_UNWIND_H
#define CSAN_STACK_UNWIND_H

#include <stddef.h>
#include <stdint.h>

/* What a caller keeps with a stack that is remembered; lies beside what is compared. Anything that
 * was kept with another one, or zeros, at first. */
struct unwind_note {
    uint64_t key;
    uint32_t value;
};

/* Return addresses of the calling thread, innermost first: at most `max` (up to STACK_FRAMES_MAX)
 * after the first `skip`, counted from the caller's caller on. 0 when no unwinder can be had.
 * *hash, unless NULL, identifies them: 64 bits, over skipped frames and those beyond `max` too.
 * *note, unless `note` is NULL, is the caller's to use until the thread's next call; NULL: it is
 * not remembered. Thread-safe; the first call opens the unwinder, so make it outside any lock. Not
 * for signal handlers. */
size_t unwind_stack(const void **frames, size_t max, unsigned skip, uint64_t *hash,
                    struct unwind_note **note);

/* Opens the unwinder, as the first call else does: for who is to be called with locks held later.
 */
void unwind_open(void);

/* The stack that will probably be asked for next is brought near. */
void unwind_prefetch(void);

#endif
