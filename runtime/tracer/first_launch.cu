// The kernel that csan launches first in each context (first_launch.h).

extern "C" __global__ void csan_first_launch() {}
