// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Another stream clears the line behind those to which a kernel stores six-bit values.
#define ORDERED 0
#define FIRST   4
#include "tensor_bits_pair.h"
