// verdict: race
// expect: annotation_ignore_ended.cu:{first}
// expect: annotation_ignore_ended.cu:{second}
// reject: annotation_ignore_ended.cu:{ignored}
// Begins and ends nest; after the last end all is checked again. Another thread is not concerned,
// and an order that was made meanwhile counts.
#include "program.h"

#include <thread>

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t done = event_create();
    launch_fill(a, q);
    csan_ignore_begin();
    std::thread([&] { launch_fill(a, p); }).join(); // at: first
    csan_ignore_begin();
    csan_ignore_end();
    launch_fill(b, p); // at: ignored
    CHECK(cudaEventRecord(done, a));
    csan_ignore_end();
    csan_ignore_end();
    launch_increment(b, p); // at: second
    CHECK(cudaStreamWaitEvent(b, done, 0));
    launch_fill(b, q);
    return finish();
}
