// verdict: race
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Another stream clears a line of six-bit values to which a kernel stores. Compiled for sm_100a.
#define ORDERED 0
#define FIRST   3
#include "tensor_bits_pair.h"
