// verdict: race
// expect: Fix: make cu(da)?Memset(D8)? \(.*fix_takes_stream.cu:{set}\) in stream [A-Z] instead of the legacy default stream \(cudaMemsetAsync takes the stream;
// A set in the legacy default stream and a kernel in a non-blocking one, by turns.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t unused = nonblocking_stream(), s = nonblocking_stream();
    for (int i = 0; i < 3; i++) {
        CHECK(cudaMemset(p, 0, BYTES)); // at: set
        launch_increment(s, p);
    }
    CHECK(cudaStreamDestroy(unused));
    return finish();
}
