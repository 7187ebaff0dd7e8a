// verdict: none
// The host reads what a copy brought, and csan does not see it: what the synchronization
// is for only the output shows. tests/shell/test_mutate.sh leaves it out. A loop synchronizes at
// one place, needed every second time.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    host[1] = 0;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    for (int i = 0; i < 6; i++) {
        launch_fill(a, p, i);
        CHECK(cudaStreamSynchronize(a)); // at: loop
        launch_increment(i % 2 ? b : a, i % 2 ? p : q);
        if (i % 2)
            CHECK(cudaStreamSynchronize(b)); // at: second
    }
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, a));
    CHECK(cudaStreamSynchronize(a)); // at: host
    printf(host[1] == 7 ? "done\n" : "wrong\n");
    return 0;
}
