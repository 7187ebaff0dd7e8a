// verdict: none
// flags: -arch=sm_90
// cuda: 13
// Who writes what columns of pixels are loaded from waits for that.
#define ORDERED 1
#include "tensor_im2col_pair.h"
