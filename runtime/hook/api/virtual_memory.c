/* The hooks of virtual memory: address ranges that are reserved, physical memory, and mappings
 * between the two (CUDA Driver API, "Virtual Memory Management").
 *
 * A reservation is an allocation from its first mapping to its last, because programs grow arrays
 * by mapping more memory behind them, and access it across the seams. cuMemUnmap does not promise
 * to wait for work that still uses the memory. So it is checked as a free by the host that orders
 * nothing. If it unmaps only a part of a reservation, it is checked as a write by the host.
 * Physical memory that is mapped twice is one piece of memory: all mappings but the first are
 * aliases. */
#include "driver_hooks.h"
#include "csan/base/descriptor_note.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/context_device.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/state/memory_owner.h"
#include "runtime/hook/state/process_link.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/failure/out_of_memory.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/state/stream_memop.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapping;

struct physical {
    struct mapping *mappings; /* the first is what the others are aliases of */
    uint64_t handles;
    uint64_t
        key; /* of its file, for links between processes; 0: it has none that says which it is */
};

/* The program's name for physical memory; the driver may give one name out several times. */
struct handle {
    CUmemGenericAllocationHandle value;
    uint64_t count;
    struct physical *physical;
    UT_hash_handle hh;
};

struct reservation {
    uint64_t base, bytes;
    uint64_t mapped; /* mappings in it: above 0 the detector knows of it */
    struct reservation *next;
};

struct mapping {
    uint64_t base, bytes, offset;
    struct physical *physical; /* NULL: not known */
    struct mapping *next;      /* of the same physical memory */
    struct reservation *reservation;
    UT_hash_handle hh;
};

static struct {
    struct handle *handles;
    struct mapping *mappings;
    struct reservation *reservations;
} table; /* under the hooks' lock */

/* ---- Handles ---- */

static struct handle *handle_find(CUmemGenericAllocationHandle value)
{
    struct handle *handle = NULL;
    HASH_FIND(hh, table.handles, &value, sizeof value, handle);
    return handle;
}

static void physical_release(struct physical *physical)
{
    if (physical && !physical->handles && !physical->mappings)
        free(physical);
}

/* One more handle was given out, for that memory or (NULL) a new piece. */
static void handle_add(CUmemGenericAllocationHandle value, struct physical *physical)
{
    struct handle *handle = handle_find(value);
    if (!handle) {
        handle = calloc(1, sizeof *handle);
        if (handle && !physical)
            physical = calloc(1, sizeof *physical);
        if (!handle || !physical) {
            free(handle);
            return;
        }
        handle->value = value;
        handle->physical = physical;
        HASH_ADD(hh, table.handles, value, sizeof handle->value, handle);
    }
    handle->count++;
    handle->physical->handles++;
}

static void handle_release(CUmemGenericAllocationHandle value)
{
    struct handle *handle = handle_find(value);
    if (!handle)
        return;
    handle->physical->handles--;
    if (--handle->count)
        return;
    HASH_DEL(table.handles, handle);
    physical_release(handle->physical);
    free(handle);
}

/* ---- Descriptors ----
 *
 * A descriptor's number means nothing in another process. On the embedded device it is of a memory
 * file, which has an inode. On a GPU it is of the driver's device, as all are. So each that is made
 * gets a note, which says what memory it is of to whoever imports it. */

static bool is_memory_file(int descriptor, struct stat *file)
{
    return fstat(descriptor, file) == 0 && S_ISREG(file->st_mode);
}

/* 0: it does not say. */
static uint64_t key_of_descriptor(int descriptor)
{
    struct stat file;
    uint64_t key = 0;
    if (is_memory_file(descriptor, &file)) {
        const uint64_t id[] = {file.st_dev, file.st_ino};
        key = process_link_key(id, sizeof id);
        return key + (key == 0);
    }
    return descriptor_note_get(descriptor, &key) ? key : 0;
}

/* That no other memory of any process has, as far as chance allows. */
static uint64_t key_for_note(void)
{
    static uint64_t made; /* atomic */
    const uint64_t id[] = {(uint64_t)getpid(), process_link_now(),
                           __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED)};
    const uint64_t bits = (UINT64_C(1) << DESCRIPTOR_NOTE_BITS) - 1;
    const uint64_t key = process_link_key(id, sizeof id) & bits;
    return key + (key == 0);
}

