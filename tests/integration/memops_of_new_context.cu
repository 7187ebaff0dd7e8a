// verdict: race
// cuda: 13
// expect: , 1 race,
// expect: memops_of_new_context.cu:{plain}
// ways: run
// link: -lcuda
// Contexts of cuCtxCreate, one made with CU_CTX_SYNC_MEMOPS: in the other one a set does not wait.
#include "driver_check.h"
#include <cstdio>

enum { BYTES = 4096 };

static void set_and_set(unsigned flags)
{
    CUcontext context;
    CUstream stream;
    CUdeviceptr p;
    DRIVER_CHECK(cuCtxCreate(&context, nullptr, flags, 0));
    DRIVER_CHECK(cuMemAlloc(&p, BYTES));
    DRIVER_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER_CHECK(cuMemsetD8(p, 1, BYTES));
    DRIVER_CHECK(cuMemsetD8Async(p, 2, BYTES, stream));
    DRIVER_CHECK(cuCtxSynchronize());
}

int main()
{
    DRIVER_CHECK(cuInit(0));
    set_and_set(CU_CTX_SYNC_MEMOPS);
    set_and_set(0); // at: plain
    printf("done\n");
    return 0;
}
