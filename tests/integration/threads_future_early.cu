// verdict: race
// options: host_order=threads
// flags: -std=c++17
// link: -lcsan_threads
// The first thread fulfils its promise before it has worked.
enum { EARLY = 1 };
#include "threads_future.h"
