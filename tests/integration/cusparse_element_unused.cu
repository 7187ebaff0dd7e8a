// verdict: none
// libraries: cusparse
// gpu: any
// The matrix has no entry in that column: the product does not read the element.
#define ELEMENT 3
#include "cusparse_reader.h"
