/* Where in the program a driver call comes from: name and stack as a site of the detector. */
#ifndef RUNTIME_HOOK_STATE_CALLSITE_H
#define RUNTIME_HOOK_STATE_CALLSITE_H

#include "csan/stack/stack.h"
#include <csan/csan.h>

#include <stddef.h>

struct unwind_note;

/* The stack of the call in progress, without csan's own frames. */
struct callsite_stack {
    const void *storage[STACK_FRAMES_MAX];
    const void *const *frames;
    size_t count;
    uint64_t hash;
    struct unwind_note *note; /* until the thread's next stack; or NULL */
};
void callsite_capture(struct callsite_stack *stack);
/* The same for calls that allocators make while they hold a lock. */
void callsite_capture_memory(struct callsite_stack *stack);

/* Prefetches the stack of the call that will probably come next. */
void callsite_prefetch(void);

/* From hold to release, the interpreter's part of the calling thread's stacks stays as it is now,
 * if csan would have to wait to read it. */
void callsite_hold(void);
void callsite_release(void);

/* The interpreter's frames of a thread that waits while others work for it. */
enum { CALLSITE_SCRIPT_MAX = STACK_FRAMES_MAX };
struct callsite_script {
    size_t count;
    const void *frames[CALLSITE_SCRIPT_MAX];
};
/* Those of the calling thread, or of the one that it works for. */
void callsite_script_take(struct callsite_script *script);
/* From now on a stack of the calling thread has these frames where it has none of its own; NULL: no
 * longer. Returns what it worked for before. */
const struct callsite_script *callsite_works_for(const struct callsite_script *script);

/* The site of that stack, if the calling thread used it lately; else 0. */
csan_site callsite_recall(const struct callsite_stack *stack, const char *name,
                          size_t argument_count);
/* The site of that stack. `name` must live as long as the process, because each thread remembers
 * its sites by that address. None of these takes a lock of the hooks. */
csan_site callsite_intern(const struct callsite_stack *stack, const char *name,
                          const char *const *arguments, size_t argument_count);

/* The site in other words: that name and these arguments with the site's stack. They must live as
 * long as the process, too. */
csan_site callsite_named(csan_site site, const char *name, const char *const *arguments,
                         size_t argument_count);

/* Both in one. */
csan_site callsite_of(const char *name, const char *const *arguments, size_t argument_count);
/* For calls that allocators make while they hold a lock. */
csan_site callsite_of_memory(const char *name);

/* Called at least once for each site that is new to a thread. NULL: no calls. Set it before any
 * hook is entered. */
typedef void callsite_watcher(csan_site site, const char *name, const void *const *frames,
                              size_t count);
extern callsite_watcher *callsite_on_site;

#endif
