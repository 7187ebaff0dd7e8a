// verdict: race
// expect: memory reused while stream
// csan::stream_ordered_pool around a pool that knows nothing of streams, as Umpire's: a block that
// is given back at once is another stream's next.
#include "stream_pool.h"

int main()
{
    hand_over_plain(false);
    return finish();
}
