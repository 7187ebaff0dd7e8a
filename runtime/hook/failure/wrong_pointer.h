/* Exact accesses of a launch to an address in no memory that csan knows, or in memory of another
 * device.
 *
 * For the first kind, the pointer that they go through decides. If it points into an allocation,
 * they are out of its bounds, wherever they lie. If it points into the host's memory, the kernel
 * got a pointer that its device cannot use. Else nothing is known. For the second kind, the driver
 * says whether the launch's context can access the memory.
 *
 * The detector counts accesses in no memory (context_unplaced), and memory_owner.h knows whether
 * there are several contexts. So a launch without such accesses costs two comparisons. Each place
 * in the program is looked at once. */
#ifndef RUNTIME_HOOK_FAILURE_WRONG_POINTER_H
#define RUNTIME_HOOK_FAILURE_WRONG_POINTER_H

#include "csan/detector/context.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/state/memory_owner.h"
#include "runtime/hook/session/session.h"

enum { WRONG_POINTER_MOST = 8 };

enum wrong_pointer_kind {
    WRONG_POINTER_PLACED,   /* through a pointer into memory that csan knows */
    WRONG_POINTER_UNPLACED, /* through one into none */
    WRONG_POINTER_FOREIGN   /* of another context's memory */
};

struct wrong_pointer {
    enum wrong_pointer_kind kind;
    struct csan_access access;    /* what it spans */
    uint64_t pointer;             /* the parameter's value */
    CUcontext owner;              /* of foreign memory; NULL: none */
    enum memory_access access_by; /* who says that it may be touched */
};

/* Who accesses them, and where. */
struct wrong_pointer_launch {
    CUcontext context;
    csan_lane lane;
    csan_site site;
    enum csan_level level;
};

struct wrong_pointers {
    struct wrong_pointer_launch launch;
    struct wrong_pointer items[WRONG_POINTER_MOST];
    size_t count;
};

/* Whether a launch in that context may have such accesses. `unplaced`: context_unplaced before its
 * op was enqueued. */
static inline bool wrong_pointers_may_be(uint64_t unplaced, CUcontext context)
{
    return __builtin_expect(context_unplaced(session_context()) != unplaced, 0) ||
           __builtin_expect(memory_owner_has_others(context), 0);
}

/* Finds such accesses of a launch, while the kernel is locked. With the hooks' lock. */
void wrong_pointers_gather(const struct launch_accesses_touched *touched,
                           const struct wrong_pointer_launch *launch, uint64_t unplaced,
                           struct wrong_pointers *wrongs);
/* Without any lock. */
void wrong_pointers_report(const struct wrong_pointers *wrongs);

/* Those that a kernel of a graph's node may have: what its memory is shows when the graph is
 * launched. NULL: none. Free it. While the kernel is locked. */
struct wrong_pointers *wrong_pointers_of_node(const struct launch_accesses_touched *touched,
                                              CUcontext context, csan_site site);
/* The graph was launched, on that lane. Without any lock. */
void wrong_pointers_node_launched(const struct wrong_pointers *node, csan_lane lane);

#endif
