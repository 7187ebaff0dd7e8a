// verdict: race
// expect: , 42 races
// options: host_order=threads:dedup=0
// flags: -std=c++17
// link: -lcsan_threads
// The first thread gives, then works: what the second gets was before that. For each of 21 ways an
// increment races with what another reads, and with what it writes.
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
