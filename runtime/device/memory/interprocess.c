/* Memory that processes share by handles: cuIpcGetMemHandle, cuIpcOpenMemHandle,
 * cuIpcCloseMemHandle (CUDA Driver API, "Memory Management").
 *
 * The first handle makes a memory file as large as device memory. The pages of an allocation that
 * gets a handle are moved there, to the offset that they have in device memory: so two allocations
 * that share a page may both have handles. A process that opens the handle maps these pages. The
 * file ends with a table of the allocations that have a handle: a handle of memory that was freed
 * is refused. Called with the device's lock held. */
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/memory/shared_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, ENTRIES = 4096 };

/* The file's last bytes. An entry with id 0 is nobody's. */
struct table {
    struct {
        uint64_t id, base;
    } entries[ENTRIES];
};
enum { TABLE_BYTES = (sizeof(struct table) + PAGE - 1) / PAGE * PAGE };

/* A mapping of another process's memory. */
struct opened {
    struct opened *next;
    struct shared_handle handle;
    struct CUctx_st *context;
    uint64_t reserved, pages; /* of device memory's addresses, in bytes */
    uint64_t base;            /* what the program gets */
    uint64_t count;           /* "the reference count on the handle" */
};

static struct {
    int file;       /* 0: there is none */
    uint8_t *moved; /* by page of device memory: 1 if the file has it */
    struct table *table;
    struct opened *opened;
} shared;

static uint64_t down(uint64_t address)
{
    return address / PAGE * PAGE;
}

static uint64_t up(uint64_t address)
{
    return down(address + PAGE - 1);
}

/* ---- Handles of this process's memory -------------------------------------------------------- */

static bool file_make(void)
{
    if (shared.file)
        return true;
    const uint64_t bytes = device.device_memory.bytes;
    int file = shared_file_create("csan shared memory", bytes + TABLE_BYTES);
    if (file < 0)
        return false;
    void *table = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)bytes);
    shared.moved = calloc(bytes / PAGE + 1, 1);
    if (table == MAP_FAILED || !shared.moved) {
        if (table != MAP_FAILED)
            munmap(table, TABLE_BYTES);
        free(shared.moved);
        close(file);
        return false;
    }
    shared.table = table;
    shared.file = file;
    return true;
}

/* Bytes that lie at that address are the file's from now on, with what they hold. */
static bool move_page(uint64_t page)
{
    void *at = memory_pointer(page);
    const uint64_t offset = page - device.device_memory.base;
    if (shared.moved[offset / PAGE])
        return true;
    if (pwrite(shared.file, at, PAGE, (off_t)offset) != PAGE ||
        mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared.file,
             (off_t)offset) == MAP_FAILED)
        return false;
    shared.moved[offset / PAGE] = 1;
    return true;
}

/* One mapping for all, where nothing was moved before: a process may have few. */
static bool move_pages(uint64_t first, uint64_t end)
{
    const uint64_t offset = first - device.device_memory.base;
    if (memchr(shared.moved + offset / PAGE, 1, (end - first) / PAGE)) {
        bool moved = true;
        for (uint64_t page = first; page < end; page += PAGE)
            moved &= move_page(page);
        return moved;
    }
    for (uint64_t at = first; at < end;) {
        ssize_t wrote = pwrite(shared.file, memory_pointer(at), end - at,
                               (off_t)(at - device.device_memory.base));
        if (wrote <= 0)
            return false;
        at += (uint64_t)wrote;
    }
    if (mmap(memory_pointer(first), end - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             shared.file, (off_t)offset) == MAP_FAILED)
        return false;
    memset(shared.moved + offset / PAGE, 1, (end - first) / PAGE);
    return true;
}

/* The entry of an id; of 0: a free one. */
static int entry_find(const struct table *table, uint64_t id)
{
    for (int i = 0; i < ENTRIES; i++)
        if (__atomic_load_n(&table->entries[i].id, __ATOMIC_ACQUIRE) == id)
            return i;
    return -1;
}

