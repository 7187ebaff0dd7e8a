// verdict: race
// gpu: possible
// flags: -arch=sm_90
// cuda: 13
// Another stream clears the matrix to which a kernel adds tiles.
#define ORDERED 0
#include "tensor_reduce_pair.h"
