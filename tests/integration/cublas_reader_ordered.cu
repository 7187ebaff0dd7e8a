// verdict: none
// libraries: cublas
// The same with an event between: the kernel reads the product.
#define ORDERED 1
#include "cublas_reader.h"
