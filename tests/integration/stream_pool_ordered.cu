// verdict: none
// The same pool, with an event between the two owners.
#include "stream_pool.h"

int main()
{
    hand_over(true);
    return finish();
}
