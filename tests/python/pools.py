"""Memory pools of CuPy, RMM, Numba, PyTorch and JAX whose blocks a second stream still uses when the pool gives them out again.
With "right" the host waits before the block goes back.

In a case whose name ends in "_hidden" csan knows the kernel in its bounds only. Where it takes the pool for one
allocation, the kernel may touch the neighbouring block as well. That possible race is none, has the same two calls, and
hides the true one.

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


# As SCATTER, for the driver.
SCATTER_PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry scatter(.param .u64 out, .param .u64 to, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.s32 %p, %r2, %r1;
    @%p bra END;
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mul.wide.s32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.s32 %r5, [%rd4];
    mul.wide.s32 %rd5, %r5, 4;
    add.s64 %rd6, %rd1, %rd5;
    st.global.u32 [%rd6], %r2;
END:
    ret;
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


def cupy_pool_hidden():
    import cupy

    cupy.cuda.set_allocator(cupy.cuda.MemoryPool().malloc)
    whole = cupy.cuda.alloc(4 * BYTES)
    del whole
    use_hidden(lambda: cupy.cuda.alloc(BYTES), lambda block: block.ptr)


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


def scatter_on(cuda, side, out):
    """The kernel's indices are on the device: csan does not know which of the allocation's words it writes."""
    module, kernel, to = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    called(cuda.cuModuleLoadData(ctypes.byref(module), SCATTER_PTX))
    called(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"scatter"))
    called(cuda.cuMemAlloc_v2(ctypes.byref(to), ctypes.c_size_t(BYTES)))
    indices = (ctypes.c_int * COUNT)(*range(COUNT))
    called(cuda.cuMemcpyHtoD_v2(to, indices, ctypes.c_size_t(BYTES)))
    called(cuda.cuCtxSynchronize())  # the copy is of pageable memory
    values = ctypes.c_uint64(out), to, ctypes.c_int(COUNT)
    arguments = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
    called(cuda.cuLaunchKernel(kernel, COUNT // 256, 1, 1, 256, 1, 1, 0, side, arguments, None))


def use_hidden(allocate, address_of):
    """`allocate` gives an owner of BYTES, whose end is the block's; two in a row are neighbours."""
    cuda = driver()
    side = side_stream(cuda)
    owner, other = allocate(), allocate()
    address, neighbour = address_of(owner), address_of(other)
    assert neighbour - address == BYTES, "the blocks are not neighbours"
    scatter_on(cuda, side, address)
    for turn in range(2):
        if turn:
            if RIGHT:
                called(cuda.cuStreamSynchronize(side))
            del owner
            owner = allocate()
            assert address_of(owner) == address, "the pool gave out another block"
        memset(cuda, address if turn else neighbour, 2, None)
    called(cuda.cuCtxSynchronize())


class OneBlock:
    """The smallest pool: it keeps its blocks, one as a rule, and gives the last again."""

    def __init__(self, cuda, blocks=1):
        memory = ctypes.c_uint64()
        called(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(2 * BYTES)))
        self._free = [memory.value + i * BYTES for i in reversed(range(blocks))]

    def allocate(self, _size, _stream=None):
        return self._free.pop()

    def deallocate(self, address, _size=None, _stream=None):
        self._free.append(address)


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


def rmm_pool_hidden():
    import rmm

    rmm.mr.set_current_device_resource(
        rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 26)
    )
    use_hidden(lambda: rmm.DeviceBuffer(size=BYTES), lambda buffer: buffer.ptr)


# ---- Numba


def set_numba_manager(blocks):
    """A plug-in of the program's."""
    import numba.cuda

    class Manager(numba.cuda.HostOnlyCUDAMemoryManager):
        pool = None

        def initialize(self):
            self.pool = self.pool or OneBlock(driver(), blocks)

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


def numba_manager():
    set_numba_manager(1)
    use_arrays()


def numba_manager_hidden():
    import numba.cuda
    import numpy

    set_numba_manager(2)
    use_hidden(
        lambda: numba.cuda.device_array(COUNT, numpy.int32), lambda array: array.device_ctypes_pointer.value
    )


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


# ---- PyTorch


def torch_cache_hidden():
    """csan_torch follows PyTorch's caching allocator."""
    import torch

    whole = torch.empty(4 * COUNT, dtype=torch.int32, device="cuda")
    del whole
    use_hidden(lambda: torch.empty(COUNT, dtype=torch.int32, device="cuda"), lambda tensor: tensor.data_ptr())


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
    if name.startswith(("cupy_", "rmm_", "numba_", "torch_", "jax_")) and callable(case)
}


# A package is there when one of these modules is. JAX alone, without CUDA's plug-in, computes on the host.
MODULES = {
    "cupy": ("cupy",),
    "rmm": ("rmm",),
    "numba": ("numba",),
    "torch": ("torch",),
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
