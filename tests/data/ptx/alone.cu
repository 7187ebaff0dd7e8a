// A kernel that is for sm_90a alone: elsewhere it does something else.
extern "C" __global__ void kernel(int *to, int number)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    *to = 1;
#else
    *to = number;
#endif
}
