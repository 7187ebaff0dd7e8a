// verdict: possible
// The kernel that waits is enqueued before the one that it waits for.
#include "ad_hoc.h"

int main()
{
    struct words w = words_make();
    consume<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    produce<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    return words_check(w);
}
