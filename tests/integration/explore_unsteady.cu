// verdict: none
// output: -
// The program prints something else each time, whatever the schedule: that is not csan's to report.
#include "program.h"
#include <ctime>

int main()
{
    int *p = device_array<int>();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%ld\n", now.tv_nsec);
    launch_fill(nonblocking_stream(), p, 1);
    return finish();
}
