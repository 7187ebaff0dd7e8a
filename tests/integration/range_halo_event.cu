// verdict: none
// options: trace=0
// Two streams, half of a line each; a step reads one neighbour on either side, and each stream
// waits for the other's last step.
#include "program.h"

__global__ void smooth(int *out, const int *in, int first, int end)
{
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end)
        out[i] = in[i - 1] + in[i] + in[i + 1];
}

int main()
{
    int *now = device_array<int>(), *next = device_array<int>();
    CHECK(cudaMemset(now, 0, BYTES));
    CHECK(cudaMemset(next, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t streams[2] = {nonblocking_stream(), nonblocking_stream()};
    cudaEvent_t events[2] = {event_create(), event_create()};
    for (int step = 0; step < 4; step++) {
        smooth<<<4, 128, 0, streams[0]>>>(next, now, 1, N / 2);
        smooth<<<4, 128, 0, streams[1]>>>(next, now, N / 2, N - 1);
        for (int i = 0; i < 2; i++)
            CHECK(cudaEventRecord(events[i], streams[i]));
        for (int i = 0; i < 2; i++)
            CHECK(cudaStreamWaitEvent(streams[i], events[1 - i], 0));
        int *other = now;
        now = next;
        next = other;
    }
    CHECK(cudaGetLastError());
    return finish();
}
