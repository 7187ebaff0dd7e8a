// verdict: none
// The same with memory of a pool, which the other process gets by a descriptor.
#define MODE "pool"
#include "interprocess.cu"
