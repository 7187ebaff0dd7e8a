// verdict: none
// options: host=guard
// Threads sleep in locks of every kind that lie in a page, when a copy first writes other bytes of
// it. A signal interrupts their sleep. The kernel then looks at the locks again by itself, and must
// not find the page closed: the C library ends the process if it does.
#include "host_beside_sleepers.h"
