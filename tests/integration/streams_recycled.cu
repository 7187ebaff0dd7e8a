// verdict: race
// expect: streams_recycled.cu:{second}
// expect: , 1 (possible )?race
// reject: streams_recycled.cu:{loop}
// Many short-lived streams, all waited for: their places are used again and again, and a race
// after them is still distinguished from no race.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    for (int i = 0; i < 300; i++) {
        cudaStream_t stream = nonblocking_stream();
        launch_increment(stream, p); // at: loop
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
    }
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_increment(a, p);
    launch_fill(a, q);
    launch_fill(b, q); // at: second
    return finish();
}
