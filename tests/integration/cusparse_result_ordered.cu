// verdict: none
// libraries: cusparse
// A copy of another stream takes a product of cuSPARSE behind an event.
#define ORDERED 1
#define VALUES  0
#include "cusparse_result.h"
