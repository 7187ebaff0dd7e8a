// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Who sets a row waits for the stream that scatters to it.
#include "tensor_rows_pair.h"

int main()
{
    return set_beside(true, 9, true);
}
