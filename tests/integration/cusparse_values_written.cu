// verdict: race
// libraries: cusparse
// expect: does not wait for cusparseSpMM
// Another stream overwrites the values of a sparse matrix while a product reads them.
#define ORDERED 0
#define VALUES  1
#include "cusparse_result.h"
