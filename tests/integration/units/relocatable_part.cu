// The second unit of relocatable_device_code.cu.
__device__ int part_offset = 7;

__device__ int part_value(int i)
{
    return i * 3 + part_offset;
}
