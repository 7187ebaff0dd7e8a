// verdict: none
// options: host=content
// The host waits by an event's query, and then refills the buffer for the next copy.
#include "host_memory.h"

int main()
{
    const int count = 1 << 20;
    int *device = device_array<int>(count), *host;
    CHECK(cudaMallocHost((void **)&host, count * sizeof(int)));
    cudaStream_t stream = nonblocking_stream();
    cudaEvent_t done = event_create();
    for (int turn = 0; turn < 4; turn++) {
        memset(host, turn, count * sizeof(int));
        CHECK(cudaMemcpyAsync(device, host, count * sizeof(int), cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecord(done, stream));
        while (cudaEventQuery(done) == cudaErrorNotReady)
            ;
    }
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
