// verdict: none
// Waits that order nothing, in each round: lines that end in "needless" are what csan info advises
// (tests/shell/test_statistics.sh). waits_needed.cu has the same waits where something needs them.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    cudaEvent_t loaded = event_create(), filtered = event_create();
    for (int round = 0; round < 3; round++) {
        launch_fill(a, p);
        CHECK(cudaEventRecord(loaded, a));
        CHECK(cudaStreamWaitEvent(a, loaded, 0)); // its own stream: needless
        CHECK(cudaStreamWaitEvent(b, loaded, 0));
        launch_increment(b, p);
        CHECK(cudaEventRecord(filtered, b));
        CHECK(cudaStreamWaitEvent(c, filtered, 0));
        CHECK(cudaStreamWaitEvent(c, loaded, 0)); // b waited for it: needless
        launch_copy(c, q, p);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaStreamSynchronize(b));            // of the device: needless
        CHECK(cudaStreamWaitEvent(a, filtered, 0)); // the host waited: needless
        CHECK(cudaMemcpy(host, q, BYTES, cudaMemcpyDeviceToHost));
        CHECK(cudaStreamSynchronize(0)); // the copy waited: needless
        csan_host_reads(host, BYTES);
    }
    printf("done\n");
    return 0;
}
