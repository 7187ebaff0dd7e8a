// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Who sets a pixel waits for the stream that loads lines.
#include "tensor_wide_pair.h"

int main()
{
    return set_beside(1, true);
}
