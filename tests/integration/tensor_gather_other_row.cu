// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// A row between those that are gathered is set: no byte of it is read.
#include "tensor_rows_pair.h"

int main()
{
    return set_beside(false, 4, false);
}
