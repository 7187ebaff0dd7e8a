// verdict: race
// gpu: possible
// expect: sample_level
// A kernel samples a level of a mipmapped array while another stream copies into that level.
#include "mipmap.h"

int main()
{
    return run(1, false);
}