static bool entry_make(const struct memory *memory)
{
    if (entry_find(shared.table, memory->id) >= 0)
        return true;
    const int entry = entry_find(shared.table, 0);
    if (entry < 0)
        return false;
    shared.table->entries[entry].base = memory->base;
    __atomic_store_n(&shared.table->entries[entry].id, memory->id, __ATOMIC_RELEASE);
    return true;
}

/* Kernels must not write to the pages while they are moved: the call waits for what runs. */
CUresult interprocess_share(uint64_t address, enum memory_owner owner, struct shared_handle *handle)
{
    struct memory memory = memory_at(address);
    if (memory.kind != MEMORY_DEVICE || !memory.bytes || memory_tag_owner(memory.tag) != owner)
        return CUDA_ERROR_INVALID_VALUE;
    if (!file_make())
        return CUDA_ERROR_OUT_OF_MEMORY;
    schedule_all(); /* which lets others in */
    memory = memory_at(address);
    if (!memory.bytes || !move_pages(down(memory.base), up(memory.base + memory.bytes)))
        return memory.bytes ? CUDA_ERROR_MAP_FAILED : CUDA_ERROR_INVALID_VALUE;
    if (!entry_make(&memory))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = shared_handle_of(SHARED_MEMORY, shared.file);
    handle->id = memory.id;
    handle->base = memory.base - device.device_memory.base;
    handle->bytes = memory.bytes;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    struct CUctx_st *context;
    struct shared_handle handle;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = pHandle ? interprocess_share(dptr, OWNER_PROGRAM, &handle) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        memset(pHandle, 0, sizeof *pHandle);
        memcpy(pHandle, &handle, sizeof handle);
    }
    return device_leave(result);
}

