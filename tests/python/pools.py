"""Memory pools of CuPy, RMM, Numba and JAX whose blocks a second stream still uses when the pool gives them out again.
With "right" the host waits before the block goes back.

    python3 pools.py CASE [right]
    python3 pools.py --list          the cases whose packages are here

csan must report each case, and none with "right". A case whose name ends in "_apart" is right in any case: two streams
use neighbouring blocks of one allocation, through addresses that csan does not know. Prints "done"."""

import ctypes
import importlib.util
import sys
import threading

RIGHT = "right" in sys.argv[2:]
COUNT = 1 << 16
BYTES = 4 * COUNT

SCATTER = """
extern "C" __global__ void scatter(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = i;
}
"""


# ---- CuPy


def used_on_a_side_stream(side, wait):
    import cupy

    array = cupy.ndarray((COUNT,), dtype=cupy.int32)
    address = array.data.ptr
    array.data.memset_async(1, BYTES, side)
    wait()
    del array
    again = cupy.ndarray((COUNT,), dtype=cupy.int32)
    assert again.data.ptr == address, "the pool gave out another block"
    again.data.memset_async(2, BYTES, cupy.cuda.Stream.null)
    return again


def use_blocks(pool=None):
    import cupy

    if pool:
        cupy.cuda.set_allocator(pool.malloc)
    side = cupy.cuda.Stream(non_blocking=True)
    used = used_on_a_side_stream(side, side.synchronize if RIGHT else lambda: None)
    cupy.cuda.Device().synchronize()
    return used


def cupy_default_pool():
    use_blocks()


def cupy_own_pool():
    import cupy

    use_blocks(cupy.cuda.MemoryPool())


def cupy_managed_pool():
    import cupy

    use_blocks(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed))


def cupy_thread():
    thread = threading.Thread(target=use_blocks)
    thread.start()
    thread.join()


def cupy_split_block():
    """The block that is used late is a part of the one that comes next."""
    import cupy

    side = cupy.cuda.Stream(non_blocking=True)
    whole = cupy.ndarray((4 * COUNT,), dtype=cupy.int32)
    first = whole.data.ptr
    del whole
    parts = [cupy.ndarray((COUNT,), dtype=cupy.int32) for _ in range(2)]
    assert parts[1].data.ptr - first == BYTES, "the pool does not split its block"
    parts[1].data.memset_async(1, BYTES, side)
    if RIGHT:
        side.synchronize()
    del parts
    again = cupy.ndarray((4 * COUNT,), dtype=cupy.int32)
    again.data.memset_async(2, 4 * BYTES, cupy.cuda.Stream.null)
    cupy.cuda.Device().synchronize()


def cupy_blocks_apart():
    import cupy

    whole = cupy.ndarray((4 * COUNT,), dtype=cupy.int32)
    del whole
    scatter = cupy.RawKernel(SCATTER, "scatter")
    to = cupy.arange(COUNT, dtype=cupy.int32)
    left, right = (cupy.ndarray((COUNT,), dtype=cupy.int32) for _ in range(2))
    cupy.cuda.Device().synchronize()
    for out in left, right:
        with cupy.cuda.Stream(non_blocking=True) as stream:
            scatter((COUNT // 256,), (256,), (out, to, numpy_int(COUNT)))
            kept.append(stream)
    cupy.cuda.Device().synchronize()


# ---- RMM


def driver():
    """The CUDA driver, with device 0's context current in this thread."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    called(cuda.cuInit(0))
    called(cuda.cuDeviceGet(ctypes.byref(device), 0))
    called(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    called(cuda.cuCtxSetCurrent(context))
    return cuda


def called(error):
    if error:
        raise RuntimeError(f"the driver's call failed with error {error}")


def memset(cuda, address, value, stream):
    called(cuda.cuMemsetD8Async(ctypes.c_uint64(address), value, ctypes.c_size_t(BYTES), stream))


def side_stream(cuda):
    stream = ctypes.c_void_p()
    called(cuda.cuStreamCreate(ctypes.byref(stream), 1))  # non-blocking
    return stream


class OneBlock:
    """The smallest pool: it keeps one block, and gives it out again."""

    def __init__(self, cuda):
        self._memory = ctypes.c_uint64()
        called(cuda.cuMemAlloc_v2(ctypes.byref(self._memory), ctypes.c_size_t(2 * BYTES)))

    def allocate(self, _size, _stream=None):
        return self._memory.value

    def deallocate(self, _address, _size=None, _stream=None):
        pass


def allocate_and_use(resource):
    """By the resource's own functions."""
    cuda = driver()
    side = side_stream(cuda)
    address = resource.allocate(BYTES)
    memset(cuda, address, 1, side)
    if RIGHT:
        called(cuda.cuStreamSynchronize(side))
    resource.deallocate(address, BYTES)
    again = resource.allocate(BYTES)
    assert again == address, "the pool gave out another block"
    memset(cuda, again, 2, None)
    called(cuda.cuCtxSynchronize())
    resource.deallocate(again, BYTES)


def rmm_callback():
    """A pool of the program's, in Python."""
    import rmm

    pool = OneBlock(driver())
    rmm.mr.set_per_device_resource(0, rmm.mr.CallbackMemoryResource(pool.allocate, pool.deallocate))
    allocate_and_use(rmm.mr.get_per_device_resource(0))


def use_buffers():
    """By RMM's buffers, which C++ allocates."""
    import rmm

    cuda = driver()
    side = side_stream(cuda)
    buffer = rmm.DeviceBuffer(size=BYTES)
    address = buffer.ptr
    memset(cuda, address, 1, side)
    if RIGHT:
        called(cuda.cuStreamSynchronize(side))
    del buffer
    again = rmm.DeviceBuffer(size=BYTES)
    assert again.ptr == address, "the pool gave out another block"
    memset(cuda, again.ptr, 2, None)
    called(cuda.cuCtxSynchronize())


def rmm_pool():
    import rmm

    rmm.mr.set_current_device_resource(
        rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 26)
    )
    assert isinstance(rmm.mr.get_current_device_resource(), rmm.mr.PoolMemoryResource)
    assert rmm.mr.get_current_device_resource().pool_size() >= 1 << 26
    use_buffers()


def rmm_arena():
    import rmm

    rmm.mr.set_current_device_resource(
        rmm.mr.ArenaMemoryResource(rmm.mr.CudaMemoryResource(), arena_size=1 << 26)
    )
    use_buffers()


def rmm_statistics():
    """A pool below an adaptor."""
    import rmm

    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 26)
    rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(pool))
    use_buffers()


