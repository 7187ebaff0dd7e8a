"""Arrays over pinned, registered and managed memory that the host reads or writes: the lines of the accesses
are marked "# too early". With "right" the host waits first.

    python3 host_accesses.py CASE|all [right]
    python3 host_accesses.py --list          the cases whose packages are here

csan must report each access of the first kind with its line, and none of the second. Prints "done"."""

import ctypes
import importlib.util
import sys

RIGHT = "right" in sys.argv[2:]
COUNT = 1 << 14
BYTES = 4 * COUNT
TO_DEVICE, TO_HOST = 1, 2


# ---- The runtime library, where no package brings its own arrays -----------------------------------


class Runtime:
    def __init__(self):
        self.library = None
        for name in "libcudart.so.13", "libcudart.so.12", "libcudart.so":
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                pass
        if self.library is None:
            sys.exit("no libcudart")
        self.stream = self.made("cudaStreamCreateWithFlags", 1)
        self.device = self.made("cudaMalloc", ctypes.c_size_t(BYTES))

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: {code}")

    def made(self, name, *arguments):
        result = ctypes.c_void_p()
        self.call(name, ctypes.byref(result), *arguments)
        return result

    def array(self, address):
        """NumPy's view of that memory."""
        import numpy

        return numpy.ctypeslib.as_array((ctypes.c_float * COUNT).from_address(address.value))

    def to_device(self, address):
        self.call(
            "cudaMemcpyAsync", self.device, address, ctypes.c_size_t(BYTES), TO_DEVICE, self.stream
        )

    def to_host(self, address):
        self.call("cudaMemcpyAsync", address, self.device, ctypes.c_size_t(BYTES), TO_HOST, self.stream)

    def fill(self, address):
        self.call("cudaMemsetAsync", address, 0, ctypes.c_size_t(BYTES), self.stream)

    def wait(self):
        self.call("cudaStreamSynchronize", self.stream)


def wait_if_right(wait):
    if RIGHT:
        wait()


# ---- NumPy ------------------------------------------------------------------------------------------


def numpy_pinned_write():
    cuda = Runtime()
    pinned = cuda.made("cudaMallocHost", ctypes.c_size_t(BYTES))
    array = cuda.array(pinned)
    array[:] = 1
    cuda.to_device(pinned)
    wait_if_right(cuda.wait)
    array[7] = 2  # too early
    cuda.wait()


def numpy_pinned_read():
    cuda = Runtime()
    pinned = cuda.made("cudaMallocHost", ctypes.c_size_t(BYTES))
    array = cuda.array(pinned)
    cuda.to_host(pinned)
    wait_if_right(cuda.wait)
    total = array.sum()  # too early
    cuda.wait()
    return total


def numpy_pinned_ufunc():
    cuda = Runtime()
    pinned = cuda.made("cudaMallocHost", ctypes.c_size_t(BYTES))
    array = cuda.array(pinned)
    cuda.to_device(pinned)
    wait_if_right(cuda.wait)
    array *= 2  # too early
    cuda.wait()


def numpy_pinned_copyto():
    import numpy

    cuda = Runtime()
    pinned = cuda.made("cudaMallocHost", ctypes.c_size_t(BYTES))
    array = cuda.array(pinned)
    batch = numpy.ones(COUNT, numpy.float32)
    cuda.to_device(pinned)
    wait_if_right(cuda.wait)
    numpy.copyto(array, batch)  # too early
    cuda.wait()


def numpy_pinned_file():
    """readinto() is a system call that fills the array."""
    cuda = Runtime()
    pinned = cuda.made("cudaMallocHost", ctypes.c_size_t(BYTES))
    array = cuda.array(pinned)
    cuda.to_device(pinned)
    wait_if_right(cuda.wait)
    with open("/dev/zero", "rb", buffering=0) as file:
        if file.readinto(array) != BYTES:  # too early
            raise RuntimeError("short read")
    cuda.wait()


def numpy_registered_write():
    import numpy

    cuda = Runtime()
    room = numpy.zeros(BYTES + 4096, numpy.uint8)
    start = -room.ctypes.data % 4096
    array = room[start : start + BYTES].view(numpy.float32)
    address = ctypes.c_void_p(array.ctypes.data)
    cuda.call("cudaHostRegister", address, ctypes.c_size_t(BYTES), 0)
    cuda.to_device(address)
    wait_if_right(cuda.wait)
    array[COUNT - 1] = 3  # too early
    cuda.wait()
    cuda.call("cudaHostUnregister", address)


def numpy_managed_read():
    cuda = Runtime()
    managed = cuda.made("cudaMallocManaged", ctypes.c_size_t(BYTES), 1)
    array = cuda.array(managed)
    cuda.fill(managed)
    wait_if_right(cuda.wait)
    value = float(array[5])  # too early
    cuda.wait()
    return value


def numpy_pinned_thread():
    import threading

    cuda = Runtime()
    pinned = cuda.made("cudaMallocHost", ctypes.c_size_t(BYTES))
    array = cuda.array(pinned)

    def refill():
        array[:] = 4  # too early

    cuda.to_device(pinned)
    wait_if_right(cuda.wait)
    thread = threading.Thread(target=refill)
    thread.start()
    thread.join()
    cuda.wait()


