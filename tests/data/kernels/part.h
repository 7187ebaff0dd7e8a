#pragma once

__device__ void store(float *to, int at);
