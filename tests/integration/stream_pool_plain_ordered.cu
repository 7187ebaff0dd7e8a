// verdict: none
// The twin of stream_pool_plain_reuse.cu: the host waits before it gives the block back.
#include "stream_pool.h"

int main()
{
    hand_over_plain(true);
    return finish();
}
