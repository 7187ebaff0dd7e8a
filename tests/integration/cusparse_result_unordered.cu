// verdict: race
// libraries: cusparse
// expect: does not wait for cusparseSpMM
// The same without the event.
#define ORDERED 0
#define VALUES  0
#include "cusparse_result.h"
