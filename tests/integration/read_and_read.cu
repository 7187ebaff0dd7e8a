// verdict: none
// Any number of streams may read the same array.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        int *out = device_array<int>();
        launch_copy(nonblocking_stream(), out, p);
    }
    return finish();
}
