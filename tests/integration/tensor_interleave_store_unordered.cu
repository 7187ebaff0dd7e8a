// verdict: race
// flags: -arch=sm_90a
// cuda: 13
// Another stream clears a slice of an interleaved tensor while a kernel stores it.
#define STORES
#define ORDERED 0
#define CLEARED 1
#include "tensor_interleave_pair.h"
