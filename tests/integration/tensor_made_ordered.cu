// verdict: none
// gpu: any
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
// cuda: 13
// Who sets the row waits for the stream that loads the tile.
#include "tensor_made_pair.h"

int main()
{
    return set_beside(11, true);
}
