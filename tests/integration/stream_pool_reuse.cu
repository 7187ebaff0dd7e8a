// verdict: race
// expect: memory reused while stream
// csan::stream_ordered_pool around a pool that reuses a block for another stream, within one
// allocation.
#include "stream_pool.h"

int main()
{
    hand_over(false);
    return finish();
}
