/* cuGetProcAddress: how the CUDA runtime, PyTorch, cuBLAS and Triton fetch the driver. The driver
 * answers, and where the answer is a function csan stands in front of, the caller is given csan's.
 * CUDA Driver API, "Driver Entry Point Access". */
#include "driver_hooks.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/summary.h"

#include <string.h>

/* The name is in the table, but the driver's function is no version of it that the table has: a
 * driver newer than csan. It passes through, and the summary says so. */
static bool name_is_known(const char *name)
{
    for (unsigned i = 0; i < driver_entry_count; i++)
        if (strcmp(driver_entries[i].name, name) == 0)
            return true;
    return false;
}

static void *replacement(const char *name, void *real, int version)
{
    struct driver_entry *entry = driver_entry_of_address(name, real);
    if (entry)
        return entry->stub;
    struct driver_entry *own = driver_entry_of_stub(real);
    if (!own && name_is_known(name))
        summary_unknown_version(name, version);
    return real;
}

CUresult hook_get_proc_address(const struct driver_entry *entry, const char *symbol, void **pfn,
                               int driverVersion, cuuint64_t flags)
{
    CUresult result =
        DRIVER_REAL(entry, cuGetProcAddress_v11030)(symbol, pfn, driverVersion, flags);
    if (result == CUDA_SUCCESS && symbol && pfn && *pfn && guard_enter()) {
        *pfn = replacement(symbol, *pfn, driverVersion);
        guard_leave();
    }
    return result;
}

CUresult hook_get_proc_address_v2(const struct driver_entry *entry, const char *symbol, void **pfn,
                                  int driverVersion, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *symbolStatus)
{
    CUresult result = DRIVER_REAL(entry, cuGetProcAddress_v12000)(symbol, pfn, driverVersion, flags,
                                                                  symbolStatus);
    if (result == CUDA_SUCCESS && symbol && pfn && *pfn && guard_enter()) {
        *pfn = replacement(symbol, *pfn, driverVersion);
        guard_leave();
    }
    return result;
}
