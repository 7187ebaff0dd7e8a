/* Pools that processes share (CUDA Driver API, "Stream Ordered Memory Allocator":
 * cuMemPoolExportToShareableHandle, cuMemPoolImportFromShareableHandle, cuMemPoolExportPointer,
 * cuMemPoolImportPointer). A pool's handle is a descriptor of a small file that says whose pool it
 * is. A pointer's is that of the allocation (interprocess.c), with the pool's number. So a process
 * that imports a pointer needs the pool. Called with the device's lock held. */
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/memory/shared_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whose pool another process's is. */
struct pool_import {
    struct shared_handle handle;
};

/* What CUmemPoolPtrExportData has. */
struct exported_pointer {
    struct shared_handle memory;
    uint64_t pool; /* its number in the owner's process */
};
_Static_assert(sizeof(struct exported_pointer) <= sizeof(CUmemPoolPtrExportData),
               "the data has 64 bytes");

void pool_import_release(struct CUmemPoolHandle_st *pool)
{
    free(pool->import);
    pool->import = NULL;
}

/* ---- Pools ---------------------------------------------------------------------------------- */

static bool is_descriptor(CUmemAllocationHandleType type, unsigned long long flags)
{
    return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && flags == 0;
}

CUresult CUDAAPI cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                                  CUmemAllocationHandleType handleType,
                                                  unsigned long long flags)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUmemPoolHandle_st *known = object_find(pool, OBJECT_POOL);
    if (!handle_out || !known || !known->shareable || !is_descriptor(handleType, flags))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    const int file = shared_file_create("csan shared pool", sizeof(struct shared_handle));
    if (file < 0)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    struct shared_handle handle = shared_handle_of(SHARED_POOL, file);
    handle.id = known->id;
    if (pwrite(file, &handle, sizeof handle, 0) != sizeof handle) {
        close(file);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *(int *)handle_out = file; /* the program's from now on */
    return device_leave(CUDA_SUCCESS);
}

/* The descriptor stays the program's: what it says is all there is. */
CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                    CUmemAllocationHandleType handleType,
                                                    unsigned long long flags)
{
    struct CUctx_st *context;
    struct shared_handle read;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pool_out || !is_descriptor(handleType, flags) ||
        pread((int)(intptr_t)handle, &read, sizeof read, 0) != sizeof read ||
        !shared_handle_is(&read, SHARED_POOL))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct pool_import *import = calloc(1, sizeof *import);
    struct CUmemPoolHandle_st *pool = import ? pool_create(context->ordinal) : NULL;
    if (!pool) {
        free(import);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    import->handle = read;
    pool->import = import;
    *pool_out = pool;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Pointers ------------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    struct exported_pointer exported = {0};
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUmemPoolHandle_st *pool = pool_of(ptr);
    if (!shareData_out || !pool || !pool->shareable)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    exported.pool = pool->id;
    result = interprocess_share(ptr, OWNER_POOL, &exported.memory);
    exported.memory.kind = SHARED_POOL_MEMORY;
    if (result == CUDA_SUCCESS) {
        memset(shareData_out, 0, sizeof *shareData_out);
        memcpy(shareData_out, &exported, sizeof exported);
    }
    return device_leave(result);
}

/* Whether the pointer is of the pool that was imported. */
static bool is_of(const struct pool_import *import, const struct exported_pointer *exported)
{
    return import && shared_handle_is(&exported->memory, SHARED_POOL_MEMORY) &&
           exported->memory.process == import->handle.process &&
           exported->memory.started == import->handle.started &&
           exported->pool == import->handle.id;
}

CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
                                        CUmemPoolPtrExportData *shareData)
{
    struct CUctx_st *context;
    struct exported_pointer exported;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUmemPoolHandle_st *known = object_find(pool, OBJECT_POOL);
    if (!ptr_out || !known || !shareData)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    memcpy(&exported, shareData, sizeof exported);
    if (!is_of(known->import, &exported))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (shared_handle_is_own(&exported.memory))
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    return device_leave(interprocess_open(context, &exported.memory, ptr_out));
}

/* ---- Frees ---------------------------------------------------------------------------------- */

/* "The imported memory may be freed with cuMemFree or cuMemFreeAsync": the mapping ends. */
struct close_item {
    struct item item;
    uint64_t address;
};

static enum step close_step(struct item *item)
{
    interprocess_close(((struct close_item *)item)->address);
    return STEP_DONE;
}

static void close_discard(struct item *item)
{
    free(item);
}

CUresult pool_import_free(struct CUstream_st *stream, uint64_t address)
{
    if (!interprocess_is_open(address, SHARED_POOL_MEMORY))
        return CUDA_ERROR_NOT_FOUND;
    if (!stream) {
        interprocess_close(address);
        return CUDA_SUCCESS;
    }
    struct close_item *work = calloc(1, sizeof *work);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->item.step = close_step;
    work->item.discard = close_discard;
    work->address = address;
    queue_enqueue(stream, &work->item);
    return CUDA_SUCCESS;
}
