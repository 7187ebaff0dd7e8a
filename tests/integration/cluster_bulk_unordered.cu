// verdict: race
// flags: -arch=sm_90
// cuda: 13
// What is copied to several blocks is set by another stream.
#include "cluster_bulk_pair.h"

int main()
{
    return set_beside(PIECE - 1, false);
}
