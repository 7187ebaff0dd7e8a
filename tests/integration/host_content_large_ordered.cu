// verdict: none
// options: host=content
// The host waits by an event's query, and then refills the buffer for the next copy.
#include "host_memory.h"

int main()
{
    const int count = 1 << 20;
    const size_t bytes = count * sizeof(int);
    int *device = device_array<int>(count), *host;
    CHECK(cudaMallocHost((void **)&host, bytes));
    cudaStream_t stream = nonblocking_stream();
    cudaEvent_t done = event_create();
    for (int turn = 0; turn < 4; turn++) {
        memset(host, turn, bytes);
        CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecord(done, stream));
        while (cudaEventQuery(done) == cudaErrorNotReady)
            ;
    }
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
