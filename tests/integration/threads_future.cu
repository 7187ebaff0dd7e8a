// verdict: none
// options: host_order=threads
// flags: -std=c++17
// link: -lcsan_threads
// The second thread sleeps at a future until the first fulfils its promise: both call futex(2).
enum { EARLY = 0 };
#include "threads_future.h"
