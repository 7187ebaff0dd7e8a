// verdict: none
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*launch_heap_pointer.cu:{heap}\) writes 64 bytes of the host's memory
// expect: The address is in the heap. Device 0 reaches no memory of the host
// expect-sanitizer: memory that malloc or mmap gave. Device 0 reaches no memory of the host
// own-errors: yes
// skip: gpu
// The same of memory of malloc.
#include "program.h"

int main()
{
    int *p = (int *)malloc(4096);
    fill<<<1, 16>>>(p, 1, 16); // at: heap
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
