// verdict: none
// flags: -arch=sm_90
// cuda: 13
// Who sets what is copied to several blocks waits for the copy.
#include "cluster_bulk_pair.h"

int main()
{
    return set_beside(PIECE - 1, true);
}
