/* See wrong_pointer.h. */
#include "runtime/hook/failure/wrong_pointer.h"
#include "csan/detector/context.h"
#include "csan/base/hash.h"
#include "csan/shadow/lmad.h"
#include "csan/base/range_map.h"
#include "runtime/hook/state/context_device.h"
#include "runtime/hook/state/graph_memory.h"
#include "runtime/hook/failure/host_mapping.h"
#include "runtime/hook/state/memory_owner.h"
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Gathering ---- */

/* The pointer among the parameters that the access goes through; NULL: it is none. */
static const struct launch_pointer *pointer_of(const struct launch_accesses_touched *touched,
                                               const struct csan_access *access)
{
    for (size_t i = 0; i < touched->base_count; i++)
        if (touched->bases[i].argument == access->argument &&
            touched->bases[i].state == LAUNCH_POINTER_KNOWN &&
            touched->set->bases[i].kind == ACCESS_BASE_PARAM && !touched->set->bases[i].guessed)
            return &touched->bases[i];
    return NULL;
}

/* Memory that kernels of the context may be unable to touch. */
static bool is_foreign(uint64_t base, enum csan_memory_kind kind, CUcontext context,
                       struct wrong_pointer *wrong)
{
    if ((kind != CSAN_MEMORY_DEVICE && kind != CSAN_MEMORY_STREAM) ||
        !memory_owner_is_apart(base, context, &wrong->access_by))
        return false;
    if (kind == CSAN_MEMORY_STREAM)
        wrong->access_by = MEMORY_ACCESS_OF_POOL;
    wrong->owner = memory_owner(base);
    return true;
}

static bool is_placed(uint64_t address)
{
    uint64_t start, end;
    return csan_memory_find(session_context(), address, NULL, NULL, NULL) ||
           graph_memory_find(address, &start, &end);
}

/* False: nothing is to be asked about the access at that address. */
static bool classify(uint64_t address, uint64_t pointer, CUcontext context, bool unplaced,
                     struct wrong_pointer *wrong)
{
    enum csan_memory_kind kind;
    uint64_t start, end;
    if (csan_memory_find(session_context(), address, &start, NULL, &kind)) {
        wrong->kind = WRONG_POINTER_FOREIGN;
        return is_foreign(start, kind, context, wrong);
    }
    wrong->kind = is_placed(pointer) ? WRONG_POINTER_PLACED : WRONG_POINTER_UNPLACED;
    return unplaced && !graph_memory_find(address, &start, &end);
}

void wrong_pointers_gather(const struct launch_accesses_touched *touched,
                           const struct wrong_pointer_launch *launch, uint64_t unplaced,
                           struct wrong_pointers *wrongs)
{
    const bool any_unplaced = context_unplaced(session_context()) != unplaced;
    wrongs->launch = *launch;
    wrongs->count = 0;
    if (touched->level != CSAN_LEVEL_RANGES || !session_options()->errors)
        return; /* the others go by address */
    for (size_t i = 0; i < touched->access_count && wrongs->count < WRONG_POINTER_MOST; i++) {
        const struct csan_access *access = &touched->accesses[i];
        struct wrong_pointer *wrong = &wrongs->items[wrongs->count];
        struct lmad lmad;
        const struct launch_pointer *base =
            access->bound == CSAN_EXACT && access->bytes != CSAN_TO_END
                ? pointer_of(touched, access)
                : NULL;
        if (!base || !lmad_from_access(&lmad, access))
            continue;
        *wrong = (struct wrong_pointer){.access = *access, .pointer = base->address};
        wrong->access.base = lmad.base;
        wrong->access.bytes = lmad.span;
        wrong->access.dims = NULL;
        wrong->access.dim_count = 0;
        wrongs->count += classify(lmad.base, base->address, launch->context, any_unplaced, wrong);
    }
}

/* ---- Nodes of graphs ---- */

struct wrong_pointers *wrong_pointers_of_node(const struct launch_accesses_touched *touched,
                                              CUcontext context, csan_site site)
{
    const uint64_t whatever_is_known = UINT64_MAX;
    struct wrong_pointers found;
    found.count = 0;
    guard_lock();
    wrong_pointers_gather(touched,
                          &(struct wrong_pointer_launch){context, CSAN_HOST, site, touched->level},
                          whatever_is_known, &found);
    guard_unlock();
    struct wrong_pointers *kept = found.count ? malloc(sizeof *kept) : NULL;
    if (kept)
        *kept = found;
    return kept;
}

void wrong_pointers_node_launched(const struct wrong_pointers *node, csan_lane lane)
{
    struct wrong_pointers now = {.launch = node->launch};
    now.launch.lane = lane;
    guard_lock();
    for (size_t i = 0; i < node->count; i++) {
        struct wrong_pointer *wrong = &now.items[now.count];
        *wrong = node->items[i];
        now.count +=
            classify(wrong->access.base, wrong->pointer, node->launch.context, true, wrong);
    }
    guard_unlock();
    wrong_pointers_report(&now);
}

/* ---- Reporting ---- */

/* Places that were asked about: by a hash, of which one may be taken for another. */
enum { ASKED_SLOTS = 1024 };

