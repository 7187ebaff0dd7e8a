// A kernel that does something else for sm_90a and sm_100a alone.
extern "C" __global__ void kernel(int *to, int number)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
    *to = 1;
#else
    *to = number;
#endif
}
