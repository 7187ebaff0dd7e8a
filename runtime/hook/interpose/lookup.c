/* cuGetProcAddress: the CUDA runtime, PyTorch, cuBLAS and Triton get the driver's functions by it.
 * The driver answers. If the answer is a function that csan stands in front of, the caller gets
 * csan's function. CUDA Driver API, "Driver Entry Point Access". */
#include "driver_hooks.h"
#include "runtime/hook/session/counters.h"

#include <string.h>

static bool name_is_hooked(const char *name)
{
    for (unsigned i = 0; i < driver_table.count; i++)
        if (strcmp(driver_table.entries[i].name, name) == 0)
            return true;
    return false;
}

static bool name_is_query(const char *name)
{
    for (const char *const *query = driver_table.queries; *query; query++)
        if (strcmp(*query, name) == 0)
            return true;
    return false;
}

/* A name or a version that the table lacks comes from a driver newer than csan: it passes through,
 * and the summary says so. */
static void *replacement(const char *name, void *real, int version)
{
    struct driver_entry *entry = driver_entry_of_address(name, real);
    if (entry)
        return entry->stub;
    if (driver_entry_of_stub(real) || name_is_query(name))
        return real;
    /* As cuda.h renames functions, so may the driver: cuGraphInstantiate of CUDA 12 is
     * cuGraphInstantiateWithFlags. */
    entry = name_is_hooked(name) ? driver_entry_of_function(real) : NULL;
    if (entry)
        return entry->stub;
    counters_unknown_version(name, version);
    return real;
}

static void replace(CUresult result, const char *symbol, void **pfn, int version)
{
    if (result == CUDA_SUCCESS && symbol && pfn && *pfn)
        *pfn = replacement(symbol, *pfn, version);
}

CUresult hook_get_proc_address(const struct driver_entry *entry, const char *symbol, void **pfn,
                               int driverVersion, cuuint64_t flags)
{
    CUresult result =
        DRIVER_REAL(entry, cuGetProcAddress_v11030)(symbol, pfn, driverVersion, flags);
    replace(result, symbol, pfn, driverVersion);
    return result;
}

CUresult hook_get_proc_address_v2(const struct driver_entry *entry, const char *symbol, void **pfn,
                                  int driverVersion, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *symbolStatus)
{
    CUresult result = DRIVER_REAL(entry, cuGetProcAddress_v12000)(symbol, pfn, driverVersion, flags,
                                                                  symbolStatus);
    replace(result, symbol, pfn, driverVersion);
    return result;
}
