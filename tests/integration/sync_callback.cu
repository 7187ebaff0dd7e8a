// verdict: race
// expect: {second}
// A program learns after each synchronization what went wrong since the last one, and which it was.
// output: stream 0, event 0, device 1; 3 calls
// off-output: nothing; 0 calls
#include "program.h"

struct Watch {
    uint64_t mark;
    int calls;
};

static void synchronized(void *user, const struct csan_synchronization *what)
{
    static const char *const kinds[] = {"", "stream", "event", "device"};
    Watch *watch = static_cast<Watch *>(user);
    printf("%s%s %zu", watch->calls++ ? ", " : "", kinds[what->kind],
           csan_findings_since(watch->mark, nullptr, 0));
    watch->mark = csan_race_mark();
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t done = event_create();
    Watch watch = {csan_race_mark(), 0};
    const uint64_t id = csan_on_synchronize(synchronized, &watch);
    launch_fill(a, p);
    CHECK(cudaStreamSynchronize(a));
    launch_fill(b, p);
    CHECK(cudaEventRecord(done, b));
    CHECK(cudaEventSynchronize(done));
    launch_fill(a, p); // at: first
    launch_fill(b, p); // at: second
    CHECK(cudaDeviceSynchronize());
    csan_off_synchronize(id);
    CHECK(cudaDeviceSynchronize());
    printf("%s; %d calls\n", id ? "" : "nothing", watch.calls);
    return 0;
}
