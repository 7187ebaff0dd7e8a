// verdict: race
// expect: driver_fill
// link: -lcuda
// ways: run
// A driver API program linked with -lcuda.
#include "driver_program.h"

int main()
{
    driver_api cuda = {cuInit,          cuDeviceGet,      cuDevicePrimaryCtxRetain,
                       cuCtxSetCurrent, cuModuleLoadData, cuModuleGetFunction,
                       cuStreamCreate,  cuMemAlloc,       cuLaunchKernel,
                       cuCtxSynchronize};
    return driver_program(&cuda);
}
