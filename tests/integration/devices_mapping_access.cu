// link: -lcuda
// ways: run run-static
// verdict: none
// devices: 2
// Memory of another device, mapped for both.
#include "devices.h"
#include "mapping.h"

int main()
{
    int count = 0, can = 0;
    CHECK(cudaGetDeviceCount(&count));
    if (count > 1)
        CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        printf("done\n");
        return 0;
    }
    space s;
    CUmemAccessDesc access = {};
    s.properties.location.id = 1;
    int *p = s.map(s.reserve(), s.create());
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER_CHECK(cuMemSetAccess((CUdeviceptr)p, s.unit, &access, 1));
    launch_fill(0, p);
    return finish();
}
