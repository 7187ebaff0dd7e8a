// verdict: race
// gpu: any
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
// cuda: 13
// A row of the tile that is loaded by the kernel's own map is set by another stream.
#include "tensor_made_pair.h"

int main()
{
    return set_beside(11, false);
}
