// verdict: none
// A program that goes wrong in three ways, one for each synchronization that it lacks: it does not
// end, it ends with a code of its own, it ends by a signal. tests/shell/test_mutate.sh leaves them
// out. The memory is the host's to read, and csan does not see it.
#include "program.h"
#include <unistd.h>

static volatile int *host;

static void bring(cudaStream_t stream, int *p, int value)
{
    launch_fill(stream, p, value);
    CHECK(cudaMemcpyAsync((void *)host, p, sizeof(int), cudaMemcpyDeviceToHost, stream));
}

int main()
{
    int *p = device_array<int>(), *pinned;
    CHECK(cudaMallocHost((void **)&pinned, sizeof(int)));
    host = pinned;
    *host = 0;
    cudaStream_t a = nonblocking_stream();
    bring(a, p, 1);
    CHECK(cudaStreamSynchronize(a));
    if (*host != 1)
        for (;;)
            usleep(1000);
    bring(a, p, 2);
    CHECK(cudaStreamSynchronize(a));
    if (*host != 2)
        exit(3);
    bring(a, p, 3);
    CHECK(cudaStreamSynchronize(a));
    if (*host != 3)
        abort();
    return finish();
}
