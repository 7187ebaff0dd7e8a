// verdict: none
// explore: 66
// output: 0 1 0
// A test takes the races since a mark, and clears them: they no longer count.
// off-output: 0 0 0
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    uint64_t mark = csan_race_mark();
    launch_fill(a, p);
    CHECK(cudaDeviceSynchronize());
    size_t before = csan_races_since(mark, nullptr, 0);
    launch_fill(a, p);
    launch_fill(b, p);
    CHECK(cudaDeviceSynchronize());
    size_t found = csan_races_since(mark, nullptr, 0);
    csan_races_clear();
    printf("%zu %zu %zu\n", before, found, csan_race_count());
    return 0;
}
