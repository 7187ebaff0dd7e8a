// verdict: race
// cuda: 13
// skip: gpu
// expect: cuMemcpyWithAttributesAsync
// expect: cuMemcpy3DWithAttributesAsync
// expect: cuFabricCpyBatchAsync
// expect: , 8 races
// options: dedup=0
// link: -lcuda
// Copies by functions of CUDA 13.2 and 13.5, each against a kernel of another stream that writes
// the target. They are found by cuGetProcAddress, in both forms. (A GPU's driver may be older.)
#include "driver_newer.h"

int main()
{
    int *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    for (int per_thread = 0; per_thread < 2; per_thread++) {
        for (auto copy : {copy_box_newer, copy_fabric_newer}) {
            int *p = device_array<int>();
            launch_fill(a, p);
            copy(p, q, b, per_thread);
        }
        int *p = device_array<int>();
        launch_fill(a, p);
        copy_linear_newer(p, q, b, per_thread);
    }
    return finish();
}
