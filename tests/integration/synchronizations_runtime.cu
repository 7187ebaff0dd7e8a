// verdict: none
// Every kind of synchronization of the runtime API, each the only order between what is before it
// and what is after; and what is none. tests/shell/test_mutate.sh leaves them out one by one.
#include "program.h"

static void fails(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        printf("%s succeeded\n", what);
    cudaGetLastError();
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), host[N];
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();

    // Not counted: they fail, ask only, or do more than to synchronize.
    fails(cudaEventSynchronize(nullptr), "synchronizing no event");
    fails(cudaStreamWaitEvent(a, nullptr, 0), "waiting for no event");
    fails(cudaStreamWaitEvent(a, e, 0x40), "waiting in an unknown way");
    CHECK(cudaMemcpy(q, host, BYTES, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(host, q, BYTES, cudaMemcpyDeviceToHost));
    CHECK(cudaEventQuery(e));
    CHECK(cudaStreamQuery(a));

    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0)); // at: wait
    launch_increment(b, p);
    CHECK(cudaEventRecord(e, b));
    CHECK(cudaEventSynchronize(e)); // at: event
    launch_increment(a, p);
    CHECK(cudaStreamSynchronize(a)); // at: stream
    launch_increment(b, p);
    CHECK(cudaDeviceSynchronize()); // at: device
    launch_increment(cudaStreamPerThread, p);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread)); // at: thread
    launch_increment(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(nullptr, e, 0)); // at: legacywait
    launch_increment(nullptr, p);
    CHECK(cudaStreamSynchronize(nullptr)); // at: legacy
    launch_increment(b, p);
    return finish();
}