static struct {
    pthread_mutex_t mutex;
    uint64_t slots[ASKED_SLOTS];
} asked = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool is_new(const struct wrong_pointer *wrong, const struct wrong_pointer_launch *launch)
{
    const uint64_t words[] = {launch->site, wrong->access.argument,
                              wrong->kind + 8 * (uint64_t)wrong->access_by, (uintptr_t)wrong->owner,
                              (uintptr_t)launch->context};
    const uint64_t key = hash_bytes(HASH_START, words, sizeof words) | 1;
    uint64_t *slot = &asked.slots[key / 2 % ASKED_SLOTS];
    lock_order_take(LOCK_WRONG_POINTERS, &asked.mutex);
    const bool news = *slot != key;
    *slot = key;
    lock_order_give(LOCK_WRONG_POINTERS, &asked.mutex);
    return news;
}

static void unreachable_report(const struct wrong_pointer *wrong,
                               const struct wrong_pointer_launch *launch, int device,
                               const char *detail)
{
    const struct csan_access *access = &wrong->access;
    context_find(session_context(),
                 &(struct context_finding){.kind = CSAN_RACE_WRONG_DEVICE,
                                           .lane = launch->lane,
                                           .site = launch->site,
                                           .level = launch->level,
                                           .access = access->kind,
                                           .address = access->base,
                                           .bytes = access->bytes,
                                           .argument = (uint16_t)(access->argument + 1),
                                           .error = {.detail = detail, .device = device}});
}

/* ---- The host's memory ---- */

static bool reaches_host(CUdevice device)
{
    static void *get_attribute;
    PFN_cuDeviceGetAttribute_v2000 ask = (PFN_cuDeviceGetAttribute_v2000)driver_function_cached(
        &get_attribute, "cuDeviceGetAttribute");
    int reaches = 1;
    return !ask ||
           ask(&reaches, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device) != CUDA_SUCCESS ||
           reaches;
}

/* Device memory is mapped in the process, too: on the embedded device, and as a driver sees fit. */
static bool is_host_memory(uint64_t address, struct host_mapping *mapping)
{
    return memory_type_of(address) == MEMORY_TYPE_PAGEABLE && host_mapping_find(address, mapping) &&
           !context_has_device_memory(session_context(),
                                      (struct range){mapping->start, mapping->end});
}

/* What neither csan nor the driver knows, at a device that cannot reach it. */
static void host_report(const struct wrong_pointer *wrong,
                        const struct wrong_pointer_launch *launch)
{
    struct host_mapping mapping;
    char detail[sizeof mapping.words + 160];
    const int device = context_device(launch->context);
    if (device < 0 || reaches_host(device) || !is_host_memory(wrong->access.base, &mapping))
        return;
    snprintf(detail, sizeof detail,
             "The address is in %s. Device %d reaches no memory of the host but what CUDA "
             "allocated or registered.",
             mapping.words, device);
    unreachable_report(wrong, launch, device, detail);
}

/* ---- Another device's memory ---- */

/* The memory, and who gives access to it. */
static const char *const access_words[] = {
    [MEMORY_ACCESS_OF_CONTEXT] =
        "The memory is of device %d. The kernel runs on device %d, which has no access to it.",
    [MEMORY_ACCESS_OF_POOL] = "The memory is of a pool of device %d. The kernel runs on device %d, "
                              "to which the pool gives no access.",
    [MEMORY_ACCESS_OF_MAPPING] =
        "The memory is mapped, and of device %d. The kernel runs on device "
        "%d, to which the mapping gives no access."};

static bool reaches(const struct wrong_pointer *wrong, CUcontext context)
{
    return wrong->access_by == MEMORY_ACCESS_OF_MAPPING
               ? context_device_maps(context, wrong->access.base)
               : context_device_reaches(context, wrong->access.base);
}

static void foreign_report(const struct wrong_pointer *wrong,
                           const struct wrong_pointer_launch *launch)
{
    char detail[160];
    if (reaches(wrong, launch->context))
        return;
    const int device = context_device(launch->context);
    int owner = memory_device(wrong->access.base);
    if (owner < 0 && wrong->owner)
        owner = context_device(wrong->owner);
    if (device < 0 || owner < 0 ||
        (device == owner && wrong->access_by != MEMORY_ACCESS_OF_MAPPING))
        return;
    snprintf(detail, sizeof detail, access_words[wrong->access_by], owner, device);
    unreachable_report(wrong, launch, device, detail);
}

void wrong_pointers_report(const struct wrong_pointers *wrongs)
{
    const struct wrong_pointer_launch *launch = &wrongs->launch;
    for (size_t i = 0; i < wrongs->count; i++) {
        const struct wrong_pointer *wrong = &wrongs->items[i];
        if (!is_new(wrong, launch))
            continue;
        if (wrong->kind == WRONG_POINTER_UNPLACED)
            host_report(wrong, launch);
        else if (wrong->kind == WRONG_POINTER_FOREIGN)
            foreign_report(wrong, launch);
        else
            context_judge(session_context(), &(struct context_call){.what = CONTEXT_WRONG_POINTER,
                                                                    .lane = launch->lane,
                                                                    .site = launch->site,
                                                                    .level = launch->level,
                                                                    .accesses = &wrong->access,
                                                                    .access_count = 1,
                                                                    .pointer = wrong->pointer});
    }
}
