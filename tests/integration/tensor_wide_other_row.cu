// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// A pixel of a row that no line has: no byte of it is read.
#include "tensor_wide_pair.h"

int main()
{
    return set_beside(2, false);
}
