// A library that keeps memory; the test gives it a well-known name.
#include <cuda_runtime.h>
extern "C" void create()
{
    static void *workspace;
    cudaMalloc(&workspace, 1 << 16);
}
