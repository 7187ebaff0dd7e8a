// verdict: race
// expect: , 52 races
// options: host_order=threads:dedup=0
// flags: -std=c++17
// link: -lcsan_threads
// With C11's threads as well: the first thread gives, then works: what the second gets was before
// that. For each of 26 ways an increment races with what another reads, and with what it writes.
#define C11_THREADS
#include "every_handover.h"

static void first_works()
{
    now->give();
    work_and_wait();
}

int main()
{
    if (all_handovers() || joins())
        return 103;
    return finish();
}
