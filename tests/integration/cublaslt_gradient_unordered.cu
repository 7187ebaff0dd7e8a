// verdict: race
// libraries: cublasLt
// expect: cublasLtMatmul
// expect: Overlap: 512 bytes
// A product of one stream sums a bias's gradient, which another stream clears at once.
#define ORDERED 0
#include "cublaslt_gradient.h"