/* Addresses that have pages of the file get others. What another process has open stays there. */
void interprocess_return(uint64_t base, uint64_t bytes)
{
    const uint64_t first = up(base), end = down(base + bytes);
    const uint64_t offset = first - device.device_memory.base;
    if (shared.file && first < end &&
        memchr(shared.moved + offset / PAGE, 1, (end - first) / PAGE) &&
        mmap(memory_pointer(first), end - first, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
        memset(shared.moved + offset / PAGE, 0, (end - first) / PAGE);
}

void interprocess_withdraw(const struct arena_info *info)
{
    const int entry = shared.file ? entry_find(shared.table, info->id) : -1;
    if (entry >= 0)
        __atomic_store_n(&shared.table->entries[entry].id, 0, __ATOMIC_RELEASE);
}

/* "Calling cuMemFree on an exported memory region before calling cuIpcCloseMemHandle in the
 * importing context will result in undefined behavior": here those keep the pages that were the
 * allocation's alone, and this process's next allocation has others. */
void interprocess_freed(const struct arena_info *info)
{
    if (!shared.file || entry_find(shared.table, info->id) < 0)
        return;
    interprocess_withdraw(info);
    interprocess_return(info->base, info->bytes);
}

/* ---- Memory of other processes --------------------------------------------------------------- */

static struct opened *opened_find(const struct CUctx_st *context,
                                  const struct shared_handle *handle)
{
    struct opened *opened = shared.opened;
    while (opened && (opened->context != context_home(context) ||
                      memcmp(&opened->handle, handle, sizeof *handle) != 0))
        opened = opened->next;
    return opened;
}

static struct opened *opened_at(uint64_t address)
{
    struct opened *opened = shared.opened;
    while (opened && address - opened->reserved >= opened->pages)
        opened = opened->next;
    return opened;
}

bool interprocess_find(uint64_t address, struct arena_info *info)
{
    const struct opened *opened = opened_at(address);
    if (!opened || address - opened->base >= opened->handle.bytes)
        return false;
    info->base = opened->base;
    info->bytes = info->span = opened->handle.bytes;
    return true;
}

/* The allocation that the handle is of was not freed. */
static bool is_live(const struct shared_handle *handle, int file, uint64_t file_bytes)
{
    if (file_bytes < TABLE_BYTES || file_bytes % PAGE)
        return false;
    const uint64_t arena_bytes = file_bytes - TABLE_BYTES;
    if (!handle->id || !handle->bytes || handle->base >= arena_bytes ||
        handle->bytes > arena_bytes - handle->base)
        return false;
    struct table *table = mmap(NULL, TABLE_BYTES, PROT_READ, MAP_SHARED, file, (off_t)arena_bytes);
    if (table == MAP_FAILED)
        return false;
    const bool live = entry_find(table, handle->id) >= 0;
    munmap(table, TABLE_BYTES);
    return live;
}

/* Maps the pages; NULL: there is no room. */
static struct opened *opened_make(struct CUctx_st *context, const struct shared_handle *handle,
                                  int file)
{
    const uint64_t first = down(handle->base), pages = up(handle->base + handle->bytes) - first;
    struct opened *opened = calloc(1, sizeof *opened);
    const uint64_t at = opened ? arena_reserve(&device.device_memory, pages, PAGE,
                                               memory_tag(context, OWNER_INTERPROCESS))
                               : 0;
    if (!at || mmap(memory_pointer(at), pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                    (off_t)first) == MAP_FAILED) {
        if (at)
            arena_free(&device.device_memory, at);
        free(opened);
        return NULL;
    }
    *opened = (struct opened){.next = shared.opened,
                              .handle = *handle,
                              .context = (struct CUctx_st *)(uintptr_t)context_home(context),
                              .reserved = at,
                              .pages = pages,
                              .base = at + (handle->base - first),
                              .count = 1};
    shared.opened = opened;
    return opened;
}

CUresult interprocess_open(struct CUctx_st *context, const struct shared_handle *handle,
                           CUdeviceptr *pointer)
{
    struct stat status;
    struct opened *opened = opened_find(context, handle);
    if (opened) {
        opened->count++;
        *pointer = opened->base;
        return CUDA_SUCCESS;
    }
    int file = shared_handle_open(handle);
    if (file < 0)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    if (fstat(file, &status) == 0 && is_live(handle, file, (uint64_t)status.st_size)) {
        opened = opened_make(context, handle, file);
        result = opened ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
    }
    close(file);
    if (opened)
        *pointer = opened->base;
    return result;
}

/* A process cannot open its own handles; drivers answer with "invalid device context". */
CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle,
                                       unsigned int Flags)
{
    struct CUctx_st *context;
    struct shared_handle own;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&own, &handle, sizeof own);
    if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (!shared_handle_is(&own, SHARED_MEMORY))
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (shared_handle_is_own(&own))
        result = CUDA_ERROR_INVALID_CONTEXT;
    else
        result = interprocess_open(context, &own, pdptr);
    return device_leave(result);
}

CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    return cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

/* The addresses have bytes of this process's own again. */
static void unmap(struct opened *opened)
{
    struct opened **link = &shared.opened;
    while (*link != opened)
        link = &(*link)->next;
    *link = opened->next;
    if (mmap(memory_pointer(opened->reserved), opened->pages, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
        arena_free(&device.device_memory, opened->reserved);
    free(opened);
}

bool interprocess_is_open(uint64_t address, uint8_t kind)
{
    const struct opened *opened = opened_at(address);
    return opened && opened->base == address && opened->handle.kind == kind;
}

void interprocess_close(uint64_t address)
{
    struct opened *opened = opened_at(address);
    if (opened && --opened->count == 0)
        unmap(opened);
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!interprocess_is_open(dptr, SHARED_MEMORY))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (opened_at(dptr)->count == 1)
        schedule_all(); /* others are let in */
    if (!interprocess_is_open(dptr, SHARED_MEMORY))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    interprocess_close(dptr);
    return device_leave(CUDA_SUCCESS);
}

void interprocess_forget(const struct CUctx_st *context)
{
    struct opened *next;
    for (struct opened *opened = shared.opened; opened; opened = next) {
        next = opened->next;
        if (opened->context == context)
            unmap(opened);
    }
}
