// verdict: race
// skip: gpu
// cuda: 13
// The same, but the second graph waits for another semaphore.
enum { OTHER = 1 };
#include "external_semaphore_graph.h"
