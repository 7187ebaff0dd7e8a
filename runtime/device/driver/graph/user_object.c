/* Objects of the program that graphs keep alive (CUDA C++ Programming Guide, "CUDA User Objects").
 */
#include "runtime/device/driver/graph/graph.h"

#include <stdlib.h>

/* "the destructor [...] may not make CUDA calls". It is called without the lock. */
void user_object_release(struct CUuserObject_st *user, unsigned count)
{
    user->references -= count;
    if (user->references)
        return;
    object_remove(&user->object);
    device_unlock();
    user->destroy(user->pointer);
    device_lock();
    free(user);
}

bool user_object_hold(struct CUgraph_st *graph, struct CUuserObject_st *user, unsigned count)
{
    struct user_reference *reference = graph->users;
    while (reference && reference->user != user)
        reference = reference->next;
    if (!reference) {
        reference = calloc(1, sizeof *reference);
        if (!reference)
            return false;
        reference->user = user;
        reference->next = graph->users;
        graph->users = reference;
    }
    reference->count += count;
    return true;
}

CUresult CUDAAPI cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                                    unsigned int initialRefcount, unsigned int flags)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!object_out || !destroy || !initialRefcount || initialRefcount > INT32_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUuserObject_st *user = calloc(1, sizeof *user);
    if (!user)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    user->pointer = ptr;
    user->destroy = destroy;
    user->references = initialRefcount;
    object_add(&user->object, OBJECT_USER);
    *object_out = user;
    return device_leave(CUDA_SUCCESS);
}

static CUresult enter_user(CUuserObject handle, unsigned count, struct CUuserObject_st **user)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *user = object_find(handle, OBJECT_USER);
    return *user && count && count <= INT32_MAX ? CUDA_SUCCESS
                                                : device_leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    struct CUuserObject_st *user;
    CUresult result = enter_user(object, count, &user);
    if (result != CUDA_SUCCESS)
        return result;
    user->references += count;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    struct CUuserObject_st *user;
    CUresult result = enter_user(object, count, &user);
    if (result != CUDA_SUCCESS)
        return result;
    if (count > user->references)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    user_object_release(user, count);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                         unsigned int flags)
{
    struct CUuserObject_st *user;
    CUresult result = enter_user(object, count, &user);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraph_st *owner = object_find(graph, OBJECT_GRAPH);
    if (!owner || flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!user_object_hold(owner, user, count))
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
        user->references += count;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    struct CUuserObject_st *user;
    CUresult result = enter_user(object, count, &user);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraph_st *owner = object_find(graph, OBJECT_GRAPH);
    struct user_reference **link = owner ? &owner->users : NULL;
    while (link && *link && (*link)->user != user)
        link = &(*link)->next;
    if (!link || !*link || (*link)->count < count)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct user_reference *held = *link;
    held->count -= count;
    if (!held->count) {
        *link = held->next;
        free(held);
    }
    user_object_release(user, count);
    return device_leave(CUDA_SUCCESS);
}
