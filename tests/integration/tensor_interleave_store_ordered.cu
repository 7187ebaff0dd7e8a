// verdict: none
// flags: -arch=sm_90a
// cuda: 13
// Who clears a slice of an interleaved tensor waits for the kernel that stores it.
#define STORES
#define ORDERED 1
#define CLEARED 1
#include "tensor_interleave_pair.h"
