// verdict: none
// flags: -arch=sm_90
// cuda: 13
// What lies behind the piece that is copied is set.
#include "cluster_bulk_pair.h"

int main()
{
    return set_beside(PIECE, false);
}
