// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 3068 to 3071 of the 4096
// expect: , 1 race, 0 possible races
// As range_chunks_pointer, the last quarter begins one element too early.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    for (int part = 0; part < 4; part++)
        launch_fill(nonblocking_stream(), p + part * N / 4 - (part == 3), 0, N / 4);
    return finish();
}
