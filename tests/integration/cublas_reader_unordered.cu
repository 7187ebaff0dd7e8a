// verdict: race
// libraries: cublas
// expect: does not wait for cublasDgemm
// expect: writing to argument\(s\) C
// output: -
// A kernel of another stream reads a product that nothing has ordered before it.
#define ORDERED 0
#include "cublas_reader.h"
