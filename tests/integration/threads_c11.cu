// verdict: none
// options: host_order=threads
// flags: -std=c++17
// link: -lcsan_threads
// With C11's threads as well: the first thread works and gives, the second gets and works.
#define C11_THREADS
#include "every_handover.h"

static void first_works()
{
    work_and_wait();
    now->give();
}

int main()
{
    if (all_handovers() || joins())
        return 103;
    return finish();
}
