// verdict: none
// libraries: cublasLt
// A product of one stream sums a bias's gradient, which another stream clears behind an event.
#define ORDERED 1
#include "cublaslt_gradient.h"
