// verdict: race
// expect: since cuModuleLoadData made the host wait there, but nothing promises it
// expect: since cuModuleUnload made the host wait there, but nothing promises it
// Loading and unloading a module waits for the device on every GPU seen so far, and nothing
// promises it.
#include "driver_ptx.h"
#include "program.h"

#include <cudaTypedefs.h>

static void *driver_function(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    return function;
}

int main()
{
    CUmodule module;
    auto load = (PFN_cuModuleLoadData_v2000)driver_function("cuModuleLoadData");
    auto unload = (PFN_cuModuleUnload_v2000)driver_function("cuModuleUnload");
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK((cudaError_t)load(&module, driver_ptx));
    launch_increment(b, p);
    CHECK(cudaDeviceSynchronize());
    launch_fill(a, q);
    CHECK((cudaError_t)unload(module));
    launch_increment(b, q);
    return finish();
}
