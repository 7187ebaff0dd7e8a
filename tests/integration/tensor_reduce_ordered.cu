// verdict: none
// flags: -arch=sm_90
// cuda: 13
// Who clears the matrix to which a kernel adds tiles waits for that.
#define ORDERED 1
#include "tensor_reduce_pair.h"
