// verdict: none
// An operator that launches nothing touches no memory of the device, whatever it says.
#include "operators.h"

int main()
{
    int *p = device_array<int>();
    launch_fill(nonblocking_stream(), p);
    {
        Operator running(in_place, 1, access_to(p, CSAN_WRITE, 0));
    }
    return finish();
}
