// verdict: none
// Two streams that have nothing to do with each other. With an argument the program ends without
// exit (tests/shell/test_explore.sh). By SIGKILL, what csan and the device had not written yet is
// lost, at another place under each schedule, which is no difference of the program's.
#include "program.h"
#include <csignal>
#include <unistd.h>

int main(int argc, char **argv)
{
    enum { ROUNDS = 100 };
    cudaStream_t streams[] = {nonblocking_stream(), nonblocking_stream()};
    int *arrays[] = {device_array<int>(), device_array<int>()}, *host;
    CHECK(cudaMallocHost((void **)&host, 2 * BYTES));
    for (int i = 0; i < 2 * ROUNDS; i++) {
        launch_fill(streams[i % 2], arrays[i % 2], i);
        CHECK(cudaMemcpyAsync(host + i % 2 * N, arrays[i % 2], BYTES, cudaMemcpyDeviceToHost,
                              streams[i % 2]));
    }
    CHECK(cudaDeviceSynchronize());
    if (argc > 1 && !strcmp(argv[1], "abort"))
        abort();
    if (argc > 1 && !strcmp(argv[1], "kill"))
        raise(SIGKILL);
    if (argc > 1)
        _exit(0);
    return finish();
}
