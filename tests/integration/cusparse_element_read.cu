// verdict: race
// libraries: cusparse
// gpu: any
// expect: does not wait for cusparseSpMV
// Another stream overwrites an element of the vector that the product reads.
#define ELEMENT 2
#include "cusparse_reader.h"
