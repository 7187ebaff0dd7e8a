// verdict: none
// libraries: cusparse
// The same behind an event.
#define ORDERED 1
#define VALUES  1
#include "cusparse_result.h"
