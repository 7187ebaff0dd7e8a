// verdict: race
// expect: driver_fill
// ways: run
// A driver API program that finds the driver with dlopen and dlsym.
#include "driver_program.h"
#include <dlfcn.h>

template <typename T> static void find(T *function, void *library, const char *name)
{
    *function = (T)dlsym(library, name);
    if (!*function) {
        fprintf(stderr, "libcuda.so.1 has no %s\n", name);
        exit(101);
    }
}

int main()
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 101;
    }
    driver_api cuda;
    find(&cuda.init, library, "cuInit");
    find(&cuda.device_get, library, "cuDeviceGet");
    find(&cuda.primary_retain, library, "cuDevicePrimaryCtxRetain");
    find(&cuda.set_current, library, "cuCtxSetCurrent");
    find(&cuda.module_load, library, "cuModuleLoadData");
    find(&cuda.module_function, library, "cuModuleGetFunction");
    find(&cuda.stream_create, library, "cuStreamCreate");
    find(&cuda.mem_alloc, library, "cuMemAlloc_v2");
    find(&cuda.launch, library, "cuLaunchKernel");
    find(&cuda.synchronize, library, "cuCtxSynchronize");
    return driver_program(&cuda);
}
