// verdict: none
// options: trace=0
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// The offset of each chunk is in the pointer that its kernel is given.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    for (int c = 0; c < 4; c++) {
        cudaStream_t stream = nonblocking_stream();
        launch_fill(stream, p + c * N / 4, c, N / 4);
        launch_increment(stream, p + c * N / 4, N / 4);
    }
    return finish();
}
