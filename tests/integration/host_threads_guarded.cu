// verdict: race
// expect: the host's load .*host_threads_guarded.cu:{access}
// expect: , 1 race,
// options: host=guard:host_order=threads:host_guard_us=1000000
// link: -lcsan_threads
// One thread waits for the copy and reads its result. Another, which is not ordered after that
// wait, reads it as well: the page is still closed for it.
#include "host_threads.h"

static int *pinned, *device;
static volatile int sink;

static void *first(void *)
{
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(pinned, device, 65536, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 100; i++)
        sink = pinned[i];
    flag_raise();
    return nullptr;
}

static void *second(void *)
{
    flag_wait();
    sink = pinned[1]; // at: access
    return nullptr;
}

int main()
{
    CHECK(cudaMallocHost((void **)&pinned, 65536));
    CHECK(cudaMalloc((void **)&device, 65536));
    CHECK(cudaMemset(device, 0, 65536));
    CHECK(cudaDeviceSynchronize());
    run_both(first, second);
    return finish();
}