def torch_from_numpy():
    """A tensor of the CPU that shares an array's pinned memory."""
    cuda = Runtime()
    import torch

    pinned = cuda.made("cudaMallocHost", ctypes.c_size_t(BYTES))
    tensor = torch.from_numpy(cuda.array(pinned))
    cuda.to_device(pinned)
    wait_if_right(cuda.wait)
    tensor.add_(1)  # too early
    cuda.wait()


# ---- PyTorch on a GPU -------------------------------------------------------------------------------


def torch_pinned_refilled():
    import torch

    batch = torch.empty(COUNT, pin_memory=True)
    batch.fill_(1)
    on_device = batch.to("cuda", non_blocking=True)
    wait_if_right(torch.cuda.synchronize)
    batch.fill_(2)  # too early
    torch.cuda.synchronize()
    return on_device


def torch_read_early():
    import torch

    result = torch.empty(COUNT, pin_memory=True)
    on_device = torch.ones(COUNT, device="cuda")
    result.copy_(on_device, non_blocking=True)
    wait_if_right(torch.cuda.synchronize)
    value = result.sum()  # too early
    torch.cuda.synchronize()
    return value


def torch_non_blocking_to_cpu():
    """The pitfall of x.to("cpu", non_blocking=True): the host's tensor is pinned, and not yet filled."""
    import torch

    on_device = torch.ones(COUNT, device="cuda")
    host = on_device.to("cpu", non_blocking=True)
    wait_if_right(torch.cuda.synchronize)
    value = host.max()  # too early
    torch.cuda.synchronize()
    return value


def torch_pinned_numpy():
    """NumPy writes through a view of a pinned tensor."""
    import torch

    batch = torch.zeros(COUNT, pin_memory=True)
    view = batch.numpy()
    on_device = batch.to("cuda", non_blocking=True)
    wait_if_right(torch.cuda.current_stream().synchronize)
    view[:] = 3  # too early
    torch.cuda.synchronize()
    return on_device


# ---- CuPy -------------------------------------------------------------------------------------------


def cupy_pinned_write():
    import cupy
    import cupyx

    host = cupyx.zeros_pinned(COUNT, dtype=cupy.float32)
    on_device = cupy.empty(COUNT, dtype=cupy.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    on_device.set(host, stream=stream)
    wait_if_right(stream.synchronize)
    host[11] = 1  # too early
    stream.synchronize()


def cupy_get_early():
    import cupy
    import cupyx

    host = cupyx.empty_pinned(COUNT, dtype=cupy.float32)
    on_device = cupy.zeros(COUNT, dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    on_device.get(stream=stream, out=host, blocking=False)
    wait_if_right(stream.synchronize)
    value = host[0] + host[1]  # too early
    stream.synchronize()
    return value


def cupy_managed_read():
    import cupy

    memory = cupy.cuda.malloc_managed(BYTES)
    host = Runtime.array(None, ctypes.c_void_p(memory.ptr))
    stream = cupy.cuda.Stream(non_blocking=True)
    memory.memset_async(0, BYTES, stream)
    wait_if_right(stream.synchronize)
    value = float(host[9])  # too early
    stream.synchronize()
    return value


# ---- Numba ------------------------------------------------------------------------------------------


def numba_pinned_write():
    import numpy
    from numba import cuda

    host = cuda.pinned_array(COUNT, dtype=numpy.float32)
    host[:] = 1
    stream = cuda.stream()
    on_device = cuda.to_device(host, stream=stream)
    wait_if_right(stream.synchronize)
    host[3] = 2  # too early
    stream.synchronize()
    return on_device


def numba_copy_to_host_early():
    import numpy
    from numba import cuda

    host = cuda.pinned_array(COUNT, dtype=numpy.float32)
    on_device = cuda.to_device(numpy.ones(COUNT, numpy.float32))
    cuda.synchronize()
    stream = cuda.stream()
    on_device.copy_to_host(host, stream=stream)
    wait_if_right(stream.synchronize)
    value = host.max()  # too early
    stream.synchronize()
    return value


def numba_managed_kernel():
    import numpy
    from numba import cuda

    @cuda.jit("void(float32[::1])")
    def double(values):
        i = cuda.grid(1)
        if i < values.size:
            values[i] *= 2

    managed = cuda.managed_array(COUNT, dtype=numpy.float32)
    managed[:] = 1
    double[COUNT // 256, 256](managed)
    wait_if_right(cuda.synchronize)
    value = managed[7]  # too early
    cuda.synchronize()
    return value


CASES = {
    name: case
    for name, case in list(globals().items())
    if name.startswith(("numpy_", "torch_", "cupy_", "numba_"))
}


def is_here(name):
    package = name.split("_")[0]
    if importlib.util.find_spec(package) is None or importlib.util.find_spec("numpy") is None:
        return False
    if package == "torch" and name != "torch_from_numpy":
        import torch

        return torch.cuda.is_available()
    return True


def main():
    if sys.argv[1] == "--list":
        print("\n".join(name for name in CASES if is_here(name)))
        return
    CASES[sys.argv[1]]()
    print("done")


main()
