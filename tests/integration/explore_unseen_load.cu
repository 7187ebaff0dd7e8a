// verdict: none
// options: host=off
// explore: 67
// output: -
// The host looks at pinned memory before the kernel that writes it is known to be done. With
// host=off csan sees no loads of the host, so it says nothing; csan explore sees that the output
// depends on the schedule.
#include "program.h"

int main()
{
    int *p = nullptr;
    CHECK(cudaMallocHost((void **)&p, BYTES));
    p[0] = 0;
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p, 1);
    printf("%d\n", p[0]); // before the kernel or after it?
    return finish();
}
