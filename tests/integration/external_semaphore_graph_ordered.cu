// verdict: none
// skip: gpu
// cuda: 13
// Two graphs: a node of the first signals a semaphore, and one of the second waits for it.
enum { OTHER = 0 };
#include "external_semaphore_graph.h"
