// verdict: race
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Another stream sets bytes that are copied.
#include "bulk_mask.h"

int main()
{
    return copy_and_set(4, false);
}
