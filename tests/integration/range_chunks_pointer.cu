// verdict: none
// options: trace=0
// Four streams, a quarter of one array each: the pointer is moved before the launch.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    for (int part = 0; part < 4; part++) {
        cudaStream_t stream = nonblocking_stream();
        launch_fill(stream, p + part * N / 4, 0, N / 4);
        launch_increment(stream, p + part * N / 4, N / 4);
    }
    return finish();
}
