// verdict: none
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*launch_host_pointer.cu:{stack}\) writes 64 bytes of the host's memory
// expect: through argument 0|argument 0
// expect: The address is in the stack of the calling thread. Device 0 reaches no memory of the host
// expect: Fix: copy the data to memory of cudaMalloc
// own-errors: yes
// skip: gpu
// A kernel is given a variable of the host's, which its device cannot reach.
#include "program.h"

int main()
{
    int local[16];
    fill<<<1, 16>>>(local, 1, 16); // at: stack
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
