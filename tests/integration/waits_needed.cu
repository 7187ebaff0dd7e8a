// verdict: none
// The twin of waits_needless.cu: all waits but the last are needed, in one round at least, or for
// what csan cannot see. csan info advises the line that ends in "needless" alone.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    cudaEvent_t loaded = event_create(), filtered = event_create(), begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int round = 0; round < 3; round++) {
        launch_fill(a, p);
        CHECK(cudaEventRecord(loaded, a));
        if (round != 2) { // in the last round c has no other way to know of a's work
            CHECK(cudaStreamWaitEvent(b, loaded, 0));
            launch_increment(b, p);
            CHECK(cudaEventRecord(filtered, b));
            CHECK(cudaStreamWaitEvent(c, filtered, 0));
        }
        CHECK(cudaStreamWaitEvent(c, loaded, 0));
        launch_copy(c, q, p);
        CHECK(cudaMemcpyAsync(host, q, BYTES, cudaMemcpyDeviceToHost, c));
        CHECK(cudaStreamSynchronize(c)); // the host reads what csan does not see
        if (host[0] > 1000000)
            return 1;
        // A query may answer that the work goes on, and then the wait is what orders it.
        launch_fill(b, p);
        cudaStreamQuery(b);
        cudaGetLastError();
        CHECK(cudaStreamSynchronize(b));
        while (cudaStreamQuery(b) != cudaSuccess)
            ;
        // A free waits for the device, which nothing promises.
        launch_fill(b, p);
        int *freed = device_array<int>();
        CHECK(cudaFree(freed));
        CHECK(cudaStreamSynchronize(b));
        // The second event's time is there only once it was reached.
        float milliseconds;
        CHECK(cudaEventRecord(begin, a));
        launch_fill(a, q);
        CHECK(cudaStreamSynchronize(a));
        CHECK(cudaEventRecord(end, a));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    }
    CHECK(cudaDeviceSynchronize()); // everything was waited for: needless
    printf("done\n");
    return 0;
}
