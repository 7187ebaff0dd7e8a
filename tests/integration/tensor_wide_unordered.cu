// verdict: race
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// A pixel that lines are loaded from is set by another stream.
#include "tensor_wide_pair.h"

int main()
{
    return set_beside(1, false);
}
