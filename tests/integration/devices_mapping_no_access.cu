// link: -lcuda
// ways: run run-static
// verdict: none
// devices: 2
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*devices_mapping_no_access.cu:{launch}\) writes 4096 bytes
// expect: The memory is mapped, and of device 1. The kernel runs on device 0, to which the mapping gives no access.
// own-errors: yes
// skip: gpu
// Memory of another device, mapped for that one alone.
#include "devices.h"
#include "mapping.h"

int main()
{
    space s;
    s.properties.location.id = 1;
    int *p = s.map(s.reserve(), s.create());
    fill<<<GRID, BLOCK>>>(p, 1, N); // at: launch
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
