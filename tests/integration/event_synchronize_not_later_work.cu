// verdict: race
// expect: Cause: the event that the host waits for \(.*:{wait}\) was recorded \(.*:{record}\) before fill \(.*\) was enqueued
// expect: event_synchronize_not_later_work.cu:{late}
// As event_synchronize_orders, but what came after the record is used.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));   // at: record
    launch_fill(a, q);              // at: late
    CHECK(cudaEventSynchronize(e)); // at: wait
    launch_increment(b, q);
    return finish();
}