/* Of memory that was made to be exported: what happens to it before its export counts, too. */
static uint64_t key_of_fresh(CUmemGenericAllocationHandle handle, const CUmemAllocationProp *prop)
{
    static void *function;
    int descriptor = -1;
    if (!prop || !(prop->requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ||
        !process_links_wanted())
        return 0;
    PFN_cuMemExportToShareableHandle_v10020 export =
        (PFN_cuMemExportToShareableHandle_v10020)driver_function_cached(
            &function, "cuMemExportToShareableHandle");
    if (!export ||
        export(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) != CUDA_SUCCESS)
        return 0;
    struct stat file;
    const uint64_t key =
        is_memory_file(descriptor, &file) ? key_of_descriptor(descriptor) : key_for_note();
    close(descriptor);
    return key;
}

/* With the lock. */
static struct physical *physical_of(CUmemGenericAllocationHandle value)
{
    struct handle *handle = handle_find(value);
    return handle ? handle->physical : NULL;
}

static void key_set(CUmemGenericAllocationHandle value, uint64_t key)
{
    struct physical *physical = physical_of(value);
    if (physical)
        physical->key = key;
}

/* What the host knows when a descriptor is made comes before what another process does once it has
 * imported it. */
static void descriptor_passes(int kind, uint64_t key, uint64_t time)
{
    if (key)
        process_link_lane(thread_lane(),
                          &(struct csan_link){.kind = kind, .key = key, .time = time});
}

static void mapping_note(int kind, const struct mapping *mapping)
{
    if (mapping->physical && mapping->physical->key)
        process_link_lane(thread_lane(), &(struct csan_link){.kind = kind,
                                                             .key = mapping->physical->key,
                                                             .number = mapping->offset,
                                                             .address = mapping->base,
                                                             .bytes = mapping->bytes});
}

/* ---- Mappings ---- */

static struct mapping *mapping_find(uint64_t base)
{
    struct mapping *mapping = NULL;
    HASH_FIND(hh, table.mappings, &base, sizeof base, mapping);
    return mapping;
}

static struct mapping *mapping_around(uint64_t address)
{
    struct mapping *mapping, *next;
    HASH_ITER(hh, table.mappings, mapping, next)
    {
        if (address - mapping->base < mapping->bytes)
            return mapping;
    }
    return NULL;
}

static struct reservation *reservation_find(uint64_t address)
{
    struct reservation *reservation = table.reservations;
    while (reservation && address - reservation->base >= reservation->bytes)
        reservation = reservation->next;
    return reservation;
}

/* The mapping's bytes that `first` has, too, are the same. */
static void mapping_alias(const struct mapping *mapping, const struct mapping *first)
{
    uint64_t start = mapping->offset > first->offset ? mapping->offset : first->offset;
    uint64_t end = mapping->offset + mapping->bytes;
    if (first->offset + first->bytes < end)
        end = first->offset + first->bytes;
    if (start < end)
        csan_memory_alias(session_context(), mapping->base + (start - mapping->offset), end - start,
                          first->base + (start - first->offset));
}

static void mapping_link(struct mapping *mapping)
{
    struct mapping **last = &mapping->physical->mappings;
    if (*last)
        mapping_alias(mapping, *last);
    while (*last)
        last = &(*last)->next;
    *last = mapping;
}

/* When the first one goes, the next one takes its place; what csan knew of the bytes is lost. */
static void mapping_unlink(struct mapping *mapping)
{
    struct physical *physical = mapping->physical;
    struct mapping **link = &physical->mappings;
    bool was_first = *link == mapping;
    while (*link != mapping)
        link = &(*link)->next;
    *link = mapping->next;
    csan_memory_unalias(session_context(), mapping->base, mapping->bytes);
    for (struct mapping *other = was_first ? physical->mappings : NULL; other;
         other = other->next) {
        csan_memory_unalias(session_context(), other->base, other->bytes);
        if (other != physical->mappings)
            mapping_alias(other, physical->mappings);
    }
    physical_release(physical);
}

static void map(uint64_t base, uint64_t bytes, uint64_t offset, CUmemGenericAllocationHandle value,
                csan_site site)
{
    struct mapping *mapping = calloc(1, sizeof *mapping);
    if (!mapping)
        return;
    struct handle *handle = handle_find(value);
    *mapping = (struct mapping){.base = base,
                                .bytes = bytes,
                                .offset = offset,
                                .physical = handle ? handle->physical : NULL,
                                .reservation = reservation_find(base)};
    HASH_ADD(hh, table.mappings, base, sizeof mapping->base, mapping);
    struct reservation *reservation = mapping->reservation;
    recorded_device_host(NULL); /* any device's */
    if (!reservation)
        csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, base, bytes, CSAN_HOST, site);
    else if (reservation->mapped++ == 0)
        csan_memory_create(session_context(), CSAN_MEMORY_DEVICE, reservation->base,
                           reservation->bytes, CSAN_HOST, site);
    if (mapping->physical)
        mapping_link(mapping);
    mapping_note(CSAN_LINK_MAP, mapping);
    if (devices_are_several())
        memory_owner_set_access(reservation ? reservation->base : base, MEMORY_ACCESS_OF_MAPPING);
    stream_memop_forget(base, bytes);
}

/* ---- Unmapping ---- */

