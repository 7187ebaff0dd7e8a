// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Who clears a line of six-bit values waits for the kernel that stores to it.
#define ORDERED 1
#define FIRST   3
#include "tensor_bits_pair.h"
