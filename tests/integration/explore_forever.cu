// verdict: none
// With an argument the program never ends, for csan explore's time limit.
#include "program.h"
#include <unistd.h>

int main(int count, char **)
{
    launch_fill(0, device_array<int>());
    while (count > 1)
        pause();
    return finish();
}