/* What a call of cuMemUnmap ends. */
struct unmapping {
    uint64_t base, end;
    uint64_t count;   /* mappings in it */
    bool shared;      /* their memory is mapped elsewhere, too: work by other names may go on */
    csan_free *token; /* nothing is left of the allocation, */
    uint64_t owned;   /* which began here */
    csan_site site;
};

static void unmap_begin(struct unmapping *unmapping)
{
    const struct mapping *mapping = mapping_find(unmapping->base);
    const struct reservation *reservation = mapping ? mapping->reservation : NULL;
    for (uint64_t at = unmapping->base; mapping && at < unmapping->end;
         mapping = mapping_find(at)) {
        const struct physical *physical = mapping->physical;
        unmapping->shared |= physical && physical->mappings->next;
        unmapping->count++;
        at += mapping->bytes;
    }
    unmapping->owned = reservation ? reservation->base : unmapping->base;
    if (unmapping->count && (!reservation || reservation->mapped == unmapping->count))
        unmapping->token =
            csan_memory_free_begin(session_context(), unmapping->owned, thread_lane(),
                                   !unmapping->shared, unmapping->site);
}

/* Before what the call is checked as: only this process loses its name for the memory, and other
 * processes go on with theirs. */
static void unmap_note(const struct unmapping *unmapping)
{
    const struct mapping *mapping = mapping_find(unmapping->base);
    for (uint64_t at = unmapping->base; mapping && at < unmapping->end;
         mapping = mapping_find(at)) {
        at += mapping->bytes;
        mapping_note(CSAN_LINK_CLOSE, mapping);
    }
}

static void unmap_forget(const struct unmapping *unmapping)
{
    struct mapping *mapping = mapping_find(unmapping->base);
    for (uint64_t at = unmapping->base; mapping && at < unmapping->end;
         mapping = mapping_find(at)) {
        at += mapping->bytes;
        HASH_DEL(table.mappings, mapping);
        if (mapping->reservation)
            mapping->reservation->mapped--;
        if (mapping->physical)
            mapping_unlink(mapping);
        free(mapping);
    }
}

static void unmap_end(struct unmapping *unmapping, CUresult result)
{
    const struct csan_access part = {.base = unmapping->base,
                                     .bytes = unmapping->end - unmapping->base,
                                     .kind = CSAN_WRITE,
                                     .argument = CSAN_NO_ARGUMENT};
    if (result == CUDA_SUCCESS)
        unmap_note(unmapping);
    if (unmapping->token) {
        csan_memory_free_end(session_context(), unmapping->token, result != CUDA_SUCCESS, 0);
        if (result == CUDA_SUCCESS)
            memory_owner_forget(unmapping->owned);
    } else if (result == CUDA_SUCCESS && unmapping->count && !unmapping->shared)
        csan_op(session_context(), thread_lane(), unmapping->site, CSAN_LEVEL_LIBRARY, &part, 1);
    if (result == CUDA_SUCCESS)
        unmap_forget(unmapping);
}

/* ---- The calls ---- */

/* Makes the call, and notes it under the lock when it succeeded. */
#define MAPPING_HOOK(call, note)                                                                   \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS) {                                                                  \
        guard_lock();                                                                              \
        note;                                                                                      \
        guard_unlock();                                                                            \
    }                                                                                              \
    return result

static void reserve(uint64_t base, uint64_t bytes)
{
    struct reservation *reservation = calloc(1, sizeof *reservation);
    if (!reservation)
        return;
    *reservation = (struct reservation){.base = base, .bytes = bytes, .next = table.reservations};
    table.reservations = reservation;
}

/* The driver refuses while something is mapped there; a mapping that csan still knows of then is
 * one whose end was not seen. */
static void unreserve(uint64_t base)
{
    struct reservation **link = &table.reservations;
    struct mapping *mapping, *next;
    while (*link && (*link)->base != base)
        link = &(*link)->next;
    struct reservation *gone = *link;
    if (!gone)
        return;
    *link = gone->next;
    HASH_ITER(hh, table.mappings, mapping, next)
    {
        if (mapping->reservation == gone)
            mapping->reservation = NULL;
    }
    free(gone);
}

CUresult hook_memory_address_reserve(const struct driver_entry *entry, CUdeviceptr_v2 *ptr,
                                     size_t size, size_t alignment, CUdeviceptr_v2 addr,
                                     unsigned long long flags)
{
    MAPPING_HOOK(DRIVER_REAL(entry, cuMemAddressReserve_v10020)(ptr, size, alignment, addr, flags),
                 reserve(*ptr, size));
}

CUresult hook_memory_address_free(const struct driver_entry *entry, CUdeviceptr_v2 ptr, size_t size)
{
    MAPPING_HOOK(DRIVER_REAL(entry, cuMemAddressFree_v10020)(ptr, size), unreserve(ptr));
}

