// verdict: race
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// One of the rows that are gathered is set by another stream.
#include "tensor_rows_pair.h"

int main()
{
    return set_beside(false, 5, false);
}
