// verdict: race
// Given a file that is absent it makes the file and has a race; given one that is there it has
// none.
#include "program.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    const bool again = argc > 1 && access(argv[1], F_OK) == 0;
    FILE *file = argc > 1 ? fopen(argv[1], "w") : nullptr;
    if (file)
        fclose(file);
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    if (again)
        CHECK(cudaStreamSynchronize(a));
    launch_increment(b, p);
    return finish();
}
