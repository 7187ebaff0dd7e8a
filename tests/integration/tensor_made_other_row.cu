// verdict: none
// gpu: any
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
// cuda: 13
// The row behind the tile: no byte of it is read.
#include "tensor_made_pair.h"

int main()
{
    return set_beside(12, false);
}
