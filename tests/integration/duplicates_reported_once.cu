// verdict: race
// expect: , 1 (possible )?race
// The same two places in the program race again and again: one report.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaStream_t streams[2] = {a, b};
    for (int i = 0; i < 20; i++)
        launch_increment(streams[i % 2], p);
    return finish();
}
