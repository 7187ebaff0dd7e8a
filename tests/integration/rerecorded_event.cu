// verdict: race
// expect: Cause: the event that .* waits for \(.*rerecorded_event.cu:{wait}\) was recorded on .*rerecorded_event.cu:{record}\) and then recorded again
// expect: Fix: record an event of its own on .*, .* after fill \(.*rerecorded_event.cu:{part}\) and make
// One event is recorded in three streams in turn; who waits for it then waits for the last alone.
#include "program.h"

int main()
{
    int *p = device_array<int>(3 * N);
    cudaStream_t streams[3], last = nonblocking_stream();
    cudaEvent_t event = event_create();
    for (cudaStream_t &stream : streams)
        stream = nonblocking_stream();
    for (int i = 0; i < 3; i++)
        fill<<<GRID, BLOCK, 0, streams[i]>>>(p + i * N, i, N); // at: part
    for (int i = 0; i < 3; i++)
        CHECK(cudaEventRecord(event, streams[i])); // at: record
    CHECK(cudaStreamWaitEvent(last, event, 0));    // at: wait
    launch_increment(last, p, 3 * N);
    return finish();
}
