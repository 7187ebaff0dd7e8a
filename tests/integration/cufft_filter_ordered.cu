// verdict: none
// libraries: cufft
// The same with an event between.
#define ORDERED 1
#include "cufft_filter.h"
