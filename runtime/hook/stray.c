/* See stray.h. */
#include "runtime/hook/stray.h"
#include "csan/context.h"
#include "csan/lmad.h"
#include "csan/range_map.h"
#include "runtime/hook/graph_memory.h"
#include "runtime/hook/host_mapping.h"
#include "runtime/hook/place.h"
#include "runtime/hook/process.h"

#include <pthread.h>
#include <stdio.h>

/* ---- Gathering ---- */

/* The pointer among the parameters that the access goes through; NULL: it is none. */
static const struct base *pointer_of(const struct direct_touched *touched,
                                     const struct csan_access *access)
{
    for (size_t i = 0; i < touched->base_count; i++)
        if (touched->bases[i].argument == access->argument &&
            touched->bases[i].state == BASE_KNOWN &&
            touched->set->bases[i].kind == ACCESS_BASE_PARAM && !touched->set->bases[i].guessed)
            return &touched->bases[i];
    return NULL;
}

static bool is_known(uint64_t address)
{
    uint64_t start, end;
    return csan_memory_find(process_context(), address, NULL, NULL, NULL) ||
           graph_memory_find(address, &start, &end);
}

void strays_gather(const struct direct_touched *touched, struct strays *strays)
{
    struct lmad lmad;
    strays->count = 0;
    if (touched->level != CSAN_LEVEL_RANGES) /* the others go by address */
        return;
    for (size_t i = 0; i < touched->access_count && strays->count < STRAY_MOST; i++) {
        const struct csan_access *access = &touched->accesses[i];
        if (access->bound != CSAN_EXACT || access->bytes == CSAN_TO_END ||
            !lmad_from_access(&lmad, access) || is_known(lmad.base))
            continue;
        const struct base *base = pointer_of(touched, access);
        if (!base)
            continue;
        struct stray *stray = &strays->items[strays->count++];
        *stray = (struct stray){
            .access = *access, .pointer = base->address, .placed = is_known(base->address)};
        stray->access.base = lmad.base;
        stray->access.bytes = lmad.span;
        stray->access.dims = NULL;
        stray->access.dim_count = 0;
    }
}

/* ---- Reporting ---- */

/* Places that were asked about: by a hash, of which one may be taken for another. */
enum { ASKED_SLOTS = 1024 };

static struct {
    pthread_mutex_t mutex;
    uint64_t slots[ASKED_SLOTS];
} asked = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool is_new(const struct stray *stray, csan_site site)
{
    const uint64_t key =
        ((uint64_t)site << 18 | (uint64_t)stray->access.argument << 2 | stray->placed << 1 | 1);
    uint64_t *slot = &asked.slots[key * UINT64_C(0x9e3779b97f4a7c15) >> 54];
    pthread_mutex_lock(&asked.mutex);
    const bool news = *slot != key;
    *slot = key;
    pthread_mutex_unlock(&asked.mutex);
    return news;
}

static bool device_reaches_host(CUdevice *device)
{
    static void *get_device, *get_attribute;
    PFN_cuCtxGetDevice_v2000 current =
        (PFN_cuCtxGetDevice_v2000)driver_function_cached(&get_device, "cuCtxGetDevice");
    PFN_cuDeviceGetAttribute_v2000 ask = (PFN_cuDeviceGetAttribute_v2000)driver_function_cached(
        &get_attribute, "cuDeviceGetAttribute");
    int reaches = 1;
    return !current || !ask || current(device) != CUDA_SUCCESS ||
           ask(&reaches, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, *device) != CUDA_SUCCESS ||
           reaches;
}

/* Device memory is mapped in the process, too: on the embedded device, and as a driver sees fit. */
static bool is_host_memory(uint64_t address, struct host_mapping *mapping)
{
    return place_of(address) == PLACE_PAGEABLE && host_mapping_find(address, mapping) &&
           !context_has_device_memory(process_context(),
                                      (struct range){mapping->start, mapping->end});
}

/* The host's memory that neither csan nor the driver knows, at a device that cannot reach it. */
static void host_report(const struct stray *stray, csan_lane lane, csan_site site,
                        enum csan_level level)
{
    struct host_mapping mapping;
    char detail[sizeof mapping.words + 160];
    const struct csan_access *access = &stray->access;
    CUdevice device = 0;
    if (device_reaches_host(&device) || !is_host_memory(access->base, &mapping))
        return;
    snprintf(detail, sizeof detail,
             "The address is in %s. Device %d reaches no memory of the host but what CUDA "
             "allocated or registered.",
             mapping.words, device);
    context_find(process_context(),
                 &(struct context_finding){.kind = CSAN_RACE_WRONG_DEVICE,
                                           .lane = lane,
                                           .site = site,
                                           .level = level,
                                           .access = access->kind,
                                           .address = access->base,
                                           .bytes = access->bytes,
                                           .argument = (uint16_t)(access->argument + 1),
                                           .error = {.detail = detail, .device = device}});
}

void strays_report(const struct strays *strays, csan_lane lane, csan_site site,
                   enum csan_level level)
{
    for (size_t i = 0; i < strays->count; i++) {
        const struct stray *stray = &strays->items[i];
        if (!is_new(stray, site))
            continue;
        if (!stray->placed)
            host_report(stray, lane, site, level);
        else
            context_judge(process_context(), &(struct context_call){.what = CONTEXT_STRAY,
                                                                    .lane = lane,
                                                                    .site = site,
                                                                    .level = level,
                                                                    .accesses = &stray->access,
                                                                    .access_count = 1,
                                                                    .pointer = stray->pointer});
    }
}
