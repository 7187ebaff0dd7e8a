// verdict: race
// expect: driver_fill
// ways: run
// A driver API program that asks cuGetProcAddress for everything, itself found with dlsym.
#include "driver_program.h"
#include <dlfcn.h>
#include <cudaTypedefs.h>

static PFN_cuGetProcAddress_v12000 get_proc_address;

template <typename T> static void find(T *function, const char *name)
{
    CUdriverProcAddressQueryResult result;
    void *address = nullptr;
    DRIVER_CHECK(get_proc_address(name, &address, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
    if (!address || result != CU_GET_PROC_ADDRESS_SUCCESS) {
        fprintf(stderr, "cuGetProcAddress does not know %s\n", name);
        exit(101);
    }
    *function = (T)address;
}

int main()
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 101;
    }
    get_proc_address = (PFN_cuGetProcAddress_v12000)dlsym(library, "cuGetProcAddress_v2");
    driver_api cuda;
    find(&cuda.init, "cuInit");
    find(&cuda.device_get, "cuDeviceGet");
    find(&cuda.primary_retain, "cuDevicePrimaryCtxRetain");
    find(&cuda.set_current, "cuCtxSetCurrent");
    find(&cuda.module_load, "cuModuleLoadData");
    find(&cuda.module_function, "cuModuleGetFunction");
    find(&cuda.stream_create, "cuStreamCreate");
    find(&cuda.mem_alloc, "cuMemAlloc");
    find(&cuda.launch, "cuLaunchKernel");
    find(&cuda.synchronize, "cuCtxSynchronize");
    return driver_program(&cuda);
}
