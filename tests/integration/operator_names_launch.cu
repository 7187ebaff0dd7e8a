// verdict: race
// expect: demo::add_\(Tensor\(a!\) self, Tensor other\) -> Tensor\(a!\)
// expect: writing to argument\(s\) self, and to the output
// A launch inside an operator goes by the operator's name and arguments.
#include "operators.h"

int main()
{
    int *p = device_array<int>();
    launch_fill(nonblocking_stream(), p);
    Operator running(in_place, 1, access_to(p, CSAN_WRITE, 0));
    launch_increment(nonblocking_stream(), p);
    return finish();
}