def rmm_reinitialized():
    import rmm

    rmm.reinitialize(pool_allocator=True, initial_pool_size=1 << 26)
    use_buffers()


# ---- Numba


def numba_manager():
    """A plug-in of the program's."""
    import numba.cuda

    class Manager(numba.cuda.HostOnlyCUDAMemoryManager):
        pool = None

        def initialize(self):
            self.pool = self.pool or OneBlock(driver())

        def memalloc(self, size):
            address = self.pool.allocate(size)
            return numba.cuda.MemoryPointer(
                self.context, ctypes.c_void_p(address), size, finalizer=lambda: self.pool.deallocate(address)
            )

        def get_ipc_handle(self, memory):
            raise NotImplementedError

        def get_memory_info(self):
            return numba.cuda.MemoryInfo(free=1 << 30, total=1 << 30)

        @property
        def interface_version(self):
            return 1

    numba.cuda.set_memory_manager(Manager)
    use_arrays()


def use_arrays():
    import numba.cuda
    import numpy

    cuda = driver()
    side = numba.cuda.external_stream(side_stream(cuda).value)
    array = numba.cuda.device_array(COUNT, numpy.int32)
    address = array.device_ctypes_pointer.value
    memset(cuda, address, 1, ctypes.c_void_p(int(side.handle.value if hasattr(side.handle, "value") else side.handle)))
    if RIGHT:
        side.synchronize()
    del array
    again = numba.cuda.device_array(COUNT, numpy.int32)
    assert again.device_ctypes_pointer.value == address, "the pool gave out another block"
    memset(cuda, address, 2, None)
    numba.cuda.synchronize()


def numba_rmm():
    """RMM's plug-in over RMM's pool."""
    import numba.cuda
    import rmm
    from rmm.allocators.numba import RMMNumbaManager

    rmm.reinitialize(pool_allocator=True, initial_pool_size=1 << 26)
    numba.cuda.set_memory_manager(RMMNumbaManager)
    use_arrays()


# ---- JAX


def jax_raw_pointer():
    """Another library's copy reads an array that JAX has dropped."""
    import jax
    import jax.numpy

    cuda = driver()
    side = side_stream(cuda)
    array = jax.numpy.ones((COUNT,), jax.numpy.int32)
    array.block_until_ready()
    memset(cuda, array.unsafe_buffer_pointer(), 1, side)
    if RIGHT:
        called(cuda.cuStreamSynchronize(side))
    del array
    again = jax.numpy.zeros((COUNT,), jax.numpy.int32)
    again.block_until_ready()
    called(cuda.cuCtxSynchronize())


def jax_scan_apart():
    """A convolution in a loop, as XLA runs it on streams of its own: nothing is wrong with it."""
    import jax
    import jax.numpy as np

    def step(image, _):
        kernel = np.full((3, 3, 4, 4), 0.01, np.float32)
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=layout), image.sum()

    run = jax.jit(lambda image: jax.lax.scan(step, image, None, length=8))
    image, sums = run(np.ones((4, 64, 64, 4), np.float32))
    sums.block_until_ready()
    (image @ image.swapaxes(2, 3)).block_until_ready()


# ----

kept = []


def numpy_int(value):
    import numpy

    return numpy.int32(value)


CASES = {
    name: case
    for name, case in list(globals().items())
    if name.startswith(("cupy_", "rmm_", "numba_", "jax_")) and callable(case)
}


# A package is there when one of these modules is. JAX alone, without CUDA's plug-in, computes on the host.
MODULES = {
    "cupy": ("cupy",),
    "rmm": ("rmm",),
    "numba": ("numba",),
    "jax": ("jax_cuda13_plugin", "jax_cuda12_plugin"),
}


def is_here(name):
    return all(
        any(importlib.util.find_spec(module) for module in MODULES[package])
        for package in name.split("_")
        if package in MODULES
    )


def main():
    if sys.argv[1] == "--list":
        print("\n".join(name for name in CASES if is_here(name)))
        return
    CASES[sys.argv[1]]()
    print("done")


main()
