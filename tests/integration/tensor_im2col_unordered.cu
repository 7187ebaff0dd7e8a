// verdict: race
// gpu: possible
// flags: -arch=sm_90
// cuda: 13
// Another stream writes the last pixel of what columns of pixels are loaded from.
#define ORDERED 0
#include "tensor_im2col_pair.h"
