/* cuBLAS: the workspaces that programs give to handles. A handle without one takes cuBLAS' own
 * (cuBLAS documentation, "cublasSetWorkspace()"). No function of the library returns it, so it is
 * kept here until the handle's next cublasSetStream() or its end. */
#include "runtime/hook/library/touch.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct workspace {
    uint64_t handle;
    uint64_t base, bytes; /* bytes 0: none, for now */
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex;
    struct workspace *of_handles;
} workspaces = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* With the mutex; NULL: the program gave none. */
static struct workspace *workspace_find(uint64_t handle)
{
    struct workspace *found = NULL;
    HASH_FIND(hh, workspaces.of_handles, &handle, sizeof handle, found);
    return found;
}

/* With the mutex. NULL when memory is short: then csan says nothing of the workspace. */
static struct workspace *workspace_add(uint64_t handle)
{
    struct workspace *added = calloc(1, sizeof *added);
    if (!added)
        return NULL;
    added->handle = handle;
    HASH_ADD(hh, workspaces.of_handles, handle, sizeof added->handle, added);
    if (added->hh.tbl)
        return added;
    free(added);
    return NULL;
}

/* With the mutex. */
static void workspace_remove(uint64_t handle)
{
    struct workspace *found = workspace_find(handle);
    if (!found)
        return;
    HASH_DEL(workspaces.of_handles, found);
    free(found);
}

/* After cublasSetWorkspace(handle, workspace, bytes). */
void workspace_given(struct touch *call, int result)
{
    const uint64_t handle = touch_argument_pointer(call, 0), base = touch_argument_pointer(call, 1),
                   bytes = touch_argument_pointer(call, 2);
    if (result != 0)
        return;
    lock_order_take(LOCK_WORKSPACES, &workspaces.mutex);
    struct workspace *workspace = workspace_find(handle);
    if (!workspace && base && bytes)
        workspace = workspace_add(handle);
    if (workspace) {
        workspace->base = base;
        workspace->bytes = base ? bytes : 0;
    }
    lock_order_give(LOCK_WORKSPACES, &workspaces.mutex);
}

/* After cublasSetStream(handle, ...). PyTorch gives the handle a workspace again before each
 * product, so its entry stays. */
void workspace_default(struct touch *call, int result)
{
    if (result != 0)
        return;
    lock_order_take(LOCK_WORKSPACES, &workspaces.mutex);
    struct workspace *workspace = workspace_find(touch_argument_pointer(call, 0));
    if (workspace)
        workspace->bytes = 0;
    lock_order_give(LOCK_WORKSPACES, &workspaces.mutex);
}

/* After cublasDestroy(handle). */
void workspace_destroyed(struct touch *call, int result)
{
    if (result != 0)
        return;
    lock_order_take(LOCK_WORKSPACES, &workspaces.mutex);
    workspace_remove(touch_argument_pointer(call, 0));
    lock_order_give(LOCK_WORKSPACES, &workspaces.mutex);
}

void touch_workspace(struct touch *call, uint64_t handle)
{
    uint64_t base = 0, bytes = 0;
    lock_order_take(LOCK_WORKSPACES, &workspaces.mutex);
    const struct workspace *workspace = workspace_find(handle);
    if (workspace && workspace->bytes) {
        base = workspace->base;
        bytes = workspace->bytes;
    }
    lock_order_give(LOCK_WORKSPACES, &workspaces.mutex);
    touch_add(call, base, bytes, NULL, 0);
}
