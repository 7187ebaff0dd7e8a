// verdict: none
// gpu: possible
// flags: -arch=sm_90a
// cuda: 13
// Another stream clears a slice of an interleaved tensor; a kernel stores the next one.
#define STORES
#define ORDERED 0
#define CLEARED 0
#include "tensor_interleave_pair.h"
