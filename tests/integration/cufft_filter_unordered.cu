// verdict: race
// libraries: cufft
// expect: scale .* does not wait for cufftExecR2C
// output: -
// A kernel scales a spectrum on another stream than the transform's.
#define ORDERED 0
#include "cufft_filter.h"
