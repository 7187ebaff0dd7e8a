// verdict: race
// expect: suppressed_pair.cu:{first}
// expect: suppressed_pair.cu:{second}
// A race that a person knows, and with arguments others of the same kernel: suppressing the first
// must leave them. With one argument another kernel reads what fill writes; with two, fill races
// with itself as before, but elsewhere.
#include "program.h"

int main(int argc, char **)
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p, 1); // at: first
    launch_fill(b, p, 2); // at: second
    CHECK(cudaDeviceSynchronize());
    if (argc > 1) {
        launch_fill(a, p, 3);
        increment<<<GRID, BLOCK, 0, b>>>(p, N);
        CHECK(cudaDeviceSynchronize());
    }
    if (argc > 2) {
        launch_fill(a, p, 4);
        launch_fill(b, p, 5);
    }
    return finish();
}