CUresult hook_memory_create(const struct driver_entry *entry, CUmemGenericAllocationHandle *handle,
                            size_t size, const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult result = DRIVER_REAL(entry, cuMemCreate_v10020)(handle, size, prop, flags);
    out_of_memory_ended(entry, result, size,
                        prop && prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE
                            ? OUT_OF_MEMORY_HOST
                            : OUT_OF_MEMORY_DEVICE);
    if (result == CUDA_SUCCESS) {
        const uint64_t key = key_of_fresh(*handle, prop);
        guard_lock();
        handle_add(*handle, NULL);
        key_set(*handle, key);
        guard_unlock();
    }
    return result;
}

CUresult hook_memory_release(const struct driver_entry *entry, CUmemGenericAllocationHandle handle)
{
    MAPPING_HOOK(DRIVER_REAL(entry, cuMemRelease_v10020)(handle), handle_release(handle));
}

static void retain(CUmemGenericAllocationHandle value, uint64_t address)
{
    const struct mapping *mapping = mapping_around(address);
    handle_add(value, mapping ? mapping->physical : NULL);
}

CUresult hook_memory_retain_handle(const struct driver_entry *entry,
                                   CUmemGenericAllocationHandle *handle, void *addr)
{
    MAPPING_HOOK(DRIVER_REAL(entry, cuMemRetainAllocationHandle_v11000)(handle, addr),
                 retain(*handle, (uintptr_t)addr));
}

static const char *const shared_note =
    "memory shared with other processes (what they do to it is not seen)";
static const char *const descriptor_note =
    "memory of descriptors that do not say which it is (what other processes do to it is not seen)";

static void exported(CUmemGenericAllocationHandle value, const void *shareable,
                     CUmemAllocationHandleType type)
{
    const struct physical *physical = physical_of(value);
    const bool has_key =
        type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && physical && physical->key;
    struct stat file;
    const uint64_t key = has_key && (is_memory_file(*(const int *)shareable, &file) ||
                                     descriptor_note_set(*(const int *)shareable, physical->key))
                             ? physical->key
                             : 0;
    counters_unmodelled(key || !process_links_wanted() ? shared_note : descriptor_note);
    descriptor_passes(CSAN_LINK_RECORD, key, 0);
}

CUresult hook_memory_export(const struct driver_entry *entry, void *shareableHandle,
                            CUmemGenericAllocationHandle handle,
                            CUmemAllocationHandleType handleType, unsigned long long flags)
{
    MAPPING_HOOK(DRIVER_REAL(entry, cuMemExportToShareableHandle_v10020)(shareableHandle, handle,
                                                                         handleType, flags),
                 exported(handle, shareableHandle, handleType));
}

static void imported(CUmemGenericAllocationHandle value, uint64_t key, uint64_t begun)
{
    counters_unmodelled(key || !process_links_wanted() ? shared_note : descriptor_note);
    handle_add(value, NULL);
    key_set(value, key);
    descriptor_passes(CSAN_LINK_WAIT, key, begun);
}

/* The same memory may be this process's own; that its two mappings are one is not seen. */
CUresult hook_memory_import(const struct driver_entry *entry, CUmemGenericAllocationHandle *handle,
                            void *osHandle, CUmemAllocationHandleType shHandleType)
{
    const uint64_t begun = process_link_now();
    const uint64_t key =
        shHandleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && process_links_wanted()
            ? key_of_descriptor((int)(uintptr_t)osHandle)
            : 0;
    MAPPING_HOOK(
        DRIVER_REAL(entry, cuMemImportFromShareableHandle_v10020)(handle, osHandle, shHandleType),
        imported(*handle, key, begun));
}

CUresult hook_memory_map(const struct driver_entry *entry, CUdeviceptr_v2 ptr, size_t size,
                         size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags)
{
    csan_site site = callsite_of_memory(entry->name);
    CUresult result = DRIVER_REAL(entry, cuMemMap_v10020)(ptr, size, offset, handle, flags);
    if (result == CUDA_SUCCESS) {
        known_contents_forget(ptr, size);
        guard_lock();
        map(ptr, size, offset, handle, site);
        guard_unlock();
    }
    return result;
}

CUresult hook_memory_unmap(const struct driver_entry *entry, CUdeviceptr_v2 ptr, size_t size)
{
    struct unmapping unmapping = {
        .base = ptr, .end = ptr + size, .site = callsite_of_memory(entry->name)};
    guard_lock();
    unmap_begin(&unmapping);
    guard_unlock();
    CUresult result = DRIVER_REAL(entry, cuMemUnmap_v10020)(ptr, size);
    known_contents_forget(ptr, size);
    guard_lock();
    unmap_end(&unmapping, result);
    guard_unlock();
    return result;
}
