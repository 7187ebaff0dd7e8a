"""CuPy: a kernel of its own on two streams with an event between them, a product and a transform."""
import cupy

scale = cupy.RawKernel(
    r"""extern "C" __global__ void scale(float *out, const float *in, int n, float factor)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            out[i] = in[i] * factor;
    }""",
    "scale",
)
count = 1 << 16
source = cupy.arange(count, dtype=cupy.float32)
middle, out = cupy.empty_like(source), cupy.empty_like(source)
first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
matrix = cupy.ones((64, 64), dtype=cupy.float32)
cupy.cuda.Device().synchronize()
with first:
    scale((count // 256,), (256,), (middle, source, cupy.int32(count), cupy.float32(2)))
    product = matrix @ matrix
    done = first.record()
with second:
    second.wait_event(done)
    scale((count // 256,), (256,), (out, middle, cupy.int32(count), cupy.float32(3)))
    spectrum = cupy.fft.fft(product)
cupy.cuda.Device().synchronize()
print("equal" if bool((out == source * 6).all()) else "different", float(product[0, 0]),
      float(spectrum[0, 0].real))
