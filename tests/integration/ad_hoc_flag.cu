// verdict: possible
// A kernel waits for a flag that the other one raises: csan sees both patterns, not who waited.
#include "ad_hoc.h"

int main()
{
    struct words w = words_make();
    produce<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    consume<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    return words_check(w);
}
